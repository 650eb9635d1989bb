package gitlab

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"cordon/internal/change"
	"cordon/internal/secret"
	"cordon/providers"
	"cordon/providers/providertest"
)

// vault is a destination that records what it was given.
type vault struct {
	got  []string
	args string
	err  error
	said map[string]string
	ctx  error
}

func (v *vault) deliver(ctx context.Context, c change.Change, token secret.Secret) (map[string]string, error) {
	v.got, v.args, v.ctx = append(v.got, token.Reveal()), string(c.Args), ctx.Err()
	return v.said, v.err
}

func withVault(v *vault) func(*Options) {
	return func(o *Options) {
		o.Deliver = v.deliver
		o.Destinations = []Destination{{Name: "vault", Kind: Command, Title: "stdin of vault-put"}, {Name: "recipient-1", Kind: Sealed, Title: "sealed to age1x"}}
	}
}

func TestRotatingAsksWhereTheNewTokenGoes(t *testing.T) {
	l := open(t, providertest.Wait, withVault(&vault{}))
	plans, err := l.Plan(context.Background(), providers.Rotate, runner(42, Project), nil)
	if err != nil || len(plans) != 3 {
		t.Fatalf("%+v, %v", plans, err)
	}
	for i, option := range []string{"vault", "recipient-1", "discard"} {
		c := plans[i].Changes[0]
		if plans[i].Option != option || !c.Issues || c.Undo != nil || c.TipsOff == "" || !strings.Contains(string(c.Args), `"to":"`+option+`"`) {
			t.Errorf("%d: %+v", i, plans[i])
		}
	}
	if !strings.Contains(plans[2].Title, "2 machines stay down") || !strings.Contains(plans[0].Title, "vault-put") {
		t.Errorf("titles %q, %q", plans[0].Title, plans[2].Title)
	}
	l.fake.change(func(f *fake) { f.deny["runners/42/managers"] = 403 })
	plans, err = l.Plan(context.Background(), providers.Rotate, runner(42, Project), nil)
	if err != nil || !strings.Contains(plans[2].Title, "how many is not known") {
		t.Errorf("managers unreadable: %+v, %v", plans, err)
	}
}

func TestTheNewTokenGoesToItsDestinationAndNowhereElse(t *testing.T) {
	v := &vault{said: map[string]string{"version": "3"}}
	l := open(t, providertest.Wait, withVault(v))
	c := l.planned(t, providers.Rotate)[0]
	out, err := l.apply.Apply(allowed(t, c), c)
	if err != nil || out.State != change.Applied || out.Made["delivery"] != "delivered to vault" || out.Made["version"] != "3" {
		t.Errorf("%+v, %v", out, err)
	}
	if len(v.got) != 1 || v.got[0] != l.fake.secrets.reset || !strings.Contains(v.args, `"to":"vault"`) {
		t.Error("the destination did not get the token, once, with the approved arguments")
	}
}

func TestAFailedDeliveryStaysAppliedAndDoesNotShowTheToken(t *testing.T) {
	v := &vault{}
	l := open(t, providertest.Wait, withVault(v))
	token := l.fake.secrets.reset
	echo := fmt.Sprintf("put: %s %s %s %q", token, base64.StdEncoding.EncodeToString([]byte(token)), url.QueryEscape(token), token)
	v.err, v.said = errors.New(echo), map[string]string{"echo": echo, "delivery": "fine", token: "x"}
	c := l.planned(t, providers.Rotate)[0]
	out, err := l.apply.Apply(allowed(t, c), c)
	if err != nil || out.State != change.Applied || !strings.HasPrefix(out.Made["delivery"], "failed: put:") {
		t.Errorf("%+v, %v", out, err)
	}
	if len(providertest.Find(echo, []string{token})) != 1 {
		t.Fatal("control: the search does not find it where it is")
	}
	if len(providertest.Find(fmt.Sprintf("%+v", out), []string{token})) != 0 {
		t.Errorf("the token is shown: %+v", out)
	}
}

func TestATokenThatWasIssuedIsDeliveredAlsoIfTheCallerGaveUp(t *testing.T) {
	v := &vault{}
	l := open(t, providertest.Wait, withVault(v))
	c := l.planned(t, providers.Rotate)[0]
	ctx, cancel := context.WithCancel(allowed(t, c))
	l.api = cancelling{l.api, cancel}
	out, err := l.apply.Apply(ctx, c)
	if err != nil || out.State != change.Applied || len(v.got) != 1 || v.ctx != nil {
		t.Errorf("%+v, %v, %d delivered, context %v", out, err, len(v.got), v.ctx)
	}
}

// cancelling gives up right after the reset was answered.
type cancelling struct {
	service
	cancel func()
}

func (c cancelling) resetToken(ctx context.Context, id int64) (secret.Secret, time.Time, answer, error) {
	defer c.cancel()
	return c.service.resetToken(ctx, id)
}

func TestADestinationThatWasTakenAwayIsFoundBeforeATokenIsIssued(t *testing.T) {
	v := &vault{}
	l := open(t, providertest.Wait, withVault(v))
	c := l.planned(t, providers.Rotate)[0]
	l.o.Destinations = nil
	out, err := l.apply.Apply(allowed(t, c), c)
	if !errors.Is(err, change.ErrStale) || out.State != change.Refused || l.fake.count("rotate") != 0 || len(v.got) != 0 {
		t.Errorf("%+v, %v", out, err)
	}
}

func TestADiscardedTokenIsGivenToNobody(t *testing.T) {
	v := &vault{}
	l := open(t, providertest.Wait, withVault(v))
	plans, err := l.Plan(context.Background(), providers.Rotate, runner(42, Project), nil)
	if err != nil {
		t.Fatal(err)
	}
	c := plans[2].Changes[0]
	out, err := l.apply.Apply(allowed(t, c), c)
	if err != nil || out.State != change.Applied || len(v.got) != 0 || !strings.Contains(out.Made["delivery"], "discarded") {
		t.Errorf("%+v, %v, delivered %d", out, err, len(v.got))
	}
}

func TestAResetSettlesOnlyOnceTheRegistrationIsGone(t *testing.T) {
	l := open(t, providertest.Wait)
	c := l.planned(t, providers.Rotate)[0]
	if state, why, err := l.Settle(context.Background(), c); state != change.Unknown || why == "" || err != nil {
		t.Errorf("while it is there: %s, %s, %v", state, why, err)
	}
	l.fake.change(func(f *fake) { delete(f.runners, 42) })
	if state, why, err := l.Settle(context.Background(), c); state != change.Applied || !strings.HasPrefix(why, "moot: ") || err != nil {
		t.Errorf("once it is gone: %s, %s, %v", state, why, err)
	}
}

func TestAResetWithoutATokenInItsAnswerIsUnknown(t *testing.T) {
	for name, body := range map[string]string{"no token": `{"token_expires_at":null}`, "null": `{"token":null}`, "empty": `{"token":""}`} {
		l := open(t, providertest.Wait)
		c := l.planned(t, providers.Rotate)[0]
		l.wire.Hostile(&providertest.Answer{Status: 201, Media: "application/json", Body: body}, providertest.Changes)
		out, err := l.apply.Apply(allowed(t, c), c)
		if out.State != change.Unknown || !errors.Is(err, providers.ErrMalformed) {
			t.Errorf("%s: %+v, %v", name, out, err)
		}
	}
}
