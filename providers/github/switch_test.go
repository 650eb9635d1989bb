package github

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"cordon/internal/change"
	"cordon/internal/target"
	"cordon/providers"
	"cordon/providers/providertest"
)

// offered is the first plan of that option, and whether there is one.
func (l *acting) offered(t *testing.T, ref target.Ref, option string) (change.Plan, bool) {
	t.Helper()
	plans := l.plans(t, providers.Pause, ref)
	i := slices.IndexFunc(plans, func(p change.Plan) bool { return p.Option == option })
	if i < 0 {
		return change.Plan{}, false
	}
	return plans[i], true
}

func TestASwitchSaysWhatElseStopsInNumbersAndThatItIsPartial(t *testing.T) {
	l := openActing(t, providertest.Wait)
	for _, x := range []struct {
		ref          target.Ref
		option, says string
	}{
		{orgRunner, "workflows", "build.yml of acme/web starts on no runner, GitHub's own included: it had 2 runs since "},
		{orgRunner, "workflows", "of its jobs 1 are on this runner and 1 wait"},
		{orgRunner, "actions-off", "all its repositories: how many is not known"},
		{repoRunner, "actions-off", "1 workflows, 2 runs since "},
		{repoRunner, "no-new-runners", "every repository of acme for new runners alone"},
		{repoRunner, "no-new-runners", "what it does to those that are registered is not documented"},
	} {
		p, ok := l.offered(t, x.ref, x.option)
		if !ok || !p.Partial || p.TipsOff != "" || !strings.Contains(p.Covers, "the agent is not told") {
			t.Fatalf("%s of %s: %+v", x.option, x.ref, p)
		}
		words := all(p)
		for _, c := range p.Changes {
			words += "\n" + c.Capacity
		}
		if !strings.Contains(words, x.says) {
			t.Errorf("%s of %s does not say %q:\n%s", x.option, x.ref, x.says, words)
		}
	}
	l.fake.change(func(f *fake) {
		f.handle("GET /orgs/acme", func(w http.ResponseWriter, _ *http.Request) {
			f.say(w, 200, map[string]any{"public_repos": 2, "total_private_repos": 40})
		})
	})
	if p, _ := l.offered(t, orgRunner, "actions-off"); !strings.Contains(p.Title, "at least 42") {
		t.Errorf("%s", p.Title)
	}
	if n := len(l.wire.Changes()); n != 0 {
		t.Errorf("%d changes were sent while planning", n)
	}
}

// What is switched is the workflow's and the organization's, and stays when the runner is
// gone: a change of it names them, or its undo would be thought moot with the runner.
func TestASwitchIsOfWhatItSwitches(t *testing.T) {
	l := openActing(t, providertest.Wait)
	for option, want := range map[string]string{
		"workflows": "gh/repository:acme%2Fweb/workflow/61", "actions-off": "gh/repository:acme%2Fweb/policy/acme%2Fweb", "no-new-runners": "gh/organization:acme/runner%20policy/acme",
	} {
		p, _ := l.offered(t, repoRunner, option)
		if c := p.Changes[len(p.Changes)-1]; c.Target.String() != want || c.Undo.Target != c.Target || c.Blast() == "" {
			t.Errorf("%s: %+v", option, c)
		}
	}
	l.fake.change(enterpriseToo)
	for option, want := range map[string]string{"group": "organization acme", "actions-off": "organization acme"} {
		if p, _ := l.offered(t, entRunner, option); p.Changes[0].Blast() != want {
			t.Errorf("of an enterprise, %s hits %s", option, p.Changes[0].Blast())
		}
	}
	p, _ := l.offered(t, orgRunner, "workflows")
	c := p.Changes[0]
	l.do(t, c)
	l.fake.change(func(f *fake) { delete(f.runners["orgs/acme"], 23) })
	if state, why, err := l.Settle(context.Background(), c); state != change.Applied || err != nil || !strings.Contains(why, "build.yml of acme/web reads back as disabled_manually") {
		t.Errorf("without its runner: %s, %s, %v", state, why, err)
	}
	l.do(t, *c.Undo)
	if state, _, err := l.Settle(context.Background(), c); state != change.Refused || err != nil {
		t.Errorf("taken back: %s, %v", state, err)
	}
}

// Only what was active is disabled, or the undo would enable what somebody else had disabled.
func TestAWorkflowThatIsDisabledAlreadyIsLeftAlone(t *testing.T) {
	for state, offered := range map[string]bool{workflowOn: true, workflowOff: false, "disabled_inactivity": false, "deleted": false} {
		l := openActing(t, providertest.Wait)
		l.fake.change(func(f *fake) { f.switches().workflows["acme/web"] = state })
		p, ok := l.offered(t, orgRunner, "workflows")
		if ok != offered || ok && len(p.Changes) != 1 {
			t.Errorf("%s: offered %t: %+v", state, ok, p)
		}
		if policy, said := l.offered(t, orgRunner, "policy"); said == offered || said && !strings.Contains(all(policy), "no workflow that could be disabled") {
			t.Errorf("%s: %s", state, all(policy))
		}
	}
	l := openActing(t, providertest.Wait)
	p, _ := l.offered(t, orgRunner, "workflows")
	for state, want := range map[string]string{workflowOff: change.Already, "disabled_inactivity": change.Refused} {
		l.fake.change(func(f *fake) { f.switches().workflows["acme/web"] = state })
		if out, err := l.apply.Apply(allowed(t, p.Changes[0]), p.Changes[0]); out.State != want || (want == change.Refused) != errors.Is(err, change.ErrStale) {
			t.Errorf("%s by now: %+v, %v", state, out, err)
		}
	}
	if n := len(l.wire.Changes()); n != 0 {
		t.Errorf("%d changes were sent", n)
	}
}

// A workflow is the runner's by its jobs: on it, on it lately, or waiting for labels it has.
func TestOnlyWorkflowsWhoseJobsAreOfTheRunnerAreDisabled(t *testing.T) {
	for name, x := range map[string]struct {
		job     *actJob
		status  string
		offered bool
	}{
		"on it":                         {&actJob{ID: 1, Runner: 23, On: "build-07", Status: "in_progress"}, "in_progress", true},
		"was on it":                     {&actJob{ID: 1, Runner: 23, On: "build-07", Status: "completed"}, "completed", true},
		"waits for its labels":          {&actJob{ID: 1, Status: "queued", Wants: []string{"Self-Hosted", "gpu"}}, "queued", true},
		"waits for others":              {&actJob{ID: 1, Status: "queued", Wants: []string{"windows"}}, "queued", false},
		"on another of its name":        {&actJob{ID: 1, Runner: 9, On: "build-07", Status: "in_progress"}, "in_progress", false},
		"on another scope's of its id":  {&actJob{ID: 1, Runner: 23, On: "other", Status: "in_progress"}, "in_progress", false},
		"never started, over by itself": {&actJob{ID: 1, Status: "completed", Wants: []string{"gpu"}}, "completed", false},
	} {
		l := openActing(t, providertest.Wait)
		l.fake.change(func(f *fake) {
			f.acts().runs = map[string][]*actRun{"acme/web": {{ID: 5, Status: x.status, Attempt: 1, Jobs: []*actJob{x.job}}}}
		})
		if _, ok := l.offered(t, orgRunner, "workflows"); ok != x.offered {
			t.Errorf("%s: offered %t", name, ok)
		}
	}
}

// A switch whose undo would need more than one call, or which is not all known, is not
// offered, and it is said why.
func TestASwitchThatOneCallCannotGiveBackIsNotOffered(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		ref    target.Ref
		option string
		edit   func(*fake)
		why    string
	}{
		"selected actions":          {repoRunner, "actions-off", func(f *fake) { f.switches().policy["repos/acme/web"]["allowed_actions"] = "selected" }, "whether that list outlives the switch is not documented"},
		"which actions is not told": {orgRunner, "actions-off", func(f *fake) { delete(f.switches().policy["orgs/acme"], "allowed_actions") }, "does not say which"},
		"off already":               {orgRunner, "actions-off", func(f *fake) { f.switches().policy["orgs/acme"]["enabled_repositories"] = "none" }, "off already"},
		"no right to the policy":    {orgRunner, "actions-off", func(f *fake) { f.deny["orgs/acme/actions/permissions"] = 403 }, "cannot be read"},
		"a list that is cut": {orgRunner, "actions-off", func(f *fake) {
			selectiveToo(f)
			f.deny["orgs/acme/actions/permissions/repositories"] = 502
		}, "not all known"},
		"no repository is selected": {orgRunner, "actions-off", func(f *fake) {
			selectiveToo(f)
			f.switches().list["orgs/acme/actions/permissions/repositories"] = nil
		}, "for nobody already"},
		"an owner without policy":   {repoRunner, "no-new-runners", func(f *fake) { f.deny["orgs/acme/actions/permissions/self-hosted-runners"] = 404 }, "is none or does not show it"},
		"no new ones already":       {repoRunner, "no-new-runners", func(f *fake) { f.switches().runners["acme"] = "none" }, "may have a new runner of its own already"},
		"no word that is known":     {repoRunner, "no-new-runners", func(f *fake) { f.switches().runners["acme"] = "some" }, "cannot be read"},
		"runs that cannot be read":  {orgRunner, "workflows", func(f *fake) { f.deny["repos/acme/web/actions/runs"] = 403 }, "could not be seen"},
		"a workflow that is hidden": {orgRunner, "workflows", func(f *fake) { f.deny["repos/acme/web/actions/workflows"] = 404 }, "no workflow that could be disabled"},
	} {
		l := openActing(t, providertest.Wait)
		if _, ok := l.offered(t, x.ref, x.option); !ok {
			t.Errorf("%s: control: not offered before", name)
		}
		l.fake.change(x.edit)
		if p, ok := l.offered(t, x.ref, x.option); ok {
			t.Errorf("%s: offered: %+v", name, p)
		}
		if p, ok := l.offered(t, x.ref, "policy"); !ok || len(p.Changes) != 0 || !strings.Contains(all(p), x.why) {
			t.Errorf("%s: %q is not said: %s", name, x.why, all(p))
		}
	}
}

// GitHub does not describe what a field that is left out becomes: the undo says all of them.
func TestTheUndoOfASwitchGivesBackWhatTheSwitchLost(t *testing.T) {
	l := openActing(t, providertest.Wait)
	l.fake.change(func(f *fake) { f.switches().forgets = true })
	before := l.fake.switched()
	p, _ := l.offered(t, repoRunner, "actions-off")
	if got := strings.TrimSpace(p.Changes[0].Call.Body); got != `{"enabled":false}` {
		t.Errorf("off: %s", got)
	}
	if got := strings.TrimSpace(p.Changes[0].Undo.Call.Body); got != `{"enabled":true,"allowed_actions":"local_only","sha_pinning_required":true}` {
		t.Errorf("on again: %s", got)
	}
	l.do(t, p.Changes[0])
	if lost := l.fake.switched(); lost == before || strings.Contains(lost, "local_only") {
		t.Fatalf("control: nothing was lost: %s", lost)
	}
	l.do(t, *p.Changes[0].Undo)
	if after := l.fake.switched(); after != before {
		t.Errorf("%s\nbecame\n%s", before, after)
	}
}

// An undo that GitHub accepts and does not carry out whole is not done.
func TestAnUndoThatReadsBackAsLessIsUnknown(t *testing.T) {
	l := openActing(t, providertest.Wait)
	p, _ := l.offered(t, repoRunner, "actions-off")
	l.do(t, p.Changes[0])
	undo := *p.Changes[0].Undo
	l.wire.Service = without(l.fake, `"allowed_actions":"local_only",`)
	if out, err := l.apply.Apply(allowed(t, undo), undo); out.State != change.Unknown || err == nil {
		t.Errorf("%+v, %v", out, err)
	}
}

func TestAPolicyThatChangedSinceItWasPlannedIsNotTouched(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		ref    target.Ref
		option string
		setup  func(*fake)
		drift  func(*fake)
	}{
		"which actions":        {repoRunner, "actions-off", func(*fake) {}, func(f *fake) { f.switches().policy["repos/acme/web"]["allowed_actions"] = "all" }},
		"pinning":              {repoRunner, "actions-off", func(*fake) {}, func(f *fake) { f.switches().policy["repos/acme/web"]["sha_pinning_required"] = false }},
		"which repositories":   {orgRunner, "actions-off", selectiveToo, func(f *fake) { f.switches().list["orgs/acme/actions/permissions/repositories"] = []int64{100, 101} }},
		"no list any more":     {orgRunner, "actions-off", selectiveToo, func(f *fake) { f.switches().policy["orgs/acme"]["enabled_repositories"] = "all" }},
		"who may have runners": {repoRunner, "no-new-runners", func(*fake) {}, func(f *fake) { f.switches().runners["acme"] = "selected" }},
	} {
		l := openActing(t, providertest.Wait)
		l.fake.change(x.setup)
		p, ok := l.offered(t, x.ref, x.option)
		if !ok {
			t.Fatalf("%s: not offered", name)
		}
		l.fake.change(x.drift)
		c := p.Changes[len(p.Changes)-1]
		if out, err := l.apply.Apply(allowed(t, c), c); !errors.Is(err, change.ErrStale) || out.State != change.Refused || len(l.wire.Changes()) != 0 {
			t.Errorf("%s: %+v, %v", name, out, err)
		}
	}
}

// first is a provider whose plans begin with one option: so the suite carries out that one.
type first struct {
	*Provider
	option string
}

func (f first) Plan(ctx context.Context, verb string, ref target.Ref, args json.RawMessage) ([]change.Plan, error) {
	plans, err := f.Provider.Plan(ctx, verb, ref, args)
	if verb != providers.Pause || err != nil {
		return plans, err
	}
	i := slices.IndexFunc(plans, func(p change.Plan) bool { return p.Option == f.option })
	if i < 0 {
		return plans, nil
	}
	it := plans[i]
	return append([]change.Plan{it}, slices.Delete(plans, i, i+1)...), nil
}

func TestEverySwitchPassesTheSuite(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		option string
		edit   func(*fake)
		drift  func(*fake) // of what the switch rests on: what waits is prose, and no approval is of that
	}{
		"workflows":        {"workflows", func(*fake) {}, func(f *fake) { f.switches().file = ".github/workflows/other.yml" }},
		"policy":           {"actions-off", func(*fake) {}, func(f *fake) { f.switches().policy["orgs/acme"]["allowed_actions"] = "local_only" }},
		"list of a policy": {"actions-off", selectiveToo, func(f *fake) { f.switches().list["orgs/acme/actions/permissions/repositories"] = []int64{100, 101} }},
	} {
		h := suite("orgs/acme", runner(23, organization, "acme"), runner(4242, organization, "acme"))
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			providertest.Suite(t, providertest.Harness{New: func(t *testing.T, wait time.Duration) (providers.Provider, providers.Applier, providertest.Fixture) {
				p, a, fix := h.New(t, wait)
				f := fix.Wire.Service.(*fake)
				f.change(x.edit)
				drift := fix.Drift
				fix.Drift = func() {
					drift()
					f.change(x.drift)
				}
				return first{p.(*Provider), x.option}, a, fix
			}})
		})
	}
}
