package github

import (
	"net/http"
	"slices"
	"strings"
)

func (c *call) meta() {
	c.json(http.StatusOK, map[string]any{"verifiable_password_authentication": false, "installed_version": c.s.data.Version})
}

// user is who a token is; a token of an installation is nobody.
func (c *call) user() {
	if c.who.person == nil {
		c.fail(http.StatusForbidden, "Resource not accessible by integration")
		return
	}
	out := c.account(c.who.login)
	out["name"], out["two_factor_authentication"] = c.who.person.Name, true
	c.json(http.StatusOK, out)
}

func (c *call) getUser() {
	login := c.r.PathValue("user")
	for _, p := range c.s.data.People {
		if strings.EqualFold(p.Login, login) {
			c.json(http.StatusOK, c.account(p.Login))
			return
		}
	}
	if o := c.s.owner(login); o != nil {
		c.json(http.StatusOK, c.account(o.Login))
		return
	}
	for _, r := range c.s.runs {
		if strings.EqualFold(r.Actor, login) {
			c.json(http.StatusOK, c.account(r.Actor))
			return
		}
	}
	c.missing()
}

func (c *call) orgSimple(login string) map[string]any {
	id := accountID(login)
	if o := c.s.owner(login); o != nil {
		id = o.ID
	}
	api := c.api() + "/orgs/" + login
	return map[string]any{
		"login": login, "id": id, "node_id": nodeID("Organization", id), "url": api, "repos_url": api + "/repos", "events_url": api + "/events",
		"hooks_url": api + "/hooks", "issues_url": api + "/issues", "members_url": api + "/members{/member}", "public_members_url": api + "/public_members{/member}",
		"avatar_url": c.web() + "/avatars/u/" + itoa(id), "description": nil,
	}
}

func (c *call) getOrg() {
	out := c.orgSimple(c.owner.Login)
	out["type"], out["html_url"], out["created_at"] = "Organization", c.web()+"/"+c.owner.Login, "2020-01-01T00:00:00Z"
	out["plan"] = map[string]any{"name": "enterprise"}
	public, private := 0, 0
	for _, r := range c.s.data.Repos {
		switch {
		case !strings.EqualFold(ownerOf(r.Path), c.owner.Login):
		case r.Public:
			public++
		default:
			private++
		}
	}
	if out["public_repos"] = public; c.who.belongs(c.owner.Login) {
		out["total_private_repos"] = private
	}
	c.json(http.StatusOK, out)
}

func (c *call) myOrgs() {
	var list []string
	for _, o := range c.s.data.Owners {
		if o.Type == "Organization" && c.who.belongs(o.Login) {
			list = append(list, o.Login)
		}
	}
	plain(c, list, c.orgSimple)
}

// visible lists the repositories that fit and that the credential may see.
func (c *call) visible(fits func(*Repo) bool) []*Repo {
	var list []*Repo
	for i := range c.s.data.Repos {
		r := &c.s.data.Repos[i]
		if (r.Public || c.who.belongs(ownerOf(r.Path))) && fits(r) {
			list = append(list, r)
		}
	}
	return list
}

func (c *call) myRepos() {
	plain(c, c.visible(func(r *Repo) bool { return c.who.belongs(ownerOf(r.Path)) }), c.fullRepo)
}

func (c *call) installedRepos() {
	if c.who.app == nil {
		c.fail(http.StatusForbidden, "You must authenticate with an installation access token in order to list repositories for an installation.")
		return
	}
	list := c.visible(func(r *Repo) bool { return ownerOf(r.Path) == c.who.app.Owner })
	out := []any{}
	for _, r := range page(c, list) {
		out = append(out, c.fullRepo(r))
	}
	c.json(http.StatusOK, map[string]any{"total_count": len(list), "repository_selection": "all", "repositories": out})
}

func (c *call) ownerRepos() {
	login := c.r.PathValue("user")
	if c.owner != nil {
		login = c.owner.Login
	}
	plain(c, c.visible(func(r *Repo) bool { return strings.EqualFold(ownerOf(r.Path), login) }), c.fullRepo)
}

// fullRepo is the minimal form and what the caller may do there.
func (c *call) fullRepo(r *Repo) map[string]any {
	out := c.repository(r)
	admin := c.who.belongs(ownerOf(r.Path)) && c.who.may(asks{repoAdmin, "read"})
	out["permissions"] = map[string]bool{"admin": admin, "maintain": admin, "push": admin, "triage": admin, "pull": true}
	return out
}

func (c *call) getRepo() { c.json(http.StatusOK, c.fullRepo(c.repo)) }

func (c *call) getRepoByID() {
	list := c.visible(func(r *Repo) bool { return r.ID == c.id("id") })
	if len(list) == 0 {
		c.missing()
		return
	}
	c.json(http.StatusOK, c.fullRepo(list[0]))
}

func (c *call) team(slug string) map[string]any {
	id := accountID(slug)
	api := c.api() + "/organizations/" + itoa(c.owner.ID) + "/team/" + itoa(id)
	return map[string]any{
		"id": id, "node_id": nodeID("Team", id), "name": slug, "slug": slug, "description": nil, "privacy": "closed", "permission": "admin", "url": api,
		"html_url": c.web() + "/orgs/" + c.owner.Login + "/teams/" + slug, "members_url": api + "/members{/member}", "repositories_url": api + "/repos", "parent": nil,
	}
}

func (c *call) orgTeams() { plain(c, c.owner.Teams, c.team) }

func (c *call) repoTeams() {
	plain(c, slices.DeleteFunc([]string{c.repo.Team}, func(t string) bool { return t == "" }), c.team)
}

func (c *call) properties() {
	plain(c, c.repo.Properties, func(p Property) map[string]any {
		return map[string]any{"property_name": p.Name, "value": p.Value}
	})
}
