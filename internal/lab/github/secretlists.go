package github

import (
	"net/http"
	"slices"
)

// times of a secret or a variable: the scenario says how long ago it was last set.
func (c *call) times(out map[string]any, s Secret) map[string]any {
	out["created_at"], out["updated_at"] = stamp(c.s.ago(s.Age+2000*3600e9)), stamp(c.s.ago(s.Age))
	return out
}

func (c *call) plainSecret(s Secret) map[string]any {
	return c.times(map[string]any{"name": s.Name}, s)
}

// orgSecret says who sees it as well.
func (c *call) orgSecret(at string) func(Secret) map[string]any {
	return func(s Secret) map[string]any {
		out := c.plainSecret(s)
		out["visibility"] = "all"
		if len(s.Repos) > 0 {
			out["visibility"] = "selected"
			out["selected_repositories_url"] = c.api() + "/orgs/" + c.owner.Login + at + s.Name + "/repositories"
		}
		return out
	}
}

func (c *call) orgSecretList() {
	counted(c, "secrets", c.owner.Secrets, c.orgSecret("/actions/secrets/"))
}

func (c *call) orgDependabotList() {
	counted(c, "secrets", c.owner.Dependabot, c.orgSecret("/dependabot/secrets/"))
}
func (c *call) repoSecretList()     { counted(c, "secrets", c.repo.Secrets, c.plainSecret) }
func (c *call) repoDependabotList() { counted(c, "secrets", c.repo.Dependabot, c.plainSecret) }
func (c *call) noSecrets()          { counted(c, "secrets", nil, c.plainSecret) }

// inherited are the organization's secrets that a repository gets.
func (s *Server) inherited(r *Repo) []Secret {
	o := s.owner(ownerOf(r.Path))
	if o == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(o.Secrets), func(x Secret) bool { return len(x.Repos) > 0 && !slices.Contains(x.Repos, r.Path) })
}

func (c *call) inheritedSecrets() { counted(c, "secrets", c.s.inherited(c.repo), c.plainSecret) }

func (c *call) secretRepos() {
	i := slices.IndexFunc(c.owner.Secrets, func(s Secret) bool { return s.Name == c.r.PathValue("name") })
	if i < 0 {
		c.missing()
		return
	}
	c.repoList(c.owner.Secrets[i].Repos)
}

// variablePage has its own sizes: ten, at most thirty.
func (c *call) variablePage(list []Variable, org bool) {
	out := []any{}
	for _, v := range cut(c, list, variablesDefault, variablesMost) {
		x := c.times(map[string]any{"name": v.Name, "value": v.Value}, Secret{Age: v.Age})
		if org {
			x["visibility"] = "all"
		}
		out = append(out, x)
	}
	c.json(http.StatusOK, map[string]any{"total_count": len(list), "variables": out})
}

func (c *call) orgVariableList()    { c.variablePage(c.owner.Variables, true) }
func (c *call) repoVariableList()   { c.variablePage(c.repo.Variables, false) }
func (c *call) inheritedVariables() { c.variablePage(c.owner.Variables, false) }

func (c *call) listEnvironments() {
	out := []any{}
	for _, e := range page(c, c.repo.Environments) {
		out = append(out, map[string]any{
			"id": e.ID, "node_id": nodeID("Environment", e.ID), "name": e.Name, "url": c.api() + "/repos/" + c.repo.Path + "/environments/" + e.Name,
			"html_url":   c.web() + "/" + c.repo.Path + "/deployments/activity_log?environments_filter=" + e.Name,
			"created_at": "2024-03-01T09:00:00Z", "updated_at": "2024-03-01T09:00:00Z", "protection_rules": []any{}, "deployment_branch_policy": nil,
		})
	}
	c.json(http.StatusOK, map[string]any{"total_count": len(c.repo.Environments), "environments": out})
}

// theEnvironment is the one of the path, or it answers.
func (c *call) theEnvironment() *Environment {
	for i := range c.repo.Environments {
		if c.repo.Environments[i].Name == c.r.PathValue("environment") {
			return &c.repo.Environments[i]
		}
	}
	c.missing()
	return nil
}

func (c *call) environmentSecrets() {
	if e := c.theEnvironment(); e != nil {
		counted(c, "secrets", e.Secrets, c.plainSecret)
	}
}

func (c *call) environmentVariables() {
	if e := c.theEnvironment(); e != nil {
		c.variablePage(e.Variables, false)
	}
}
