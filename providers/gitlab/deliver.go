package gitlab

import (
	"context"
	"fmt"
	"strings"
	"time"

	"cordon/internal/change"
	"cordon/internal/redact"
	"cordon/internal/secret"
	"cordon/internal/untrusted"
)

// destined checks, before a token is issued, that the approved destination still exists.
func (p *Provider) destined(c change.Change) error {
	in, err := change.Parse[rotateArgs](c.Op, c.Args)
	if err != nil {
		return err
	}
	for _, d := range p.destinations() {
		if d.Name == in.To && d.Kind == in.Kind {
			return nil
		}
	}
	return fmt.Errorf("%w (there is no destination %s of kind %s any more)", change.ErrStale, untrusted.Text(in.To), untrusted.Text(in.Kind))
}

// without returns a cleaner for what a destination says: the token in any encoding is
// taken out, then everything that has the shape of a secret.
func (p *Provider) without(token secret.Secret) func(string) string {
	known := redact.Known([]secret.Secret{token})
	return func(s string) string {
		out, _ := known.Text(s)
		return p.text(out).String()
	}
}

// deliverFor is how long a destination may take with a token that exists nowhere else yet.
const deliverFor = 60 * time.Second

// deliver hands the new token on. The caller's end does not end it: a token that was
// issued and not delivered is lost. What comes back cannot hold the token.
func (a *Applier) deliver(ctx context.Context, c change.Change, m made) map[string]string {
	facts := map[string]string{}
	if !m.expires.IsZero() {
		facts["token_expires_at"] = m.expires.UTC().Format(time.RFC3339)
	}
	in, err := change.Parse[rotateArgs](c.Op, c.Args)
	if err != nil || in.Kind == Discard {
		facts["delivery"] = "discarded, kept nowhere"
		return facts
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), deliverFor)
	defer cancel()
	said, err := a.p.o.Deliver(ctx, c, m.token)
	clean := a.p.without(m.token)
	for k, v := range said {
		if k = clean(k); k != "delivery" && k != "token_expires_at" {
			facts[k] = clean(v)
		}
	}
	facts["delivery"] = "delivered to " + clean(in.To)
	if err != nil {
		facts["delivery"] = "failed: " + strings.TrimSpace(clean(err.Error()))
	}
	return facts
}
