package engine

import (
	"flag"
	"os"
	"strings"
	"testing"
)

var seeGuards = flag.Bool("guards", false, "take the guard of each row out of the source and see its test fail; CI does")

// removals are the guards of the tests in rows_test.go and others, each as the source that
// it is taken out of.
var removals = []struct {
	test string
	mutant
}{
	{"TestActionsRunner3328DeletedAndStillRunning", mutant{
		file: "ending.go", from: `o.Source == witness.HostProcess && o.Exists == witness.Yes && slices.Contains(dereg, Done)`, to: `false && slices.Contains(dereg, Done)`,
	}},
	{"TestActionsRunner3892OfflineAndStillPolling", mutant{
		file: "../watch/judge.go", from: "contact := o.Polling == witness.Yes && o.LastContact.After(j.w.From)", to: "contact := false && o.Polling == witness.Yes && o.LastContact.After(j.w.From)",
	}},
	{"TestActionsRunner3737CannotDeleteBecauseOfAJob", mutant{
		file: "retry.go", from: "t.undo != nil || tries >= maxTries", to: "true || t.undo != nil || tries >= maxTries",
	}},
	{"TestActionsRunnerController702SaidRemovedAndStillThere", mutant{
		file: "verify.go", from: `want == "gone" && o.Exists == witness.No,`, to: `want == "gone",`,
	}},
	{"TestActionsRunnerController4655TheCredentialIsDead", mutant{
		file: "next.go", from: "	if err != nil {\n		if ctx.Err() != nil {\n			return Prompt{}, ctx.Err()\n		}\n		r.unplanned++", to: "	if err != nil {\n		if ctx.Err() == nil {\n			return r.notNeeded(t, err.Error())\n		}\n		r.unplanned++",
	}},
	{"TestJenkins26661PausedAndConnected", mutant{
		file: "../watch/judge.go", from: "contact := o.Polling == witness.Yes && o.LastContact.After(j.w.From)", to: "contact := o.Paused != witness.Yes && o.Polling == witness.Yes && o.LastContact.After(j.w.From)",
	}},
	{"TestConfigurationAsCode2682APauseThatCameBack", mutant{
		file: "alarm.go", from: "o.Paused != witness.No ||", to: "o.Paused != witness.Unknown ||",
	}},
	{"TestBuildkite1245RejectedAndStillKnocking", mutant{
		file: "../watch/judge.go", from: "			j.came.knocking = true\n", to: "			j.pro(last)\n",
	}},
	{"TestAnsibleGitlabRunner250NothingIsRemovedBeforeItIsKept", mutant{
		file: "guard.go", from: "	for _, name := range r.concrete(destroys) {", to: "	for _, name := range r.concrete(destroys[:0]) {",
	}},
	{"TestZfsRebalancing11TheConnectionIsLost", mutant{
		file: "engine.go", from: "	for _, l := range v.Lines {\n		if err := r.st.apply(l); err != nil {", to: "	for _, l := range v.Lines[:1] {\n		if err := r.st.apply(l); err != nil {",
	}},
	{"TestHermesAgent102238ACallInFlightIsNotForgotten", mutant{
		file: "state.go", from: "			s.doubts = append(s.doubts, pending{", to: "			_ = append(s.doubts, pending{",
	}},
	{"TestGocd3760AJobThatBeganAfterThePause", mutant{
		file: "alarm.go", from: "		if known || !j.StartedAt.After(since) {", to: "		if known || j.StartedAt.After(since) {",
	}},
	{"TestActionsRunner3669StoppedBeforeItWasPaused", mutant{
		file: "guard.go", from: "	for _, id := range t.step.Needs {", to: "	for _, id := range t.step.Needs[:0] {",
	}},
	{"TestActionsRunnerController2943WhatWasGoneIsAGap", mutant{
		file: "gather.go", from: "	if len(gaps) > 0 {\n		return Unreached", to: "	if len(gaps) > 99 {\n		return Unreached",
	}},
	{"TestJenkins27192ASecretThatCannotBeReplaced", mutant{
		file: "next.go", from: "	case !applicable(plans):", to: "	case false && !applicable(plans):",
	}},
	{"TestWoodpecker2027TheMachineCameBackUnderAnotherRecord", mutant{
		file: "look.go", from: "if ret, ok := prov.(providers.Returner); ok {", to: "if ret, ok := prov.(providers.Returner); ok && false {",
	}},
}

// TestEachRowFailsWithoutItsGuard breaks the source once for each row.
func TestEachRowFailsWithoutItsGuard(t *testing.T) {
	if !*seeGuards && os.Getenv("CORDON_CI") != "1" || testing.Short() {
		t.Skip("compiles the engine a dozen times: -guards")
	}
	for _, c := range removals {
		t.Run(c.test, func(t *testing.T) {
			out, err := c.mutant.test(t, "^"+c.test+"$")
			if err == nil || !strings.Contains(out, "--- FAIL: "+c.test) {
				t.Errorf("its guard is gone and it passes (%v)\n%.1500s", err, out)
			}
		})
	}
}
