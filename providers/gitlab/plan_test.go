package gitlab

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"cordon/internal/change"
	"cordon/internal/target"
	"cordon/providers"
	"cordon/providers/providertest"
)

func plansOf(t *testing.T, l *lab, verb string) []change.Plan {
	t.Helper()
	plans, err := l.Plan(context.Background(), verb, runner(42, Project), nil)
	if err != nil || len(plans) == 0 {
		t.Fatalf("plan %s: %+v, %v", verb, plans, err)
	}
	return plans
}

func TestAPauseCanBeUndoneAndTipsNobodyOff(t *testing.T) {
	l := open(t, providertest.Wait)
	p := plansOf(t, l, providers.Pause)[0]
	c := p.Changes[0]
	if !p.Reversible() || c.TipsOff != "" || p.TipsOff != "" || c.Lease != 0 || len(c.Destroys) != 0 || c.Op != "gitlab.runner.pause@1" {
		t.Errorf("%+v", c)
	}
	want := change.Call{Method: "PUT", URL: l.base + "/api/v4/runners/42", Body: `{"paused":true}`}
	if c.Call != want || c.Undo.Call.Body != `{"paused":false}` {
		t.Errorf("calls %s, undo %s", c.Call, c.Undo.Call)
	}
	if !strings.Contains(c.Capacity, "1 other online") {
		t.Errorf("capacity %q", c.Capacity)
	}
	var kinds []string
	for _, h := range c.Hits {
		kinds = append(kinds, h.Kind+" "+h.ID)
	}
	if !slices.Equal(kinds, []string{"manager 91", "manager 92", "project 7", "project 8"}) {
		t.Errorf("hits %v", kinds)
	}
	if len(p.ByHand) != 2 || !strings.Contains(p.ByHand[0].Command, "glab api --method PUT runners/42 -F paused=true") || p.ByHand[1].URL != l.base+"/acme/web/-/runners/42" {
		t.Errorf("by hand %+v", p.ByHand)
	}
}

func TestWhatTheQueueLosesIsSaidAsFarAsItIsKnown(t *testing.T) {
	for name, c := range map[string]struct {
		edit func(*fake)
		want string
	}{
		"nobody else": {func(f *fake) { f.runners[43].paused = true }, "no other"},
		"other tags":  {func(f *fake) { f.runners[43].tags = []string{"shell"} }, "no other"},
		"unreadable":  {func(f *fake) { f.deny["groups/"] = 403 }, "unknown"},
	} {
		l := open(t, providertest.Wait)
		l.fake.change(c.edit)
		if got := plansOf(t, l, providers.Pause)[0].Changes[0].Capacity; !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestRemovingWaitsForEvidenceAndCannotBeUndone(t *testing.T) {
	l := open(t, providertest.Wait)
	plans := plansOf(t, l, providers.Deregister)
	c := plans[0].Changes[0]
	if c.Undo != nil || plans[0].Reversible() || c.TipsOff == "" || c.Call.Method != "DELETE" || c.Call.Body != "" || strings.Contains(c.Call.URL, "?") {
		t.Errorf("%+v", c)
	}
	if want := []string{"provider/gl/runner.json", "provider/gl/managers.json", "host/*/snapshot.json"}; !slices.Equal(c.Destroys, want) {
		t.Errorf("destroys %v", c.Destroys)
	}
	if !strings.Contains(strings.Join(plans[0].Limits, " "), "2 projects") {
		t.Errorf("limits %q", plans[0].Limits)
	}
	if len(plans) != 2 || len(plans[1].Changes) != 0 || len(plans[1].Manual) == 0 {
		t.Errorf("no way by hand: %+v", plans)
	}
	l.wire.Hostile(&providertest.Answer{Status: 403, Media: "application/json", Body: `{"message":"403 Forbidden - Runner associated with more than one project"}`}, providertest.Changes)
	out, err := l.apply.Apply(allowed(t, c), c)
	if out.State != change.Refused || err == nil || !strings.Contains(out.Why, "administrator") {
		t.Errorf("refused: %+v, %v", out, err)
	}
}

func TestCancelingIsOneChangeForEachJobAndThenByForce(t *testing.T) {
	l := open(t, providertest.Wait)
	l.fake.change(func(f *fake) { f.jobs[501] = &fakeJob{id: 501, runner: 42, project: 8, status: "canceling"} })
	p := plansOf(t, l, providers.Cancel)[0]
	if len(p.Changes) != 2 || p.Changes[0].Call.Body != "{}" || p.Changes[1].Call.Body != `{"force":true}` || !strings.Contains(strings.Join(p.Limits, " "), "after_script") {
		t.Fatalf("%+v", p)
	}
	first, forced := p.Changes[0], p.Changes[1]
	wantJob := target.Ref{System: "gl", Scope: target.Scope{Level: Project, Path: "acme/web"}, Kind: target.Job, ID: "500"}
	if first.Target != wantJob || first.Hits[0] != runner(42, Project) {
		t.Errorf("%+v", first)
	}
	for _, c := range p.Changes {
		if out, err := l.apply.Apply(allowed(t, c), c); err != nil || out.State != change.Applied {
			t.Errorf("%s: %+v, %v", c.Title, out, err)
		}
	}
	if out, err := l.apply.Apply(allowed(t, first), first); err != nil || out.State != change.Already || !strings.Contains(out.Why, "force") {
		t.Errorf("canceling already: %+v, %v", out, err)
	}
	l.fake.change(func(f *fake) { f.jobs[501].status = "running" })
	if out, err := l.apply.Apply(allowed(t, forced), forced); err == nil || out.State != change.Refused {
		t.Errorf("forcing what is not canceling: %+v, %v", out, err)
	}
	l.fake.change(func(f *fake) { f.jobs = map[int64]*fakeJob{} })
	p = plansOf(t, l, providers.Cancel)[0]
	if len(p.Changes) != 0 || len(p.Manual) == 0 {
		t.Errorf("no job: %+v", p)
	}
}

func TestAPauseThatGitLabAcceptedAndDidNotDoIsUnknown(t *testing.T) {
	l := open(t, providertest.Wait)
	c := l.planned(t, providers.Pause)[0]
	l.wire.Hostile(&providertest.Answer{Status: 200, Media: "application/json", Body: `{"id":42,"paused":true}`}, providertest.Changes)
	out, err := l.apply.Apply(allowed(t, c), c)
	if out.State != change.Unknown || err == nil || !strings.Contains(out.Why, "not paused") {
		t.Errorf("%+v, %v", out, err)
	}
}

func TestArgumentsOfAnotherShapeAreNotApplied(t *testing.T) {
	l := open(t, providertest.Wait)
	for _, verb := range []string{providers.Pause, providers.Cancel, providers.Rotate, providers.Deregister} {
		c := l.planned(t, verb)[0]
		for _, args := range []string{`{"runner":42,"more":1}`, `{}`, `[]`, `{"runner":42}{}`} {
			c.Args = json.RawMessage(args)
			if !json.Valid(c.Args) {
				if out, err := l.apply.Apply(context.Background(), c); err == nil || out.State != change.Refused {
					t.Errorf("%s %s: %+v, %v", verb, args, out, err)
				}
				continue
			}
			if verb == providers.Rotate && args == `{}` {
				c.Target.ID = "42"
			}
			if out, err := l.apply.Apply(allowed(t, c), c); err == nil || out.State != change.Refused {
				t.Errorf("%s %s: %+v, %v", verb, args, out, err)
			}
		}
	}
	if len(l.wire.Changes()) != 0 {
		t.Error("something was sent")
	}
}
