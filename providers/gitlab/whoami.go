package gitlab

import (
	"context"
	"time"

	"cordon/internal/transport"
	"cordon/internal/untrusted"
	"cordon/providers"
)

// wireUser is GET /user (lib/api/entities/user_public.rb). is_admin and is_auditor are
// there only for those who are, or on older versions for nobody.
type wireUser struct {
	Username string `json:"username"`
	Bot      bool   `json:"bot"`
	Admin    bool   `json:"is_admin"`
	Auditor  bool   `json:"is_auditor"`
}

func (w wireUser) kind() string {
	switch {
	case w.Bot:
		return "bot"
	case w.Admin:
		return "administrator"
	case w.Auditor:
		return "auditor"
	}
	return "user"
}

// WhoAmI implements providers.Knower: GET /user and GET /personal_access_tokens/self,
// two reads for each credential. A scope like manage_runner reaches neither the user
// nor, before 16.5, the token.
func (p *Provider) WhoAmI(ctx context.Context) ([]providers.Identity, error) {
	out := []providers.Identity{p.who(ctx, "look")}
	if p.o.ActsApart && p.o.ActHeld != nil && p.o.ActHeld() {
		out = append(out, p.who(transport.AsActing(ctx), "act"))
	}
	return out, ctx.Err()
}

func (p *Provider) who(ctx context.Context, credential string) providers.Identity {
	id := providers.Identity{Credential: credential}
	a, err := p.api.get(ctx, "user", nil)
	if err == nil {
		var u wireUser
		if u, err = decode[wireUser](a); err == nil {
			id.Login, id.Kind = p.text(u.Username), u.kind()
		}
	}
	if err != nil {
		id.CouldNot = "who it is: " + err.Error()
	}
	a, err = p.api.get(ctx, "personal_access_tokens/self", nil)
	if err == nil {
		var t wireSelf
		if t, err = decode[wireSelf](a); err == nil {
			id.Token = p.text(t.Name)
			for _, s := range t.Scopes[:min(len(t.Scopes), 50)] {
				id.Scopes = append(id.Scopes, untrusted.Text(p.text(s)))
			}
			id.Expires, _ = time.Parse(time.DateOnly, t.Expires) // null: it does not expire
		}
	}
	if err != nil {
		id.CouldNot += sep(id.CouldNot) + "what it may do: " + err.Error()
	}
	return id
}

func sep(s string) string {
	if s == "" {
		return ""
	}
	return "; "
}

// wireSelf is the token as it speaks of itself; its own value is not in the answer and
// would not be decoded.
type wireSelf struct {
	Name    string   `json:"name"`
	Scopes  []string `json:"scopes"`
	Expires string   `json:"expires_at"`
}
