package github

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"cordon/internal/change"
	"cordon/internal/evidence"
	"cordon/internal/target"
	"cordon/internal/untrusted"
)

// maxOffered is how many credentials of one kind are offered.
const maxOffered = 25

// planRevoke offers what else can be ended at GitHub, one option for each: it does not
// know which is in the wrong hands, a person does. A leaked token itself is never handled
// here: GitHub's call takes it in clear, and a plan's call is written down.
func (p *Provider) planRevoke(ctx context.Context, v view) ([]change.Plan, error) {
	org := v.sc.path
	if v.sc.level == repository {
		org, _, _ = strings.Cut(v.sc.path, "/")
	}
	leaked := p.leakedToken()
	var plans, last []change.Plan
	v.ours = p.ourselves(ctx)
	for _, kind := range []struct {
		what string
		make func(context.Context, view, string) ([]change.Plan, error)
	}{
		{"deploy keys", p.revokeKeys}, {"fine-grained tokens", p.revokePATs}, {"authorizations for single sign-on", p.revokeSSO}, {"Apps", p.suspendApps},
	} {
		if kind.what != "deploy keys" && v.sc.level == enterprise {
			continue // they are an organization's
		}
		more, err := kind.make(ctx, v, org)
		if done := finished(ctx, err); done != nil {
			return nil, done
		}
		if errors.Is(err, errNotKept) {
			return nil, err
		}
		var cut *cutError
		switch {
		case errors.As(err, &cut):
			leaked.Limits = append(leaked.Limits, kind.what+": "+cut.Error())
		case err != nil:
			leaked.Limits = append(leaked.Limits, kind.what+" could not be listed: "+err.Error())
		}
		if len(more) > maxOffered {
			leaked.Limits = append(leaked.Limits, fmt.Sprintf("%d of %d %s are offered here", maxOffered, len(more), kind.what))
			more = more[:maxOffered]
		}
		for _, x := range more {
			if v.ours.may[x.Option] {
				last = append(last, x)
			} else {
				plans = append(plans, x)
			}
		}
	}
	return append(append(plans, last...), leaked), nil
}

// leakedToken is done by hand, and says why.
func (p *Provider) leakedToken() change.Plan {
	plan := change.Plan{
		Option: "leaked-token", Title: "revoke a token that is known in clear",
		Covers: "ghp_, github_pat_, gho_, ghu_ and ghr_ tokens are dead at once, whoever they belong to",
		Manual: []string{
			"anybody may do it, without signing in; GitHub refuses it where a credential is sent along, and takes 60 of them an hour",
			"it is not done from here: the call carries the token in clear, and every call that is confirmed here is written down",
			"put the tokens into a file that only you can read: {\"credentials\":[\"…\"]}, run the command, remove the file",
			"it cannot be undone, and its owner is told by GitHub",
		},
		Limits: []string{
			"a runner's key and ghs_ tokens cannot be revoked by it: those of jobs end with their job, those of an App after an hour",
			"registration and removal tokens cannot be listed or revoked: they end an hour after they were made",
		},
		ByHand: []change.Link{{Title: "without a credential", Command: "curl -sS -X POST -H 'Accept: application/vnd.github+json' --data @FILE " + p.apiBase() + "credentials/revoke"}},
	}
	return plan
}

// apiBase is where requests go, with a slash at its end.
func (p *Provider) apiBase() string { return p.changes.BaseURL.String() }

// keep keeps the description of something that is about to be removed, in the sink of ctx;
// without one there is nowhere to keep it, and the change waits until it is kept.
func (p *Provider) keep(ctx context.Context, name, source string, v any, fields []string) error {
	sink := evidence.SinkFrom(ctx)
	if sink == nil {
		return nil
	}
	doc, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("keep %s: %w", name, err)
	}
	clean, n, err := p.o.Marker.JSON(doc, fields)
	if err != nil {
		return fmt.Errorf("keep %s: %w", name, err)
	}
	it := evidence.Item{Name: name, Source: source, Media: "application/json", At: p.clock.Now(), Redacted: n}
	if _, err = sink.Put(ctx, it, bytes.NewReader(untrusted.EscapeJSON(clean))); err != nil {
		return fmt.Errorf("%w: %s: %w", errNotKept, name, err)
	}
	return nil
}

// errNotKept means that the evidence could not be written: nothing goes on then.
var errNotKept = errors.New("the description of what would be removed could not be kept")

// keptItem is the evidence name of a description.
func (p *Provider) keptItem(of target.Ref) string {
	return "provider/" + p.o.Name + "/" + of.Kind + "/" + strings.ReplaceAll(of.Scope.Path, "/", ".") + "." + of.ID + ".json"
}

// revokePATs offers the fine-grained tokens with access to the organization, the latest
// used first.
func (p *Provider) revokePATs(ctx context.Context, v view, org string) ([]change.Plan, error) {
	var all []wirePAT
	more := false
	at := "orgs/" + url.PathEscape(org) + "/personal-access-tokens"
	err := p.few(1).all(ctx, at, nil, 1, func(a answer) (bool, error) {
		l, err := decode[[]wirePAT](a)
		all, more = append(all, l...), a.Next != 0
		return false, err
	})
	slices.SortStableFunc(all, func(x, y wirePAT) int { return later(x.Used, y.Used) })
	var plans []change.Plan
	for _, x := range all {
		if err != nil || x.Expired || x.ID <= 0 {
			continue
		}
		op := patRevoke{org, x.ID}
		own, limits := v.ours.of(op.about().ID, x.Owner.Login)
		title := fmt.Sprintf("end the access of the fine-grained token %q of %s to %s (%s)%s", p.text(x.Name), p.text(x.Owner.Login), p.text(org), usedAt(x.Used), own)
		c, perr := p.planned(ctx, change.Change{
			ID: "revoke/1", Op: opPAT, Title: title, Hits: []target.Ref{v.ref}, Before: change.Pack(struct{}{}),
			Capacity: "whatever uses the token for this organization stops", TipsOff: "its owner is told by GitHub, and the token is refused",
		}, op)
		if perr != nil {
			return nil, perr
		}
		plans = append(plans, change.Plan{
			Option: op.about().ID, Title: title, Covers: "the token no longer reaches this organization", TipsOff: c.TipsOff, Changes: []change.Change{c},
			Limits: append(limits, "it cannot be undone; its owner asks for access again", "GitHub takes this call from an App alone: with another credential it is refused, and an owner does it on the page below", "the token lives on for its owner's other organizations and own repositories"),
			ByHand: []change.Link{{Title: "the organization's tokens", URL: p.page("organizations/" + org + "/settings/personal-access-tokens")}},
		})
	}
	return plans, cmpErr(err, onePage(more, len(all)))
}

// cutError says what a list of offers left out; what it has is offered all the same.
type cutError struct{ why []string }

func (e *cutError) Error() string { return strings.Join(e.why, "; ") }

func cutOff(why []string) error {
	if len(why) == 0 {
		return nil
	}
	return &cutError{why}
}

// onePage says that one page was read of a list that has more.
func onePage(more bool, read int) error {
	if !more {
		return nil
	}
	return cutOff([]string{fmt.Sprintf("only the first %d that GitHub lists were looked at: there are more, and one of those may have been used later", read)})
}

// later orders times, the latest first and none last.
func later(x, y *time.Time) int {
	var a, b time.Time
	if x != nil {
		a = *x
	}
	if y != nil {
		b = *y
	}
	return b.Compare(a)
}

// revokeSSO offers the authorizations of members' tokens and keys, the latest used first.
func (p *Provider) revokeSSO(ctx context.Context, v view, org string) ([]change.Plan, error) {
	var all []wireSSO
	more := false
	err := p.few(1).all(ctx, "orgs/"+url.PathEscape(org)+"/credential-authorizations", nil, 1, func(a answer) (bool, error) {
		l, err := decode[[]wireSSO](a)
		all, more = append(all, l...), a.Next != 0
		return false, err
	})
	slices.SortStableFunc(all, func(x, y wireSSO) int { return later(x.Used, y.Used) })
	var plans []change.Plan
	for _, x := range all {
		if err != nil || x.ID <= 0 || !ownerForm.MatchString(strings.ToLower(x.Login)) {
			continue // not a name that an account has
		}
		op := ssoRemove{org, x.ID, x.Login}
		own, limits := v.ours.of(op.about().ID, x.Login)
		title := fmt.Sprintf("take back what the %s %q of %s may do in %s (%s)%s", p.text(x.Kind), p.text(x.Note+x.Title), p.text(x.Login), p.text(org), usedAt(x.Used), own)
		c, perr := p.planned(ctx, change.Change{
			ID: "revoke/1", Op: opSSO, Title: title, Hits: []target.Ref{v.ref}, Before: change.Pack(struct{}{}),
			Capacity: "whatever uses it for this organization stops", TipsOff: "it is refused",
		}, op)
		if perr != nil {
			return nil, perr
		}
		plans = append(plans, change.Plan{
			Option: op.about().ID, Title: title, Covers: "the token or key no longer reaches this organization", TipsOff: c.TipsOff, Changes: []change.Change{c},
			Limits: append(limits, "it cannot be undone: its owner makes another token or key and has it authorized; if the account itself is in the wrong hands, hold that back first", "it lives on elsewhere"),
			ByHand: []change.Link{{Title: "the members of the organization", URL: p.page("orgs/" + org + "/people")}},
		})
	}
	return plans, cmpErr(err, onePage(more, len(all)))
}
