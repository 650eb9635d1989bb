package gitlab

import (
	"context"
	"strings"
	"testing"

	"cordon/providers/providertest"
)

func TestWhoACredentialIsComesFromTwoReadsAndHoldsNoSecret(t *testing.T) {
	held := false
	l := open(t, providertest.Wait, func(o *Options) { o.ActsApart, o.ActHeld = true, func() bool { return held } })
	who, err := l.WhoAmI(context.Background())
	if err != nil || len(who) != 1 {
		t.Fatalf("%+v %v", who, err)
	}
	w := who[0]
	if w.Credential != "look" || w.Login != "ir-look" || w.Kind != "bot" || len(w.Scopes) != 1 || w.Scopes[0] != "api" || w.CouldNot != "" {
		t.Errorf("%+v", w)
	}
	if n := len(l.wire.Sent()); n != 2 {
		t.Errorf("%d reads", n)
	}
	held = true // something was done with the other one: it may be asked whose it is
	if who, err = l.WhoAmI(context.Background()); err != nil || len(who) != 2 || who[1].Credential != "act" || who[1].Login == "" {
		t.Errorf("%+v %v", who, err)
	}
}

func TestWhatTheProviderDoesNotTellOfACredentialIsNotGuessed(t *testing.T) {
	l := open(t, providertest.Wait)
	l.fake.change(func(f *fake) { f.deny["user"] = 403; f.deny["personal_access_tokens"] = 404 })
	who, err := l.WhoAmI(context.Background())
	if err != nil || who[0].Login != "" || who[0].Scopes != nil ||
		!strings.Contains(who[0].CouldNot, "who it is: ") || !strings.Contains(who[0].CouldNot, "what it may do: ") {
		t.Errorf("%+v %v", who, err)
	}
	ctx, stop := context.WithCancel(context.Background())
	stop()
	if _, err := l.WhoAmI(ctx); err == nil {
		t.Error("a finished context is no answer")
	}
}
