package exposure

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"time"

	"cordon/internal/check"
	"cordon/internal/evidence"
	"cordon/internal/untrusted"
	"cordon/providers"
)

// key is what makes two mentions one credential.
type key struct{ kind, name, where string }

func keyOf(c providers.Credential) key { return key{c.Kind, c.Name, c.Where} }

type builder struct {
	list *List
	at   map[key]int
	from time.Time // until when the runner may have been given what it could read
}

// add takes one credential, or joins it with an earlier mention of the same one.
func (b *builder) add(c providers.Credential) {
	c = b.proven(c)
	c.Deploys = c.Deploys || deploys(c)
	i, there := b.at[keyOf(c)]
	if !there {
		b.at[keyOf(c)] = len(b.list.Entries)
		b.list.Entries = append(b.list.Entries, c)
		return
	}
	b.list.Entries[i] = join(b.list.Entries[i], c)
}

// mergeOwn joins what the provider says about the runner's own token with the first
// entry, whatever it calls it.
func (b *builder) mergeOwn(c providers.Credential) {
	own := &b.list.Entries[0]
	c = b.proven(c)
	c.Name, c.Where = own.Name, own.Where
	*own = join(*own, c)
}

// proven drops what is no evidence: a replacement before the runner could read it last
// gave it the value that it read, and "dead" that nobody says he checked. Its own
// credential is not given by jobs: that counts from the window.
func (b *builder) proven(c providers.Credential) providers.Credential {
	switch {
	case c.Replaced.IsZero():
	case c.Replaced.Before(b.list.Window.From):
		c.Replaced = time.Time{}
	case c.Kind != "runner-token" && !c.Replaced.After(b.from):
		c.Why = strings.TrimPrefix(c.Why+"; set anew at "+c.Replaced.UTC().Format("2006-01-02 15:04:05Z")+", and the runner may have got the new value too", "; ")
		c.Replaced = time.Time{}
	}
	if c.DeadSaysBy == "" {
		c.Dead = time.Time{}
	}
	return c
}

// join keeps every reason and the later of two proofs.
func join(a, c providers.Credential) providers.Credential {
	if c.Why != "" && !slices.Contains(strings.Split(a.Why, "; "), c.Why) && !strings.Contains(a.Why, c.Why) {
		a.Why = strings.TrimPrefix(a.Why+"; "+c.Why, "; ")
	}
	if c.Replaced.After(a.Replaced) {
		a.Replaced = c.Replaced
	}
	if c.Dead.After(a.Dead) {
		a.Dead, a.DeadSaysBy = c.Dead, c.DeadSaysBy
	}
	a.Deploys = a.Deploys || c.Deploys
	a.Web = cmp.Or(a.Web, c.Web)
	return a
}

// host adds the credentials that lay on a host. The runner's own is an entry already.
// A look that failed or was partial is a gap: there may be more.
func (b *builder) host(name string, results []check.Result) {
	name = untrusted.Clean(name, 120)
	for _, r := range results {
		if r.Check != check.SecretsOnDisk {
			continue
		}
		for _, f := range r.Findings {
			if f.Where == "" || check.OwnCredential(f) {
				continue
			}
			b.add(providers.Credential{
				Name: f.Where.String(), Kind: "file", Where: "host " + name,
				Why: untrusted.Clean(f.Title, 120) + ": " + f.Detail.String(),
			})
		}
		gap := evidence.Gap{Name: "secrets on " + name, Why: r.Why, At: b.list.Opened}
		if r.State != check.Nothing && r.Why != "" && !slices.Contains(b.list.Gaps, gap) {
			b.list.Gaps = append(b.list.Gaps, gap)
		}
	}
}

// hints are parts of names of what publishes, signs or deploys: with those an intruder
// goes on after the runner is gone.
var hints = regexp.MustCompile(`(?i)(^|[^a-z])(publish|release|deploy|prod|production|sign|signing|cosign|gpg|npm|npmrc|pypi|pypirc|twine|gem|cargo|crates|nuget|maven|m2|sonatype|ossrh|registry|docker|dockerhub|ghcr|ecr|gcr|quay|harbor|helm|kube|kubeconfig|aws|gcp|gcloud|google|azure|terraform|vault|ssh|push)([^a-z]|$)`)

// camel splits "DeployKey" so that hints finds whole words in it.
var camel = regexp.MustCompile(`([a-z])([A-Z])`)

func deploys(c providers.Credential) bool {
	switch c.Kind {
	case "deploy-key": // the provider says of each whether it may write, whatever its name is
		return c.Deploys
	case "job-token", "runner-token":
		return false
	}
	return hints.MatchString(camel.ReplaceAllString(c.Name, "${1}_${2}"))
}

// order puts first what does the most harm: what publishes, signs or deploys, then the
// runner's own, then the rest, and the tokens of jobs last. Inside a rank what is not
// dealt with comes first.
func (b *builder) order() {
	rank := func(c providers.Credential) int {
		switch {
		case c.Deploys:
			return 0
		case c.Kind == "runner-token":
			return 1
		case c.Kind == "job-token":
			return 3
		}
		return 2
	}
	done := func(c providers.Credential) int {
		if c.Replaced.IsZero() && c.Dead.IsZero() {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(b.list.Entries, func(x, y providers.Credential) int {
		return cmp.Or(
			cmp.Compare(rank(x), rank(y)), cmp.Compare(done(x), done(y)),
			strings.Compare(x.Where, y.Where), strings.Compare(x.Name, y.Name), strings.Compare(x.Kind, y.Kind),
		)
	})
}
