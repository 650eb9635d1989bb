package github

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"cordon/internal/transport"
	"cordon/internal/untrusted"
	"cordon/providers"
)

// wireMe is GET /user.
type wireMe struct {
	Login string `json:"login"`
	Type  string `json:"type"`       // User, Bot
	Admin bool   `json:"site_admin"` // of an Enterprise Server
}

// WhoAmI implements providers.Knower: GET /user for each credential, whose headers name a
// classic token's scopes and any token's end. An App's installation is no user; what it is
// stands in the configuration, and what it may do in the answer that made its token.
func (p *Provider) WhoAmI(ctx context.Context) ([]providers.Identity, error) {
	out := []providers.Identity{p.who(ctx, "look", p.o.App)}
	if p.o.ActsApart && p.o.ActHeld != nil && p.o.ActHeld() {
		out = append(out, p.who(transport.AsActing(ctx), "act", p.o.ActApp))
	}
	return out, ctx.Err()
}

func (p *Provider) who(ctx context.Context, credential string, app *Mint) providers.Identity {
	id := providers.Identity{Credential: credential}
	if app != nil {
		p.whoApp(ctx, app, &id)
		return id
	}
	a, err := p.act.get(ctx, "user", nil)
	var u wireMe
	if err == nil {
		u, err = decode[wireMe](a)
	}
	id.Expires = a.Expires
	for _, s := range list(a.Scopes) {
		if len(id.Scopes) < 50 {
			id.Scopes = append(id.Scopes, p.text(s))
		}
	}
	switch {
	case errors.Is(err, providers.ErrForbidden):
		id.Kind, id.CouldNot = "token of a job or an App", "who it is: "+err.Error()
	case err != nil:
		id.CouldNot = "who it is: " + err.Error()
	default:
		id.Login, id.Kind = p.text(u.Login), u.kind(a.Classic)
	}
	return id
}

func (p *Provider) whoApp(ctx context.Context, app *Mint, id *providers.Identity) {
	id.Kind = "app"
	id.Login = untrusted.Text(fmt.Sprintf("app %d, installation %d", app.o.App.ID, app.o.App.Installation))
	if _, err := app.Token(ctx); err != nil {
		id.CouldNot = "what it may do: " + err.Error()
		return
	}
	granted, until, _ := app.known(ctx)
	id.Expires = until
	for _, name := range slices.Sorted(maps.Keys(granted)) {
		level := granted[name]
		if app.o.ReadOnly {
			level = "read"
		}
		if len(id.Scopes) < 100 && !(app.o.ReadOnly && writeOnly[name]) {
			id.Scopes = append(id.Scopes, p.permission(name, level))
		}
	}
}

// permission is one of an installation's permissions, to be shown. "secrets:read" looks
// like a secret behind its name: what has the form of a permission is shown as it is, and
// of all else only what the marker leaves.
func (p *Provider) permission(name, level string) untrusted.Text {
	if permissionForm.MatchString(name) && permissionLevels[level] {
		return untrusted.Text(name + ":" + level)
	}
	return p.text(name + ":" + level)
}

// kind says what sort of account and token it is: only a classic or OAuth token's answers
// have X-OAuth-Scopes.
func (u wireMe) kind(classic bool) string {
	kind := "user"
	switch {
	case u.Type == "Bot":
		kind = "bot"
	case u.Admin:
		kind = "site administrator"
	}
	if classic {
		return kind + ", classic token"
	}
	return kind + ", fine-grained token"
}
