package github

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"

	"cordon/internal/target"
	"cordon/internal/untrusted"
)

// Levels of a scope. Runners are registered to the first three; the others stand for
// the repositories and organizations that they are expanded to.
const (
	enterprise   = "enterprise"
	organization = "organization"
	repository   = "repository"
	repositories = "repositories" // every repository of an organization or user
	mine         = "mine"         // every organization and repository that the credential sees
)

// scope is a place where runners are registered. GitHub's names do not depend on case;
// path is in lower case, so that one runner has one reference.
type scope struct{ level, path string }

var (
	ownerForm      = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,99}$`)
	repositoryForm = regexp.MustCompile(`^[a-z0-9._-]{1,100}$`)
)

func parseScopes(words []string) ([]scope, error) {
	if len(words) == 0 {
		words = []string{mine}
	}
	out := make([]scope, 0, len(words))
	seen := map[scope]bool{}
	for _, w := range words {
		s, err := parseScope(w)
		if err != nil {
			return nil, err
		}
		if !seen[s] {
			seen[s] = true
			out = append(out, s)
		}
	}
	return out, nil
}

func parseScope(w string) (scope, error) {
	level, path, _ := strings.Cut(w, ":")
	s := scope{level, strings.ToLower(strings.Trim(path, "/"))}
	ok := false
	switch level {
	case enterprise, organization, repositories:
		ok = ownerForm.MatchString(s.path)
	case repository:
		owner, repo, _ := strings.Cut(s.path, "/")
		ok = ownerForm.MatchString(owner) && repositoryForm.MatchString(repo) && strings.Trim(repo, ".") != ""
	case mine:
		ok = s.path == ""
	}
	if !ok {
		return scope{}, fmt.Errorf("scope %q: write enterprise:SLUG, organization:ORG, repository:OWNER/REPO, repositories:OWNER or mine", untrusted.Text(w))
	}
	return s, nil
}

// holds reports whether runners are registered to it, rather than to what it stands for.
func (s scope) holds() bool {
	return s.level == enterprise || s.level == organization || s.level == repository
}

// prefix is the path before "/actions/…", escaped: "orgs/acme", "repos/acme/web". It is
// empty for a scope that does not hold runners.
func (s scope) prefix() string {
	switch s.level {
	case enterprise:
		return "enterprises/" + url.PathEscape(s.path)
	case organization:
		return "orgs/" + url.PathEscape(s.path)
	case repository:
		owner, repo, _ := strings.Cut(s.path, "/")
		return "repos/" + url.PathEscape(owner) + "/" + url.PathEscape(repo)
	}
	return ""
}

func (s scope) String() string {
	if s.path == "" {
		return s.level
	}
	return s.level + " " + s.path
}

func (s scope) target() target.Scope { return target.Scope{Level: s.level, Path: s.path} }

// Scopes implements providers.Scoped.
func (p *Provider) Scopes() []target.Scope {
	out := make([]target.Scope, 0, len(p.scopes))
	for _, s := range p.scopes {
		out = append(out, s.target())
	}
	return out
}

// API is the base address of the REST API of the GitHub at address, for transport.Options:
// api.github.com, api.TENANT.ghe.com, or /api/v3 of an Enterprise Server.
func API(address string) (*url.URL, error) {
	u, err := url.Parse(strings.TrimRight(address, "/"))
	switch {
	case err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return nil, fmt.Errorf("url is not the address of a GitHub; write https://github.com or https://github.example.org")
	case u.Path != "":
		return nil, fmt.Errorf("url has a path; write the address that people open, such as https://github.example.org, without /api/v3")
	}
	u.Host = strings.TrimSuffix(u.Host, ".") // of a name that is written in full
	host := strings.ToLower(u.Host)
	switch {
	case host == "api.github.com", strings.HasPrefix(host, "api.") && strings.HasSuffix(host, ".ghe.com"):
		return nil, fmt.Errorf("url is the address of the API; write https://%s", strings.TrimPrefix(host, "api."))
	case host == "github.com", host == "www.github.com":
		u.Host = "api.github.com"
	case strings.HasSuffix(host, ".ghe.com"):
		u.Host = "api." + host
	default:
		u.Path = "/api/v3"
	}
	return u, nil
}
