package engine_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"cordon/internal/engine"
	"cordon/internal/engine/enginemodel"
	"cordon/providers"
)

// The tests here are reports of other people's outages (facts/incident-response.md §6),
// each named after the one it comes from. TestEachRowFailsWithoutItsGuard takes the
// guard of each out of the source and sees it fail.

func remarked(e engine.Ending, part string) bool {
	return slices.ContainsFunc(e.Notes, func(n string) bool { return strings.Contains(n, part) })
}

// A runner that was deleted by the API kept restarting and said that it is connected.
func TestActionsRunner3328DeletedAndStillRunning(t *testing.T) {
	g := newRig(t, strings.Replace(whole, stepStop, "", 1)).open()
	e := g.end()
	if e.Exit == engine.ExitDone || !remarked(e, "DEREGISTERED, STILL RUNNING on ssh/h1") {
		t.Errorf("the registration is gone and the agent runs: %s (exit %d) %q", e.Word, e.Exit, e.Notes)
	}
}

// A runner that the provider called offline picked up jobs.
func TestActionsRunner3892OfflineAndStillPolling(t *testing.T) {
	g := newRig(t, stepSnapshot+stepConfirm).open()
	g.w.With("1", func(r *enginemodel.Runner) { r.Offline = true })
	g.w.WithHost("h1", func(h *enginemodel.Host) { h.Away = true }) // only the provider speaks
	if e := g.end(); e.Word != "polling" || e.Exit != engine.ExitPolls {
		t.Errorf("its status says offline and it polls: %s (exit %d)", e.Word, e.Exit)
	}
}

const stepRemoveWithJobs = "  - {id: remove, title: Remove, why: w, needs: [snapshot, collect], acts: [{do: plan, verb: cancel, on: runner}, " +
	"{do: plan, verb: deregister, on: runner, verify: gone, destroys: [host/*/snapshot.json]}]}\n"

// A runner could not be deleted because of a job that was not there: jobs are read
// again, the deletion is tried again a few times, each time with a confirmation, and
// then it is for a person. Nothing loops.
func TestActionsRunner3737CannotDeleteBecauseOfAJob(t *testing.T) {
	g := newRig(t, strings.Replace(whole, stepRemove, stepRemoveWithJobs, 1)).open()
	tries := 0
	g.w.Next = func(op string) enginemodel.Fault {
		if op == providers.Deregister {
			tries++
			return enginemodel.Refuse
		}
		return enginemodel.None
	}
	e := g.end()
	cancels := 0
	for _, l := range g.lines("plan") {
		if strings.Contains(string(l.Data), `"verb":"cancel"`) {
			cancels++
		}
	}
	waited := time.Duration(0)
	for _, w := range g.w.Clock.Waits() {
		waited += w
	}
	if waited < 10*time.Minute { // a service keeps the job of an agent that was stopped for ten
		t.Errorf("it gave up after %s", waited)
	}
	if tries != 7 || cancels != 7 || e.Exit == engine.ExitDone || !remarked(e, "refused: 422") {
		t.Errorf("%d tries, jobs read %d times, ends %s (exit %d) %q", tries, cancels, e.Word, e.Exit, e.Notes)
	}
	if n := len(g.lines("confirm")); g.happened(providers.Deregister) != 0 || n < tries {
		t.Errorf("%d confirmations for %d tries", n, tries)
	}
}

// What the service refuses because it wants fewer requests is not refused for good, and
// nothing is sent before the time that it named: not the rest of the plan either.
func TestARefusalThatNamesATimeIsTriedAgainThen(t *testing.T) {
	g := newRig(t, whole).open()
	var sent []time.Time
	g.w.Next = func(op string) enginemodel.Fault {
		if op != providers.Pause {
			return enginemodel.None
		}
		if sent = append(sent, g.w.Clock.Now()); len(sent) < 3 {
			return enginemodel.Slower
		}
		return enginemodel.None
	}
	g.until(at("rotate"))
	if len(sent) != 3 || g.happened(providers.Pause) != 1 {
		t.Fatalf("%d tries, %d pauses", len(sent), g.happened(providers.Pause))
	}
	for i, x := range sent[1:] {
		if d := x.Sub(sent[i]); d < time.Minute {
			t.Errorf("try %d came %s after the one before", i+2, d)
		}
	}
}

// The log said "removed" and the record was still there: it is read again until it is
// gone, and unknown until then.
func TestActionsRunnerController702SaidRemovedAndStillThere(t *testing.T) {
	for late, want := range map[int]string{2: "done", 9: "unknown"} {
		g := newRig(t, whole)
		g.w.Late = late
		g.open()
		g.until(func(p engine.Prompt) bool { return p.Kind == engine.Watch })
		last := ""
		for _, s := range g.r.Steps() {
			if s.ID == "remove" {
				last = s.End
			}
		}
		if last != want {
			t.Errorf("it still shows in %d reads: the removal ended %q, want %q", late, last, want)
		}
		for _, w := range g.w.Clock.Waits() {
			if w > time.Minute {
				t.Errorf("waits %s before it says anything", w)
			}
		}
	}
}

// The secret with which a runner is removed was rotated first, and nothing could be
// removed any more. A credential that is refused is said before anything is sent, and
// is never taken for "gone".
func TestActionsRunnerController4655TheCredentialIsDead(t *testing.T) {
	g := newRig(t, whole).open()
	g.until(at("remove"))
	g.w.Blind = func() error { return providers.ErrUnauthorized }
	p := g.next()
	if p.Kind != engine.Choose || slices.Contains(p.Choices, engine.Apply) || !strings.Contains(p.CannotDo, providers.ErrUnauthorized.Error()) {
		t.Fatalf("offered with a dead credential: %+v", p)
	}
	g.answer(engine.Decision{N: p.N, Verb: engine.Skip, Reason: "no token"})
	if e := g.end(); e.Exit == engine.ExitDone || g.happened(providers.Deregister) != 0 {
		t.Errorf("ends %s (exit %d)", e.Word, e.Exit)
	}
}

// An agent that was set offline for a while claimed to be connected: paused and polling
// are two things, and both are on record.
func TestJenkins26661PausedAndConnected(t *testing.T) {
	g := newRig(t, stepSnapshot+stepPause+stepConfirm).open()
	g.w.WithHost("h1", func(h *enginemodel.Host) { h.Away = true }) // only the provider speaks
	if e := g.end(); e.Word != "polling" {
		t.Errorf("it is paused and polls: %s", e.Word)
	}
	data := string(g.lines("observe")[0].Data)
	if !strings.Contains(data, `"paused":"yes"`) || !strings.Contains(data, `"polling":"yes"`) {
		t.Errorf("one of the two is not on record: %s", data)
	}
}

// Nodes that were set offline were online again after a reload of the configuration:
// before each later step the pause is read again, and what somebody took back is raised
// as an alarm and done again.
func TestConfigurationAsCode2682APauseThatCameBack(t *testing.T) {
	g := newRig(t, whole).open()
	g.until(at("rotate"))
	g.w.With("1", func(r *enginemodel.Runner) { r.Paused = false })
	g.answer(engine.Decision{N: g.next().N, Verb: engine.Skip, Reason: "later"})
	p := g.until(func(p engine.Prompt) bool { return p.Word != "" || at("collect")(p) })
	if p.Word != engine.Drift || !strings.Contains(p.Text, "no longer paused") {
		t.Fatalf("no alarm: %q %q", p.Word, p.Text)
	}
	if p = g.next(); p.Step != "pause" || p.Kind != engine.Choose {
		t.Fatalf("the pause is not open again: %s at %s", p.Kind, p.Step)
	}
	g.answer(willing(p))
	e := g.end()
	if g.happened(providers.Pause) != 2 || len(g.lines("drift")) != 1 || !remarked(e, engine.Drift) {
		t.Errorf("paused %d times, %d alarms, notes %q", g.happened(providers.Pause), len(g.lines("drift")), e.Notes)
	}
}

// An agent that is refused goes on asking for ever: that is not silence.
func TestBuildkite1245RejectedAndStillKnocking(t *testing.T) {
	g := newRig(t, whole).open()
	g.until(func(p engine.Prompt) bool { return p.Kind == engine.Watch })
	g.w.With("1", func(r *enginemodel.Runner) { r.Knocks = true })
	if e := g.end(); e.Word != "knocking" || e.Exit != engine.ExitPolls {
		t.Errorf("it is refused and knocks: %s (exit %d)", e.Word, e.Exit)
	}
}

// Removing a dead runner took the whole configuration of the machine with it: what a
// change destroys is kept first.
func TestAnsibleGitlabRunner250NothingIsRemovedBeforeItIsKept(t *testing.T) {
	g := newRig(t, strings.Replace(whole, stepCollect, "", 1)+"  - {id: collect, title: C, why: w, acts: [{do: plan, verb: collect, on: hosts, profile: triage}]}\n").open()
	for _, step := range []string{"stop", "remove"} {
		p := g.until(at(step))
		d := willing(p)
		d.Waive = nil
		holds := slices.ContainsFunc(p.Guards[0], func(x engine.Guard) bool { return x.ID == "evidence:host/h1/snapshot.json" })
		if err := g.r.Answer(t.Context(), d); !holds || !errors.Is(err, engine.ErrGuarded) {
			t.Errorf("%s without a collection: %v", step, err)
		}
		g.answer(engine.Decision{N: p.N, Verb: engine.Skip, Reason: "first collect"})
	}
	if g.happened(providers.Stop)+g.happened(providers.Deregister) != 0 {
		t.Error("something was removed")
	}
}

// A lost connection meant to begin again: the next process goes on at the same step,
// with the same choices, and nothing is done twice.
func TestZfsRebalancing11TheConnectionIsLost(t *testing.T) {
	g := newRig(t, whole).open()
	for _, step := range []string{"pause", "rotate", "collect", "stop", "remove"} {
		before := g.until(at(step))
		g.die()
		after := g.until(at(step))
		if says(before) != says(after) || after.Index != before.Index {
			t.Errorf("at %s another process asks something else:\n%s\n%s", step, says(before), says(after))
		}
		g.answer(willing(after))
		g.die()
	}
	if e := g.end(); e.Word != engine.Contained {
		t.Errorf("ends %s %q", e.Word, e.Notes)
	}
	for _, op := range []string{providers.Pause, providers.Rotate, providers.Stop, providers.Deregister} {
		if n := g.happened(op); n != 1 {
			t.Errorf("%s happened %d times", op, n)
		}
	}
}

// A call in flight was dropped on resume, so that nothing seemed to have happened: an
// intent without a result is shown, looked at, and never sent again by itself.
func TestHermesAgent102238ACallInFlightIsNotForgotten(t *testing.T) {
	for _, f := range []enginemodel.Fault{enginemodel.DieAfter, enginemodel.DieBefore} {
		g := newRig(t, whole)
		g.w.Die = g.f.Stop
		g.open()
		p := g.until(at("rotate"))
		g.fault(providers.Rotate, f)
		if err := g.r.Answer(t.Context(), willing(p)); err == nil {
			t.Fatal("it did not die")
		}
		g.die()
		p = g.next()
		if p.Kind != engine.Doubt || !strings.Contains(p.Text, "UNKNOWN") || slices.Contains(p.Choices, engine.Apply) {
			t.Fatalf("%s: the call in flight is not shown: %s %q", f, p.Kind, p.Text)
		}
		sent := g.happened(providers.Rotate)
		g.answer(engine.Decision{N: p.N, Verb: engine.Leave, Reason: "the removal settles it"})
		if e := g.end(); !remarked(e, "was unknown, settled: rotate/1") || g.happened(providers.Rotate) != sent {
			t.Errorf("%s: %q, sent %d and then %d times", f, e.Notes, sent, g.happened(providers.Rotate))
		}
	}
}

// A job was given to an agent that had just been disabled: what began after the pause is
// raised as an alarm, once.
func TestGocd3760AJobThatBeganAfterThePause(t *testing.T) {
	g := newRig(t, whole).open()
	g.until(at("rotate"))
	g.w.Ran("1", "late", g.w.Clock.Now())
	g.answer(engine.Decision{N: g.next().N, Verb: engine.Skip, Reason: "later"})
	p := g.until(func(p engine.Prompt) bool { return p.Word != "" || at("collect")(p) })
	if p.Word != engine.LateJob || !strings.Contains(p.Text, "late") {
		t.Fatalf("no alarm: %q %q", p.Word, p.Text)
	}
	if e := g.end(); len(g.lines("late-job")) != 1 || !remarked(e, engine.LateJob) {
		t.Errorf("%d alarms, notes %q", len(g.lines("late-job")), e.Notes)
	}
}
