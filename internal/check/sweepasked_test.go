package check_test

import (
	"strings"
	"testing"

	"cordon/internal/check"
	"cordon/internal/host/snapshot"
)

// askedHost is a whole read of a host that was asked for paths of a list.
func askedHost(asked ...snapshot.Asked) *snapshot.Snapshot {
	s := whole()
	s.Asked = asked
	s.Sections = append(s.Sections, snapshot.Section{Name: snapshot.SectionAsked, End: snapshot.EndOK})
	return s
}

// "Not there" of a path that is no place we read is said only where the host was asked
// for just that path and could look.
func TestSweepBelievesOnlyWhatTheHostWasAskedFor(t *testing.T) {
	in := indicators(t, "paths: [/opt/x]\n")
	for name, c := range map[string]struct {
		s    *snapshot.Snapshot
		want string // part of what could not be seen; empty: nothing found, and all seen
	}{
		"asked, not there":       {askedHost(snapshot.Asked{Path: "/opt/x", State: snapshot.AskedAbsent}), ""},
		"asked, could not look":  {askedHost(snapshot.Asked{Path: "/opt/x", State: snapshot.AskedUnseen, Why: "a link"}), "/opt/x could not be looked at: a link"},
		"asked for another path": {askedHost(snapshot.Asked{Path: "/opt/y", State: snapshot.AskedAbsent}), "/opt/x was never looked for here"},
		"of an older read":       {whole(), "/opt/x was never looked for here"},
	} {
		got := check.Sweep(in, c.s)
		if len(got.Matches) != 0 || (c.want == "") != (len(got.CouldNot) == 0) || !strings.Contains(strings.Join(got.CouldNot, "\n"), c.want) {
			t.Errorf("%s: %+v", name, got)
		}
	}
	s := askedHost(snapshot.Asked{Path: "/opt/x", State: snapshot.AskedThere})
	s.AskedFiles = []snapshot.File{{Path: "/opt/x", Section: snapshot.SectionAsked, Type: "dir"}}
	if got := check.Sweep(in, s); len(got.Matches) != 1 || got.Matches[0].How != check.IsThere || len(got.CouldNot) != 0 {
		t.Errorf("there: %+v", got)
	}
	s.Asked[0].Why = "of a pattern, not all"
	if got := check.Sweep(in, s); len(got.CouldNot) != 1 || !strings.Contains(got.CouldNot[0], "there may be more") {
		t.Errorf("partly: %+v", got)
	}
}

// The hash of a listed file counts, and where there is none that is said.
func TestSweepComparesTheHashesOfListedFiles(t *testing.T) {
	sum := strings.Repeat("ab", 32)
	in := indicators(t, "paths: [/opt/x]\nsha256: [\""+sum+"\"]\n")
	s := askedHost(snapshot.Asked{Path: "/opt/x", State: snapshot.AskedThere})
	s.AskedFiles = []snapshot.File{{Path: "/opt/x", Section: snapshot.SectionAsked, Type: "file", Size: 9, SHA256: sum}}
	got := check.Sweep(in, s)
	if len(got.Matches) != 2 || got.Matches[1].Kind != "sha256" || got.Matches[1].Where != "/opt/x" {
		t.Errorf("%+v", got.Matches)
	}
	s.AskedFiles[0].SHA256 = strings.Repeat("cd", 32)
	if got := check.Sweep(in, s); len(got.Matches) != 1 {
		t.Errorf("another file: %+v", got.Matches)
	}
	s.AskedFiles[0].SHA256, s.AskedFiles[0].NoHash = "", "no sha256sum there"
	if got := check.Sweep(in, s); len(got.Matches) != 1 || !strings.Contains(strings.Join(got.CouldNot, "\n"), "no hash of /opt/x: no sha256sum there") {
		t.Errorf("no hash: %+v", got)
	}
}

// What somebody asked for is no reason for a finding: the checks answer the same.
func TestChecksDoNotLookAtWhatASweepAskedFor(t *testing.T) {
	s := askedHost(snapshot.Asked{Path: "/etc/cron.d/x", State: snapshot.AskedThere})
	s.AskedFiles = []snapshot.File{{Path: "/etc/cron.d/x", Section: snapshot.SectionAsked, Type: "file", Size: 9, Mode: 0o644}}
	if found := check.AtLeast(check.Run(s), check.Low); len(found) != 0 {
		t.Errorf("%+v", found)
	}
}
