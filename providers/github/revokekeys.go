package github

import (
	"context"
	"fmt"
	"time"

	"cordon/internal/change"
	"cordon/internal/target"
)

var keyFields = []string{"id", "key", "title", "read_only", "added_by", "created_at", "last_used", "enabled"}

// maxKeyRepos is how many repositories are asked for their deploy keys.
const maxKeyRepos = 10

// revokeKeys offers the deploy keys of the repositories that the runner serves, those that
// may write first.
func (p *Provider) revokeKeys(ctx context.Context, v view, _ string) ([]change.Plan, error) {
	b := p.few(planCalls)
	places, caveat, err := p.placesOf(ctx, b, v.sc, v.runner)
	if err != nil && len(places) == 0 {
		return nil, err
	}
	var cut []string
	if caveat != "" {
		cut = append(cut, caveat)
	}
	if err != nil {
		cut = append(cut, "not every repository could be listed: "+err.Error())
	}
	if n := len(places); n > maxKeyRepos {
		cut = append(cut, fmt.Sprintf("only %d of %d repositories were asked for their deploy keys", maxKeyRepos, n))
	}
	var reading, writing []change.Plan
	for _, pl := range places[:min(len(places), maxKeyRepos)] {
		a, err := b.get(ctx, repoPath(pl.repo)+"/keys", pageOf(nil, 1, 100))
		var keys []deployKey
		if err == nil {
			keys, err = decode[[]deployKey](a)
		}
		if err != nil {
			cut = append(cut, fmt.Sprintf("those of %s could not be listed: %v", p.text(pl.repo), err))
			continue
		}
		if a.Next != 0 {
			cut = append(cut, fmt.Sprintf("only the first %d deploy keys of %s were looked at", len(keys), p.text(pl.repo)))
		}
		for _, k := range keys {
			plan, err := p.revokeKey(ctx, v, pl.repo, k)
			if err != nil {
				return nil, err
			}
			if k.ReadOnly {
				reading = append(reading, plan)
			} else {
				writing = append(writing, plan)
			}
		}
	}
	return append(writing, reading...), cutOff(cut)
}

func (p *Provider) revokeKey(ctx context.Context, v view, repo string, k deployKey) (change.Plan, error) {
	op := keyRemove{repo, k.ID}
	may := "may write"
	if k.ReadOnly {
		may = "may only read"
	}
	title := fmt.Sprintf("remove the deploy key %d %q of %s, which %s (%s)", k.ID, p.text(k.Title), p.text(repo), may, usedAt(k.LastUsed))
	if err := p.keep(ctx, p.keptItem(op.about()), "GET "+op.path(), k, keyFields); err != nil {
		return change.Plan{}, err
	}
	c, err := p.planned(ctx, change.Change{
		ID: "revoke/1", Op: opKey, Title: title, Hits: []target.Ref{v.ref, p.project(repo)}, Before: change.Pack(k.before()),
		Capacity: "whatever uses the key, a deployment or a mirror, stops at its next connection", Destroys: []string{p.keptItem(op.about())},
		TipsOff: "whoever uses the key is refused",
	}, op)
	return change.Plan{
		Option: op.about().ID, Title: title, Covers: "whoever holds its private half is shut out of the repository", TipsOff: c.TipsOff,
		Limits:  []string{"it cannot be undone from here; its public half is kept, so that its owner can add it again", "what was fetched with it stays fetched"},
		Changes: []change.Change{c}, ByHand: []change.Link{
			{Title: "the repository's deploy keys", URL: p.page(escapeRepo(repo) + "/settings/keys"), Command: p.gh("--method DELETE " + op.path())},
		},
	}, err
}

func (p *Provider) project(repo string) target.Ref {
	return target.Ref{System: p.o.Name, Scope: target.Scope{Level: repository, Path: repo}, Kind: target.Project, ID: repo}
}

func usedAt(t *time.Time) string {
	if t == nil || t.IsZero() {
		return "never used, or not told"
	}
	return "last used " + t.UTC().Format("2006-01-02")
}
