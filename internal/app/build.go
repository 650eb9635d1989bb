package app

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"slices"

	"cordon/internal/change"
	"cordon/internal/config"
	"cordon/internal/host"
	"cordon/internal/redact"
	"cordon/internal/secret"
	"cordon/internal/transport"
	"cordon/providers"
	"cordon/providers/gitlab"
)

// systems is one set of providers and hosts, under one fingerprint key. appliers and
// issuer are nil in a read-only process: nothing else decides about writing.
type systems struct {
	all       map[string]providers.System
	providers []providers.Provider
	hosts     *host.Hosts
	appliers  map[string]providers.Applier
	issuer    *change.Issuer
}

// build makes a set that looks, and where acts is true also one that may write. It
// contacts nothing and fetches no token. An offline process has an empty one: there is
// nobody that it could ask.
func (a *App) build(m redact.Marker, acts bool) (*systems, error) {
	s := &systems{all: map[string]providers.System{}}
	if a.o.Offline {
		return s, nil
	}
	if acts && !a.o.ReadOnly {
		s.appliers, s.issuer = map[string]providers.Applier{}, change.NewIssuer()
	}
	for _, name := range slices.Sorted(maps.Keys(a.cfg.Providers)) {
		if err := a.gitlab(s, name, a.cfg.Providers[name], m); err != nil {
			return nil, err
		}
	}
	a.ssh(s, m)
	a.operator(s, m)
	return s, nil
}

// gitlab adds one GitLab: a new provider type gets a function like this one.
func (a *App) gitlab(s *systems, name string, p config.Provider, m redact.Marker) error {
	base, err := url.Parse(p.URL)
	if err != nil {
		return fmt.Errorf("provider %s: %w", name, err)
	}
	next, err := below(p.CAFile)
	if err != nil {
		return fmt.Errorf("provider %s: %w", name, err)
	}
	a.mu.Lock()
	a.wires = append(a.wires, next)
	a.mu.Unlock()
	o := transport.Options{
		System: name, Base: base, Reads: gitlab.Reads(), Auth: gitlab.Auth, Next: next, Clock: a.clock,
		Look: a.token("look token of "+name, &p.Look),
	}
	if !a.o.ReadOnly {
		o.Act = a.token("act token of "+name, p.Act)
	}
	prov, err := gitlab.New(gitlab.Options{
		Name: name, BaseURL: p.URL, Scopes: p.Scopes, HTTP: transport.New(o), Clock: a.clock, Marker: m,
		ActsApart: true, ActHeld: func() bool { return a.holds("act token of " + name) }, Recent: a.recent(name), Destinations: a.destinations(), Deliver: a.deliver,
	})
	if err != nil {
		return err
	}
	s.all[name] = prov
	s.providers = append(s.providers, prov)
	if s.appliers != nil {
		s.appliers[name] = gitlab.NewApplier(prov)
	}
	return nil
}

// recent is what a provider just answered, one memory for all sets of systems: what
// triage read under the fleet's key need not be asked again for the case.
func (a *App) recent(name string) *gitlab.Recent {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.answers == nil {
		a.answers = map[string]*gitlab.Recent{}
	}
	if a.answers[name] == nil {
		a.answers[name] = &gitlab.Recent{}
	}
	return a.answers[name]
}

// token fetches a token at first need and keeps it in memory for this process.
func (a *App) token(what string, src *config.TokenSource) transport.Credential {
	return func(ctx context.Context) (secret.Secret, error) {
		a.mu.Lock()
		t, ok := a.tokens[what]
		a.mu.Unlock()
		if ok {
			return t, nil
		}
		t, err := src.Get(ctx)
		if errors.Is(err, config.ErrAsk) {
			t, err = a.ask(ctx, what)
		}
		if err != nil {
			return secret.Secret{}, err
		}
		a.mu.Lock()
		a.tokens[what] = t
		a.mu.Unlock()
		return t, nil
	}
}

// holds reports whether a token was fetched in this process.
func (a *App) holds(what string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	_, ok := a.tokens[what]
	return ok
}

// below is the plain transport, with the provider's own CA where one is named.
func below(caFile string) (*http.Transport, error) {
	t := transport.Plain()
	if caFile == "" {
		return t, nil
	}
	pem, err := os.ReadFile(caFile)
	if err != nil {
		return nil, fmt.Errorf("ca_file: %w", err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("ca_file %s: no certificate in it; it has to be PEM", caFile)
	}
	t.TLSClientConfig = &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
	return t, nil
}
