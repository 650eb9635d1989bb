package app

import (
	"context"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode"

	"cordon/internal/fleet"
	"cordon/internal/secret"
	"cordon/internal/target"
	"cordon/internal/untrusted"
	"cordon/providers"
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

// Fact is one answer with how it is known. An empty Text means that there is none:
// Known then says "not asked" or "could not look".
type Fact struct {
	Text  string    `json:"text,omitempty"`
	Known string    `json:"known"` // "provider now", "last known 3h ago", "last check of build-07 2d ago", "by name only", …
	At    time.Time `json:"at,omitzero"`
	Items []string  `json:"items,omitempty"` // one line each
}

// Answer is a fact under its question.
type Answer struct {
	ID       string `json:"id"` // identity, whose, machines, hosts, running, ran, reach, pause, notice
	Question string `json:"question"`
	Fact
}

// Candidate is one runner that what was asked about may be.
type Candidate struct {
	Ref     target.Ref     `json:"ref"`
	Name    untrusted.Text `json:"name,omitempty"`
	Hosts   []string       `json:"hosts,omitempty"` // configured ones
	Found   []Fact         `json:"found"`           // why it is here
	Answers []Answer       `json:"answers,omitempty"`
}

// KnownHost is what is known of a host without contacting it.
type KnownHost struct {
	Name    string   `json:"name"`
	Found   Fact     `json:"found"`
	Answers []Answer `json:"answers"`
}

// NextStep is a command that follows, and whether anybody on the host would notice.
type NextStep struct {
	Command string `json:"command"`
	Does    string `json:"does"`
	Notice  string `json:"notice"`
}

// Card is what triage found. No host was contacted for it. With several Runners none is
// chosen, and only what the lists say of them is in it.
type Card struct {
	Schema    string      `json:"schema"`
	Simulated bool        `json:"simulated,omitempty"`
	Asked     string      `json:"asked"` // never a token
	Kind      string      `json:"kind"`
	At        time.Time   `json:"at"`
	Runners   []Candidate `json:"runners"`
	Hosts     []KnownHost `json:"hosts,omitempty"`
	Notes     []string    `json:"notes,omitempty"`   // what is known beside runners and hosts
	Unknown   []string    `json:"unknown,omitempty"` // what could not be had or is not known here
	Next      []NextStep  `json:"next"`
}

// Exit is 0 where one or more runners were found and asked for, 4 where something could
// not be told.
func (c Card) Exit() int {
	if len(c.Runners) == 0 || len(c.Unknown) > 0 {
		return ExitCannotTell
	}
	return ExitDone
}

// Only is the one runner that was found, or nil.
func (c Card) Only() *Candidate {
	if len(c.Runners) != 1 {
		return nil
	}
	return &c.Runners[0]
}

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

// tokenLike errs towards refusing: what is refused can still be asked with -.
func (a *App) tokenLike(s string) bool {
	if _, n := a.marker.Text(s); n > 0 {
		return true
	}
	if len(s) < 20 || strings.ContainsAny(s, "./:@ ") {
		return false
	}
	var upper, lower, digit bool
	turns, last := 0, 0
	for _, r := range s {
		kind := 0
		switch {
		case unicode.IsUpper(r):
			upper, kind = true, 1
		case unicode.IsLower(r):
			lower, kind = true, 2
		case unicode.IsDigit(r):
			digit, kind = true, 3
		}
		if kind != last && kind != 0 && last != 0 {
			turns++
		}
		last = kind
	}
	return upper && lower && digit && turns >= len(s)/4
}

// runnerRef reads SYSTEM/runner/ID and SYSTEM/ID of a configured provider.
func (a *App) runnerRef(s string) (target.Ref, bool) {
	r, err := target.Parse(s)
	if err != nil || r.Kind != target.Runner {
		return target.Ref{}, false
	}
	_, ok := a.fleet.all[r.System].(providers.Provider)
	return r, ok
}

// looksRef tells SYSTEM/runner/ID of an unknown system from a path or a name.
func (a *App) looksRef(s string) bool {
	r, err := target.Parse(s)
	return err == nil && slices.Contains([]string{target.Runner, target.Manager, target.Job, target.Host}, r.Kind) && strings.Count(s, "/") >= 2
}

func because(err error) string {
	if err == nil {
		return "; cordon fleet lists them"
	}
	return ": " + err.Error()
}

func (a *App) hasHost(name string) bool {
	_, ok := a.cfg.Hosts[name]
	return ok
}

// pageOf is the address of a web page, also as people copy it without its scheme.
func pageOf(s string) *url.URL {
	if !strings.Contains(s, "://") {
		if !strings.Contains(s, "/-/") {
			return nil
		}
		s = "https://" + s
	}
	u, err := url.Parse(s)
	if err != nil || u.Host == "" {
		return nil
	}
	u.User, u.RawQuery, u.Fragment = nil, "", ""
	return u
}

func addressOf(s string) netip.Addr {
	if ap, err := netip.ParseAddrPort(s); err == nil {
		return ap.Addr().Unmap()
	}
	ip, err := netip.ParseAddr(strings.Trim(s, "[]"))
	if err != nil {
		return netip.Addr{}
	}
	return ip.Unmap().WithZone("")
}

// triage is one run of Triage.
type triage struct {
	a     *App
	card  Card
	cases []keptCase
	rows  *fleet.Fleet // nil: nothing was listed or recalled
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
			return nil, fmt.Errorf("%w: no provider is configured and no host was checked here; write one to %s or set GITLAB_TOKEN", ErrUsage, a.configPlace())
		}
		t.unknown("no provider is configured: write one to %s or set GITLAB_TOKEN", a.configPlace())
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
		if c.Ref == ref || c.Ref.System == ref.System && c.Ref.ID == ref.ID {
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

// row is what the list or the memory says of a runner.
func (t *triage) row(ref target.Ref) (fleet.Row, bool) {
	if t.rows != nil {
		for _, r := range t.rows.Rows {
			if r.Runner.Ref.System == ref.System && r.Runner.Ref.ID == ref.ID && !r.Runner.Ref.IsZero() {
				return r, true
			}
		}
	}
	return fleet.Row{}, false
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
	if len(t.card.Runners) == 0 {
		t.unknown("no runner is known for it")
		if t.card.Kind == AskedHost || t.card.Kind == AskedName {
			t.unknown("which machines use a runner is known only where it was asked; cordon fleet --managers asks all, with one call each")
		}
	}
	t.next()
	return t.card, ctx.Err()
}
