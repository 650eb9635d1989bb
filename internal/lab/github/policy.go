package github

import (
	"net/http"
	"slices"
	"strings"
)

// policy is what an enterprise, an organization or a repository allows of Actions.
// enabled is all, selected or none; a repository has true or false of it.
type policy struct {
	enabled string
	allowed string
	repos   []string // of enabled: selected
	hosted  []string // repositories that may have runners of their own, where the organization selects
}

func (s *Server) policy(in scope) *policy {
	p := s.actions[in.String()]
	if p == nil {
		p = &policy{enabled: "all", allowed: "all"}
		s.actions[in.String()] = p
	}
	return p
}

func (c *call) getPermissions() {
	p := c.s.policy(c.scope)
	out := map[string]any{"allowed_actions": p.allowed, "sha_pinning_required": false}
	switch c.scope.level {
	case repository:
		out["enabled"] = p.enabled != "none"
	case organization:
		out["enabled_repositories"] = p.enabled
		if p.enabled == "selected" {
			out["selected_repositories_url"] = c.api() + "/orgs/" + c.scope.path + "/actions/permissions/repositories"
		}
	default:
		out["enabled_organizations"] = p.enabled
	}
	c.json(http.StatusOK, out)
}

func (c *call) putPermissions() {
	var in struct {
		Enabled *bool  `json:"enabled"`
		Repos   string `json:"enabled_repositories"`
		Orgs    string `json:"enabled_organizations"`
		Allowed string `json:"allowed_actions"`
	}
	if !c.body(&in) {
		return
	}
	to := in.Repos + in.Orgs
	if c.scope.level == repository && in.Enabled != nil {
		to = map[bool]string{true: "all", false: "none"}[*in.Enabled]
	}
	if !slices.Contains([]string{"all", "selected", "none"}, to) {
		c.refuse("Invalid request.\n\nwhat is enabled wasn't supplied")
		return
	}
	p := c.s.policy(c.scope)
	was := *p
	p.enabled = to
	if in.Allowed != "" {
		p.allowed = in.Allowed
	}
	if was.enabled != p.enabled || was.allowed != p.allowed {
		c.effect("policy.actions", c.scope.String(), was.enabled+" to "+p.enabled)
		c.s.audit(c.who.login, verbOf(c.scope, "update_actions_settings"), c.scope, nil)
		c.s.wake()
	}
	c.none()
}

func (c *call) enabledRepos() { c.repoList(c.s.policy(c.scope).repos) }

func (c *call) repoList(paths []string) {
	var list []*Repo
	for _, p := range paths {
		if r := c.s.repo(p); r != nil {
			list = append(list, r)
		}
	}
	counted(c, "repositories", list, c.repository)
}

// choose replaces a list of repositories by the one of the body, as one effect.
func (c *call) choose(list *[]string, what string) {
	var in struct {
		IDs []int `json:"selected_repository_ids"`
	}
	if !c.body(&in) {
		return
	}
	to, ok := c.repoPaths(in.IDs)
	if !ok {
		return
	}
	if !slices.Equal(*list, to) {
		*list = to
		c.effect(what, c.scope.String(), "["+strings.Join(to, " ")+"]")
	}
	c.none()
}

func (c *call) setEnabledRepos() { c.choose(&c.s.policy(c.scope).repos, "policy.actions.repositories") }

// getSelfHosted is the policy for runners of repositories, not for the organization's own.
func (c *call) getSelfHosted() {
	out := map[string]any{"enabled_repositories": c.owner.selfHosted()}
	if c.owner.selfHosted() == "selected" {
		out["selected_repositories_url"] = c.api() + "/orgs/" + c.owner.Login + "/actions/permissions/self-hosted-runners/repositories"
	}
	c.json(http.StatusOK, out)
}

func (o *Owner) selfHosted() string {
	if o.SelfHosted == "" {
		return "all"
	}
	return o.SelfHosted
}

// putSelfHosted stops new registrations of repositories. What it does to runners that
// are there is not documented; here it does nothing to them.
func (c *call) putSelfHosted() {
	var in struct {
		To string `json:"enabled_repositories"`
	}
	if !c.body(&in) {
		return
	}
	if !slices.Contains([]string{"all", "selected", "none"}, in.To) {
		c.refuse("Invalid request.\n\n%q is not a policy", in.To)
		return
	}
	if was := c.owner.selfHosted(); was != in.To {
		c.owner.SelfHosted = in.To
		c.effect("policy.self_hosted", c.scope.String(), was+" to "+in.To)
		c.s.audit(c.who.login, "org.update_repo_self_hosted_runners_policy", c.scope, nil)
	}
	c.none()
}

func (c *call) selfHostedRepos() { c.repoList(c.s.policy(c.scope).hosted) }

func (c *call) setSelfHostedRepos() {
	c.choose(&c.s.policy(c.scope).hosted, "policy.self_hosted.repositories")
}

// runs reports whether Actions is on for a repository.
func (s *Server) runsActions(r *Repo) bool {
	if s.policy(scope{repository, r.Path}).enabled == "none" {
		return false
	}
	p := s.policy(scope{organization, ownerOf(r.Path)})
	return p.enabled == "all" || p.enabled == "selected" && slices.Contains(p.repos, r.Path)
}
