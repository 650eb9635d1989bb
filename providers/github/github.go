// Package github is the provider for GitHub: github.com, tenants on ghe.com, and
// Enterprise Server.
//
// It speaks the REST API (version 2022-11-28) through google/go-github/v66, and through
// that library's NewRequest where it lacks a call or a field. Every request goes through
// the RoundTripper it is given, so this package holds no token of a user and cannot
// change anything without a permit; the one token that it makes, an App's, is made by a
// transport of its own that can do nothing else. GitHub has no pause, no rotation of a
// runner's credential and no last contact, and nothing here pretends otherwise. It may
// import levels 0–2.
//
// The facts are from GitHub's API description and documentation and from the source of
// actions/runner, as noted where they are used.
package github

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

	gh "github.com/google/go-github/v66/github"

	"cordon/internal/clock"
	"cordon/internal/redact"
	"cordon/internal/secret"
	"cordon/internal/target"
	"cordon/internal/untrusted"
	"cordon/providers"
)

// Options make a Provider.
type Options struct {
	Name string // configured name, System of every reference
	// URL is the address that people open: https://github.com, https://TENANT.ghe.com or
	// that of an Enterprise Server. The transport's Base is what API makes of it.
	URL    string
	Scopes []string // "enterprise:SLUG", "organization:ORG", "repository:OWNER/REPO", "repositories:OWNER", "mine"; empty: mine
	HTTP   http.RoundTripper
	Clock  clock.Clock
	Marker redact.Marker

	// ActsApart says that changes use another credential than reads, so that what the
	// credential for looking may do says nothing about what can be done.
	ActsApart bool

	// ActHeld says whether the credential for acting is in memory already, so that asking
	// whose it is disturbs nobody. nil: it is not asked about.
	ActHeld func() bool

	// App makes the credential for looking, and ActApp the one for acting, where that is a
	// GitHub App's; nil: a token of its own, about which GitHub is asked.
	App, ActApp *Mint
}

// Provider reads and plans. It is safe for concurrent use.
type Provider struct {
	o       Options
	web     *url.URL // for pages that a person opens
	scopes  []scope
	look    service    // bulk and curious reads: stop at the reserve
	act     service    // what containment reads: never held back here
	changes *gh.Client // for changes alone
	limits  *limits
	memory  memory // of searches for jobs
	clock   clock.Clock
}

var nameRE = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)

// New checks the options; it contacts nobody.
func New(o Options) (*Provider, error) {
	fail := func(format string, a ...any) (*Provider, error) {
		return nil, fmt.Errorf("provider %q: "+format, append([]any{untrusted.Text(o.Name)}, a...)...)
	}
	if !nameRE.MatchString(o.Name) {
		return fail("a name is made of letters, digits, dot, dash and underscore")
	}
	api, err := API(o.URL)
	if err != nil {
		return fail("%w", err)
	}
	if o.HTTP == nil {
		return fail("no transport: every request must go through internal/transport")
	}
	if o.Clock == nil {
		o.Clock = clock.Real{}
	}
	scopes, err := parseScopes(o.Scopes)
	if err != nil {
		return fail("%w", err)
	}
	web, err := url.Parse(strings.TrimRight(o.URL, "/"))
	if err != nil {
		return fail("url is not an address")
	}
	p := &Provider{o: o, web: web, scopes: scopes, clock: o.Clock, limits: &limits{clock: o.Clock}}
	// A client for each purpose: go-github keeps what it knows of limits in the client, and
	// nothing that a list ran into may stand in the way of a pause.
	p.look = sparing{&client{connect(api, o.HTTP), p.limits}, p.limits}
	p.act = &client{connect(api, o.HTTP), p.limits}
	p.changes = connect(api, o.HTTP)
	return p, nil
}

// Name implements providers.System.
func (p *Provider) Name() string { return p.o.Name }

// own checks that t is a runner of this system and returns where it is registered and
// its id. The zero scope means that t does not tell: ids are per scope, and Runner finds it.
func (p *Provider) own(t target.Ref) (scope, int64, error) {
	refuse := func(why string) (scope, int64, error) {
		return scope{}, 0, fmt.Errorf("%w: %s: %s", providers.ErrNotYours, t, why)
	}
	id, err := strconv.ParseInt(t.ID, 10, 64)
	switch {
	case t.System != p.o.Name:
		return refuse("not of " + p.o.Name)
	case t.Kind != target.Runner:
		return refuse("no runner")
	case err != nil || id <= 0 || strconv.FormatInt(id, 10) != t.ID:
		return refuse("a GitHub runner's id is a number, as in " + p.o.Name + "/organization:acme/runner/42")
	case t.Scope == target.Scope{}:
		return scope{}, id, nil
	}
	s, err := parseScope(t.Scope.Level + ":" + t.Scope.Path)
	if err != nil || !s.holds() {
		return refuse("runners are registered to enterprise:SLUG, organization:ORG or repository:OWNER%2FREPO")
	}
	return s, id, nil
}

// ref is the reference of a runner in a scope.
func (p *Provider) ref(s scope, id int64) target.Ref {
	return target.Ref{System: p.o.Name, Scope: s.target(), Kind: target.Runner, ID: strconv.FormatInt(id, 10)}
}

// text makes foreign text safe to hand on: secrets by their shape first.
func (p *Provider) text(s string) untrusted.Text {
	out, _ := p.o.Marker.Text(s)
	return untrusted.Text(out)
}

// page is the address of a page for a person. It is built from the configured address,
// never taken from an answer.
func (p *Provider) page(path string) string { return p.web.String() + "/" + path }

// finished tells a broken answer from a caller who gave up.
func finished(ctx context.Context, err error) error {
	if ctx.Err() != nil && err != nil {
		return errors.Join(ctx.Err(), err)
	}
	return nil
}

// Auth puts the credential where GitHub expects it, for transport.Options. Every kind of
// token goes as a bearer (docs: authenticating to the REST API).
func Auth(r *http.Request, s secret.Secret) {
	r.Header.Set("Authorization", "Bearer "+s.Reveal())
}

// Silence implements providers.Provider.
func (p *Provider) Silence() providers.Silence {
	return providers.Silence{
		Needs: 15 * time.Minute,
		Why: "GitHub tells no last contact. A listener's long poll lasts 50 seconds, a refused session is retried for 4 minutes, " +
			"and a job lost with its runner is held for 10 minutes (lease renewed every 60 seconds): after less than 15 minutes its " +
			"absence, its jobs and its host prove nothing",
	}
}
