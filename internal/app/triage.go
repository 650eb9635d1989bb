package app

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"cordon/internal/fleet"
	"cordon/internal/secret"
	"cordon/internal/target"
	"cordon/internal/untrusted"
)

// ErrTokenArgument refuses a token on the command line: arguments are in the shell's
// history and in every process list.
var ErrTokenArgument = fmt.Errorf("%w: that looks like a token; arguments are seen by others, so ask with: cordon triage -", ErrUsage)

// Kinds of what triage is asked about.
const (
	AskedRunner  = "runner"
	AskedHost    = "host"
	AskedAddress = "address"
	AskedURL     = "url"
	AskedToken   = "token"
	AskedName    = "name" // a runner's or a host's: nothing says which
)

// Triage turns a runner's reference or name, a host, an address or a page of a
// provider into runners, from what is already known and at most four calls: the list,
// and of the one runner its details, managers and running jobs. It contacts no host
// and chooses between several runners never. A token is refused (ErrTokenArgument);
// TriageToken takes it.
func (a *App) Triage(ctx context.Context, what string) (Card, error) {
	what = strings.TrimSpace(what)
	if what == "" {
		return Card{}, fmt.Errorf("%w: triage what? a runner, a host, an address, a URL, or - for a token", ErrUsage)
	}
	if a.tokenLike(what) {
		return Card{}, ErrTokenArgument
	}
	t, err := a.newTriage(untrusted.Clean(what, 200))
	if err != nil {
		return Card{}, err
	}
	if ref, ok := a.runnerRef(what); ok {
		t.card.Kind = AskedRunner
		t.found(ref, Fact{Text: "named by its reference", Known: "as asked"})
		return t.finish(ctx)
	}
	host := strings.TrimPrefix(what, target.SSH+"/"+target.Host+"/")
	switch u, ip := pageOf(what), addressOf(what); {
	case u != nil:
		t.card.Kind = AskedURL
		err = t.page(ctx, u)
	case ip.IsValid():
		t.card.Kind = AskedAddress
		err = t.address(ctx, ip)
	case a.hasHost(host):
		t.card.Kind = AskedHost
		err = t.host(ctx, host, Fact{Text: "configured under that name", Known: "as configured"})
	case strings.Contains(what, "/") && !strings.HasPrefix(what, "/") && a.looksRef(what):
		_, perr := target.Parse(what)
		return Card{}, fmt.Errorf("%w: %s names no runner of a configured provider%s", ErrNoRunner, t.card.Asked, because(perr))
	default:
		t.card.Kind = AskedName
		err = t.name(ctx, what)
	}
	if err != nil {
		return Card{}, err
	}
	return t.finish(ctx)
}

// TriageToken finds the runner of a token. The token is compared with the fingerprints
// of snapshots that are kept here, and is sent nowhere.
func (a *App) TriageToken(ctx context.Context, token secret.Secret) (Card, error) {
	if token.IsZero() || strings.TrimSpace(token.Reveal()) == "" {
		return Card{}, fmt.Errorf("%w: no token was given", ErrUsage)
	}
	t, err := a.newTriage("a token")
	if err != nil {
		return Card{}, err
	}
	t.card.Kind = AskedToken
	t.token(secret.New(strings.TrimSpace(token.Reveal())))
	return t.finish(ctx)
}

// triage is one run of Triage.
type triage struct {
	a     *App
	card  Card
	cases []keptCase
	rows  *fleet.Fleet // nil: nothing was listed or recalled

	planted bool // an installation was found that no list of ours has
}

func (a *App) newTriage(asked string) (*triage, error) {
	t := &triage{a: a, card: Card{
		Schema: "cordon.triage/1", Simulated: a.Simulated(), Asked: asked, At: a.clock.Now(), Runners: []Candidate{}, Next: []NextStep{},
	}}
	var err error
	if t.cases, err = a.kept(); err != nil {
		t.unknown("what was kept here before cannot be read: %v", err)
	}
	if len(a.fleet.providers) == 0 {
		if len(snapshots(t.cases)) == 0 {
			return nil, fmt.Errorf("%w: no provider is configured and no host was checked here; %s", ErrUsage, a.howToConfigure())
		}
		t.unknown("no provider is configured: %s", a.howToConfigure())
	}
	return t, nil
}

func (t *triage) unknown(format string, args ...any) {
	s := untrusted.Clean(fmt.Sprintf(format, args...), 400)
	if !slices.Contains(t.card.Unknown, s) {
		t.card.Unknown = append(t.card.Unknown, s)
	}
}

// found adds a runner, or one more reason for one that is there.
func (t *triage) found(ref target.Ref, why Fact) *Candidate {
	for i := range t.card.Runners {
		c := &t.card.Runners[i]
		if c.Ref.Same(ref) {
			if !slices.ContainsFunc(c.Found, func(f Fact) bool { return f.Text == why.Text && f.Known == why.Known }) {
				c.Found = append(c.Found, why)
			}
			return c
		}
	}
	t.card.Runners = append(t.card.Runners, Candidate{Ref: ref, Found: []Fact{why}})
	return &t.card.Runners[len(t.card.Runners)-1]
}

// list lists the fleet once; where that fails, what is known stands in.
func (t *triage) list(ctx context.Context) error {
	if t.rows != nil || len(t.a.fleet.providers) == 0 {
		return nil
	}
	f, err := t.a.Fleet(ctx)
	if err != nil {
		if ctx.Err() != nil {
			return err
		}
		t.unknown("the runners could not be listed: %v", err)
		if f, err = t.a.KnownFleet(); err != nil {
			return err
		}
	}
	for _, g := range f.Gaps {
		t.unknown("not listed: %s: %s", g.Name, g.Why)
	}
	t.rows = &f
	return nil
}

// recall is list without asking anybody.
func (t *triage) recall() {
	if t.rows != nil || len(t.a.fleet.providers) == 0 {
		return
	}
	if f, err := t.a.KnownFleet(); err == nil {
		t.rows = &f
	}
}

// row is what the list or the memory says of a runner. Where the reference leaves the
// scope open and several scopes have its number, it says nothing.
func (t *triage) row(ref target.Ref) (fleet.Row, bool) {
	var hits []fleet.Row
	if t.rows != nil {
		for _, r := range t.rows.Rows {
			switch {
			case r.Runner.Ref.IsZero():
			case r.Runner.Ref == ref:
				return r, true
			case r.Runner.Ref.Same(ref):
				hits = append(hits, r)
			}
		}
	}
	if len(hits) != 1 {
		return fleet.Row{}, false
	}
	return hits[0], true
}

// finish reads the one runner in full, or says of several what the list says.
func (t *triage) finish(ctx context.Context) (Card, error) {
	if one := t.card.Only(); one != nil {
		t.recall()
		if err := t.full(ctx, one); err != nil {
			return Card{}, err
		}
	} else {
		for i := range t.card.Runners {
			t.brief(&t.card.Runners[i])
		}
	}
	for i := range t.card.Runners {
		for _, h := range t.card.Runners[i].Hosts {
			t.addHost(h, Fact{Text: "of " + t.card.Runners[i].Ref.Short(), Known: "see the runner"})
		}
	}
	t.doubts()
	if len(t.card.Runners) == 0 && !t.planted {
		t.unknown("no runner is known for it")
		if (t.card.Kind == AskedHost || t.card.Kind == AskedName) && t.a.anyTellsMachines() {
			t.unknown("which machines use a runner is known only where it was asked; cordon fleet --managers asks all, with one call each")
		}
	}
	t.next()
	return t.card, ctx.Err()
}
