package engine_test

import (
	"context"
	"strings"
	"testing"

	"cordon/internal/engine"
	"cordon/internal/untrusted"
	"cordon/providers"
)

// known is a system that says who its credential is, and counts how often it is asked.
type known struct {
	providers.Provider
	asked *int
}

func (k known) WhoAmI(context.Context) ([]providers.Identity, error) {
	*k.asked++
	return []providers.Identity{{Credential: "act", Login: untrusted.Text("ir-bot")}}, nil
}

// Whose credentials paused a runner stands in the record, whether or not the playbook
// opens the list of what it could reach; it is asked once.
func TestWhoTheCredentialsAreIsOnRecordAtTheEnd(t *testing.T) {
	for name, steps := range map[string]string{"without a list": stepSnapshot + stepPause, "with one": whole} {
		g, asked := newRig(t, steps), 0
		g.cfg = func(o *engine.Options) {
			for s, sys := range o.Systems {
				if s == runner.System {
					o.Systems[s] = known{sys.(providers.Provider), &asked}
				}
			}
		}
		g.open()
		g.end()
		lines := g.lines("identity")
		if len(lines) != 1 || asked != 1 || !strings.Contains(string(lines[0].Data), "ir-bot") {
			t.Errorf("%s: asked %d times, %d lines", name, asked, len(lines))
		}
		if n := g.next(); n.Kind != engine.Finished || asked != 1 {
			t.Errorf("%s: a case that is over asks again", name)
		}
	}
}
