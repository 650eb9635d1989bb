package github

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"cordon/providers"
)

func publishedPast(t *testing.T) (*lab, *past, time.Time) {
	l, p, since := openPast(t)
	p.repos("acme/web", "acme/tools")
	in, before := since.Add(time.Hour), since.Add(-30*24*time.Hour)
	p.run("acme/web", 900, in, nil, on(1, "build", in))
	digest := "sha256:" + strings.Repeat("a", 64)
	p.change(func(p *past) {
		p.paged["repos/acme/web/releases"] = pagedList{"", []any{
			row("tag_name", "v2", "published_at", stamp(in), "author", row("login", "mallory"), "body", p.behind.secrets.note, "assets", []any{}),
			row("tag_name", "v1", "published_at", stamp(before), "updated_at", stamp(before), "author", row("login", "alice"), "assets", []any{
				row("name", "tool.tgz", "created_at", stamp(before), "updated_at", stamp(in), "uploader", row("login", "mallory"), "digest", digest),
				row("name", "old.tgz", "created_at", stamp(before), "updated_at", stamp(before)),
			}),
		}}
		p.lists["repos/acme/web/attestations/"+digest] = row("attestations", []any{row("bundle_url", "x")})
		p.paged["repos/acme/web/deployments"] = pagedList{"", []any{
			row("id", 1, "sha", pastSHA, "ref", "main", "environment", "production", "created_at", stamp(in), "creator", row("login", "mallory")),
			row("id", 2, "sha", pastSHA, "ref", "main", "environment", "production", "created_at", stamp(before)),
		}}
		p.paged["repos/acme/web/events"] = pagedList{"", []any{
			row("type", "CreateEvent", "actor", row("login", "mallory"), "created_at", stamp(in), "payload", row("ref", "v2", "ref_type", "tag")),
			row("type", "CreateEvent", "created_at", stamp(in), "payload", row("ref", "topic", "ref_type", "branch")),
			row("type", "PushEvent", "actor", row("login", "mallory"), "created_at", stamp(in), "payload", row("ref", "refs/tags/v0")),
			row("type", "PushEvent", "created_at", stamp(in), "payload", row("ref", "refs/heads/main")),
			row("type", "DeleteEvent", "created_at", stamp(in), "payload", row("ref", "v0.1", "ref_type", "tag")),
			row("type", "CreateEvent", "created_at", stamp(before), "payload", row("ref", "v1", "ref_type", "tag")),
		}}
		p.paged["repos/acme/web/commits"] = pagedList{"", []any{
			row("sha", strings.Repeat("e", 40), "author", row("login", "mallory"), "commit", row("committer", row("date", stamp(in)))),
		}}
		p.paged["repos/acme/web/actions/caches"] = pagedList{"actions_caches", []any{
			row("id", 11, "key", "npm-1", "ref", "refs/heads/main", "created_at", stamp(in)), row("id", 12, "key", "npm-0", "created_at", stamp(before)),
		}}
		p.paged["repos/acme/web/actions/artifacts"] = pagedList{"artifacts", []any{
			row("id", 21, "name", "dist", "created_at", stamp(in), "workflow_run", row("id", 900)),
			row("id", 22, "name", "other", "created_at", stamp(in), "workflow_run", row("id", 7)),
		}}
		p.paged["orgs/acme/packages"] = pagedList{"", []any{
			row("name", "web", "package_type", "npm", "updated_at", stamp(in), "repository", row("full_name", "acme/web")),
			row("name", "elsewhere", "package_type", "npm", "updated_at", stamp(in), "repository", row("full_name", "acme/other")),
			row("name", "still", "package_type", "npm", "updated_at", stamp(before), "repository", row("full_name", "acme/web")),
		}}
		p.paged["orgs/acme/packages/npm/web/versions"] = pagedList{"", []any{row("id", 1, "name", "2.0.0", "created_at", stamp(in)), row("id", 2, "name", "1.0.0", "created_at", stamp(before))}}
	})
	return l, p, since
}

func TestWhatCameOutInTheWindowIsListedWithWhoAndWhen(t *testing.T) {
	l, _, since := publishedPast(t)
	list, gaps, err := l.Published(context.Background(), build07, since)
	if err != nil {
		t.Fatal(err)
	}
	have := map[string]providers.Publication{}
	for _, x := range list {
		have[x.Kind+" "+x.Name] = x
		if x.At.Before(since) {
			t.Errorf("before the window: %+v", x)
		}
	}
	for want, why := range map[string]string{
		"release v2": "published in the window", "release v1: tool.tgz": "exchanged in the window", "deployment production main": "commit 0123456789ab",
		"tag v2": "by the repository's events", "tag v0": "perhaps over an older one", "tag v0.1": "deleted in the window", "workflow-change eeeeeeeeeeee": "touches .github/workflows", "cache npm-1": "later jobs restore it",
		"artifact dist (21)": "of run 900, which had a job on the runner", "artifact other (22)": "a run that had no job here",
		"package npm web 2.0.0": "of acme/web", "attestation sha256:" + strings.Repeat("a", 64): "attested",
	} {
		if x, ok := have[want]; !ok || !strings.Contains(x.Why, why) {
			t.Errorf("%s: %+v", want, x)
		}
	}
	for _, no := range []string{"release v1", "release v1: old.tgz", "tag v1", "cache npm-0", "tag topic", "tag refs/heads/main", "package npm web 1.0.0", "package npm elsewhere"} {
		if x, ok := have[no]; ok {
			t.Errorf("%+v", x)
		}
	}
	if have["release v2"].By != "mallory" || have["release v2"].Web != l.base+"/acme/web/releases/tag/v2" {
		t.Errorf("%+v", have["release v2"])
	}
	if all := gapNames(gaps); !strings.Contains(all, "by digest alone: asked for 1 files") || strings.Contains(all, "events reach back") || !strings.Contains(all, "tags that were moved") {
		t.Errorf("gaps:\n%s", all)
	}
}

func TestWhatWasNotAskedOfWhatCameOutIsSaid(t *testing.T) {
	l, p, since := publishedPast(t)
	p.change(func(p *past) {
		p.deny["orgs/acme/packages"], p.deny["users/acme/packages"] = 403, 404
		p.deny["repos/acme/web/releases"] = 404
		p.paged["repos/acme/web/events"] = pagedList{"", []any{row("type", "PushEvent", "created_at", stamp(since.Add(2*time.Hour)))}}
		p.lists["repos/acme/web/actions/caches"] = row("total_count", 0)
	})
	recent := providers.WithRecent(context.Background(), time.Minute)
	list, gaps, err := l.Published(recent, build07, since)
	if err != nil || len(list) == 0 {
		t.Fatal(list, err)
	}
	all := gapNames(gaps)
	for _, want := range []string{"packages of acme", "read:packages", "other packages of acme: not asked after that", "releases of acme/web", "events reach back to", "caches of acme/web"} {
		if !strings.Contains(all, want) {
			t.Errorf("no %q in\n%s", want, all)
		}
	}
	_, gaps, err = l.Published(providers.WithCalls(recent, 3), build07, since)
	if all := gapNames(gaps); err != nil || !strings.Contains(all, "not asked: no requests left for it") {
		t.Errorf("%s %v", all, err)
	}
}

func TestARunThatWasNotSearchedIsNotOneWithoutAJobHere(t *testing.T) {
	l, p, since := publishedPast(t)
	p.run("acme/web", 7, since.Add(time.Hour), nil)
	p.change(func(p *past) { p.deny["repos/acme/web/actions/runs/7/jobs"] = 403 })
	list, _, err := l.Published(context.Background(), build07, since)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"other (22)": "is not known", "dist (21)": "which had a job on the runner"} {
		if !slices.ContainsFunc(list, func(x providers.Publication) bool { return x.Name == name && strings.Contains(x.Why, want) }) {
			t.Errorf("%s: %+v", name, list)
		}
	}
}
