package check_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"cordon/internal/check"
	"cordon/internal/host/snapshot"
)

func resultOf(t *testing.T, s *snapshot.Snapshot, id string) check.Result {
	t.Helper()
	for _, r := range check.Run(s) {
		if r.Check == id {
			return r
		}
	}
	t.Fatalf("no result of %s", id)
	return check.Result{}
}

func end(s *snapshot.Snapshot, section, how, why string) {
	for i := range s.Sections {
		if s.Sections[i].Name == section {
			s.Sections[i].End, s.Sections[i].Why = how, why
		}
	}
}

// Whatever the host kept from us must never read as "nothing found".
func TestNothingFoundNeedsAWholeLook(t *testing.T) {
	for _, c := range check.All() {
		for _, need := range c.Needs {
			for _, how := range []string{snapshot.EndDenied, snapshot.EndCut, snapshot.EndMissing} {
				s := cleanHost()
				end(s, need, how, "because")
				r := resultOf(t, s, c.ID)
				if r.State == check.Nothing || !strings.Contains(r.Why, need+" "+how+" (because)") {
					t.Errorf("%s with %s %s says %q (%s)", c.ID, need, how, r.State, r.Why)
				}
			}
		}
		s := cleanHost()
		s.Complete = false
		if r := resultOf(t, s, c.ID); r.State == check.Nothing || r.Why == "" {
			t.Errorf("%s on a read that did not end says %q (%s)", c.ID, r.State, r.Why)
		}
		if r := resultOf(t, nil, c.ID); r.State != check.Blind {
			t.Errorf("%s without a snapshot says %q", c.ID, r.State)
		}
	}
}

// "Not asked" is the third word: a watch reads no files, and that is no failure.
func TestWhatTheProfileLeavesOutIsNotAsked(t *testing.T) {
	s := cleanHost()
	s.Profile, s.Files, s.Sections = snapshot.ProfileWatch, nil, nil
	for _, name := range snapshot.SectionsOf(snapshot.ProfileWatch) {
		s.Sections = append(s.Sections, snapshot.Section{Name: name, End: snapshot.EndOK})
	}
	if r := resultOf(t, s, "cron-timers"); r.State != check.Unasked {
		t.Errorf("cron-timers says %q (%s), want %q", r.State, r.Why, check.Unasked)
	}
	s.Complete = false // now nobody knows whether it would have come
	if r := resultOf(t, s, "cron-timers"); r.State != check.Blind {
		t.Errorf("cron-timers of a cut read says %q, want %q", r.State, check.Blind)
	}
}

// What was seen before the read broke is kept, and said to be partial.
func TestFindingsOfAPartialLookAreKept(t *testing.T) {
	s := cleanHost()
	plantFile(file(cron, "/etc/cron.d/systemd-x", 0o644, 0, "* * * * * root /tmp/x\n"))(s)
	end(s, cron, snapshot.EndCut, "")
	r := resultOf(t, s, "cron-timers")
	if r.State != check.Found || len(r.Findings) != 1 || !strings.HasPrefix(r.Why, "partial: ") {
		t.Errorf("got %+v", r)
	}
	if unknown := check.Unknown(check.Run(s)); len(unknown) != 1 || unknown[0].Check != "cron-timers" {
		t.Errorf("Unknown lists %+v, want the partial check alone", unknown)
	}
}

func TestCutFileIsNotNothing(t *testing.T) {
	s := cleanHost()
	for i := range s.Files {
		if s.Files[i].Path == "/etc/crontab" {
			s.Files[i].Truncated = true
		}
	}
	if r := resultOf(t, s, "cron-timers"); r.State != check.Blind {
		t.Errorf("cron-timers with a cut crontab says %q", r.State)
	}
}

// A configuration that is no TOML hides its hooks: job-hooks must say so.
func TestBrokenConfigIsNotNothing(t *testing.T) {
	for _, text := range []string{"[[runners]\nname=", "x=" + strings.Repeat("[", 1<<20), "x=" + strings.Repeat("{a=", 1<<19), "\x00\xff", "[[runners]]\ntoken = \"a"} {
		s := cleanHost()
		plantFile(file(runners, "/etc/gitlab-runner/config.toml", 0o600, 0, text))(s)
		if r := resultOf(t, s, "job-hooks"); r.State != check.Blind || !strings.Contains(r.Why, "/etc/gitlab-runner") {
			t.Errorf("job-hooks on %.12q says %q (%s)", text, r.State, r.Why)
		}
		if r := resultOf(t, s, "installations"); r.State != check.Found {
			t.Errorf("installations on %.12q says %q", text, r.State)
		}
	}
}

// A host may plant a million files: the answer stays readable and keeps the worst.
func TestFindingsAreCappedWorstFirst(t *testing.T) {
	s := cleanHost()
	for i := range 1000 {
		s.Files = append(s.Files, file(cron, fmt.Sprintf("/etc/cron.d/local%04d", i), 0o644, 0, "* * * * * root /usr/bin/true\n"))
	}
	s.Files = append(s.Files, file(cron, "/etc/cron.d/zz", 0o644, 0, "* * * * * root /tmp/x\n"))
	r := resultOf(t, s, "cron-timers")
	if len(r.Findings) > 201 || r.Findings[0].Where != "/etc/cron.d/zz" {
		t.Errorf("%d findings, first at %s", len(r.Findings), r.Findings[0].Where)
	}
	if last := r.Findings[len(r.Findings)-1]; !strings.HasPrefix(last.Title, "801 more") {
		t.Errorf("the rest is not counted: %q", last.Title)
	}
}

// A reviewer repeats the checks from the bundle and must get the same words.
func TestRunIsRepeatable(t *testing.T) {
	s := cleanHost()
	for _, a := range artefacts {
		a.plant(s)
	}
	first := check.Run(s)
	for range 5 {
		if again := check.Run(s); !reflect.DeepEqual(first, again) {
			t.Fatal("two runs on one snapshot differ")
		}
	}
}

func TestReportEscapesWhatTheHostSays(t *testing.T) {
	s := cleanHost()
	plantFile(file(cron, "/etc/cron.d/x\x1b]0;owned\x07\u202e", 0o644, 0, "* * * * * root /tmp/\x1b[2J\n"))(s)
	b, err := json.Marshal(check.ReportOf(s))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(b), `"schema":"cordon.findings/1"`) || !strings.Contains(string(b), "owned") {
		t.Errorf("report lacks its schema or the finding: %s", b)
	}
	if strings.ContainsAny(string(b), "\x1b\x07\u202e") {
		t.Error("an escape of the host reached the report")
	}
}

func TestSeverityOrder(t *testing.T) {
	for i, s := range check.Severities() {
		for j, min := range check.Severities() {
			if got := s.AtLeast(min); got != (i >= j) {
				t.Errorf("%s at least %s: %v", s, min, got)
			}
		}
	}
	if check.Severity("?").AtLeast(check.Info) {
		t.Error("an unknown severity counts as one")
	}
	if _, err := check.ParseSeverity("hgih"); err == nil || !strings.Contains(err.Error(), "write info") {
		t.Errorf("ParseSeverity gives no hint: %v", err)
	}
	if got, err := check.ParseSeverity(" High "); err != nil || got != check.High {
		t.Errorf("ParseSeverity: %q, %v", got, err)
	}
	rs := []check.Result{{Findings: []check.Finding{{Severity: check.Low}, {Severity: check.High}}}, {}}
	if check.Worst(rs) != check.High || check.Worst(nil) != "" {
		t.Errorf("Worst: %q and %q", check.Worst(rs), check.Worst(nil))
	}
}
