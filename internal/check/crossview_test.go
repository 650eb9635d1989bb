package check_test

import (
	"slices"
	"strings"
	"testing"

	"cordon/internal/check"
	"cordon/internal/host/snapshot"
	"cordon/internal/untrusted"
)

// A host is called free of hidden processes only where every number was asked for, or the
// kernel counts no more tasks than the list shows. An older snapshot says what it is.
func TestAHighNumberCannotHideBehindACleanWord(t *testing.T) {
	for name, c := range map[string]struct{ probed, most, tasks, want string }{
		"every number":         {"32768", "32768", "", ""},
		"every high number":    {"4194304", "4194304", "200 180", ""},
		"the count fits":       {"65536", "4194304", "180 180", ""},
		"the count does not":   {"65536", "4194304", "181 180", "asked for: 1 to 65536 of 1 to 4194304"},
		"no one moment":        {"65536", "4194304", "180 190 moving", "come and go"},
		"no count":             {"1065536", "4194304", "", "1 to 1065536 of 1 to 4194304"},
		"a count that is none": {"65536", "4194304", "x y", "is not told"},
		"a count of nothing":   {"65536", "4194304", "0 0", "1 to 65536 of"},
		"an older build":       {"65536", "", "", "asked for: 1 to 65536; a process with a higher number"},
		"an older build, all":  {"32768", "", "", ""},
		"in use above":         {"700", "", "", "in use and were not"},
		"of a tree":            {"tree", "", "", ""},
	} {
		s := whole()
		s.Facts = []snapshot.Fact{{Section: snapshot.SectionCross, Name: "hidden"}}
		for name, v := range map[string]string{"probed": c.probed, "pidmax": c.most, "tasks": c.tasks} {
			if v != "" {
				s.Facts = append(s.Facts, snapshot.Fact{Section: snapshot.SectionCross, Name: name, Text: untrusted.Text(v)})
			}
		}
		i := slices.IndexFunc(check.Run(s), func(r check.Result) bool { return r.Check == "hidden-processes" })
		r := check.Run(s)[i]
		if (c.want == "") != (r.State == check.Nothing) || !strings.Contains(r.Why, c.want) {
			t.Errorf("%s: %s, %q, want %q", name, r.State, r.Why, c.want)
		}
	}
}
