package github

import (
	"net/http"
	"slices"
	"time"
)

func (c *call) keyShape(k DeployKey) map[string]any {
	return map[string]any{
		"id": k.ID, "key": k.public, "url": c.api() + "/repos/" + c.repo.Path + "/keys/" + itoa(k.ID), "title": k.Title, "verified": true,
		"created_at": stamp(c.s.ago(k.Age)), "read_only": k.ReadOnly, "added_by": k.AddedBy, "last_used": stamp(c.s.ago(time.Hour)), "enabled": true,
	}
}

func (c *call) listKeys() { plain(c, c.repo.Keys, c.keyShape) }

// at is the place in list of what the path names, or it answers and is -1.
func at[T any](c *call, list []T, id func(T) int) int {
	want := c.id("id")
	i := slices.IndexFunc(list, func(x T) bool { return id(x) == want })
	if i < 0 {
		c.missing()
	}
	return i
}

func keyID(k DeployKey) int     { return k.ID }
func cacheID(x Cache) int       { return x.ID }
func artifactID(x Artifact) int { return x.ID }

func (c *call) getKey() {
	if i := at(c, c.repo.Keys, keyID); i >= 0 {
		c.json(http.StatusOK, c.keyShape(c.repo.Keys[i]))
	}
}

func (c *call) deleteKey() {
	i := at(c, c.repo.Keys, keyID)
	if i < 0 {
		return
	}
	k := c.repo.Keys[i]
	c.repo.Keys = slices.Delete(c.repo.Keys, i, i+1)
	c.effect("key.delete", c.scope.String()+"/key/"+itoa(k.ID), k.Title)
	c.s.audit(c.who.login, "public_key.delete", c.scope, map[string]any{"title": k.Title})
	c.none()
}

func (c *call) cacheShape(x Cache) map[string]any {
	at := stamp(c.s.ago(x.Ago))
	return map[string]any{"id": x.ID, "ref": x.Ref, "key": x.Key, "version": x.Version, "size_in_bytes": x.Size, "created_at": at, "last_accessed_at": at}
}

// caches are those of the repository that fit the query.
func (c *call) caches() []Cache {
	q := c.r.URL.Query()
	return slices.DeleteFunc(slices.Clone(c.repo.Caches), func(x Cache) bool {
		return q.Get("key") != "" && x.Key != q.Get("key") || q.Get("ref") != "" && x.Ref != q.Get("ref")
	})
}

func (c *call) listCaches() { counted(c, "actions_caches", c.caches(), c.cacheShape) }

func (c *call) dropCache(x Cache) {
	c.repo.Caches = slices.DeleteFunc(c.repo.Caches, func(y Cache) bool { return y.ID == x.ID })
	c.effect("cache.delete", c.scope.String()+"/cache/"+itoa(x.ID), x.Key)
}

func (c *call) deleteCache() {
	if i := at(c, c.repo.Caches, cacheID); i >= 0 {
		c.dropCache(c.repo.Caches[i])
		c.none()
	}
}

func (c *call) deleteCachesByKey() {
	if c.r.URL.Query().Get("key") == "" {
		c.refuse("Invalid request.\n\n\"key\" wasn't supplied.")
		return
	}
	list := c.caches()
	if len(list) == 0 {
		c.missing()
		return
	}
	out := []any{}
	for _, x := range list {
		out = append(out, c.cacheShape(x))
		c.dropCache(x)
	}
	c.json(http.StatusOK, map[string]any{"total_count": len(list), "actions_caches": out})
}

func (c *call) artifactShape(x Artifact) map[string]any {
	at := c.api() + "/repos/" + c.repo.Path + "/actions/artifacts/" + itoa(x.ID)
	made := c.s.ago(x.Ago)
	out := map[string]any{
		"id": x.ID, "node_id": nodeID("Artifact", x.ID), "name": x.Name, "size_in_bytes": x.Size, "url": at, "archive_download_url": at + "/zip",
		"expired": false, "created_at": stamp(made), "expires_at": stamp(made.Add(90 * 24 * time.Hour)), "updated_at": stamp(made),
		"digest": "sha256:" + sum(x.Name+itoa(x.ID)),
	}
	if r := c.s.run(c.repo.Path, x.Run); r != nil {
		out["workflow_run"] = map[string]any{"id": r.ID, "repository_id": c.repo.ID, "head_repository_id": c.repo.ID, "head_branch": r.Branch, "head_sha": r.SHA}
	}
	return out
}

func (c *call) artifacts(fits func(Artifact) bool) {
	name := c.r.URL.Query().Get("name")
	list := slices.DeleteFunc(slices.Clone(c.repo.Artifacts), func(x Artifact) bool { return name != "" && x.Name != name || !fits(x) })
	counted(c, "artifacts", list, c.artifactShape)
}

func (c *call) listArtifacts() { c.artifacts(func(Artifact) bool { return true }) }

func (c *call) runArtifacts() {
	if r := c.theRun(); r != nil {
		c.artifacts(func(x Artifact) bool { return x.Run == r.ID })
	}
}

func (c *call) getArtifact() {
	if i := at(c, c.repo.Artifacts, artifactID); i >= 0 {
		c.json(http.StatusOK, c.artifactShape(c.repo.Artifacts[i]))
	}
}

func (c *call) deleteArtifact() {
	i := at(c, c.repo.Artifacts, artifactID)
	if i < 0 {
		return
	}
	x := c.repo.Artifacts[i]
	c.repo.Artifacts = slices.Delete(c.repo.Artifacts, i, i+1)
	c.effect("artifact.delete", c.scope.String()+"/artifact/"+itoa(x.ID), x.Name)
	c.none()
}
