package github

import (
	"fmt"
	"slices"
	"strings"
)

// move puts a runner into a group of its scope; it is in one at a time.
func (c *call) move(r *runner, g *group) {
	if r.Group == g.ID {
		return
	}
	c.effect("runner.move", r.target(), fmt.Sprintf("group %d to %d", r.Group, g.ID))
	r.Group = g.ID
	facts := g.facts()
	for k, v := range r.facts() {
		facts[k] = v
	}
	c.s.audit(c.who.login, verbOf(c.scope, "runner_group_runners_added"), c.scope, facts)
	c.s.wake()
}

func (c *call) moveIn() {
	g := c.ownGroup()
	if g == nil {
		return
	}
	if r := c.theRunner(); r != nil {
		c.move(r, g)
		c.none()
	}
}

// moveOut sends a runner to the default group, which need not be where it came from.
func (c *call) moveOut() {
	g := c.ownGroup()
	if g == nil {
		return
	}
	r := c.theRunner()
	if r == nil {
		return
	}
	if r.Group != g.ID || g.Default {
		c.missing()
		return
	}
	c.leave(r)
	c.none()
}

func (c *call) leave(r *runner) {
	to := c.s.defaultGroup(c.scope)
	c.effect("runner.move", r.target(), fmt.Sprintf("group %d to %d", r.Group, to.ID))
	r.Group = to.ID
	c.s.audit(c.who.login, verbOf(c.scope, "runner_group_runner_removed"), c.scope, r.facts())
	c.s.wake()
}

// setGroupRunners replaces who is in the group.
func (c *call) setGroupRunners() {
	g := c.ownGroup()
	var in struct {
		Runners []int `json:"runners"`
	}
	if g == nil || !c.body(&in) {
		return
	}
	list, ok := c.named(in.Runners)
	if !ok {
		return
	}
	for _, r := range c.s.members(g) {
		if !slices.Contains(list, r) && !g.Default {
			c.leave(r)
		}
	}
	for _, r := range list {
		c.move(r, g)
	}
	c.none()
}

// repoPaths turns numbers into paths, or answers.
func (c *call) repoPaths(ids []int) (list []string, ok bool) {
	list = []string{}
	for _, id := range ids {
		i := slices.IndexFunc(c.s.data.Repos, func(r Repo) bool { return r.ID == id && strings.EqualFold(ownerOf(r.Path), c.scope.path) })
		if i < 0 {
			c.refuse("Repository %d is not one of %s", id, c.scope.path)
			return nil, false
		}
		list = append(list, c.s.data.Repos[i].Path)
	}
	return list, true
}

func (c *call) orgLogins(ids []int) []string {
	list := []string{}
	for _, o := range c.s.data.Owners {
		if slices.Contains(ids, o.ID) {
			list = append(list, o.Login)
		}
	}
	return list
}

// regroup sets the repositories or organizations of a group, as one effect.
func (c *call) regroup(g *group, change func(*group) bool) {
	was := *g
	if !change(g) {
		return
	}
	if what := g.differs(&was); len(what) > 0 {
		c.effect("group.update", g.target(), fmt.Sprintf("%v to %v", append(slices.Clone(was.Repos), was.Orgs...), append(slices.Clone(g.Repos), g.Orgs...)))
		c.s.audit(c.who.login, verbOf(c.scope, "runner_group_updated"), c.scope, g.facts())
		c.s.wake()
	}
	c.none()
}

func (c *call) setGroupRepos() {
	g := c.ownGroup()
	var in struct {
		IDs []int `json:"selected_repository_ids"`
	}
	if g == nil || !c.body(&in) {
		return
	}
	c.regroup(g, func(g *group) bool {
		list, ok := c.repoPaths(in.IDs)
		if ok {
			g.Repos = list
		}
		return ok
	})
}

func (c *call) setGroupOrgs() {
	g := c.ownGroup()
	var in struct {
		IDs []int `json:"selected_organization_ids"`
	}
	if g == nil || !c.body(&in) {
		return
	}
	c.regroup(g, func(g *group) bool { g.Orgs = c.orgLogins(in.IDs); return true })
}

func (c *call) addGroupRepo() {
	if g := c.ownGroup(); g != nil {
		c.regroup(g, func(g *group) bool {
			list, ok := c.repoPaths([]int{c.id("repo_id")})
			if ok && !slices.Contains(g.Repos, list[0]) {
				g.Repos = append(slices.Clone(g.Repos), list[0])
			}
			return ok
		})
	}
}

func (c *call) dropGroupRepo() {
	if g := c.ownGroup(); g != nil {
		c.regroup(g, func(g *group) bool {
			list, ok := c.repoPaths([]int{c.id("repo_id")})
			if ok {
				g.Repos = slices.DeleteFunc(slices.Clone(g.Repos), func(p string) bool { return p == list[0] })
			}
			return ok
		})
	}
}
