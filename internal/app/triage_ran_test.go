package app

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"cordon/internal/check"
	"cordon/internal/evidence"
	"cordon/internal/exposure"
	"cordon/internal/target"
	"cordon/internal/untrusted"
	"cordon/providers"
)

func oddJob(id string, flags ...string) providers.Job {
	return providers.Job{Ref: target.Ref{System: "gh", Kind: target.Job, ID: id}, Name: untrusted.Text("job " + id), Project: "acme/web", Flags: flags}
}

func TestWhatIsOddStandsFirstAndIsNeverCutOffByWhatIsNot(t *testing.T) {
	var jobs []providers.Job
	for i := range 20 {
		jobs = append(jobs, oddJob(string(rune('a'+i))))
	}
	jobs = append(jobs, oddJob("odd", "odd hour (03:00Z Mon)"), oddJob("unlooked", "not looked: odd hour (few runs)"))
	got := ran(jobs)
	if len(got) != 6 || !strings.Contains(got[0], "job odd ") || !strings.HasSuffix(got[0], "; odd hour (03:00Z Mon)") || !strings.Contains(got[5], "acme/web: 22") {
		t.Errorf("%q", got)
	}
	for _, line := range got[1:] {
		if strings.Contains(line, "unlooked") {
			t.Error("what was not looked at is told as odd")
		}
	}
}

func TestTheCostOfASearchIsSaidWithWhatIsLeft(t *testing.T) {
	for _, c := range []struct {
		cost providers.Cost
		want string
	}{
		{providers.Cost{Requests: 900, Left: -1, Why: "40 repositories"}, "a whole search takes about 900 requests: 40 repositories"},
		{providers.Cost{Requests: 900, AtLeast: true, Left: 200, Why: "40 repositories"}, "a whole search takes at least 900 requests, of 200 that are left above the reserve: 40 repositories"},
	} {
		if got := (JobsCost{c.cost}).line(); got != c.want {
			t.Errorf("%q", got)
		}
	}
}

func TestWhatBelongsToTheListIsWrittenAfterIt(t *testing.T) {
	at := time.Date(2026, 11, 30, 3, 0, 0, 0, time.UTC)
	var out bytes.Buffer
	Lines{W: &out}.around(&exposure.List{
		Jobs:        []providers.Job{oddJob("1", "first-time actor"), oddJob("2"), oddJob("3", "not looked: odd hour (few runs)")},
		Outputs:     []providers.Publication{{Kind: providers.Release, Name: "v2", Where: "acme/web", By: "mallory", At: at, Why: "published in the window"}},
		OutputGaps:  []evidence.Gap{{Name: "packages of acme", Why: "not asked"}},
		Differences: []exposure.Difference{{Host: "build-07", Finding: check.Finding{Severity: check.High, Title: "a job is missing", Detail: "run 9"}}},
	})
	got := out.String()
	for _, want := range []string{
		"odd: job 1 ", "first-time actor", "came out: release         v2  (acme/web) 2026-11-30 03:00Z by mallory published in the window",
		"came out, not known: packages of acme: not asked", "differs: high     a job is missing: run 9",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if strings.Contains(got, "odd: job 2") || strings.Contains(got, "odd: job 3") {
		t.Errorf("not odd:\n%s", got)
	}
}
