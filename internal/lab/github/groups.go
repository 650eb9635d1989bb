package github

import (
	"net/http"
	"slices"
	"strings"
)

// listGroups gives an organization's own groups and those that its enterprise shares
// with it.
func (c *call) listGroups() {
	var list []*group
	for _, g := range c.s.groups {
		if g.scope == c.scope || c.inherits(g) {
			list = append(list, g)
		}
	}
	if want := c.r.URL.Query().Get("visible_to_repository"); want != "" {
		list = slices.DeleteFunc(list, func(g *group) bool {
			r := c.s.repo(c.scope.path + "/" + want)
			return r == nil || !g.serves(r)
		})
	}
	out := []any{}
	for _, g := range page(c, list) {
		out = append(out, c.groupShape(g, g.scope != c.scope))
	}
	c.json(http.StatusOK, map[string]any{"total_count": len(list), "runner_groups": out})
}

// inherits reports whether the organization of the call sees an enterprise's group.
func (c *call) inherits(g *group) bool {
	return c.scope.level == organization && c.owner.Enterprise != "" && g.scope == scope{enterprise, c.owner.Enterprise} &&
		(g.visibility() == "all" || slices.Contains(g.Orgs, c.owner.Login))
}

// theGroup is the one of the path, or it answers.
func (c *call) theGroup() *group {
	id := c.id("gid")
	for _, g := range c.s.groups {
		if g.ID == id && (g.scope == c.scope || c.inherits(g)) {
			return g
		}
	}
	c.missing()
	return nil
}

// ownGroup is theGroup where it may be changed here: what an enterprise shares is its own.
func (c *call) ownGroup() *group {
	g := c.theGroup()
	if g != nil && g.scope != c.scope {
		c.fail(http.StatusForbidden, "This runner group is managed by the enterprise")
		return nil
	}
	return g
}

func (c *call) getGroup() {
	if g := c.theGroup(); g != nil {
		c.json(http.StatusOK, c.groupShape(g, g.scope != c.scope))
	}
}

func (s *Server) members(g *group) []*runner {
	var out []*runner
	for _, r := range s.runners {
		if r.scope == g.scope && r.Group == g.ID {
			out = append(out, r)
		}
	}
	return out
}

func (c *call) groupRunners() {
	if g := c.theGroup(); g != nil {
		counted(c, "runners", c.s.members(g), c.runnerShape)
	}
}

func (c *call) groupRepos() {
	g := c.theGroup()
	if g == nil {
		return
	}
	var list []*Repo
	for _, p := range g.Repos {
		if r := c.s.repo(p); r != nil {
			list = append(list, r)
		}
	}
	counted(c, "repositories", list, c.repository)
}

func (c *call) groupOrgs() {
	g := c.theGroup()
	if g == nil {
		return
	}
	counted(c, "organizations", g.Orgs, func(login string) map[string]any { return c.orgSimple(login) })
}

// serves reports whether jobs of the repository may run in the group.
func (g *group) serves(r *Repo) bool {
	if r.Public && !g.Public {
		return false
	}
	switch g.visibility() {
	case "all":
		return true
	case "private":
		return !r.Public
	}
	return slices.ContainsFunc(g.Repos, func(p string) bool { return strings.EqualFold(p, r.Path) })
}

// serves reports whether the runner may take jobs of the repository at all.
func (s *Server) serves(x *runner, r *Repo) bool {
	if x.scope.level == repository {
		return x.scope.path == r.Path
	}
	g := s.group(x.scope, x.Group)
	if g == nil {
		return false
	}
	if x.scope.level == organization {
		return x.scope.path == ownerOf(r.Path) && g.serves(r)
	}
	o := s.owner(ownerOf(r.Path))
	return o != nil && o.Enterprise == x.scope.path && (g.visibility() == "all" || slices.Contains(g.Orgs, o.Login)) && (!r.Public || g.Public)
}
