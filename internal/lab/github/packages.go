package github

import (
	"net/http"
	"slices"
	"time"
)

// packages are those of one kind, by name; their versions are what was published.
func (c *call) packages() {
	kind := c.r.URL.Query().Get("package_type")
	if kind == "" {
		c.refuse("Invalid request.\n\n\"package_type\" wasn't supplied.")
		return
	}
	seen := map[string]bool{}
	var list []Package
	for _, p := range c.owner.Packages {
		if p.Type == kind && !seen[p.Name] {
			seen[p.Name] = true
			list = append(list, p)
		}
	}
	plain(c, list, func(p Package) map[string]any {
		out := map[string]any{
			"id": p.ID, "name": p.Name, "package_type": p.Type, "owner": c.account(c.owner.Login), "version_count": 1, "visibility": "private",
			"url": c.api() + "/orgs/" + c.owner.Login + "/packages/" + p.Type + "/" + p.Name, "html_url": c.web() + "/orgs/" + c.owner.Login + "/packages/" + p.Type + "/package/" + p.Name,
			"created_at": stamp(c.s.ago(p.Ago)), "updated_at": stamp(c.s.ago(p.Ago)),
		}
		if r := c.s.repo(p.Repo); r != nil {
			out["repository"] = c.repository(r)
		}
		return out
	})
}

func (c *call) packageVersions() {
	list := slices.DeleteFunc(slices.Clone(c.owner.Packages), func(p Package) bool {
		return p.Type != c.r.PathValue("type") || p.Name != c.r.PathValue("package")
	})
	if len(list) == 0 {
		c.missing()
		return
	}
	plain(c, list, func(p Package) map[string]any {
		at := c.api() + "/orgs/" + c.owner.Login + "/packages/" + p.Type + "/" + p.Name
		return map[string]any{
			"id": 1000 + p.ID, "name": p.Tag, "url": at + "/versions/" + itoa(1000+p.ID), "package_html_url": c.web() + "/orgs/" + c.owner.Login + "/packages/" + p.Type + "/package/" + p.Name,
			"created_at": stamp(c.s.ago(p.Ago)), "updated_at": stamp(c.s.ago(p.Ago)), "metadata": map[string]any{"package_type": p.Type},
		}
	})
}

func (c *call) noPackages() { c.json(http.StatusOK, []any{}) }

// events are what happened in a repository, newest first: its pushes, and tags and
// releases that were made.
func (c *call) events() {
	type event struct {
		kind, actor string
		ago         int64
		payload     map[string]any
	}
	var list []event
	for _, x := range c.repo.Releases {
		list = append(list, event{"CreateEvent", x.Author, int64(x.Ago), map[string]any{"ref": x.Tag, "ref_type": "tag", "master_branch": "main"}})
		list = append(list, event{"ReleaseEvent", x.Author, int64(x.Ago), map[string]any{"action": "published", "release": map[string]any{"id": x.ID, "tag_name": x.Tag}}})
	}
	for _, x := range c.repo.Commits {
		list = append(list, event{"PushEvent", x.Author, int64(x.Ago), map[string]any{"ref": "refs/heads/main", "head": x.SHA, "size": 1}})
	}
	slices.SortStableFunc(list, func(a, b event) int { return int((a.ago - b.ago) / 1e9) })
	n := 0
	plain(c, list, func(e event) map[string]any {
		n++
		return map[string]any{
			"id": itoa(40000 + n), "type": e.kind, "actor": c.account(e.actor), "repo": map[string]any{"id": c.repo.ID, "name": c.repo.Path, "url": c.api() + "/repos/" + c.repo.Path},
			"payload": e.payload, "public": c.repo.Public, "created_at": stamp(c.s.start.Add(-time.Duration(e.ago))),
		}
	})
}
