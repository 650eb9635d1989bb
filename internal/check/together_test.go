package check_test

import (
	"fmt"
	"testing"
	"time"

	"cordon/internal/check"
	"cordon/internal/host/snapshot"
)

// A module of PAM that changed after those it was unpacked with was replaced, whatever
// date its maker gave it; an upgrade changes all of them, and those of another package
// have their own time.
func TestAReplacedPAMModuleIsFoundBehindItsOldDate(t *testing.T) {
	const dir = "/usr/lib/x86_64-linux-gnu/security/"
	for name, c := range map[string]struct {
		changed map[string]time.Duration // after the others
		found   bool
	}{
		"as unpacked":            {nil, false},
		"pam_unix.so replaced":   {map[string]time.Duration{"pam_unix.so": 40 * time.Hour}, true},
		"another one replaced":   {map[string]time.Duration{"pam_permit.so": 40 * time.Hour}, true},
		"a slow upgrade":         {map[string]time.Duration{"pam_unix.so": 10 * time.Minute}, false},
		"one of another package": {map[string]time.Duration{"pam_systemd.so": 900 * time.Hour}, false},
		"too few to know":        {map[string]time.Duration{"pam_unix.so": 40 * time.Hour, "-": 0}, false},
	} {
		s := cleanHost()
		for _, m := range []string{"pam_unix.so", "pam_deny.so", "pam_permit.so", "pam_env.so", "pam_systemd.so"} {
			if _, few := c.changed["-"]; few && m != "pam_unix.so" && m != "pam_deny.so" {
				continue
			}
			f := file(snapshot.SectionSystem, dir+m, 0o644, 0, "")
			f.Mtime, f.Ctime = taken.Add(-900*time.Hour), taken.Add(-500*time.Hour).Add(c.changed[m])
			s.Files = append(s.Files, f)
		}
		found := check.AtLeast(check.Run(s), check.Low)
		if (len(found) == 1 && found[0].Check == "logins" && found[0].Severity == check.High) != c.found || !c.found && len(found) != 0 {
			t.Errorf("%s: %s", name, fmt.Sprint(found))
		}
	}
}
