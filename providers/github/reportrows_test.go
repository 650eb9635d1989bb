package github

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cordon/providers"
	"cordon/providers/providertest"
)

// reportRows are the rows of facts/github.md §5 ("5.N") and incident-response.md §6 ("6.N")
// that concern a GitHub, and the test that holds each: of this package where file is empty.
// Rows of other services, and 5.15 (the gap that cordon fills), are not here. The
// controller's finalizers (6.9) are Kubernetes' own: cordon does not touch them.
var reportRows = []struct{ row, report, test, file string }{
	{"5.1 6.1", "actions/runner#3328", "TestRunner3328DeletedIsNotStopped", ""},
	{"5.1 6.1", "actions/runner#3328, on the host", "TestActionsRunner3328DeletedAndStillRunning", "internal/engine/rows_test.go"},
	{"5.2", "actions/runner#4422", "TestRunner4422BusyFalseWhileRunning", ""},
	{"5.2", "actions/runner#4422, its worker", "TestAWorkerIsARunningJob", "internal/host/observe_kinds_test.go"},
	{"5.3 6.2", "actions/runner#3448, #3892", "TestRunner3448And3892OfflineIsNotContained", ""},
	{"6.2", "actions/runner#3892, the ending", "TestActionsRunner3892OfflineAndStillPolling", "internal/engine/rows_test.go"},
	{"5.4", "actions/runner#3775", "TestRunner3775ActiveWithNoJob", ""},
	{"5.5 6.3", "actions/runner#710, #971, #3737", "TestRunner710And3737ARemovalIsSentOnceATry", ""},
	{"6.3", "actions/runner#3737, the run's page", "TestARemovalIsRefusedWhileBusyAndNamesTheRun", ""},
	{"6.3", "actions/runner#3737, once more and then a person", "TestActionsRunner3737CannotDeleteBecauseOfAJob", "internal/engine/rows_test.go"},
	{"5.6 5.17 6.22", "actions/runner#2588, #4017, #3238", "TestRunner2588And4017NoRemovalTokenIsEverAskedFor", ""},
	{"5.7", "actions/runner#1286, #3441, #3677, #1506", "TestTheLogOfAGitHubListenerIsAWitness", "internal/host/observe_kinds_test.go"},
	{"5.7", "the same, of an installation that is kept", "TestHowAnInstallationStands", "internal/check/standing_test.go"},
	{"5.8", "actions/runner#3241, what stays on the host", "TestRunner3241WhatStaysOnTheHostIsSaid", ""},
	{"5.8 6.5", "actions/runner#3241, #1364", "TestRunner1364And3241GitHubRemovesWhatDoesNotConnect", ""},
	{"5.9", "actions/runner#756", "TestRunner756AbsenceIsNotOurRemoval", ""},
	{"5.10", "actions/runner#1406", "TestRunner1406AStoppedEphemeralIsStillRegistered", ""},
	{"5.11", "actions/runner#936", "TestRunner936AnUnlistedRunnerIsNotGone", ""},
	{"5.12", "terraform-aws-github-runner#5085", "TestTerraformAwsGithubRunner5085ARemovedRunnerIsNotIdle", ""},
	{"5.12", "terraform-aws-github-runner#5085, the order", "TestContainCollectsBeforeItDestroys", "playbooks/playbook_test.go"},
	{"5.13 6.23", "terraform-aws-github-runner PR #5064", "TestAnotherProcessAsksTheSame", "internal/engine/resume_test.go"},
	{"6.24", "hermes-agent#102238", "TestHermesAgent102238ACallInFlightIsNotForgotten", "internal/engine/rows_test.go"},
	{"5.14", "ARC PR #1318, ARC#3748", "TestActionsRunnerController1318NothingForcesItIdle", ""},
	{"5.14", "ARC PR #1318, the ending", "TestContainingARunnerThatGitHubHoldsBusyIsNotContained", ""},
	{"5.16", "github-mcp-server PR #855, gha-trigger#61", "TestGithubMcpServer855A202IsSuccess", ""},
	{"5.16", "go-github PR #3951", "TestGoGithub3951A429IsALimitAndStandsInNobodysWay", ""},
	{"5.18 6.25", "gitea#36767, gocd#3760", "TestGocd3760AJobThatBeganAfterThePause", "internal/engine/rows_test.go"},
	{"6.4", "actions/runner#3669", "TestRunner3669QueuedJobsAreSaidBeforeAnythingStops", ""},
	{"6.6", "actions/runner#1268", "TestRunner1268ByIdNeverByName", ""},
	{"6.6", "actions/runner#1268, its runs", "TestAJobOfAnotherScopesRunnerIsNeverCanceled", ""},
	{"6.7", "ARC#702, ARC#1235", "TestActionsRunnerController702A204IsReadBack", ""},
	{"6.8", "ARC#4655, #4093, #1376", "TestActionsRunnerController4655TheCredentialIsDead", "internal/engine/rows_test.go"},
	{"6.10", "ARC#2943, #4197, #780, #156", "TestActionsRunnerController2943WhatWasGoneIsAGap", "internal/engine/rowsmore_test.go"},
	{"6.13", "configuration-as-code-plugin#2682, a quarantine", "TestConfigurationAsCode2682AQuarantineThatWasTakenBackReadsAsNotPaused", ""},
	{"6.16", "buildkite/agent#1245, a listener that knocks", "TestBuildkite1245RejectedAndStillKnocking", "internal/engine/rows_test.go"},
	{"5 incidents", "Shai-Hulud 2.0, a rogue in somebody's own repository", "TestEveryRepositoryOfAnOrganizationIsAScope", ""},
	{"5 incidents", "Shai-Hulud 2.0, on the host", "TestStraysOfAHost", "internal/app/subject_test.go"},
	{"5 incidents", "Chia, tj-actions, Megalodon: forks and changed workflows", "TestEachFlagIsRaisedByWhatItMeansAndByNothingElse", ""},
}

// A row whose test was renamed or removed is held by nothing.
func TestEveryReportHasItsTest(t *testing.T) {
	t.Parallel()
	own, err := filepath.Glob("*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	text := map[string]string{}
	read := func(files ...string) string {
		var all strings.Builder
		for _, f := range files {
			if text[f] == "" {
				b, err := os.ReadFile(f)
				if err != nil {
					t.Fatal(err)
				}
				text[f] = string(b)
			}
			all.WriteString(text[f])
		}
		return all.String()
	}
	rows := map[string]bool{}
	for _, r := range reportRows {
		in := own
		if r.file != "" {
			in = []string{filepath.Join("..", "..", filepath.FromSlash(r.file))}
		}
		if !strings.Contains(read(in...), "\nfunc "+r.test+"(t *testing.T)") {
			t.Errorf("%s (%s): there is no %s %s", r.row, r.report, r.test, r.file)
		}
		for _, n := range strings.Fields(r.row) {
			rows[n] = true
		}
	}
	for _, n := range strings.Fields("5.1 5.2 5.3 5.4 5.5 5.6 5.7 5.8 5.9 5.10 5.11 5.12 5.13 5.14 5.16 5.17 5.18 6.1 6.2 6.3 6.4 6.5 6.6 6.7 6.8 6.10 6.13 6.16 6.22 6.23 6.24 6.25") {
		if !rows[n] {
			t.Errorf("row %s is held by nothing", n)
		}
	}
}

func TestRunner3241WhatStaysOnTheHostIsSaid(t *testing.T) {
	l := openActing(t, providertest.Wait)
	s := all(l.plans(t, providers.Deregister, orgRunner)[0])
	if !strings.Contains(s, "once its host is read, delete .runner and .credentials*") {
		t.Errorf("%s", s)
	}
}
