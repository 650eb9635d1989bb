package check_test

import (
	"fmt"
	"strings"
	"testing"

	"cordon/internal/check"
	"cordon/internal/host/snapshot"
	"cordon/internal/untrusted"
)

// brought makes the snapshot one of a system that lists what packages brought: all that
// is there, and more.
func brought(s *snapshot.Snapshot, more ...string) {
	var b strings.Builder
	for _, f := range s.Files {
		b.WriteString(string(f.Path) + "\n")
	}
	b.WriteString(strings.Join(more, "\n") + "\n")
	s.Facts = append(s.Facts, snapshot.Fact{Section: snapshot.SectionOwned, Name: "dpkg", Text: untrusted.Text(b.String())})
}

// A link is honest where a package or systemctl made it, known where only root could
// make it, and else a finding; "could not look" where nobody knows what starts there.
func TestWhatALinkIsWorth(t *testing.T) {
	for _, c := range []struct {
		name, section, path, to, check string
		uid                            int
		list                           []string // what packages brought beside the clean host; nil: no list
		want                           check.Severity
		open                           bool
	}{
		{"of a package, into the system", profiles, "/etc/profile.d/70-x.sh", "/usr/lib/systemd/profile.d/70-x.sh", "shell-profiles", 0, []string{"/etc/profile.d/70-x.sh"}, "", false},
		{"to what a package brought", profiles, "/etc/profile.d/y.sh", "/usr/share/y/y.sh", "shell-profiles", 0, []string{"/usr/share/y/y.sh"}, "", false},
		{"of root, into the system", profiles, "/etc/profile.d/y.sh", "/usr/share/y/y.sh", "shell-profiles", 0, []string{"/x"}, check.Low, false},
		{"of root, into the system, without a list", profiles, "/etc/profile.d/y.sh", "/usr/share/y/y.sh", "shell-profiles", 0, nil, check.Info, false},
		{"of a package's name, elsewhere", profiles, "/etc/profile.d/70-x.sh", "/opt/x.sh", "shell-profiles", 0, []string{"/etc/profile.d/70-x.sh"}, check.Medium, true},
		{"to where everybody puts his own", profiles, "/etc/profile.d/y.sh", "/usr/local/lib/y.sh", "shell-profiles", 0, []string{"/x"}, check.Medium, true},
		{"of an account, into the system", profiles, "/etc/profile.d/y.sh", "/usr/share/y/y.sh", "shell-profiles", 1001, []string{"/usr/share/y/y.sh"}, check.Medium, true},
		{"out of a relative path", profiles, "/etc/profile.d/y.sh", "../../opt/y.sh", "shell-profiles", 0, []string{"/x"}, check.Medium, true},
		{"to where anybody writes", profiles, "/etc/profile.d/y.sh", "/tmp/y.sh", "shell-profiles", 0, []string{"/x"}, check.High, true},
		{"to nothing", profiles, "/etc/profile.d/y.sh", "/dev/null", "shell-profiles", 0, []string{"/x"}, "", false},
		{"of a person, in his own home", profiles, "/home/ir/.bashrc", ".dotfiles/bashrc", "shell-profiles", 1001, nil, check.Low, true},
		{"of the jobs' account", profiles, "/home/gitlab-runner/.bashrc", "x", "shell-profiles", 998, nil, check.High, true},
		{"of an account of the system", keys, "/var/spool/news/.ssh/authorized_keys", "/opt/k", "authorized-keys", 0, nil, check.High, true},
		{"enabled by systemctl", units, "/etc/systemd/system/multi-user.target.wants/a.mount", "/etc/systemd/system/a.mount", "unit-dropins", 0, []string{"/x"}, "", false},
		{"into a directory below, which is not read", units, "/etc/systemd/system/a.service", "/etc/systemd/system/deep/a.service", "unit-dropins", 0, []string{"/x"}, check.Low, false},
		{"to a file that is no unit", units, "/etc/systemd/system/a.service", "/opt/a.txt", "unit-dropins", 0, []string{"/x"}, check.Medium, true},
		{"of a run level", snapshot.SectionSystem, "/etc/rc3.d/S01x", "../../usr/local/x", "boot-hooks", 0, []string{"/x"}, check.Medium, true},
	} {
		s := cleanHost()
		if c.list != nil {
			brought(s, c.list...)
		}
		f := link(c.section, c.path, c.to)
		f.UID = c.uid
		s.Files = append(s.Files, f)
		r := resultOf(t, s, c.check)
		var got check.Severity
		for _, f := range r.Findings {
			if string(f.Where) == c.path {
				got = f.Severity
			}
		}
		if got != c.want || strings.Contains(r.Why, c.path+" -> "+c.to) != c.open {
			t.Errorf("a link %s: %q and %q, want %q and open %v", c.name, got, r.Why, c.want, c.open)
		}
	}
}

// What a link leads to counts as if it lay there, over more links than one; a circle of
// links leads nowhere.
func TestALinkToWhatWasReadIsJudgedAsThatFile(t *testing.T) {
	s := cleanHost()
	s.Files = append(s.Files,
		file(profiles, "/home/ir/.zshrc", 0o644, 1001, "* * * * * root /tmp/x\n"),
		link(cron, "/etc/cron.d/a", "b"), link(cron, "/etc/cron.d/b", "../../home/ir/.zshrc"),
		link(cron, "/etc/cron.d/c", "d"), link(cron, "/etc/cron.d/d", "c"))
	r := resultOf(t, s, "cron-timers")
	for _, p := range []string{"/etc/cron.d/a", "/etc/cron.d/b"} {
		if !hit([]check.Result{r}, row{check: "cron-timers", least: check.High, where: p + "$|/tmp/x"}) {
			t.Errorf("%s is not judged by what it leads to: %+v", p, r.Findings)
		}
	}
	if !hit([]check.Result{r}, row{check: "cron-timers", least: check.Info, where: "/etc/cron.d/c$|not read"}) {
		t.Errorf("a circle is taken for nothing: %+v", r.Findings)
	}
}

// A host may point two thousand links at one long file: it is judged a few times, and
// the others are told as not followed.
func TestLinksToOneFileAreBounded(t *testing.T) {
	s := cleanHost()
	s.Files = append(s.Files, file(profiles, "/home/ir/.zshrc", 0o644, 1001, "* * * * * root /tmp/x\n"))
	for i := range 150 {
		s.Files = append(s.Files, link(cron, fmt.Sprintf("/etc/cron.d/l%03d", i), "/home/ir/.zshrc"))
	}
	followed, told := 0, 0
	r := resultOf(t, s, "cron-timers")
	for _, f := range r.Findings {
		if strings.Contains(string(f.Detail), "/tmp/x") {
			followed++
		} else {
			told++
		}
	}
	if followed != 32 || told != 118 || !strings.Contains(r.Why, "and 115 more") {
		t.Errorf("%d judged and %d told (%s), want 32 and 118", followed, told, r.Why)
	}
}
