package check_test

import (
	"strings"
	"testing"
	"time"

	"cordon/internal/check"
	"cordon/internal/host/snapshot"
	"cordon/internal/untrusted"
)

// A program of a tool that was written over in place is found by the time of its change:
// after its marker, or, where the marker was written anew, after what it came with. What
// jobs add, and what was not looked at, is told apart.
func TestAToolThatWasChangedInPlaceIsFound(t *testing.T) {
	const dir, tool = "/opt/hostedtoolcache", "/opt/hostedtoolcache/go/1.22.0/x64"
	old := taken.Add(-500 * time.Hour)
	for name, c := range map[string]struct {
		later map[string]time.Duration
		at    string // "": nothing above a note
	}{
		"as unpacked":       {nil, ""},
		"a program":         {map[string]time.Duration{"/bin/go": 40 * time.Hour}, "/bin/go"},
		"a compiler":        {map[string]time.Duration{"/pkg/tool/linux_amd64/compile": 40 * time.Hour}, "/pkg/tool/linux_amd64/compile"},
		"with a new marker": {map[string]time.Duration{"/bin/go": 40 * time.Hour, ".complete": 41 * time.Hour}, "/bin/go"},
		"installed again as a whole": {map[string]time.Duration{
			"": 40 * time.Hour, "/bin/go": 40 * time.Hour, "/bin/gofmt": 40 * time.Hour, "/VERSION": 40 * time.Hour, "/pkg/tool/linux_amd64/compile": 40 * time.Hour, ".complete": 40 * time.Hour,
		}, ""},
		"a file that is no program": {map[string]time.Duration{"/VERSION": 40 * time.Hour}, ""},
	} {
		s := cleanHost()
		s.Files = append(s.Files, snapshot.File{Path: dir + "/.", Section: snapshot.SectionWork, Type: "dir", Mode: 0o755, Ctime: old})
		for _, p := range []string{"", ".complete", "/VERSION", "/bin/go", "/bin/gofmt", "/pkg/tool/linux_amd64/compile"} {
			f := file(snapshot.SectionWork, tool+p, 0o755, 0, "")
			switch p {
			case "":
				f = snapshot.File{Path: untrusted.Text(tool), Section: snapshot.SectionWork, Type: "dir", Mode: 0o755}
			case ".complete", "/VERSION":
				f.Mode = 0o644
			}
			f.Mtime, f.Ctime = old, old.Add(c.later[p])
			s.Files = append(s.Files, f)
		}
		r := resultOf(t, s, "runner-files")
		var found []check.Finding
		told := false
		for _, f := range r.Findings {
			if f.Severity.AtLeast(check.Low) {
				found = append(found, f)
			}
			told = told || f.Where == dir && strings.Contains(string(f.Detail), "libraries and packages") && strings.Contains(string(f.Detail), "3 program(s) of 1 tool(s)")
		}
		if len(found) != min(len(c.at), 1) || len(found) == 1 && string(found[0].Where) != tool+c.at {
			t.Errorf("%s: %+v", name, found)
		}
		if !told {
			t.Errorf("%s: how far it was looked is not told", name)
		}
	}
}
