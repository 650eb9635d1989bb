package github

import (
	"crypto/sha1" //nolint:gosec // git names commits by it
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"path"
	"slices"
	"strings"
	"time"
)

func sum(text string) string {
	b := sha256.Sum256([]byte(text))
	return hex.EncodeToString(b[:])
}

// object is a commit id that follows from a text.
func object(text string) string {
	b := sha1.Sum([]byte(text)) //nolint:gosec // git names commits by it
	return hex.EncodeToString(b[:])
}

func (c *call) listReleases() {
	plain(c, c.repo.Releases, func(x Release) map[string]any {
		at := c.api() + "/repos/" + c.repo.Path + "/releases/" + itoa(x.ID)
		when := stamp(c.s.ago(x.Ago))
		return map[string]any{
			"id": x.ID, "node_id": nodeID("Release", x.ID), "url": at, "assets_url": at + "/assets", "upload_url": at + "/assets{?name,label}",
			"html_url": c.web() + "/" + c.repo.Path + "/releases/tag/" + x.Tag, "tag_name": x.Tag, "target_commitish": "main", "name": x.Tag, "draft": false,
			"prerelease": false, "created_at": when, "published_at": when, "author": c.account(x.Author), "assets": []any{}, "body": "", "tarball_url": nil, "zipball_url": nil,
		}
	})
}

func (c *call) listTags() {
	plain(c, c.repo.Releases, func(x Release) map[string]any {
		sha := object(c.repo.Path + x.Tag)
		at := c.api() + "/repos/" + c.repo.Path
		return map[string]any{
			"name": x.Tag, "node_id": nodeID("Ref", x.ID), "commit": map[string]any{"sha": sha, "url": at + "/commits/" + sha},
			"zipball_url": at + "/zipball/refs/tags/" + x.Tag, "tarball_url": at + "/tarball/refs/tags/" + x.Tag,
		}
	})
}

func (c *call) fileShape(f File, whole bool) map[string]any {
	at := c.api() + "/repos/" + c.repo.Path + "/contents/" + f.Path
	out := map[string]any{
		"type": "file", "name": path.Base(f.Path), "path": f.Path, "sha": object(f.Text), "size": len(f.Text), "url": at, "git_url": nil,
		"html_url": c.web() + "/" + c.repo.Path + "/blob/main/" + f.Path, "download_url": nil, "_links": map[string]any{"self": at, "git": nil, "html": nil},
	}
	if whole {
		out["encoding"], out["content"] = "base64", base64.StdEncoding.EncodeToString([]byte(f.Text))+"\n"
	}
	return out
}

// getContents gives a file, or the list of a directory.
func (c *call) getContents() {
	want := strings.Trim(c.r.PathValue("path"), "/")
	out := []any{}
	for _, f := range c.repo.Files {
		if f.Path == want {
			c.json(http.StatusOK, c.fileShape(f, true))
			return
		}
		if path.Dir(f.Path) == want || want == "" && !strings.Contains(f.Path, "/") {
			out = append(out, c.fileShape(f, false))
		}
	}
	if len(out) == 0 {
		c.missing()
		return
	}
	c.json(http.StatusOK, out)
}

func (c *call) commitShape(x Commit, files bool) map[string]any {
	at := c.api() + "/repos/" + c.repo.Path + "/commits/" + x.SHA
	who := map[string]any{"name": x.Author, "email": x.Author + "@example.org", "date": stamp(c.s.ago(x.Ago))}
	out := map[string]any{
		"sha": x.SHA, "node_id": nodeID("Commit", len(x.SHA)), "url": at, "html_url": c.web() + "/" + c.repo.Path + "/commit/" + x.SHA, "comments_url": at + "/comments",
		"commit": map[string]any{
			"message": x.Message, "author": who, "committer": who, "tree": map[string]any{"sha": x.SHA, "url": at}, "url": at, "comment_count": 0,
			"verification": map[string]any{"verified": false, "reason": "unsigned", "signature": nil, "payload": nil},
		},
		"author": c.account(x.Author), "committer": c.account(x.Author), "parents": []any{},
	}
	if files {
		list := []any{}
		for _, p := range x.Paths {
			list = append(list, map[string]any{"sha": object(p + x.SHA), "filename": p, "status": "modified", "additions": 1, "deletions": 1, "changes": 2})
		}
		out["files"], out["stats"] = list, map[string]any{"total": 2, "additions": 1, "deletions": 1}
	}
	return out
}

// listCommits understands path, author, since and until.
func (c *call) listCommits() {
	q := c.r.URL.Query()
	list := slices.DeleteFunc(slices.Clone(c.repo.Commits), func(x Commit) bool {
		when := c.s.ago(x.Ago)
		in := strings.Trim(q.Get("path"), "/")
		touches := in == "" || slices.ContainsFunc(x.Paths, func(p string) bool { return p == in || strings.HasPrefix(p, in+"/") })
		return !touches || q.Get("author") != "" && x.Author != q.Get("author") || q.Get("since") != "" && when.Before(moment(q.Get("since"), false)) ||
			q.Get("until") != "" && when.After(moment(q.Get("until"), true)) || q.Get("sha") != "" && q.Get("sha") != x.SHA && q.Get("sha") != "main"
	})
	plain(c, list, func(x Commit) map[string]any { return c.commitShape(x, false) })
}

func (c *call) getCommit() {
	for _, x := range c.repo.Commits {
		if x.SHA == c.r.PathValue("sha") {
			c.json(http.StatusOK, c.commitShape(x, true))
			return
		}
	}
	c.missing()
}

func (c *call) listDeployments() {
	env := c.r.URL.Query().Get("environment")
	list := slices.DeleteFunc(slices.Clone(c.repo.Deployments), func(x Deployment) bool { return env != "" && x.Environment != env })
	plain(c, list, func(x Deployment) map[string]any {
		at := c.api() + "/repos/" + c.repo.Path + "/deployments/" + itoa(x.ID)
		return map[string]any{
			"id": x.ID, "node_id": nodeID("Deployment", x.ID), "url": at, "sha": object(x.Ref), "ref": x.Ref, "task": "deploy", "payload": map[string]any{},
			"original_environment": x.Environment, "environment": x.Environment, "description": nil, "creator": c.account(x.Creator),
			"created_at": stamp(c.s.ago(x.Ago)), "updated_at": stamp(c.s.ago(x.Ago)), "statuses_url": at + "/statuses", "repository_url": c.api() + "/repos/" + c.repo.Path,
			"transient_environment": false, "production_environment": x.Environment == "production",
		}
	})
}

func (c *call) deploymentStatuses() {
	for _, x := range c.repo.Deployments {
		if x.ID != c.id("id") {
			continue
		}
		state := x.State
		if state == "" {
			state = "success"
		}
		when := stamp(c.s.ago(x.Ago - time.Minute))
		c.json(http.StatusOK, []any{map[string]any{
			"id": 10*x.ID + 1, "state": state, "environment": x.Environment, "creator": c.account(x.Creator), "created_at": when, "updated_at": when, "description": "",
		}})
		return
	}
	c.missing()
}

func (c *call) getPull() {
	for _, p := range c.repo.Pulls {
		if p.Number != c.id("number") {
			continue
		}
		head := p.From
		if head == "" {
			head = c.repo.Path
		}
		c.json(http.StatusOK, map[string]any{
			"id": 70000 + p.Number, "number": p.Number, "state": "open", "title": p.Ref, "user": c.account(p.Author), "author_association": p.Association,
			"url": c.api() + "/repos/" + c.repo.Path + "/pulls/" + itoa(p.Number), "html_url": c.web() + "/" + c.repo.Path + "/pull/" + itoa(p.Number),
			"head": map[string]any{"ref": p.Ref, "label": p.Author + ":" + p.Ref, "sha": object(p.Ref), "repo": c.head(head), "user": c.account(ownerOf(head))},
			"base": map[string]any{"ref": "main", "label": c.owner.Login + ":main", "sha": object("main"), "repo": c.repository(c.repo), "user": c.account(c.owner.Login)},
		})
		return
	}
	c.missing()
}

func (c *call) noAttestations() { c.json(http.StatusOK, map[string]any{"attestations": []any{}}) }
