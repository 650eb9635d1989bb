package check_test

import (
	"strings"
	"testing"

	"cordon/internal/check"
	"cordon/internal/host/snapshot"
	"cordon/internal/untrusted"
)

// Whoever brought a file, dpkg, apk or rpm, it is no stranger; a file that none brought
// is one; and where no list was told, or half of one, nobody knows.
func TestEveryPackageManagerVouchesForItsFiles(t *testing.T) {
	for _, manager := range []string{"dpkg", "apk", "rpm"} {
		for name, c := range map[string]struct {
			list, end string
			strange   bool
		}{
			"brought":       {"/etc/init.d/x\n", snapshot.EndOK, false},
			"not brought":   {"/etc/init.d/y\n", snapshot.EndOK, true},
			"an empty list": {"", snapshot.EndOK, false},
			"half a list":   {"/etc/init.d/y\n", snapshot.EndCut, false},
		} {
			s := whole()
			plantFile(file(snapshot.SectionSystem, "/etc/init.d/x", 0o755, 0, "#!/bin/sh\nexit 0\n"))(s)
			s.Facts = append(s.Facts, snapshot.Fact{Section: snapshot.SectionOwned, Name: manager, Text: untrusted.Text(c.list)})
			end(s, snapshot.SectionOwned, c.end, "")
			found := false
			for _, f := range check.AtLeast(check.Run(s), check.Low) {
				found = found || string(f.Where) == "/etc/init.d/x" && strings.Contains(string(f.Detail), "no package brought")
			}
			if found != c.strange {
				t.Errorf("%s, %s: a stranger %v", manager, name, found)
			}
		}
	}
}
