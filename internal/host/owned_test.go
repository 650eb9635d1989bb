package host

import (
	"strings"
	"testing"

	"cordon/internal/host/snapshot"
)

const apkInstalled = `C:Q1abc=
P:busybox
F:
F:bin
R:busybox
a:0:0:755
Z:Q1x=
F:etc
R:securetty
F:etc/periodic/daily
R:.keep

P:own
F:etc/cron.d
R:a b
`

// The database of apk is read as text, from a machine or a tree.
func TestWhatPackagesOfAlpineBroughtIsTold(t *testing.T) {
	for _, at := range []string{"/lib/apk/db/installed", "/usr/lib/apk/db/installed"} {
		tr := newTree(t)
		tr.file(at, apkInstalled, 0o644)
		tr.file("/etc/cron.d/a b", "# own\n", 0o644)
		tr.file("/etc/cron.d/planted", "# no package's\n", 0o644)
		tr.file("/etc/periodic/daily/x", "# no package's\n", 0o755)
		for _, sh := range shells(t) {
			out, _ := tr.run(sh, snapshot.ProfileTriage, nil, nil)
			s := read(t, out, snapshot.ProfileTriage)
			if got, told := s.Fact("apk"); !told || got != "/etc/cron.d/a b\n" || !s.Seen(snapshot.SectionOwned) {
				t.Errorf("%s: %q, %v", sh.name, got, s.Section(snapshot.SectionOwned))
			}
			if _, told := s.Fact("dpkg"); told {
				t.Errorf("%s: a list of dpkg's where there is none", sh.name)
			}
		}
	}
}

// rpm is asked on a running machine alone, without the account's own settings. What it
// cannot tell stays unknown.
func TestWhatPackagesOfRPMBroughtIsTold(t *testing.T) {
	dir := t.TempDir()
	script := func(rpm string) string {
		return "N=" + testNonce + "\nR=\nP=triage\n" + framesSh + openSh + filesSh + strings.NewReplacer("/var/lib/rpm", dir, "/var/lib/dpkg/info", "/nowhere", "/lib/apk", "/nowhere").Replace(ownedSh) +
			"tools\nmounts\nLO=\n" + rpm + "\nWAS='/usr/bin/ls\n/etc/cron.d/x\n/usr/lib/systemd/system/a b.service'\nowned\n"
	}
	for _, sh := range shells(t) {
		for name, c := range map[string]struct{ rpm, want string }{
			"answers":      {`rpm() { [ "$HOME" = /nonexistent ] && [ "$*" = '-qa --list --nodigest --nosignature' ] && printf '%s\n' /bin/ls /opt/z '/usr/lib/systemd/system/a b.service'; }`, "rpm\x00/bin/ls\n/usr/lib/systemd/system/a b.service\n\x00owned\x00ok"},
			"fails":        {`rpm() { echo /etc/cron.d/x; return 1; }`, "owned\x00\x00owned\x00cut 1 not read whole, first rpm could not"},
			"hangs":        {`rpm() { echo /etc/cron.d/x; return 137; }`, "owned\x00\x00owned\x00cut 1 not read whole, first did not end in time"},
			"is not there": {"", "packages\x00only rpm itself reads its database"},
			"brought none": {`rpm() { :; }`, "rpm\x00\x00owned\x00ok"},
		} {
			if name == "is not there" && strings.Contains(pipe(t, sh, "PATH=/usr/sbin:/usr/bin:/sbin:/bin\ncommand -v rpm || :\n"), "rpm") {
				continue
			}
			if out := decoded(t, []byte(pipe(t, sh, script(c.rpm)))); !strings.Contains(out, c.want) {
				t.Errorf("%s: %s: %q, want %q", sh.name, name, out, c.want)
			}
		}
	}
}
