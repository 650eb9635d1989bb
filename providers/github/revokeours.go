package github

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"cordon/internal/transport"
	"cordon/providers"
)

// ours is whose credentials this process works with. GitHub does not tell which of an
// account's tokens a request came with, so every one of the same account may be ours.
type ours struct {
	logins  map[string]bool // in small letters
	unknown []string        // credentials whose account is not known, and why
	may     map[string]bool // options that may end one of them
}

// ourselves asks whose the credentials are. That for acting is asked about only where it is
// in memory already; an App's installation is no account.
func (p *Provider) ourselves(ctx context.Context) ours {
	o := ours{logins: map[string]bool{}, may: map[string]bool{}}
	ask := func(ctx context.Context, which string) {
		a, err := p.act.get(ctx, "user", nil)
		var u wireMe
		if err == nil {
			u, err = decode[wireMe](a)
		}
		switch {
		case errors.Is(err, providers.ErrForbidden): // an App's or a job's token: of no account
		case err != nil:
			o.unknown = append(o.unknown, "whose the credential for "+which+" is is not known ("+err.Error()+"): if it is this one, do it last")
		default:
			o.logins[strings.ToLower(u.Login)] = true
		}
	}
	if p.o.App == nil {
		ask(ctx, "looking")
	}
	switch {
	case !p.o.ActsApart, p.o.ActApp != nil:
	case p.o.ActHeld != nil && p.o.ActHeld():
		ask(transport.AsActing(ctx), "acting")
	default:
		o.unknown = append(o.unknown, "whose the credential for acting is is not known before it is used: if it is this one, do it last")
	}
	return o
}

// of says of an account's token or authorization what it may be to us: for its title, and
// for its limits.
func (o ours) of(option, login string) (title string, limits []string) {
	if !o.logins[strings.ToLower(login)] {
		return "", slices.Clone(o.unknown)
	}
	o.may[option] = true
	return "; IT MAY BE OURS: do it last", append([]string{
		"it is of " + strings.Join(slices.Sorted(maps.Keys(o.logins)), " or ") + ", with whose token this works here; which of an account's tokens that is GitHub does not tell: once ours is ended nothing more can be read or done here",
	}, o.unknown...)
}
