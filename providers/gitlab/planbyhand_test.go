package gitlab

import (
	"context"
	"strings"
	"testing"

	"cordon/providers"
	"cordon/providers/providertest"
)

// What GitLab is not asked for is a plan for a person, never "nothing to do".
func TestCredentialsAndCachesAreEndedByHandAndSaySo(t *testing.T) {
	l := open(t, providertest.Wait)
	for verb, want := range map[string]string{providers.Revoke: "/-/settings/access_tokens", providers.Purge: "/-/pipelines"} {
		plans, err := l.Plan(context.Background(), verb, runner(42, Project), nil)
		if err != nil || len(plans) != 1 {
			t.Fatalf("%s: %+v %v", verb, plans, err)
		}
		p := plans[0]
		if p.Verb != verb || p.Nothing || len(p.Changes) != 0 || len(p.Manual) == 0 || p.Made.IsZero() {
			t.Errorf("%s: %+v", verb, p)
		}
		if len(p.ByHand) < 2 || p.ByHand[0].URL == "" || !strings.HasPrefix(p.ByHand[0].URL, l.base) || !strings.HasSuffix(p.ByHand[0].URL, want) {
			t.Errorf("%s: no page to go to: %+v", verb, p.ByHand)
		}
	}
	if n := len(l.wire.Changes()); n != 0 {
		t.Errorf("%d changes were sent", n)
	}
}
