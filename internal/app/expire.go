package app

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"cordon/internal/casefile"
	"cordon/internal/target"
	"cordon/internal/transport"
	"cordon/providers"
)

// expireWait bounds asking a provider what it will delete, in real time: a hold does not
// wait for it.
const expireWait = 20 * time.Second

// Held is what a legal hold is about.
type Held struct {
	Schema    string             `json:"schema"`
	Simulated bool               `json:"simulated,omitempty"`
	Case      string             `json:"case"`
	Reason    string             `json:"reason"`
	Released  bool               `json:"released,omitempty"`
	Expiring  []providers.Expiry `json:"expiring"` // what goes by itself, hold or not
}

// Hold puts a case on legal hold and lists what the providers of its runners will delete
// by themselves: a hold here holds nothing there. Asking them is recorded.
func (a *App) Hold(ctx context.Context, id, reason string) (Held, error) {
	h := Held{Schema: "cordon.hold/1", Case: id, Reason: reason, Expiring: []providers.Expiry{}}
	if strings.TrimSpace(reason) == "" {
		return h, fmt.Errorf("%w: hold needs --reason", ErrUsage)
	}
	err := a.hold(ctx, id, "hold", func(c *casefile.Case) error {
		v, err := c.View()
		if err != nil {
			return err
		}
		h.Simulated = v.Simulated
		if h.Expiring, err = a.expiring(ctx, c, v); err != nil {
			return err
		}
		d, err := json.Marshal(struct {
			Expiring []providers.Expiry `json:"expiring"`
		}{h.Expiring})
		if err != nil {
			return err
		}
		_, err = c.Hold(false, reason, d)
		return err
	})
	return h, err
}

// Release takes a case off hold.
func (a *App) Release(ctx context.Context, id, reason string) (Held, error) {
	h := Held{Schema: "cordon.hold/1", Case: id, Reason: reason, Released: true, Expiring: []providers.Expiry{}}
	if strings.TrimSpace(reason) == "" {
		return h, fmt.Errorf("%w: hold --release needs --reason", ErrUsage)
	}
	err := a.hold(ctx, id, "release", func(c *casefile.Case) error {
		v, err := c.View()
		if err != nil {
			return err
		}
		h.Simulated = v.Simulated
		if v.Held() == nil {
			return fmt.Errorf("release %s: %w: it is not on hold", id, ErrUsage)
		}
		_, err = c.Hold(true, reason, nil)
		return err
	})
	return h, err
}

// expiring asks the provider of each runner of a case; what could not be asked is in the
// list as not known.
func (a *App) expiring(ctx context.Context, c *casefile.Case, v *casefile.View) ([]providers.Expiry, error) {
	out := []providers.Expiry{}
	set, err := a.build(a.marker.Derive("case:"+c.ID()), false)
	if err != nil {
		return nil, err
	}
	var lost error
	asked, cancel := context.WithTimeout(transport.WithRecorder(ctx, func(x transport.Exchange) {
		if err := recordExchange(c, "", x); err != nil {
			lost = err
		}
	}), expireWait)
	defer cancel()
	for _, t := range v.Opening.Targets {
		if t.Kind != target.Runner {
			continue
		}
		unknown := func(why string) {
			out = append(out, providers.Expiry{What: "everything about " + t.Short(), Where: t.System, Why: "not known: " + why})
		}
		if v.Simulated != a.Simulated() {
			unknown("the case belongs to " + simWord(v.Simulated))
			continue
		}
		x, ok := set.all[t.System].(providers.Expirer)
		if !ok {
			unknown("this provider does not tell, or is not configured here")
			continue
		}
		found, err := x.Expiring(asked, t, v.Opening.Window.From)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			unknown(err.Error())
			continue
		}
		out = append(out, found...)
	}
	return out, lost
}

// recordExchange writes one call as the engine does.
func recordExchange(c *casefile.Case, step string, x transport.Exchange) error {
	d, err := json.Marshal(x)
	if err != nil {
		return err
	}
	_, err = c.Append(casefile.Event{
		Kind: "exchange", Step: step, OK: x.Err == "", Status: x.Status,
		Req: &casefile.Request{Method: x.Method, Path: x.Path, RequestID: x.RequestID, Date: x.Date},
		Msg: x.Err, Data: d,
	})
	return err
}

// Held writes what a hold is about.
func (l Lines) Held(h Held) {
	if h.Released {
		l.Printf("case %s is off hold: %s", h.Case, h.Reason)
		return
	}
	l.Printf("case %s is on hold and is not purged: %s", h.Case, h.Reason)
	l.Printf("the hold reaches no provider; these go by themselves:")
	for _, x := range h.Expiring {
		when := "not known"
		switch {
		case !x.At.IsZero():
			when = x.At.UTC().Format(time.RFC3339)
		case x.Never:
			when = "kept"
		}
		l.Printf("  %-20s  %s  (%s) %s", when, x.What, x.Where, strings.TrimPrefix(x.Why, "not known: "))
	}
}
