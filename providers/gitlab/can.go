package gitlab

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"

	"cordon/internal/target"
	"cordon/internal/transport"
	"cordon/providers"
)

// What a level is called in providers.Capability.
const (
	full    = "full"
	partial = "partial"
	none    = "none"
	unsure  = "unknown"
)

// Can implements providers.Provider, by reads alone: the token's scopes from
// /personal_access_tokens/self, and whether the runner can be read. A role is only
// known once GitLab refuses, so "full" still ends in a plain refusal where it is too low.
func (p *Provider) Can(ctx context.Context, t target.Ref) ([]providers.Capability, error) {
	var id int64
	anyone := t.System == p.o.Name && t.Kind == target.Runner && t.ID == ""
	if !anyone {
		var err error
		if id, err = p.own(t); err != nil {
			return nil, err
		}
	}
	scopes, serr := p.tokenScopes(ctx)
	if done := finished(ctx, serr); done != nil {
		return nil, done
	}
	var w wireRunner
	var rerr error
	if !anyone {
		w, _, rerr = p.details(ctx, id, true)
	}
	if done := finished(ctx, rerr); done != nil {
		return nil, done
	}
	if rerr == nil && !anyone {
		if err := levels(t, w); err != nil {
			return nil, err
		}
	}
	var out []providers.Capability
	if anyone {
		c, err := p.canList(ctx)
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	for _, verb := range []string{providers.Pause, providers.Resume, providers.Cancel, providers.Rotate, providers.Deregister} {
		c := capability(verb, scopes, serr)
		switch {
		case rerr != nil:
			c = providers.Capability{Verb: verb, Level: none, Why: "the runner cannot be read: " + rerr.Error()}
		case p.o.ActsApart && !transport.Acting(ctx) && c.Level != full:
			c = providers.Capability{Verb: verb, Level: unsure, Why: "the credential for acting is another one; what it may do shows when the first plan is confirmed"}
		case verb == providers.Deregister && len(w.Projects) > 1 && c.Level == full:
			c.Level, c.Why = partial, fmt.Sprintf("only an administrator may remove a runner of %d projects", len(w.Projects))
		}
		out = append(out, c)
	}
	return out, nil
}

// canList tries whether each scope's list can be read.
func (p *Provider) canList(ctx context.Context) (providers.Capability, error) {
	c := providers.Capability{Verb: "list", Level: full}
	for _, s := range p.scopes {
		a, err := p.api.get(ctx, s.list, url.Values{"per_page": {"1"}})
		if err == nil {
			_, err = rows(a, wireRunner.check)
		}
		if done := finished(ctx, err); done != nil {
			return c, done
		}
		switch {
		case err == nil:
		case errors.Is(err, providers.ErrForbidden), errors.Is(err, providers.ErrNotFound), errors.Is(err, providers.ErrUnauthorized):
			c.Level, c.Why = none, "the runners of "+s.String()+": "+err.Error()
		case c.Level == full:
			c.Level, c.Why = unsure, "the runners of "+s.String()+": "+err.Error()
		}
	}
	return c, nil
}

func (p *Provider) tokenScopes(ctx context.Context) ([]string, error) {
	a, err := p.api.get(ctx, "personal_access_tokens/self", nil)
	if err != nil {
		return nil, err
	}
	tok, err := decode[wireToken](a)
	if err != nil {
		return nil, err
	}
	if !tok.Active {
		return nil, malformed(a, "it answers, and says that it is not active")
	}
	return tok.Scopes, nil
}

// capability knows which scopes reach which calls: manage_runner covers
// /runners/:id/… since 17.1, jobs need api (lib/api/ci/runners.rb).
func capability(verb string, scopes []string, err error) providers.Capability {
	c := providers.Capability{Verb: verb}
	switch {
	case err != nil:
		c.Level, c.Why = unsure, "the token does not say what it may do: "+err.Error()
	case slices.Contains(scopes, "api"):
		c.Level, c.Why = full, "the token has the scope api; the role decides: "+role(verb)
	case verb != providers.Cancel && slices.Contains(scopes, "manage_runner"):
		c.Level, c.Why = full, "the token has the scope manage_runner; the role decides: "+role(verb)
	case verb == providers.Cancel:
		c.Level, c.Missing, c.Why = none, "scope api", "a job cannot be canceled with less"
	default:
		c.Level, c.Missing, c.Why = none, "scope manage_runner or api", "the token may only read"
	}
	return c
}

func role(verb string) string {
	if verb == providers.Cancel {
		return "Developer or Maintainer in the job's project"
	}
	return "Maintainer for a project's runner, Owner for a group's, administrator for the instance's"
}
