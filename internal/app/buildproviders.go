package app

import (
	"errors"
	"fmt"
	"net/url"

	"cordon/internal/config"
	"cordon/internal/redact"
	"cordon/internal/transport"
	"cordon/providers"
	"cordon/providers/github"
	"cordon/providers/gitlab"
)

// built is one provider, and how to make what may write for it.
type built struct {
	providers.Provider
	applier func() providers.Applier
}

// addProvider adds one provider. A new type is one more case here and a function like gitlab.
func (a *App) addProvider(s *systems, name string, p config.Provider, m redact.Marker) error {
	next, err := below(p.CAFile)
	if err != nil {
		return fmt.Errorf("provider %s: %w", name, err)
	}
	a.mu.Lock()
	a.wires = append(a.wires, next)
	a.mu.Unlock()
	o := transport.Options{System: name, Next: next, Clock: a.clock}
	var b built
	switch p.Type {
	case "github":
		b, err = a.github(o, p, m)
	case "gitlab":
		b, err = a.gitlab(o, p, m)
	default:
		err = fmt.Errorf("this build has no type %s", p.Type)
	}
	if err != nil {
		return fmt.Errorf("provider %s: %w", name, err)
	}
	s.all[name] = b.Provider
	s.providers = append(s.providers, b.Provider)
	if s.appliers != nil {
		s.appliers[name] = b.applier()
	}
	return nil
}

func (a *App) gitlab(o transport.Options, p config.Provider, m redact.Marker) (built, error) {
	base, err := url.Parse(p.URL)
	if err != nil {
		return built{}, err
	}
	look, act := "look token of "+o.System, "act token of "+o.System
	o.Base, o.Reads, o.Auth, o.Look = base, gitlab.Reads(), gitlab.Auth, a.token(look, &p.Look)
	if !a.o.ReadOnly {
		o.Act = a.token(act, p.Act)
	}
	prov, err := gitlab.New(gitlab.Options{
		Name: o.System, BaseURL: p.URL, Scopes: p.Scopes, HTTP: transport.New(o), Clock: a.clock, Marker: m,
		ActsApart: true, ActHeld: func() bool { return a.holds(act) }, Recent: a.recent(o.System), Destinations: a.destinations(), Deliver: a.deliver,
	})
	return built{prov, func() providers.Applier { return gitlab.NewApplier(prov) }}, err
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

// github adds one GitHub. A token of an App is made by a mint, the one for looking with
// permissions to read alone; in a read-only process there is no other.
func (a *App) github(o transport.Options, p config.Provider, m redact.Marker) (built, error) {
	base, err := github.API(p.URL)
	if err != nil {
		return built{}, err
	}
	look, act := "look token of "+o.System, "act token of "+o.System
	of := github.Options{
		Name: o.System, URL: p.URL, Scopes: p.Scopes, Clock: a.clock, Marker: m,
		ActsApart: true, ActHeld: func() bool { return a.holds(act) },
	}
	o.Base, o.Reads, o.Auth, o.Look = base, github.Reads(), github.Auth, a.token(look, &p.Look)
	if p.Look.App != nil {
		if of.App, err = a.mint(look, p, p.Look.App, o, true); err != nil {
			return built{}, err
		}
		o.Look = of.App.Token
	}
	if !a.o.ReadOnly {
		o.Act = a.token(act, p.Act)
		if p.Act.App != nil {
			if of.ActApp, err = a.mint(act, p, p.Act.App, o, false); err != nil {
				return built{}, err
			}
			o.Act, of.ActHeld = of.ActApp.Token, of.ActApp.Held
		}
	}
	of.HTTP = transport.New(o)
	prov, err := github.New(of)
	return built{prov, func() providers.Applier { return github.NewApplier(prov) }}, err
}

// mint is one for all sets of systems, as a fetched token is. A key file that cannot be
// used is found here, when the configuration is opened, and not in the hour of need.
func (a *App) mint(what string, p config.Provider, app *config.App, o transport.Options, readOnly bool) (*github.Mint, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.mints == nil {
		a.mints = map[string]*github.Mint{}
	}
	if a.mints[what] == nil {
		m, err := github.NewMint(github.MintOptions{
			System: o.System, URL: p.URL, App: github.App{ID: app.ID, Installation: app.Installation}, Key: app.Key,
			Next: o.Next, Clock: a.clock, ReadOnly: readOnly,
		})
		if err != nil {
			return nil, err
		}
		if err := m.Check(); err != nil {
			if !errors.Is(err, config.ErrToken) { // the file was read, and is no key
				err = fmt.Errorf("%w from GitHub App %d: %s: %w", config.ErrToken, app.ID, app.KeyFile, err)
			}
			return nil, err
		}
		a.mints[what] = m
	}
	return a.mints[what], nil
}
