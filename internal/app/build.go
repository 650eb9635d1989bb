package app

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"slices"

	"cordon/internal/change"
	"cordon/internal/config"
	"cordon/internal/host"
	"cordon/internal/redact"
	"cordon/internal/secret"
	"cordon/internal/transport"
	"cordon/providers"
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
		if err := a.addProvider(s, name, a.cfg.Providers[name], m); err != nil {
			return nil, err
		}
	}
	a.ssh(s, m)
	a.operator(s, m)
	return s, nil
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
