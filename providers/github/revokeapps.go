package github

import (
	"context"
	"fmt"
	"slices"

	"cordon/internal/change"
	"cordon/internal/target"
	"cordon/internal/transport"
)

// suspendApps offers to suspend the Apps that are installed in the organization. GitHub
// takes that call from the App itself alone: with every credential that the configuration
// can describe it is refused, so that it is a change only where the credential for acting
// is that App's own token, and for all others it is done by hand.
func (p *Provider) suspendApps(ctx context.Context, v view, org string) ([]change.Plan, error) {
	all, err := p.installations(ctx, org)
	all = slices.DeleteFunc(all, func(x appInstallation) bool {
		return x.Suspended != nil || x.ID <= 0 || p.o.App.is(x.ID) || p.o.ActApp.is(x.ID) // the last two are what we work with ourselves
	})
	if len(all) == 0 {
		return nil, err
	}
	self, why := p.actsAsApp(ctx)
	var plans []change.Plan
	hand := change.Plan{
		Option: "apps", Title: fmt.Sprintf("suspend an App that is installed in %s", p.text(org)), Covers: "no token of that installation works until it is taken back",
		Manual: []string{
			"it is not done from here: GitHub takes this call from the App itself alone, and " + why,
			"an owner of the organization suspends or removes it on its page; the App is told by GitHub, and whatever it does in the organization stops",
		},
	}
	for _, x := range all {
		if self == x.App && self > 0 {
			plan, perr := p.suspendApp(ctx, v, org, x)
			if perr != nil {
				return nil, perr
			}
			plans = append(plans, plan)
			continue
		}
		if len(hand.ByHand) == maxOffered {
			hand.Limits = union(hand.Limits, []string{fmt.Sprintf("only %d of %d Apps are named here", maxOffered, len(all))})
			break
		}
		hand.ByHand = append(hand.ByHand, p.appPage(org, x))
	}
	if len(hand.ByHand) > 0 {
		plans = append(plans, hand)
	}
	return plans, err
}

func (p *Provider) appPage(org string, x appInstallation) change.Link {
	return change.Link{
		Title: fmt.Sprintf("the App %s (installation %d)", p.text(x.Slug), x.ID),
		URL:   p.page(fmt.Sprintf("organizations/%s/settings/installations/%d", org, x.ID)),
	}
}

func (p *Provider) suspendApp(ctx context.Context, v view, org string, x appInstallation) (change.Plan, error) {
	name := p.appPage(org, x).Title
	c, err := p.plannedWith(
		ctx,
		change.Change{
			ID: "revoke/1", Op: opSuspend, Title: "suspend " + name, Hits: []target.Ref{v.ref}, Before: change.Pack(struct{}{}),
			Capacity: "whatever the App does in the organization stops", TipsOff: "the App is told by GitHub, and its tokens are refused",
		},
		suspend{org, x.ID},
		change.Change{Op: opUnsuspend, Title: "unsuspend " + name, Before: change.Pack(struct{}{}), Capacity: "the App works again", TipsOff: "the App is told by GitHub"},
		unsuspend{org, x.ID},
	)
	return change.Plan{
		Option: c.Target.ID, Title: c.Title, Covers: "no token of this installation works until it is taken back", TipsOff: c.TipsOff, Changes: []change.Change{c},
		Limits: []string{"GitHub takes this call from the App itself alone, which the credential for acting is"},
		ByHand: []change.Link{p.appPage(org, x)},
	}, err
}

// wireApp is GET /app, which GitHub answers to an App's own token alone.
type wireApp struct {
	ID int64 `json:"id"`
}

// actsAsApp is the App whose own token the credential for acting is, 0 and why where it is
// none. It is asked about only where it is in memory already.
func (p *Provider) actsAsApp(ctx context.Context) (int64, string) {
	switch {
	case p.o.ActApp != nil:
		return 0, "the credential for acting is an installation's token"
	case p.o.ActsApart && (p.o.ActHeld == nil || !p.o.ActHeld()):
		return 0, "whether the credential for acting is one's own token is not known before it was used"
	case p.o.ActsApart:
		ctx = transport.AsActing(ctx)
	}
	a, err := p.act.get(ctx, "app", nil)
	var x wireApp
	if err == nil {
		x, err = decode[wireApp](a)
	}
	if err != nil || x.ID <= 0 {
		return 0, "the credential for acting is no App's own token"
	}
	return x.ID, "the credential for acting is another App's own token"
}
