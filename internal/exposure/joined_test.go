package exposure

import (
	"testing"
	"time"

	"cordon/internal/evidence"
	"cordon/internal/host/snapshot"
	"cordon/internal/target"
	"cordon/internal/untrusted"
	"cordon/providers"
)

func TestALaterListKeepsWhatRanWhatCameOutAndWhatDiffered(t *testing.T) {
	at := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	job := func(id string) providers.Job {
		return providers.Job{Ref: target.Ref{System: "gh", Kind: target.Job, ID: id}, Flags: []string{"odd hour"}, StartedAt: at}
	}
	out := func(name string) providers.Publication {
		return providers.Publication{Kind: providers.Release, Name: name, Where: "acme/web", At: at}
	}
	old := Open(Input{
		At: at.Add(time.Hour), Since: at.Add(-time.Hour), Jobs: []providers.Job{job("1"), job("2")}, Outputs: []providers.Publication{out("v1")},
		OutputGaps: []evidence.Gap{{Name: "packages", Why: "not asked"}},
	})
	old = old.Compared(HostJobs{Host: "build-07", Keeps: true, Complete: true})
	if len(old.Differences) != 1 || old.Differences[0].Host != "build-07" {
		t.Fatalf("%+v", old.Differences)
	}
	n := Open(Input{At: at.Add(2 * time.Hour), Since: at.Add(-time.Hour), Jobs: []providers.Job{job("2"), job("3")}, Outputs: []providers.Publication{out("v2")}}).Joined(old)
	if len(n.Jobs) != 3 || len(n.Outputs) != 2 || len(n.OutputGaps) != 1 || len(n.Differences) != 1 {
		t.Errorf("%+v", n)
	}
	if len(old.Jobs) != 2 || len(old.Outputs) != 1 {
		t.Error("the old list was changed")
	}
	seen := []snapshot.Job{}
	for range 3 {
		seen = append(seen, snapshot.Job{Source: snapshot.JobRunnerLog, Name: "x", Started: at})
	}
	for i := range n.Jobs {
		n.Jobs[i].Name = "x"
	}
	if again := n.Compared(HostJobs{Host: "build-07", Jobs: seen, Keeps: true, Complete: true}); len(again.Differences) != 0 {
		t.Errorf("a later look at the host takes the place of the earlier: %+v", again.Differences)
	}
}

func TestJobsOfAnotherRunnerOnTheHostAreNotCompared(t *testing.T) {
	at := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	s := &snapshot.Snapshot{Host: "h", Jobs: []snapshot.Job{{Root: "/opt/a", Name: "x", Started: at}, {Root: "/opt/b", Name: "y"}}}
	if h := HostJobsOf(s, target.Ref{ID: "23"}); len(h.Jobs) != 2 || h.Keeps {
		t.Errorf("no installation was found: all count: %+v", h)
	}
	s.Offset = snapshot.Offset{Known: true, Value: time.Hour}
	for root, id := range map[string]string{"/opt/a": "23", "/opt/b": "24"} {
		s.Files = append(s.Files, snapshot.File{Section: snapshot.SectionRunners, Path: untrusted.Text(root + "/.runner"), Type: "file", Mode: 0o600, Size: 80, Content: untrusted.Text(`{"agentId": ` + id + `, "agentName": "n", "gitHubUrl": "https://github.com/acme", "workFolder": "_work"}`)})
	}
	h := HostJobsOf(s, target.Ref{ID: "23"})
	if len(h.Jobs) != 1 || h.Jobs[0].Name != "x" || !h.Keeps {
		t.Errorf("%+v", h)
	}
	if !h.Jobs[0].Started.Equal(at.Add(-time.Hour)) {
		t.Error("the host's clock is taken for ours")
	}
	if h := HostJobsOf(s, target.Ref{ID: "99"}); len(h.Jobs) != 0 || h.Keeps {
		t.Errorf("both are others', and their jobs are taken for its own: %+v", h)
	}
	s.Files[0].Content = untrusted.Text(`{"agentName": "n", "gitHubUrl": "https://github.com/acme", "workFolder": "_work"}`)
	if h := HostJobsOf(s, target.Ref{ID: "99"}); len(h.Jobs) != 1 || !h.Keeps {
		t.Errorf("one does not say whose it is: its jobs may be: %+v", h)
	}
}
