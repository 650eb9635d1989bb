package github

import (
	"net/http"
	"slices"
	"strings"
)

// wantedGroup is the body of a creation or an update; nil leaves things as they are.
type wantedGroup struct {
	Name       *string   `json:"name"`
	Visibility *string   `json:"visibility"`
	Repos      []int     `json:"selected_repository_ids"`
	Orgs       []int     `json:"selected_organization_ids"`
	Runners    []int     `json:"runners"`
	Public     *bool     `json:"allows_public_repositories"`
	Restricted *bool     `json:"restricted_to_workflows"`
	Workflows  *[]string `json:"selected_workflows"`
}

// createGroup makes a group. Its visibility is "all" unless the request says
// otherwise, as at GitHub.
func (c *call) createGroup() {
	var in wantedGroup
	if !c.body(&in) {
		return
	}
	if c.owner != nil && c.owner.NoGroups {
		c.fail(http.StatusForbidden, "Your plan does not allow additional runner groups.")
		return
	}
	if in.Name == nil || strings.TrimSpace(*in.Name) == "" {
		c.refuse("Invalid request.\n\n\"name\" wasn't supplied.")
		return
	}
	for _, g := range c.s.groups {
		if g.scope == c.scope && strings.EqualFold(g.Name, *in.Name) {
			c.fail(http.StatusConflict, "Runner group name already exists")
			return
		}
	}
	moved, ok := c.named(in.Runners)
	if !ok {
		return
	}
	c.s.nextPool++
	g := &group{SeedGroup: SeedGroup{ID: c.s.nextPool, Name: *in.Name}, scope: c.scope}
	if !c.shape(g, in) {
		c.s.nextPool--
		return
	}
	c.s.groups = append(c.s.groups, g)
	c.effect("group.create", g.target(), g.Name+" "+g.visibility())
	c.s.audit(c.who.login, verbOf(c.scope, "runner_group_created"), c.scope, g.facts())
	for _, r := range moved {
		c.move(r, g)
	}
	c.s.wake()
	c.json(http.StatusCreated, c.groupShape(g, false))
}

// named finds the runners of a body, or answers.
func (c *call) named(ids []int) (list []*runner, ok bool) {
	for _, id := range ids {
		r := c.s.runner(c.scope, id)
		if r == nil {
			c.missing()
			return nil, false
		}
		list = append(list, r)
	}
	return list, true
}

// shape sets what a body asks for, or answers.
func (c *call) shape(g *group, in wantedGroup) bool {
	choices := []string{"all", "selected", "private"}
	if c.scope.level == enterprise {
		choices = choices[:2]
	}
	if in.Visibility != nil {
		if !slices.Contains(choices, *in.Visibility) {
			c.refuse("Invalid request.\n\n%q is not a visibility", *in.Visibility)
			return false
		}
		g.Visibility = *in.Visibility
	}
	if in.Repos != nil {
		list, ok := c.repoPaths(in.Repos)
		if !ok {
			return false
		}
		g.Repos = list
	}
	if in.Orgs != nil {
		g.Orgs = c.orgLogins(in.Orgs)
	}
	if in.Public != nil {
		g.Public = *in.Public
	}
	if in.Workflows != nil {
		g.Workflows = *in.Workflows
	}
	if in.Restricted != nil && !*in.Restricted {
		g.Workflows = nil
	}
	return true
}

// updateGroup changes name, visibility and flags. The default group keeps its name.
func (c *call) updateGroup() {
	g := c.ownGroup()
	var in wantedGroup
	if g == nil || !c.body(&in) {
		return
	}
	if g.Default && in.Name != nil && *in.Name != g.Name {
		c.refuse("The default runner group cannot be renamed")
		return
	}
	was := *g
	if !c.shape(g, in) {
		*g = was
		return
	}
	if in.Name != nil {
		g.Name = *in.Name
	}
	if what := g.differs(&was); len(what) > 0 {
		c.effect("group.update", g.target(), strings.Join(what, " "))
		for _, w := range what {
			event := map[string]string{"name": "runner_group_renamed", "visibility": "runner_group_visiblity_updated"}[w] // sic
			if event == "" {
				event = "runner_group_updated"
			}
			c.s.audit(c.who.login, verbOf(c.scope, event), c.scope, g.facts())
		}
		c.s.wake()
	}
	c.json(http.StatusOK, c.groupShape(g, false))
}

func (g *group) differs(was *group) []string {
	var out []string
	for name, same := range map[string]bool{
		"name": g.Name == was.Name, "visibility": g.visibility() == was.visibility(), "public": g.Public == was.Public,
		"repositories": slices.Equal(g.Repos, was.Repos), "organizations": slices.Equal(g.Orgs, was.Orgs), "workflows": slices.Equal(g.Workflows, was.Workflows),
	} {
		if !same {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// deleteGroup needs an empty one.
func (c *call) deleteGroup() {
	g := c.ownGroup()
	if g == nil {
		return
	}
	switch {
	case g.Default:
		c.refuse("The default runner group cannot be deleted")
		return
	case len(c.s.members(g)) > 0:
		c.refuse("Runner group %q is not empty and cannot be deleted", g.Name)
		return
	}
	c.s.groups = slices.DeleteFunc(c.s.groups, func(x *group) bool { return x == g })
	c.effect("group.delete", g.target(), g.Name)
	c.s.audit(c.who.login, verbOf(c.scope, "runner_group_removed"), c.scope, g.facts())
	c.none()
}
