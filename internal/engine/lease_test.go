package engine_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"cordon/internal/engine"
	"cordon/internal/engine/enginemodel"
	"cordon/providers"
)

// leased is a case with a pause that lasts four hours and is watched for ten.
func leased(t *testing.T) *rig {
	g := newRig(t, stepSnapshot+stepPause+stepConfirm)
	g.w.Lease, g.w.Silent = 4*time.Hour, 10*time.Hour
	g.w.With("1", func(r *enginemodel.Runner) { r.Polls = false }) // nothing ends the watch early
	g.w.WithHost("h1", func(h *enginemodel.Host) { h.Running = false })
	return g.open()
}

func TestAPauseThatEndsIsMadeAgainBeforeItDoes(t *testing.T) {
	g := leased(t)
	p := g.until(at("pause"))
	if !strings.Contains(strings.Join(p.Plans[0].Limits, "\n"), "it ends by itself after 4h0m0s") {
		t.Fatalf("the confirmation does not say that it is made again: %q", p.Plans[0].Limits)
	}
	g.answer(willing(p))
	g.until(func(p engine.Prompt) bool { return p.Kind == engine.Watch })
	if l := g.r.Leases(); len(l) != 1 || l[0].Until.Sub(g.w.Clock.Now()) > 4*time.Hour {
		t.Errorf("until when it lasts is not shown: %+v", l)
	}
	g.end()
	if paused, renewed := g.happened(providers.Pause), len(g.lines("renew")); renewed < 2 || paused != renewed+1 {
		t.Errorf("in ten hours %d pauses, %d of them renewals", paused, renewed)
	}
	if n := len(g.lines("confirm")); n != 1 {
		t.Errorf("%d confirmations", n)
	}
	for _, o := range g.lines("drift") {
		t.Errorf("it ended in between: %s", o.Msg)
	}
}

func TestAPauseThatCannotBeMadeAgainIsOpenAgain(t *testing.T) {
	for _, f := range []enginemodel.Fault{enginemodel.Refuse, enginemodel.LostReply} {
		t.Run(string(f), func(t *testing.T) {
			g := leased(t)
			g.answer(willing(g.until(at("pause"))))
			g.until(func(p engine.Prompt) bool { return p.Kind == engine.Watch })
			g.fault(providers.Pause, f)
			sent := 0
			g.w.Clock.Jump(3*time.Hour + 30*time.Minute)
			p := g.next()
			if p.Word != engine.Expired {
				t.Fatalf("no alarm: %s %q %q", p.Kind, p.Word, p.Text)
			}
			sent = g.happened(providers.Pause)
			if p = g.next(); p.Step != "pause" || p.N == 0 {
				t.Errorf("the pause is not open for a person: %s at %s", p.Kind, p.Step)
			}
			if g.happened(providers.Pause) != sent {
				t.Error("it was sent again by itself")
			}
		})
	}
}

func TestReadsThatOnlyWidenThePictureLeaveWhatContainmentNeeds(t *testing.T) {
	g := newRig(t, whole)
	g.w.HTTP = true
	g.cfg = func(o *engine.Options) { o.Budget = engine.Budget{Calls: 8, Reserve: 4} }
	g.open()
	e := g.end()
	gaps := ""
	for _, l := range g.lines("exposure") {
		gaps += string(l.Data)
	}
	if !strings.Contains(gaps, "stopped to leave requests for containment") {
		t.Errorf("the list does not say why it is short: %.300s", gaps)
	}
	if g.happened(providers.Deregister) != 1 {
		t.Errorf("containment waited behind it: %s %q", e.Word, e.Notes)
	}
}

// Time that goes by while the provider is slow counts, and what a person thinks does not.
func TestTimeIsLeftForContainmentToo(t *testing.T) {
	for _, c := range []struct {
		name        string
		slow, think time.Duration
		short       bool
	}{{"a slow provider", time.Minute, 0, true}, {"a slow person", 0, time.Hour, false}} {
		t.Run(c.name, func(t *testing.T) {
			g := newRig(t, whole)
			g.w.HTTP = true
			g.w.Blind = func() error { g.w.Clock.Jump(c.slow); return nil }
			g.cfg = func(o *engine.Options) { o.Budget = engine.Budget{Time: 4 * time.Minute, Keep: 2 * time.Minute} }
			g.open()
			p := g.until(func(p engine.Prompt) bool {
				if p.N > 0 {
					g.w.Clock.Jump(c.think)
				}
				return p.Kind == engine.Finished
			})
			gaps := ""
			for _, l := range g.lines("exposure") {
				gaps += string(l.Data)
			}
			if strings.Contains(gaps, "stopped to leave time for containment") != c.short {
				t.Errorf("the list says: %.300s", gaps)
			}
			if g.happened(providers.Deregister) != 1 {
				t.Errorf("containment waited behind it: %s %q", p.Ending.Word, p.Ending.Notes)
			}
		})
	}
}

func TestABusyProviderIsSaidAndNotSleptOn(t *testing.T) {
	g := newRig(t, whole).open()
	g.until(at("rotate"))
	g.w.Blind = func() error { return fmt.Errorf("%w: Retry-After 3600", providers.ErrLimited) }
	waits := len(g.w.Clock.Waits())
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	p, err := g.r.Next(ctx)
	for err == nil && p.Kind == engine.Progress {
		p, err = g.r.Next(ctx)
	}
	if err != nil || !strings.Contains(p.CannotDo, "Retry-After 3600") {
		t.Fatalf("%v %q", err, p.CannotDo)
	}
	if n := len(g.w.Clock.Waits()); n != waits {
		t.Errorf("it slept %d times", n-waits)
	}
}
