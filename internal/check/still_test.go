package check_test

import (
	"slices"
	"testing"
	"time"

	"cordon/internal/check"
	"cordon/internal/evidence"
	"cordon/internal/host/snapshot"
	"cordon/internal/untrusted"
)

// TestWhatStillRunsIsTheSameProcess: by number, name and start; a number that was given
// away since, or a process that nothing was found about, is not told.
func TestWhatStillRunsIsTheSameProcess(t *testing.T) {
	at := time.Date(2026, 11, 30, 3, 0, 0, 0, time.UTC)
	p := func(pid int, comm string, started time.Time) snapshot.Process {
		return snapshot.Process{PID: pid, Comm: untrusted.Text(comm), Started: started}
	}
	results := []check.Result{{Check: "orphans", State: check.Found, Findings: []check.Finding{
		{Severity: check.High, Title: "a", Evidence: []string{"processes:512"}},
		{Severity: check.Critical, Title: "b", Evidence: []string{"processes:513"}},
		{Severity: check.Medium, Title: "c", Evidence: []string{"processes:514"}},
	}}}
	first := &snapshot.Snapshot{Processes: []snapshot.Process{p(512, "kworkerd", at), p(513, "sh", at), p(514, "sleep", at)}}
	for name, c := range map[string]struct {
		last []snapshot.Process
		want []string
	}{
		"both, the worst first":  {first.Processes, []string{"process 513 (sh)", "process 512 (kworkerd)"}},
		"a second off":           {[]snapshot.Process{p(512, "kworkerd", at.Add(time.Second))}, []string{"process 512 (kworkerd)"}},
		"another of that number": {[]snapshot.Process{p(512, "kworkerd", at.Add(time.Minute))}, nil},
		"another name":           {[]snapshot.Process{p(512, "cron", at)}, nil},
		"gone":                   {nil, nil},
	} {
		if got := check.Still(results, check.High, first, &snapshot.Snapshot{Processes: c.last}); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	if got := check.Still(results, check.High, first, nil); got != nil {
		t.Errorf("nobody looked: %q", got)
	}
}

// TestTheLastLookIsOneAfterTheRead: a watch before the host was read anew says nothing.
func TestTheLastLookIsOneAfterTheRead(t *testing.T) {
	items := []evidence.Item{
		{Name: "host/a/snapshot.json", Digest: "1"},
		{Name: "host/a/watch-1.json", Digest: "2"},
		{Name: "host/a/watch-2.json", Digest: "3"},
		{Name: "host/ab/snapshot.json", Digest: "4"},
		{Name: "host/a/refused.json", Digest: "5"},
	}
	if read, last := check.Looks(items, "a"); read != "1" || last != "3" {
		t.Errorf("%s %s", read, last)
	}
	if read, last := check.Looks(append(items, evidence.Item{Name: "host/a/snapshot.json", Digest: "6"}), "a"); read != "6" || last != "" {
		t.Errorf("read anew: %s %s", read, last)
	}
}
