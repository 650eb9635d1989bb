package github

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"strings"

	"cordon/internal/target"
	"cordon/internal/transport"
	"cordon/providers"
)

// What a level is called in providers.Capability.
const (
	full    = "full"
	partial = "partial"
	manual  = "manual"
	none    = "none"
	unsure  = "unknown"
)

// Questions of Can that are not verbs of a plan: whether there is something to see.
const (
	canList     = "list"
	canJobs     = "jobs"
	canExposure = "exposure"
	canAudit    = "audit log"
)

// Can implements providers.Provider. Reading is tried, with one small read for each
// question. Changing is told by headers: a classic token names its scopes, an App's
// installation its permissions, and of a fine-grained token it is told what reads that were
// answered or refused needed; a person's role is only known once GitHub refuses.
func (p *Provider) Can(ctx context.Context, t target.Ref) ([]providers.Capability, error) {
	sc, err := p.placeOf(ctx, t)
	if err != nil {
		return nil, err
	}
	if !sc.holds() {
		return p.canExpand(ctx, sc)
	}
	return p.canIn(ctx, sc, t)
}

// canIn answers for one scope that holds runners, and for t where it names one.
func (p *Provider) canIn(ctx context.Context, sc scope, t target.Ref) ([]providers.Capability, error) {
	a, lerr := p.act.get(ctx, sc.prefix()+"/actions/runners", url.Values{"per_page": {"1"}})
	if done := finished(ctx, lerr); done != nil {
		return nil, done
	}
	if lerr == nil {
		_, lerr = rows(a)
	}
	out := []providers.Capability{tried(canList, a, lerr)}
	knows := learned{}
	knows.learn(a)
	for _, q := range probes(sc) {
		pa, err := p.act.get(ctx, q.path, url.Values{"per_page": {"1"}})
		if done := finished(ctx, err); done != nil {
			return nil, done
		}
		c := tried(q.verb, pa, err)
		if q.verb == canAudit && pa.Status == 404 && sc.level == organization {
			c.Why += "; GitHub has it for organizations of an enterprise alone"
		}
		out = append(out, c)
		knows.learn(pa)
	}
	var busy bool
	if t.ID != "" && lerr == nil {
		_, id, _ := p.own(t)
		w, _, err := p.details(ctx, p.act, sc, id)
		if done := finished(ctx, err); done != nil {
			return nil, done
		}
		if err != nil {
			lerr = fmt.Errorf("the runner cannot be read: %w", err)
		}
		busy = w.Busy != nil && *w.Busy
	}
	h := p.holder(ctx, a)
	if h.knows = knows; lerr == nil && !h.classic && h.granted == nil && !h.apart {
		if err := p.tries(ctx, sc, knows); err != nil {
			return nil, err
		}
	}
	for _, verb := range verbsOf(sc) {
		c := h.may(verb, sc, a, lerr)
		if busy && verb == providers.Deregister && c.Level == full {
			c.Level, c.Why = partial, "it is busy, and GitHub refuses to remove a busy runner: cancel its run first"
		}
		out = append(out, c)
	}
	return out, ctx.Err()
}

// placeOf is the scope that Can is asked about.
func (p *Provider) placeOf(ctx context.Context, t target.Ref) (scope, error) {
	if t.ID == "" && t.Kind == target.Runner && t.System == p.o.Name && t.Scope.Level != "" {
		s, err := parseScope(strings.TrimSuffix(t.Scope.Level+":"+t.Scope.Path, ":"))
		if err != nil {
			return scope{}, fmt.Errorf("%w: %w", providers.ErrNotYours, err)
		}
		return s, nil
	}
	sc, id, err := p.own(t)
	if err == nil && sc == (scope{}) {
		sc, _, err = p.search(ctx, id)
	}
	return sc, err
}

// probes are the small reads by which seeing is tried.
func probes(sc scope) []struct{ verb, path string } {
	at := sc.prefix()
	switch sc.level {
	case repository:
		return []struct{ verb, path string }{{canJobs, at + "/actions/runs"}, {canExposure, at + "/actions/secrets"}}
	case organization:
		return []struct{ verb, path string }{{canExposure, at + "/actions/secrets"}, {canAudit, at + "/audit-log"}}
	}
	return []struct{ verb, path string }{{canAudit, at + "/audit-log"}}
}

// tried is what one read says of a question.
func tried(verb string, a answer, err error) providers.Capability {
	c := providers.Capability{Verb: verb}
	switch {
	case err == nil:
		c.Level = full
	case errors.Is(err, providers.ErrForbidden), errors.Is(err, providers.ErrNotFound), errors.Is(err, providers.ErrUnauthorized):
		c.Level, c.Why, c.Missing = none, err.Error(), a.missing()
	default:
		c.Level, c.Why = unsure, err.Error()
	}
	return c
}

// missing is the permission that a refused read needs, as GitHub says.
func (a answer) missing() string {
	switch {
	case a.Classic && a.Wants != "" && !anyScope(a.Scopes, a.Wants):
		return "scope " + strings.Join(list(a.Wants), " or ")
	case !a.Classic && a.Needs != "":
		return "permission " + a.Needs
	}
	return ""
}

// holder is what is known of a credential.
type holder struct {
	classic bool
	scopes  string
	granted map[string]string // of an App's installation, nil: not an App's
	apart   bool              // changes use another one, which nothing is known of
	knows   learned           // of one that does not say what it has
}

func (p *Provider) holder(ctx context.Context, a answer) holder {
	h := holder{classic: a.Classic, scopes: a.Scopes}
	acting := transport.Acting(ctx)
	app := p.o.App
	if acting {
		app = p.o.ActApp
	}
	if app != nil {
		h.granted, _, _ = app.known(ctx)
	}
	h.apart = p.o.ActsApart && !acting
	if h.apart && p.o.ActApp != nil && p.o.App != nil && p.o.ActApp.o.App == p.o.App.o.App { // one installation: what it may is known
		h.apart = false
	}
	h.granted = maps.Clone(h.granted)
	return h
}
