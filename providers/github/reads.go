package github

import (
	"slices"

	"cordon/internal/transport"
)

// Reads is the table of requests that change nothing, for transport.Options with the base
// that API gives. Paths and query keys are GitHub's API description's; what is not here
// needs a permit. Note what is missing: every POST that mints a registration or removal
// token, a configuration or a download, and every log, which GitHub hands out as an
// address elsewhere.
func Reads() []transport.Route {
	pages := []string{"page", "per_page"}
	out := []transport.Route{
		{Method: "GET", Pattern: "/user"},
		{Method: "GET", Pattern: "/user/orgs", Query: pages},
		{Method: "GET", Pattern: "/user/repos", Query: append([]string{"affiliation", "visibility"}, pages...)},
		{Method: "GET", Pattern: "/installation/repositories", Query: pages},
		{Method: "GET", Pattern: "/orgs/{org}"},
		{Method: "GET", Pattern: "/orgs/{org}/actions/secrets", Query: pages},
		{Method: "GET", Pattern: "/orgs/{org}/repos", Query: append([]string{"type"}, pages...)},
		{Method: "GET", Pattern: "/users/{user}"},
		{Method: "GET", Pattern: "/users/{user}/repos", Query: append([]string{"type"}, pages...)},
	}
	for _, at := range []string{"/enterprises/{enterprise}", "/orgs/{org}", "/repos/{owner}/{repo}"} {
		out = append(
			out,
			transport.Route{Method: "GET", Pattern: at + "/actions/runners", Query: append([]string{"name"}, pages...)},
			transport.Route{Method: "GET", Pattern: at + "/actions/runners/{id}"},
			transport.Route{Method: "GET", Pattern: at + "/actions/runners/{id}/labels"},
			transport.Route{Method: "GET", Pattern: at + "/actions/runners/deprecations/{version}"},
		)
	}
	for _, at := range []string{"/enterprises/{enterprise}", "/orgs/{org}"} {
		out = append(
			out,
			transport.Route{Method: "GET", Pattern: at + "/actions/runner-groups", Query: pages},
			transport.Route{Method: "GET", Pattern: at + "/actions/runner-groups/{id}"},
			transport.Route{Method: "GET", Pattern: at + "/actions/runner-groups/{id}/runners", Query: pages},
		)
	}
	return slices.Concat(out, readsAct, readsSee)
}
