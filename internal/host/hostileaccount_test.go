package host

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cordon/internal/host/snapshot"
	"cordon/internal/testenv"
)

// step runs one step of the collector on this machine, where no root prefix keeps it in.
func step(t *testing.T, sh shell, text string) string {
	t.Helper()
	return decoded(t, []byte(pipe(t, sh, "N="+testNonce+"\nR=\nP=triage\n"+framesSh+openSh+filesSh+procSh+logSh+placesSh+rootsSh+runnersSh+workSh+systemSh+
		"tools\nmounts\nUID_=0\nenter homes\n"+text+"\nleave homes\n")))
}

// We read as root. Whoever owns a directory could have us read, with a link in it, what
// only root may, and open what must not be opened.
func TestNoLinkOfAnAccountIsFollowedOnARunningHost(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	write := func(p, text string) {
		t.Helper()
		must(os.MkdirAll(filepath.Dir(p), 0o755))
		must(os.WriteFile(p, []byte(text), 0o600))
	}
	link := func(to, p string, uid int) {
		t.Helper()
		must(os.MkdirAll(filepath.Dir(p), 0o755))
		must(os.Symlink(to, p))
		if os.Getuid() == 0 {
			must(os.Lchown(p, uid, uid))
		}
	}
	const theirs, root = 65534, 0
	write(other+"/sub/id_ed25519", "canary of another")
	write(other+"/runsvc.sh", "canary of a service")
	write(other+"/.env", "CANARY=of_another\n")
	write(dir+"/own/.gradle/init.d/a", "his own")
	link(other+"/sub", dir+"/h/.gradle/init.d", theirs)
	link(other+"/sub", dir+"/h/.config/systemd/user/x.d", theirs)
	link("/proc/self", dir+"/h/.config/autostart", theirs)
	link("/proc/self", dir+"/h/.config/byroot", root)
	link(dir+"/own", dir+"/arranged", root)
	write(dir+"/h/.config/systemd/user/actions.runner.x.service", "[Service]\nExecStart="+other+"/runsvc.sh\n")
	for _, sh := range shells(t) {
		out := step(t, sh, "some 4096 "+dir+"/h '.gradle/init.d/*' '.config/systemd/user/*.d/*' '.config/autostart/*' '.config/byroot/*'")
		if strings.Contains(out, "canary of another") || strings.Contains(out, "cmdline") {
			t.Errorf("%s: a link was followed: %q", sh.name, out)
		}
		if !strings.Contains(out, "a link leads there, not followed: "+dir+"/h/") {
			t.Errorf("%s: and nothing says that it was not: %q", sh.name, out)
		}
		if out = step(t, sh, "some 4096 "+dir+"/own '.gradle/init.d/*'"); !strings.Contains(out, "his own") {
			t.Errorf("%s: without links nothing is read either: %q", sh.name, out)
		}
		if os.Getuid() == 0 {
			if out = step(t, sh, "some 4096 "+dir+"/arranged '.gradle/init.d/*'"); !strings.Contains(out, "his own") {
				t.Errorf("%s: the machine's own links are not followed: %q", sh.name, out)
			}
		}
		if out = step(t, sh, "started "+dir+"/h/.config/systemd/user user:\nvalue roots \"$ROOTS\""); strings.Contains(out, "\n"+other) {
			t.Errorf("%s: a unit of an account names a place to read: %q", sh.name, out)
		}
		write(other+"/.runner", "{}")
		if out = step(t, sh, "started "+dir+"/h/.config/systemd/user user:\nvalue roots \"$ROOTS\""); !strings.Contains(out, "\n"+other) {
			t.Errorf("%s: where a runner is, the unit is believed: %q", sh.name, out)
		}
		must(os.Remove(other + "/.runner"))
		for _, p := range []string{"/proc/self/environ", "/sys/kernel/uevent_seqnum"} {
			if out = step(t, sh, "many 4096 "+p); !strings.Contains(out, "denied") {
				t.Errorf("%s: %s was opened: %q", sh.name, p, out)
			}
		}
	}
}

// An account of jobs can write in its home what it likes: it must not be able to keep
// the rest of the machine from being read.
func TestAnAccountCannotBlindTheRead(t *testing.T) {
	tr := planted(t)
	const home = "/home/gitlab-runner"
	tr.file(home+"/.config/systemd/user/x.service", "", 0o644)
	tr.must(os.Truncate(tr.path(home+"/.config/systemd/user/x.service"), 1<<40))
	tr.must(os.Truncate(tr.path("/opt/gh/.env"), 1<<40))
	for i := range 500 {
		tr.file(fmt.Sprintf("%s/.config/systemd/user/u%03d.service", home, i), strings.Repeat("# filling\n", 4300), 0o644)
	}
	for i := range 2500 {
		tr.file(fmt.Sprintf("/opt/gh/_diag/Runner_%05d.log", i), "", 0o644)
	}
	tr.file("/opt/gh/_diag/Runner_99999.log", "[2026-11-30 12:00:00Z INFO Runner] the newest\n", 0o644)
	out, _ := tr.run(shells(t)[0], snapshot.ProfileTriage, nil, nil) // what is not capped would never come back
	s := read(t, out, snapshot.ProfileTriage)
	for _, sec := range []string{snapshot.SectionUnits, snapshot.SectionLog} {
		if s.Section(sec).End != snapshot.EndCut {
			t.Errorf("%s: %v", sec, s.Section(sec))
		}
	}
	for _, p := range []string{"/etc/passwd", "/var/spool/cron/crontabs/runner", "/root/.ssh/authorized_keys", "/etc/gitlab-runner/config.toml", home + "/.bash_profile"} {
		if f := at(s, p); f == nil || f.Content == "" {
			t.Errorf("%s could not be read any more: %+v", p, f)
		}
	}
	if !strings.Contains(decoded(t, out), "the newest") {
		t.Error("the newest log was lost behind empty ones")
	}
}

// What may hang is not even asked whether it is there.
func TestAMountThatMayHangIsNotAskedAnything(t *testing.T) {
	strace := testenv.Need(t, "strace") // it shows which paths are asked for
	tr := planted(t)
	tr.file("/proc/self/mountinfo", "30 1 0:30 / /home/gitlab-runner/m rw - fuse.sshfs x rw\n31 1 0:31 / /opt/gh/_diag rw - fuse x rw\n32 1 0:32 / /home/gitlab-runner/.ssh/f rw - fuse x rw\n", 0o444)
	for _, d := range []string{"/home/gitlab-runner/m", "/opt/gh/_diag", "/home/gitlab-runner/.ssh/f"} {
		tr.dir(d, 0o755)
		tr.file(d+"/.runner", "{}", 0o644)
	}
	tr.link(tr.path("/home/gitlab-runner/m"), "/home/gitlab-runner/.config/autostart")
	for _, sh := range shells(t) {
		log := filepath.Join(t.TempDir(), "calls")
		out, _ := tr.run(shell{sh.name, append([]string{strace, "-f", "-qq", "-s", "400", "-e", "trace=%file,getdents64", "-o", log}, sh.argv...)}, snapshot.ProfileTriage, nil, nil)
		read(t, out, snapshot.ProfileTriage)
		b, err := os.ReadFile(log)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, l := range strings.Split(string(b), "\n") {
			for _, d := range []string{"/home/gitlab-runner/m", "/opt/gh/_diag", "/home/gitlab-runner/.ssh/f", "/home/gitlab-runner/.config/autostart/"} {
				// A search of the disk (find, getcap) meets it; those have a watch of their own.
				if i := strings.Index(l, d); i >= 0 && !strings.Contains(l, "execve") && !strings.Contains(l, "newfstatat(") && !strings.Contains(l, "getxattr(") && !strings.Contains(l, "readlink(") && n < 5 {
					n++
					t.Errorf("%s: %s", sh.name, l)
				}
			}
		}
	}
}
