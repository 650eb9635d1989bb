package playbooks

import (
	"fmt"
	"strings"
	"testing"
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
		{"second person", "verify: gone", "verify: gone, ask: second-person", `error: this build cannot ask a second person yet`},
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
