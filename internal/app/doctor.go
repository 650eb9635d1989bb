package app

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"cordon/internal/target"
	"cordon/internal/transport"
	"cordon/internal/untrusted"
	"cordon/providers"
)

// Doctor is what the credentials can do, provider by provider, by reads alone.
type Doctor struct {
	Schema    string         `json:"schema"` // cordon.doctor/1
	Simulated bool           `json:"simulated,omitempty"`
	Systems   []DoctorSystem `json:"systems"`
}

// DoctorSystem is one provider.
type DoctorSystem struct {
	System string               `json:"system"`
	Type   string               `json:"type"`
	URL    string               `json:"url"`
	Who    []providers.Identity `json:"credentials,omitempty"`
	Asked  string               `json:"asked"` // the credential that the scopes were asked about: look, act
	Scopes []DoctorScope        `json:"scopes"`
}

// DoctorScope is one row of questions about one scope. Error says why there is none.
type DoctorScope struct {
	Scope string       `json:"scope,omitempty"` // empty: all of the system
	Verbs []DoctorVerb `json:"verbs,omitempty"`
	Error string       `json:"error,omitempty"`
}

// DoctorVerb is one cell. Can is "can", "in part", "by hand", "cannot" or "unknown".
type DoctorVerb struct {
	Verb    string `json:"verb"`
	Can     string `json:"can"`
	Why     string `json:"why,omitempty"`
	Missing string `json:"missing,omitempty"` // the permission that is missing
}

// canWords are the levels of a Capability as a person reads them.
var canWords = map[string]string{"full": "can", "partial": "in part", "manual": "by hand", "none": "cannot"}

// Doctor asks every provider, or the one that is named, who its credentials are and what
// they can do in each scope. act asks about the credential for acting, which is fetched for
// it, in place of the one for looking. It changes nothing.
func (a *App) Doctor(ctx context.Context, system string, act bool) (Doctor, error) {
	d := Doctor{Schema: "cordon.doctor/1", Simulated: a.Simulated(), Systems: []DoctorSystem{}}
	if act && a.o.ReadOnly {
		return d, fmt.Errorf("%w: --act with --read-only: a read-only process has no credential for acting", ErrUsage)
	}
	for _, p := range a.fleet.providers {
		if system != "" && p.Name() != system {
			continue
		}
		s, err := a.examine(ctx, p, act)
		if err != nil {
			return d, err
		}
		d.Systems = append(d.Systems, s)
	}
	switch {
	case len(d.Systems) > 0:
		return d, nil
	case system != "":
		return d, fmt.Errorf("%w: no provider is called %s", ErrUsage, untrusted.Text(system))
	}
	return d, fmt.Errorf("%w: no provider is configured, and none was found on this machine; %s", ErrUsage, a.howToConfigure())
}

func (a *App) examine(ctx context.Context, p providers.Provider, act bool) (DoctorSystem, error) {
	cfg := a.cfg.Providers[p.Name()]
	s := DoctorSystem{System: p.Name(), Type: cfg.Type, URL: cfg.URL, Asked: "look"}
	asked := ctx
	if act {
		s.Asked, asked = "act", transport.AsActing(ctx)
	}
	scopes := []target.Scope{{}}
	if x, ok := p.(providers.Scoped); ok {
		scopes = x.Scopes()
	}
	for _, at := range scopes {
		row := DoctorScope{}
		if at.Level != "" {
			row.Scope = strings.TrimSuffix(at.Level+":"+at.Path, ":")
		}
		list, err := p.Can(asked, target.Ref{System: p.Name(), Scope: at, Kind: target.Runner})
		switch {
		case ctx.Err() != nil:
			return s, ctx.Err()
		case errors.Is(err, ErrNeeds):
			return s, err
		case err != nil:
			row.Error = untrusted.Clean(err.Error(), 500)
		}
		for _, c := range list {
			v := DoctorVerb{Verb: c.Verb, Can: canWords[c.Level], Why: c.Why, Missing: c.Missing}
			if v.Can == "" {
				v.Can = "unknown"
			}
			row.Verbs = append(row.Verbs, v)
		}
		s.Scopes = append(s.Scopes, row)
	}
	if k, ok := p.(providers.Knower); ok { // after Can, so that act is in memory where it was asked about
		who, err := k.WhoAmI(ctx)
		if err != nil {
			return s, err
		}
		s.Who = who
	}
	return s, nil
}

// Exit is ExitCannotTell where some scope could not be looked at: what cannot be listed
// cannot be contained.
func (d Doctor) Exit() int {
	for _, s := range d.Systems {
		for _, row := range s.Scopes {
			if row.Error != "" || len(row.Verbs) == 0 {
				return ExitCannotTell
			}
			for _, v := range row.Verbs {
				if v.Verb == "list" && v.Can != "can" && v.Can != "in part" {
					return ExitCannotTell
				}
			}
		}
	}
	return ExitDone
}

// Doctor writes the matrix as lines.
func (l Lines) Doctor(d Doctor) {
	unasked := false
	for i, s := range d.Systems {
		if i > 0 {
			l.Printf("\n")
		}
		l.Printf("%s  %s  %s", s.System, s.Type, s.URL)
		for _, w := range s.Who {
			l.Printf("  %-5s %s", w.Credential, whoLine(w))
		}
		for _, row := range s.Scopes {
			name := row.Scope
			if name == "" {
				name = "all scopes"
			}
			l.Printf("  %s, with the credential for %sing", name, s.Asked)
			if row.Error != "" {
				l.Printf("    cannot tell: %s", row.Error)
			}
			for _, v := range row.Verbs {
				why := v.Why
				if v.Missing != "" {
					why = strings.TrimSuffix("missing: "+v.Missing+"; "+v.Why, "; ")
				}
				l.Printf("%s", strings.TrimRight(fmt.Sprintf("    %-11s %-8s %s", v.Verb, v.Can, why), " "))
				unasked = unasked || v.Can == "unknown" && s.Asked == "look"
			}
		}
	}
	if unasked {
		l.Printf("\nwhat the credential for acting can do: cordon doctor --act")
	}
}

func whoLine(w providers.Identity) string {
	var parts []string
	for _, s := range []string{w.Login.String(), w.Kind, w.Token.String()} {
		if s != "" {
			parts = append(parts, s)
		}
	}
	if len(w.Scopes) > 0 {
		var scopes []string
		for _, s := range w.Scopes {
			scopes = append(scopes, s.String())
		}
		parts = append(parts, "scopes "+strings.Join(scopes, " "))
	}
	if !w.Expires.IsZero() {
		parts = append(parts, "ends "+w.Expires.UTC().Format(time.DateOnly))
	}
	if w.CouldNot != "" {
		parts = append(parts, "not known: "+w.CouldNot)
	}
	return strings.Join(parts, ", ")
}
