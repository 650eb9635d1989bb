package host

import (
	"strings"
	"testing"
	"time"

	"cordon/internal/host/snapshot"
	"cordon/internal/untrusted"
	"cordon/internal/witness"
)

// watched is a whole watch snapshot of a host with two GitHub runners, of which the
// unit's is /home/ci/actions-runner.
func watched(procs []snapshot.Process, log ...snapshot.LogLine) *snapshot.Snapshot {
	s := &snapshot.Snapshot{Host: "gha-01", Profile: snapshot.ProfileWatch, Complete: true, Processes: procs, Log: log}
	for _, name := range snapshot.SectionsOf(s.Profile) {
		s.Sections = append(s.Sections, snapshot.Section{Name: name, End: snapshot.EndOK})
	}
	s.Facts = []snapshot.Fact{{Section: snapshot.SectionLog, Name: "starts", Text: "actions.runner.acme.gha-01.service /home/ci/actions-runner\nactions.runner.acme.gha-02.service /home/ci/two\n"}}
	return s
}

func listener(pid int, root, group string) snapshot.Process {
	return snapshot.Process{PID: pid, PPID: 1, Comm: "Runner.Listener", Exe: untrusted.Text(root + "/bin/Runner.Listener"), Args: []untrusted.Text{"Runner.Listener", "run"}, Cgroup: untrusted.Text(group)}
}

func logLine(root string, minute int, text string) snapshot.LogLine {
	return snapshot.LogLine{
		At: time.Date(2026, 11, 30, 12, minute, 0, 0, time.UTC), Unit: "Runner_20261130-120000-utc",
		From: untrusted.Text(root + "/_diag/Runner_20261130-120000-utc.log"), Text: untrusted.Text(text),
	}
}

const (
	ours    = "/home/ci/actions-runner"
	theirs  = "/home/ci/two"
	ourUnit = "actions.runner.acme.gha-01.service"
)

func TestTheLogOfAGitHubListenerIsAWitness(t *testing.T) {
	for name, c := range map[string]struct {
		log               []snapshot.LogLine
		polling, rejected witness.Tri
		minute            int
		says              string
	}{
		"at work":                         {[]snapshot.LogLine{logLine(ours, 1, "Terminal: Listening for Jobs"), logLine(ours, 5, "Terminal: Running job: build")}, witness.Yes, witness.No, 5, "no contact in the agent's log after"},
		"deleted, and it cleaned up":      {[]snapshot.LogLine{logLine(ours, 1, "Terminal: Listening for Jobs"), logLine(ours, 9, "Terminal: The runner no longer exists on the server. Cleaning up local configuration.")}, witness.Unknown, witness.Yes, 9, "stopped by itself"},
		"deleted, and it asks for ever":   {[]snapshot.LogLine{logLine(ours, 7, "Terminal: Runner connect error: Registration was not found or is not medium trust. Retrying until reconnected.")}, witness.Unknown, witness.Yes, 7, "refused, by"},
		"cut off from the network":        {[]snapshot.LogLine{logLine(ours, 7, "Terminal: Runner connect error: timed out. Retrying until reconnected.")}, witness.Unknown, witness.Unknown, 7, "does not say that it was answered"},
		"another machine has its session": {[]snapshot.LogLine{logLine(ours, 7, "Terminal: A session for this runner already exists.")}, witness.Unknown, witness.Unknown, 7, "another session has its identity"},
		"the other runner is at work":     {[]snapshot.LogLine{logLine(ours, 1, "Terminal: Listening for Jobs"), logLine(theirs, 30, "Terminal: Running job: build")}, witness.Yes, witness.No, 1, "no contact"},
	} {
		o := logged(witness.Observation{}, watched(nil, c.log...), belonging{ourUnit, "Runner.Listener", ours})
		if o.Source != witness.HostLog || o.Polling != c.polling || o.Rejected != c.rejected || o.LastContact.Minute() != c.minute || !strings.Contains(o.Says, c.says) {
			t.Errorf("%s: polling %q, rejected %q, at %s: %s", name, o.Polling, o.Rejected, o.LastContact, o.Says)
		}
	}
}

// Several runners of GitHub on one machine are common: the one beside it neither keeps
// a contained one from being gone, nor is it passed over.
func TestTheRunnerBesideItIsTold(t *testing.T) {
	beside := listener(8, theirs, "/system.slice/actions.runner.acme.gha-02.service")
	rogue := listener(9, "/home/ci/.dev-env", "/user.slice/user-1000.slice/session-3.scope")
	all := tell(witness.Observation{}, watched([]snapshot.Process{beside, rogue}), ourUnit)
	if !strings.Contains(all[0].Says, "no agent of this runner (2 others run beside)") || !strings.Contains(all[1].Says, "of an agent of this runner") {
		t.Errorf("what is said is not true of the host: %q, %q", all[0].Says, all[1].Says)
	}
	if alone := tell(witness.Observation{}, watched(nil), ourUnit); !strings.Contains(alone[0].Says, "no runner agent among") {
		t.Errorf("%q", alone[0].Says)
	}
	if len(all) != 5 || all[0].Exists != witness.No || !strings.Contains(all[3].Says, theirs) || !strings.Contains(all[4].Says, ".dev-env") {
		t.Errorf("%+v", all)
	}
	// The same root started by hand is the runner, whatever it was started by.
	byHand := listener(7, ours, "/user.slice/user-1000.slice/session-3.scope")
	if all := tell(witness.Observation{}, watched([]snapshot.Process{byHand}), ourUnit); all[0].Exists != witness.Yes || len(all) != 3 {
		t.Errorf("%+v", all)
	}
	// With no unit configured, every agent counts.
	if all := tell(witness.Observation{}, watched([]snapshot.Process{beside, rogue}), ""); all[0].Exists != witness.Yes || len(all) != 3 {
		t.Errorf("%+v", all)
	}
}

// A worker at work is a job that runs, whatever the provider says.
func TestAWorkerIsARunningJob(t *testing.T) {
	worker := snapshot.Process{PID: 10, PPID: 7, Comm: "Runner.Worker", Exe: ours + "/bin/Runner.Worker", Args: []untrusted.Text{"Runner.Worker", "spawnclient", "1", "2"}}
	all := tell(witness.Observation{}, watched([]snapshot.Process{listener(7, ours, ""), worker}), ourUnit)
	if all[0].Busy != witness.Yes || !strings.Contains(all[0].Says, "a job runs") {
		t.Errorf("%+v", all[0])
	}
	if all := tell(witness.Observation{}, watched([]snapshot.Process{listener(7, ours, "")}), ourUnit); all[0].Busy != witness.No {
		t.Errorf("%+v", all[0])
	}
}
