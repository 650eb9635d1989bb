// Package gitlab is the provider for GitLab, self-managed and GitLab.com.
//
// It speaks the REST API v4 through xanzy/go-gitlab, which api.go alone knows: the
// library is archived in favour of gitlab.com/gitlab-org/api/client-go, and the swap
// stays in that file. Every request goes through the RoundTripper it is given, so
// this package holds no token and cannot change anything without a permit. Answers
// are decoded into closed structs that have no field for a secret; foreign text is
// redacted and cleaned before it is handed on. It may import levels 0–2.
//
// The facts are from GitLab's source and documentation, as noted where they are used.
package gitlab

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"cordon/internal/change"
	"cordon/internal/clock"
	"cordon/internal/redact"
	"cordon/internal/secret"
	"cordon/internal/target"
	"cordon/internal/untrusted"
	"cordon/providers"
)

// Scope levels of a runner, from runner_type.
const (
	Instance = "instance"
	Group    = "group"
	Project  = "project"
)

// Kinds of Destination.
const (
	Command = "command" // stdin of a named command
	Sealed  = "sealed"  // encrypted to a named recipient
	Discard = "discard" // kept nowhere: every manager stays down
)

// Destination is a place a new runner token can go.
type Destination struct {
	Name  string // as configured
	Kind  string // Command, Sealed, Discard
	Title string // for a person: "stdin of vault-put"
}

// Deliver hands a new token to a destination. What it returns are facts about the
// delivery, never the token. The destination is c.Args' "to". It is called once, right
// after the token was issued, with a context that outlives the caller's.
type Deliver func(ctx context.Context, c change.Change, token secret.Secret) (map[string]string, error)

// Options make a Provider.
type Options struct {
	Name    string   // configured name, System of every reference
	BaseURL string   // "https://gitlab.example.org", with a relative root if it has one
	Scopes  []string // "instance", "mine", "group:PATH", "project:PATH"; empty: mine
	HTTP    http.RoundTripper
	Clock   clock.Clock
	Marker  redact.Marker
	Recent  *Recent // shared with other Providers of the same service; nil: one of its own

	// ActsApart says that changes use another credential than reads, so that what the
	// credential for looking may do says nothing about what can be done.
	ActsApart bool

	// ActHeld says whether the credential for acting is in memory already, so that asking
	// whose it is disturbs nobody. nil: it is not asked about.
	ActHeld func() bool

	Destinations []Destination // besides discarding, which is always offered
	Deliver      Deliver       // nil: discarding is the only destination
}

// Provider reads and plans. It is safe for concurrent use.
type Provider struct {
	o      Options
	base   *url.URL
	scopes []scope
	api    service
	clock  clock.Clock
	recent *Recent
}

var _ interface {
	providers.Provider
	providers.Settler
	providers.JobLister
	providers.Running
	providers.Finder
	providers.Exposer
	providers.Returner
	providers.Knower
	providers.Expirer
} = (*Provider)(nil)

var nameRE = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)

// New checks the options; it contacts nobody.
func New(o Options) (*Provider, error) {
	fail := func(format string, a ...any) (*Provider, error) {
		return nil, fmt.Errorf("provider %q: "+format, append([]any{untrusted.Text(o.Name)}, a...)...)
	}
	if !nameRE.MatchString(o.Name) {
		return fail("a name is made of letters, digits, dot, dash and underscore")
	}
	base, err := url.Parse(o.BaseURL)
	if err != nil || base.Host == "" || base.Scheme != "https" && base.Scheme != "http" || base.User != nil || base.RawQuery != "" {
		return fail("url is not the address of a GitLab; write https://gitlab.example.org")
	}
	if o.HTTP == nil {
		return fail("no transport: every request must go through internal/transport")
	}
	if o.Clock == nil {
		o.Clock = clock.Real{}
	}
	if o.Recent == nil {
		o.Recent = &Recent{}
	}
	scopes, err := parseScopes(o.Scopes)
	if err != nil {
		return fail("%w", err)
	}
	if err := checkDestinations(o); err != nil {
		return fail("%w", err)
	}
	base.Path = strings.TrimRight(base.Path, "/")
	if strings.HasSuffix(base.Path, "/api/v4") { // the transport below has the same base, so it is not cut off here
		return fail("url is the address of the API; leave out /api/v4")
	}
	s, err := connect(base.String(), o.HTTP)
	if err != nil {
		return fail("%w", err)
	}
	return &Provider{o: o, base: base, scopes: scopes, api: s, clock: o.Clock, recent: o.Recent}, nil
}

func checkDestinations(o Options) error {
	seen := map[string]bool{}
	for _, d := range o.Destinations {
		switch {
		case d.Name == "" || seen[d.Name]:
			return fmt.Errorf("rotation destination %q: a name of its own is needed", untrusted.Text(d.Name))
		case d.Kind != Command && d.Kind != Sealed && d.Kind != Discard:
			return fmt.Errorf("rotation destination %s: unknown kind %q", untrusted.Text(d.Name), untrusted.Text(d.Kind))
		case d.Kind != Discard && o.Deliver == nil:
			return fmt.Errorf("rotation destination %s: nothing delivers to it", untrusted.Text(d.Name))
		}
		seen[d.Name] = true
	}
	return nil
}

// Name implements providers.System.
func (p *Provider) Name() string { return p.o.Name }

// Silence implements providers.Provider.
func (p *Provider) Silence() providers.Silence {
	return providers.Silence{
		Needs: 65 * time.Minute,
		Why: "a refused gitlab-runner knocks three times, then keeps quiet for an hour (unhealthy_interval) and knocks again, " +
			"and contacted_at of an idle runner may lag by 60 minutes: less than 65 minutes of quiet proves nothing",
	}
}

// own checks that t is a runner of this system and returns its id.
func (p *Provider) own(t target.Ref) (int64, error) {
	id, err := strconv.ParseInt(t.ID, 10, 64)
	switch {
	case t.System != p.o.Name:
		return 0, fmt.Errorf("%w: %s is not of %s", providers.ErrNotYours, t, p.o.Name)
	case t.Kind != target.Runner:
		return 0, fmt.Errorf("%w: %s is no runner", providers.ErrNotYours, t)
	case err != nil || id <= 0 || strconv.FormatInt(id, 10) != t.ID:
		return 0, fmt.Errorf("%w: %s: a GitLab runner's id is a number, as in %s/42", providers.ErrNotYours, t, p.o.Name)
	case t.Scope.Path != "":
		return 0, fmt.Errorf("%w: %s: ids are unique in a GitLab; write %s", providers.ErrNotYours, t, target.Ref{System: t.System, Kind: t.Kind, ID: t.ID}.Short())
	}
	return id, nil
}

// text makes foreign text safe to hand on: secrets by their shape first.
func (p *Provider) text(s string) untrusted.Text {
	out, _ := p.o.Marker.Text(s)
	return untrusted.Text(out)
}

// finished tells a broken answer from a caller who gave up.
func finished(ctx context.Context, err error) error {
	if ctx.Err() != nil && err != nil {
		return errors.Join(ctx.Err(), err)
	}
	return nil
}

// Auth puts the credential where GitLab expects it, for transport.Options. OAuth
// access tokens (64 hex digits, as glab stores them) go as a bearer; everything else is
// a personal, group or project access token.
func Auth(r *http.Request, s secret.Secret) {
	v := s.Reveal()
	if len(v) == 64 && strings.Trim(v, "0123456789abcdef") == "" {
		r.Header.Set("Authorization", "Bearer "+v)
		return
	}
	r.Header.Set("Private-Token", v)
}
