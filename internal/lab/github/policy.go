package github

import (
	"fmt"
	"net/http"
	"slices"
)

// policy is what an enterprise, an organization or a repository allows of Actions.
// enabled is all, selected or none; a repository has true or false of it.
type policy struct {
	enabled string
	allowed string
	pinned  bool
	repos   []string // of enabled: selected; of an enterprise the organizations
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

func (p *policy) String() string {
	if p.enabled == "none" {
		return "none"
	}
	return p.enabled + "/" + p.allowed + map[bool]string{true: "/pinned"}[p.pinned]
}

// getPermissions says which actions are allowed only where some are: of what is off there
// is nothing to say.
func (c *call) getPermissions() {
	p := c.s.policy(c.scope)
	out := map[string]any{}
	if p.enabled != "none" {
		out["allowed_actions"], out["sha_pinning_required"] = p.allowed, p.pinned
	}
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
		if p.enabled == "selected" {
			out["selected_organizations_url"] = c.api() + "/enterprises/" + c.scope.path + "/actions/permissions/organizations"
		}
	}
	c.json(http.StatusOK, out)
}

// putPermissions sets a policy. What a field that is left out becomes is not described:
// here it is lost, and so is the list of what was selected where nothing is any more, so
// that whoever counts on the kinder answer is found out.
func (c *call) putPermissions() {
	var in struct {
		Enabled *bool  `json:"enabled"`
		Repos   string `json:"enabled_repositories"`
		Orgs    string `json:"enabled_organizations"`
		Allowed string `json:"allowed_actions"`
		Pinned  bool   `json:"sha_pinning_required"`
	}
	if !c.body(&in) {
		return
	}
	to := in.Repos + in.Orgs
	if c.scope.level == repository && in.Enabled != nil {
		to = map[bool]string{true: "all", false: "none"}[*in.Enabled]
	}
	if !slices.Contains([]string{"all", "selected", "none"}, to) || in.Allowed != "" && !slices.Contains([]string{"all", "local_only", "selected"}, in.Allowed) {
		c.refuse("Invalid request.\n\nwhat is enabled wasn't supplied")
		return
	}
	p := c.s.policy(c.scope)
	was := *p
	if p.enabled, p.allowed, p.pinned = to, in.Allowed, in.Pinned; p.allowed == "" {
		p.allowed = "all"
	}
	if to != "selected" {
		p.repos = nil
	}
	if was.String() != p.String() {
		c.effect("policy.actions", c.scope.String(), was.String()+" to "+p.String())
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
	counted(c, "repositories", list, c.wholeRepo)
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
		c.effect(what, c.scope.String(), fmt.Sprintf("%v to %v", *list, to))
		*list = to
	}
	c.none()
}

func (c *call) setEnabledRepos() { c.choose(&c.s.policy(c.scope).repos, "policy.actions.repositories") }

func (c *call) enabledOrgs() {
	counted(c, "organizations", c.s.policy(c.scope).repos, c.orgSimple)
}

func (c *call) setEnabledOrgs() {
	var in struct {
		IDs []int `json:"selected_organization_ids"`
	}
	if !c.body(&in) {
		return
	}
	if p, to := c.s.policy(c.scope), c.orgLogins(in.IDs); !slices.Equal(p.repos, to) {
		c.effect("policy.actions.organizations", c.scope.String(), fmt.Sprintf("%v to %v", p.repos, to))
		p.repos = to
	}
	c.none()
}

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
		if c.owner.SelfHosted = in.To; in.To != "selected" {
			c.s.policy(c.scope).hosted = nil // whether it outlives that is not described either
		}
		c.effect("policy.self_hosted", c.scope.String(), was+" to "+in.To)
		c.s.audit(c.who.login, "org.update_repo_self_hosted_runners_policy", c.scope, nil)
	}
	c.none()
}

func (c *call) selfHostedRepos() { c.repoList(c.s.policy(c.scope).hosted) }

func (c *call) setSelfHostedRepos() {
	c.choose(&c.s.policy(c.scope).hosted, "policy.self_hosted.repositories")
}

// starts reports whether an event starts a workflow of a repository: neither it nor Actions
// is off. What that does to runs that wait already is not documented; here they go on.
func (s *Server) starts(r *Repo, w Workflow) bool {
	if w.State != "" || s.policy(scope{repository, r.Path}).enabled == "none" {
		return false
	}
	in := func(where scope, name string) bool {
		p := s.policy(where)
		return p.enabled == "all" || p.enabled == "selected" && slices.Contains(p.repos, name)
	}
	o := s.owner(ownerOf(r.Path))
	if o != nil && o.Enterprise != "" && !in(scope{enterprise, o.Enterprise}, o.Login) {
		return false
	}
	return in(scope{organization, ownerOf(r.Path)}, r.Path)
}
