package playbooks

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestLintFindsEachMistake plants one mistake at a time in the clean playbook.
func TestLintFindsEachMistake(t *testing.T) {
	src := string(contain(t).Source)
	for _, c := range []struct{ name, old, new, want string }{
		{"bad id", "id: contain", "id: Contain!", `error: id "Contain!": use 1 to 40 of a-z`},
		{"no title", "title: Give it no more jobs", "title: \"\"", `error: no title`},
		{"no why", "title: Give it no more jobs\n    why: >-", "title: >-", `warning: no why`},
		{"twice", "id: rotate", "id: pause", `error: a second step "pause"`},
		{"unknown need", "needs: [snapshot, collect]", "needs: [snapshot, colect, collect]", `error: needs "colect", and there is no such step; did you mean collect?`},
		{"later need", "needs: [snapshot]", "needs: [confirm]", `error: needs "confirm", which comes later`},
		{"own need", "needs: [snapshot]", "needs: [pause]", `error: step "pause" needs itself`},
		{"far from all", "{do: exposure}", "{do: dance}", `error: do "dance" is unknown; there are: gather, plan, exposure, confirm`},
		{"unknown do", "{do: exposure}", "{do: expose}", `error: do "expose" is unknown; did you mean exposure?`},
		{"unknown verb", "verb: pause", "verb: puase", `error: verb "puase" is unknown; did you mean pause?`},
		{"no verb", "verb: pause, ", "", `error: verb "" is unknown`},
		{"nowhere", "verb: rotate, on: runner", "verb: rotate", `error: no on`},
		{"wrong place", "verb: rotate, on: runner", "verb: rotate, on: hosts", `error: rotate is done on: runner`},
		{"unknown place", "verb: rotate, on: runner", "verb: rotate, on: runers", `error: on "runers" is unknown`},
		{"unknown profile", "profile: triage", "profile: triag", `error: profile "triag" is unknown; did you mean triage?`},
		{"no profile", ", profile: triage", "", `error: no profile`},
		{"profile on a pause", "verb: pause", "verb: pause, profile: triage", `error: pause has no profile`},
		{"wrong verify", "verify: paused", "verify: gone", `error: verify gone does not tell whether pause worked`},
		{"unknown verify", "verify: paused", "verify: asleep", `error: verify "asleep" is unknown`},
		{"unknown ask", "verify: gone", "verify: gone, ask: mother", `error: ask "mother" is unknown`},
		{"verb on confirm", "{do: confirm}", "{do: confirm, verb: stop}", `error: confirm has no verb`},
		{"optional provider", "verify: paused", "verify: paused, optional: true", `error: only hosts may be out of reach`},
		{"gather on hosts", "on: runner, profile: express", "on: hosts, profile: express", `error: hosts are read by "do: plan, verb: collect"`},
		{"blind deregister", "needs: [snapshot, collect]", "needs: [snapshot]", `error: deregister without a collection first`},
		{"blind stop", "needs: [snapshot, collect]", "needs: [snapshot]", `error: stop without a collection first`},
		{"bad glob", "[host/*/snapshot.json]", "[\"host/[/x\"]", `error: destroys "host/[/x": evidence names are made of`},
		{"no acts", "      - {do: plan, verb: collect, on: hosts, profile: triage}", "      []", `error: no acts`},
		{"no confirm", "      - {do: confirm}", "      - {do: exposure}", `error: the last act is not confirm`},
		{"early confirm", "      - {do: exposure}", "      - {do: confirm}", `error: confirm comes once, as the last act`},
		{"no exposure", "      - {do: exposure}", "", `warning: rotates the runner's credential`},
		{"technique", "[T1195.002]", "[T1195.2]", `error: "T1195.2" is not an ATT&CK technique`},
		{"control", "[IA-5]", "[IA5]", `error: "IA5" is not an SP 800-53 control`},
		{"hostile", "id: rotate", "id: \"\\e[2J\\nx\"", `error: id "\x1b[2J\nx"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			bad := strings.Replace(src, c.old, c.new, 1)
			if bad == src {
				t.Fatalf("%q is not in contain.yaml", c.old)
			}
			p, err := Parse("p.yaml", []byte(bad))
			if err != nil {
				t.Fatal(err)
			}
			found := Lint(p)
			at := strings.Split(bad, "\n")
			for _, f := range found {
				if strings.HasPrefix(fmt.Sprintf("%s: %s", f.Severity, f.Text), c.want) && f.Line > 0 && f.Line <= len(at) && f.Col > 0 {
					_, err := Load("p.yaml", []byte(bad))
					if (err != nil) != (f.Severity == SeverityError) {
						t.Errorf("Load: %v", err)
					}
					return
				}
			}
			t.Errorf("found %v\nwant  %s", found, c.want)
		})
	}
}

func TestWhatDestroysNeedsAStepThatKeeps(t *testing.T) {
	const tmpl = `cordon: playbook/1
id: x
title: x
why: x
steps:
  - {id: a, title: a, why: a, acts: [{do: %s}]}
  - {id: b, title: b, why: b, needs: [%s], acts: [{do: exposure}]}
  - {id: c, title: c, why: c, needs: [%s], acts: [{do: plan, verb: rotate, on: runner, destroys: [x/y]}]}
  - {id: d, title: d, why: d, acts: [{do: confirm}]}
`
	for _, c := range []struct {
		a, b, c string
		want    string
	}{
		{"gather, on: runner, profile: express", "a", "b", ""}, // through another step
		{"gather, on: runner, profile: express", "", "a", ""},
		{"plan, verb: collect, on: hosts, profile: triage", "", "a", ""},
		{"gather, on: runner, profile: express", "", "b", "destroys evidence that no needed step has kept"},
		{"exposure", "a", "a, b", "destroys evidence that no needed step has kept"},
	} {
		p, err := Parse("p.yaml", fmt.Appendf(nil, tmpl, c.a, c.b, c.c))
		if err != nil {
			t.Fatal(err)
		}
		found := Lint(p)
		if c.want == "" && len(found) > 0 || c.want != "" && (len(found) != 1 || found[0].Text != c.want || found[0].Line != 8) {
			t.Errorf("%+v: found %v", c, found)
		}
	}
}

func TestProblemsOfAPlaybookWithoutAFileHaveNoPlace(t *testing.T) {
	found := Lint(&Playbook{ID: "x", Title: "x", Why: "x"})
	if len(found) != 1 || found[0].Line != 0 || !strings.HasPrefix(found[0].Text, "no steps") {
		t.Errorf("found %v", found)
	}
}

// TestLintFindsEachMistakeInWhatPeopleDo is the same for manual acts, waiting and
// operator actions.
func TestLintFindsEachMistakeInWhatPeopleDo(t *testing.T) {
	const src = `cordon: playbook/1
id: x
title: x
why: x
steps:
  - id: a
    title: a
    why: a
    acts:
      - {do: manual, text: do it, fields: [{id: by, title: Who, kind: person, required: true}, {id: n, title: N, kind: number}], owner: team, due: 14d, attach: true, sign_off: different-person}
      - {do: wait, until: idle, on: runner}
      - {do: plan, verb: operator, name: isolate, on: hosts}
  - {id: d, title: d, why: d, acts: [{do: confirm}]}
  - {id: e, title: e, why: e, acts: [{do: manual, text: after it}]}
`
	p, err := Load("p.yaml", []byte(src))
	if err != nil || len(Lint(p)) != 0 || schemaSays(t, compiled(t), []byte(src)) != nil {
		t.Fatal(err, Lint(p), schemaSays(t, compiled(t), []byte(src)))
	}
	if got := p.Steps[0].Acts[0].Within(); got != 14*24*time.Hour {
		t.Errorf("14d is %s", got)
	}
	for _, c := range []struct {
		old, new, want string
		loose          bool // a schema cannot say it
	}{
		{"text: do it, ", "", "error: no text: say what the person has to do", false},
		{"kind: person", "kind: human", `error: kind "human" is unknown`, false},
		{"{id: n,", "{id: by,", `error: a second field "by"`, true},
		{"{id: n,", "{id: N!,", `error: id "N!": use 1 to 40`, false},
		{"title: N,", `title: "",`, "error: no title: it is the question", false},
		{"due: 14d", "due: soon", `error: due "soon": write hours or days`, false},
		{"due: 14d", "due: 0d", `error: due "0d"`, false},
		{"sign_off: different-person", "sign_off: me", `error: sign_off "me" is unknown`, false},
		{"kind: person", "kind: text", "warning: a sign-off, and no field of kind person", true},
		{"{do: manual, text: do it", "{do: manual, verb: stop, text: do it", "error: manual has no verb", false},
		{"{do: manual, text: do it", "{do: manual, verify: gone, text: do it", "error: manual has no verify", false},
		{"until: idle, ", "", "error: no until", false},
		{"until: idle", "until: bored", `error: until "bored" is unknown`, false},
		{"until: idle, on: runner", "until: idle, on: hosts", "error: the provider says whether a job runs", true},
		{"{do: wait,", "{do: wait, text: x,", "error: wait has no text", false},
		{"name: isolate, ", "", "error: no name", false},
		{"name: isolate", "name: ../x", `error: name "../x": use A-Z`, false},
		{"on: hosts}", "on: hosts, verify: stopped}", "error: operator has no verify", false},
		{"verb: operator, name: isolate, on: hosts", "verb: pause, name: isolate, on: runner", "error: pause has no name", false},
		{"{do: manual, text: after it}", "{do: gather, on: runner, profile: express}", "error: the last act is not confirm", true},
		{"{do: manual, text: after it}", "{do: confirm}", "error: confirm comes once, as the last act", true},
		{"{do: confirm}", "{do: confirm, until: idle}", "error: confirm has no until", false},
	} {
		bad := strings.Replace(src, c.old, c.new, 1)
		if bad == src {
			t.Fatalf("%q is not there", c.old)
		}
		p, err := Parse("p.yaml", []byte(bad))
		if err != nil {
			t.Fatalf("%s: %v", c.new, err)
		}
		found := false
		for _, f := range Lint(p) {
			found = found || strings.HasPrefix(f.Severity+": "+f.Text, c.want)
		}
		if !found {
			t.Errorf("%s: found %v, want %s", c.new, Lint(p), c.want)
		}
		if err := schemaSays(t, compiled(t), []byte(bad)); (err == nil) != c.loose {
			t.Errorf("%s: the schema says %v", c.new, err)
		}
	}
}

// TestOffboardTakesAwayTrustAndNotOnlyTheMachine pins what the checklist is for.
func TestOffboardTakesAwayTrustAndNotOnlyTheMachine(t *testing.T) {
	p, err := Find("offboard")
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	step := map[string]Step{}
	for _, s := range p.Steps {
		ids = append(ids, s.ID)
		step[s.ID] = s
		if len(s.Title) > 60 || len(s.Why) < 40 {
			t.Errorf("step %s: the title does not fit a narrow screen, or the why says nothing", s.ID)
		}
	}
	if got := strings.Join(ids, " "); got != "ticket owner snapshot successor dependents pause collect rotate deregister confirm uninstall trust inventory destruction" {
		t.Errorf("offboard is %s", got)
	}
	for id, needs := range map[string]string{
		"pause": "snapshot successor dependents", "rotate": "snapshot pause", "deregister": "snapshot pause collect", "confirm": "deregister", "destruction": "collect deregister",
	} {
		if got := strings.Join(step[id].Needs, " "); got != needs {
			t.Errorf("%s needs %q, want %q", id, got, needs)
		}
	}
	if d := step["destruction"].Acts[0]; !d.Attach || d.SignOff != DifferentPerson {
		t.Errorf("destruction is %+v", d)
	}
	if a := step["pause"].Acts; a[1].Do != Wait || a[1].Until != UntilIdle {
		t.Errorf("nobody waits for the last job: %+v", a)
	}
}

func TestAPlaybookMayAskASecondPerson(t *testing.T) {
	p, err := Find("contain")
	if err != nil {
		t.Fatal(err)
	}
	asks := strings.Replace(string(p.Source), "verify: gone", "verify: gone, ask: second-person", 1)
	if p, err = Load("asks", []byte(asks)); err != nil {
		t.Fatal(err)
	}
	last := p.Steps[len(p.Steps)-2].Acts
	if got := last[len(last)-1].Ask; got != SecondPerson {
		t.Errorf("the deregistration asks %q", got)
	}
}
