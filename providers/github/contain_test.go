package github

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"cordon/internal/casefile"
	"cordon/internal/casefile/faultfs"
	"cordon/internal/change"
	"cordon/internal/engine"
	"cordon/internal/target"
	"cordon/playbooks"
	"cordon/providers"
	"cordon/providers/providertest"
)

// jumping is a clock on which waiting takes no time.
type jumping struct{ now time.Time }

func (c *jumping) Now() time.Time { return c.now }

func (c *jumping) Wait(ctx context.Context, d time.Duration) error {
	c.now = c.now.Add(max(d, 0))
	return ctx.Err()
}

// walked is what a case showed on its way.
type walked struct {
	ending engine.Ending
	said   []string
}

func (w walked) has(what string) bool {
	return slices.ContainsFunc(w.said, func(s string) bool { return strings.Contains(s, what) })
}

// contain walks the built-in playbook on a runner without hosts, taking the first plan that
// does something and skipping what cannot be done from here.
func contain(t *testing.T, ref target.Ref, edit func(*fake)) (*acting, walked) {
	t.Helper()
	l, run := openCase(t, ref, edit)
	return l, walk(t, run, goOn)
}

// openCase opens a case with the built-in playbook on a runner without hosts.
func openCase(t *testing.T, ref target.Ref, edit func(*fake)) (*acting, *engine.Run) {
	t.Helper()
	clk := &jumping{time.Now()}
	l := openActing(t, providertest.Wait, func(o *Options) { o.Clock = clk })
	l.fake.change(func(f *fake) { f.clock = clk.Now; edit(f) })
	pb, err := playbooks.Find("contain")
	if err != nil {
		t.Fatal(err)
	}
	store, err := casefile.OpenStore(casefile.Opener{Dir: "/state", Clock: clk, FS: faultfs.New(1)})
	if err != nil {
		t.Fatal(err)
	}
	c, err := store.Create(t.Context(), casefile.Opening{ID: "c7", Kind: "incident", Targets: []target.Ref{ref}, Playbook: pb.Source, PlaybookName: pb.ID}, casefile.Actor{Name: "alice", Host: "a", BootID: "b", PID: 1})
	if err != nil {
		t.Fatal(err)
	}
	run, err := engine.Open(engine.Options{
		Journal: c, Playbook: pb, Runner: ref, Systems: map[string]providers.System{"gh": l.Provider},
		Appliers: map[string]providers.Applier{"gh": l.apply}, Issuer: change.NewIssuer(), Clock: clk,
	})
	if err != nil {
		t.Fatal(err)
	}
	return l, run
}

// walk answers every prompt until the case is over.
func walk(t *testing.T, run *engine.Run, answer func(engine.Prompt) engine.Decision) walked {
	t.Helper()
	var w walked
	for range 200 {
		p, err := run.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		w.said = append(w.said, p.Step+": "+p.Text+" "+p.CannotDo)
		if p.Kind == engine.Finished {
			w.ending = *p.Ending
			return w
		}
		if p.Kind == engine.Progress {
			continue
		}
		if err := run.Answer(t.Context(), answer(p)); err != nil {
			t.Fatalf("%s: %v", p.Step, err)
		}
	}
	t.Fatalf("it does not end: %q", w.said)
	return w
}

func goOn(p engine.Prompt) engine.Decision {
	d := engine.Decision{N: p.N, Reason: "EDR alert 991"}
	switch p.Kind {
	case engine.Watch:
		d.Verb = engine.Begin
		return d
	case engine.Doubt:
		d.Verb = engine.Leave
		return d
	}
	d.Verb = engine.Skip
	for i, pl := range p.Plans {
		if pl.Appliable() && p.CannotDo == "" {
			d.Verb, d.Plan = engine.Apply, pl.Hash()
			for _, g := range p.Guards[i] {
				d.Waive = append(d.Waive, g.ID)
			}
			break
		}
	}
	return d
}

func TestContainingAnOrganizationsRunnerEndsHonestly(t *testing.T) {
	l, w := contain(t, orgRunner, func(*fake) {})
	for _, want := range []string{"cordon-quarantine-c7, which serves nobody", "this cannot be done from here", "404"} {
		if !w.has(want) {
			t.Errorf("%q is not shown: %s", want, strings.Join(w.said, "\n"))
		}
	}
	if _, there := l.fake.runners["orgs/acme"][23]; there || l.fake.count("cancel") != 1 || l.fake.count("deregister") != 1 {
		t.Errorf("not removed, or not after its run was canceled once: %s", strings.Join(w.said, "\n"))
	}
	notes := strings.Join(w.ending.Notes, "\n")
	if w.ending.Word != "cannot tell" || !strings.Contains(notes, "rotate gh/23@acme: skipped") || !strings.Contains(notes, "add repositories:acme") {
		t.Errorf("%+v", w.ending)
	}
}

func TestContainingARepositorysRunnerSaysThatItsPauseIsPartial(t *testing.T) {
	t.Parallel()
	l, w := contain(t, repoRunner, func(*fake) {})
	notes := strings.Join(w.ending.Notes, "\n")
	if !strings.Contains(notes, "pause gh/7@acme/web: partial pause: no custom labels") || !strings.Contains(notes, "its group still come to it") && !strings.Contains(notes, "group alone still come") {
		t.Errorf("%+v", w.ending)
	}
	if _, there := l.fake.runners["repos/acme/web"][7]; there {
		t.Errorf("not removed: %s", strings.Join(w.said, "\n"))
	}
}

func TestContainingARunnerThatGitHubHoldsBusyIsNotContained(t *testing.T) {
	l, w := contain(t, orgRunner, func(f *fake) { f.acts().runs = map[string][]*actRun{} })
	// GitHub says that it is online, and its registration is there: that is worse than refused.
	if w.ending.Word != "polling" || w.ending.Exit != engine.ExitPolls || !w.has("refused for now (1 of 7)") || !w.has("3775") || !strings.Contains(strings.Join(w.ending.Notes, "\n"), "deregister gh/23@acme: refused") {
		t.Errorf("%+v\n%s", w.ending, strings.Join(w.said, "\n"))
	}
	if n := len(l.wire.Changes()); n > 9 {
		t.Errorf("%d changes were sent: a bounded number of tries", n)
	}
	if o := l.look(t, orgRunner); o.Paused != "yes" {
		t.Errorf("it stays out of reach: %+v", o)
	}
}

// choosing goes on with one option of the pause, and hears of each step once it begins.
func choosing(option string, begins func(step string)) func(engine.Prompt) engine.Decision {
	return func(p engine.Prompt) engine.Decision {
		begins(p.Step)
		if p.Step == "pause" {
			p.Plans = slices.Clone(p.Plans)
			slices.SortStableFunc(p.Plans, func(x, y change.Plan) int {
				return map[bool]int{true: 0, false: 1}[x.Option == option] - map[bool]int{true: 0, false: 1}[y.Option == option]
			})
		}
		return goOn(p)
	}
}

// No observation of a runner shows a switch beside it: it is asked about itself, and when
// the runner is gone it is named as what is still in force.
func TestAPauseBesideTheRunnerIsConfirmedByItselfAndNamedInTheEnd(t *testing.T) {
	t.Parallel()
	for option, want := range map[string][2]string{
		"workflows":   {"partial pause: the workflow .github/workflows/build.yml of acme/web reads back as disabled_manually", "/actions/workflows/61/enable"},
		"actions-off": {"partial pause: Actions of repository acme/web reads back as enabled for none", `{"enabled":true,"allowed_actions":"local_only"`},
	} {
		l, run := openCase(t, repoRunner, func(*fake) {})
		before := l.fake.switched()
		w := walk(t, run, choosing(option, func(string) {}))
		notes := strings.Join(w.ending.Notes, "\n")
		if !w.has(want[0]) || w.has(engine.Drift) || strings.Contains(notes, "not confirmed") {
			t.Errorf("%s: %s\n%s", option, strings.Join(w.said, "\n"), notes)
		}
		if !strings.Contains(notes, "still in force: ") || !strings.Contains(notes, want[1]) {
			t.Errorf("%s: nobody is told that it is still so: %s", option, notes)
		}
		if l.fake.switched() == before {
			t.Errorf("%s: control: nothing was switched", option)
		}
		if err := run.StandDown("false alarm after all"); err != nil {
			t.Fatal(err)
		}
		w = walk(t, run, goOn)
		if after := l.fake.switched(); after != before || strings.Contains(strings.Join(w.ending.Notes, "\n"), "still in force") {
			t.Errorf("%s, stood down after its runner was removed:\n%s\nbecame\n%s\n%s", option, before, after, strings.Join(w.said, "\n"))
		}
	}
}

// Whom a group serves does not end with a runner that was in it: the others get no job
// until somebody gives the old list back.
func TestAGroupThatServesNobodyIsNamedInTheEndWithItsOldList(t *testing.T) {
	t.Parallel()
	l, run := openCase(t, orgRunner, func(*fake) {})
	serves := func() (ids []int64) {
		l.fake.change(func(f *fake) { ids = slices.Clone(f.groups["orgs/acme"][2].Repos) })
		return ids
	}
	before := serves()
	w := walk(t, run, choosing("group", func(string) {}))
	notes := strings.Join(w.ending.Notes, "\n")
	list := strings.ReplaceAll(fmt.Sprint(before), " ", ",")
	if len(before) == 0 || len(serves()) != 0 {
		t.Fatalf("control: the group served %v and serves %v\n%s", before, serves(), strings.Join(w.said, "\n"))
	}
	if !strings.Contains(notes, "still in force: take all") || !strings.Contains(notes, `"selected_repository_ids":`+list) {
		t.Errorf("nobody is told that it is still so, or what it served (%s): %s", list, notes)
	}
	_, moved := openCase(t, orgRunner, func(*fake) {})
	if w := walk(t, moved, choosing("quarantine", func(string) {})); strings.Contains(strings.Join(w.ending.Notes, "\n"), "still in force") {
		t.Errorf("control: a runner that was moved and removed leaves its group as it was: %q", w.ending.Notes)
	}
}

func TestAPauseBesideTheRunnerThatSomebodyTookBackIsAnAlarm(t *testing.T) {
	t.Parallel()
	l, run := openCase(t, repoRunner, func(*fake) {})
	w := walk(t, run, choosing("workflows", func(step string) {
		if step == "rotate" {
			l.fake.change(func(f *fake) { f.switches().workflows["acme/web"] = workflowOn })
		}
	}))
	if !w.has(engine.Drift + ": ") {
		t.Errorf("%s", strings.Join(w.said, "\n"))
	}
}
