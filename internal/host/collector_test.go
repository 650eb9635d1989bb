package host

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"cordon/internal/host/snapshot"
	"cordon/internal/testenv"
	"cordon/internal/untrusted"
)

// planted is a host with one of everything the first set of checks looks for.
func planted(t *testing.T) *tree {
	tr := newTree(t)
	tr.process(812, 1, 0, "gitlab-runner", "/usr/bin/gitlab-runner", "/system.slice/gitlab-runner.service",
		[]string{"PATH=/usr/bin", "LD_PRELOAD=/tmp/x.so"}, "/usr/bin/gitlab-runner", "run", "--config", "/srv/ci/config.toml")
	tr.file("/proc/812/status", fmt.Sprintf("Name:\tgitlab-runner\nUid:\t%d\t0\t0\t0\n", os.Getuid()), 0o444)
	tr.link("socket:[4711]", "/proc/812/fd/7")
	tr.link("/dev/null", "/proc/812/fd/0")
	tr.process(900, 1, 998, "Runner.Listener", "/opt/gh/bin/Runner.Listener", "/system.slice/actions.runner.x.service", nil, "/opt/gh/bin/Runner.Listener", "run")
	tr.file("/proc/77/stat", "77 (kworker/0:1) I 2 0 0 0 -1 69238880 0 0 0 0 0 0 0 0 20 0 1 0 5 0 0\n", 0o444)
	tr.file("/var/log/gitlab-runner.log", `{"level":"info","msg":"Checking for jobs... received","runner":"stub","job":7,"time":"2026-11-30T12:50:11Z"}`+"\n", 0o640)
	tr.file("/etc/systemd/system/gitlab-runner.service", "[Service]\nExecStart=/usr/bin/gitlab-runner run\n", 0o644)
	tr.file("/etc/systemd/system/gitlab-runner.service.d/override.conf", "[Service]\nExecStartPre=/tmp/x\n", 0o644)
	tr.link("/etc/systemd/system/gitlab-runner.service", "/etc/systemd/system/multi-user.target.wants/gitlab-runner.service")
	tr.file("/usr/local/lib/systemd/system/dbus-org.timer", "[Timer]\n", 0o644)
	tr.file("/home/gitlab-runner/.config/systemd/user/a.service", "[Service]\n", 0o644)
	tr.file("/var/lib/systemd/linger/runner", "", 0o644)
	tr.file("/etc/default/gitlab-runner", "LD_PRELOAD=/tmp/y.so\n", 0o644)
	tr.file("/etc/crontab", "* * * * * root true\n", 0o644)
	tr.file("/etc/cron.d/sync", "* * * * * root /tmp/x\n", 0o644)
	tr.file("/var/spool/cron/crontabs/runner", "* * * * * /tmp/y\n", 0o600)
	tr.file("/var/spool/cron/atjobs/a0001", "#!/bin/sh\n/tmp/z\n", 0o700)
	tr.file("/etc/gitlab-runner/config.toml", "[[runners]]\n  name = \"x\"\n", 0o600)
	tr.file("/etc/gitlab-runner/.runner_system_id", "s_0123456789ab", 0o600)
	tr.file("/srv/ci/config.toml", "[[runners]]\n  name = \"y\"\n", 0o600)
	tr.file("/home/gitlab-runner/.dev-env/.runner", `{"agentName":"SHA1HULUD"}`, 0o600)
	tr.file("/opt/gh/.runner", `{"agentName":"gh-1"}`, 0o644)
	tr.file("/opt/gh/.env", "ACTIONS_RUNNER_HOOK_JOB_STARTED=/opt/gh/hook.sh\n", 0o644)
	tr.file("/opt/gh/.credentials_rsaparams", "private", 0o600)
	tr.file("/srv/deep/act/.runner", `{"uuid":"1-2-3","name":"act"}`, 0o644)
	tr.file("/root/.ssh/authorized_keys", "ssh-ed25519 AAAA root@x\n", 0o600)
	tr.file("/root/.ssh/authorized_keys.bak", "ssh-ed25519 AAAA old\n", 0o600)
	tr.file("/etc/ssh/sshd_config.d/1.conf", "AuthorizedKeysCommand /tmp/k\n", 0o644)
	tr.file("/home/gitlab-runner/.bash_profile", "curl 192.0.2.7\n", 0o644)
	tr.file("/etc/ld.so.preload", "/tmp/x.so\n", 0o644)
	tr.file("/root/.aws/credentials", "content that must stay there", 0o600)
	tr.file("/home/gitlab-runner/.ssh/id_ed25519", "content that must stay there", 0o600)
	tr.file("/home/gitlab-runner/deploy.pem", "content that must stay there", 0o600)
	return tr
}

func TestTheCollectorReadsAHostUnderEveryShell(t *testing.T) {
	tr := planted(t)
	for _, sh := range shells(t) {
		t.Run(sh.name, func(t *testing.T) {
			out, errs := tr.run(sh, snapshot.ProfileTriage, nil, nil)
			if len(errs) != 0 {
				t.Errorf("it complained: %s", errs)
			}
			s := read(t, out, snapshot.ProfileTriage)
			for _, sec := range snapshot.SectionsOf(snapshot.ProfileTriage) {
				if !s.Seen(sec) {
					t.Errorf("section %v", s.Section(sec))
				}
			}
			for path, section := range map[string]string{
				"/etc/systemd/system/multi-user.target.wants/gitlab-runner.service": snapshot.SectionWants,
				"/etc/systemd/system/gitlab-runner.service":                         snapshot.SectionUnits,
				"/etc/systemd/system/gitlab-runner.service.d/override.conf":         snapshot.SectionUnits,
				"/usr/local/lib/systemd/system/dbus-org.timer":                      snapshot.SectionUnits,
				"/home/gitlab-runner/.config/systemd/user/a.service":                snapshot.SectionUnits,
				"/var/lib/systemd/linger/runner":                                    snapshot.SectionUnits,
				"/etc/default/gitlab-runner":                                        snapshot.SectionUnits,
				"/etc/crontab":                                                      snapshot.SectionCron,
				"/etc/cron.d/sync":                                                  snapshot.SectionCron,
				"/var/spool/cron/crontabs/runner":                                   snapshot.SectionCron,
				"/var/spool/cron/atjobs/a0001":                                      snapshot.SectionCron,
				"/etc/gitlab-runner/config.toml":                                    snapshot.SectionRunners,
				"/etc/gitlab-runner/.runner_system_id":                              snapshot.SectionRunners,
				"/srv/ci/config.toml":                                               snapshot.SectionRunners,
				"/home/gitlab-runner/.dev-env/.runner":                              snapshot.SectionRunners,
				"/opt/gh/.runner":                                                   snapshot.SectionRunners,
				"/opt/gh/.env":                                                      snapshot.SectionRunners,
				"/srv/deep/act/.runner":                                             snapshot.SectionRunners,
				"/root/.ssh/authorized_keys":                                        snapshot.SectionKeys,
				"/root/.ssh/authorized_keys.bak":                                    snapshot.SectionKeys,
				"/etc/ssh/sshd_config.d/1.conf":                                     snapshot.SectionKeys,
				"/etc/passwd":                                                       snapshot.SectionKeys,
				"/home/gitlab-runner/.bash_profile":                                 snapshot.SectionProfiles,
				"/etc/ld.so.preload":                                                snapshot.SectionProfiles,
			} {
				f := at(s, path)
				if f == nil || f.Section != section {
					t.Errorf("%s: %+v", path, f)
					continue
				}
				if f.Type == "file" && f.Size > 0 && f.Content == "" {
					t.Errorf("%s has no content: %+v", path, f)
				}
			}
			for _, path := range []string{"/root/.aws/credentials", "/home/gitlab-runner/.ssh/id_ed25519", "/home/gitlab-runner/deploy.pem", "/opt/gh/.credentials_rsaparams"} {
				f := at(s, path)
				if f == nil || f.Section != snapshot.SectionSecrets || !f.Described || f.Content != "" || f.Size == 0 || f.Mode != 0o600 {
					t.Errorf("%s: %+v", path, f)
				}
			}
			if strings.Contains(decoded(t, out), "content that must stay there") {
				t.Error("the content of a credential file left the host")
			}
			if f := at(s, "/etc/systemd/system/multi-user.target.wants/gitlab-runner.service"); f.Type != "link" || f.Link != "/etc/systemd/system/gitlab-runner.service" {
				t.Errorf("link: %+v", f)
			}
			checkKernel(t, s)
		})
	}
}

// checkKernel looks at what came from /proc.
func checkKernel(t *testing.T, s *snapshot.Snapshot) {
	t.Helper()
	by := map[int]snapshot.Process{}
	for _, p := range s.Processes {
		by[p.PID] = p
	}
	if len(by) != 4 || by[77].Comm != "kworker/0:1" || by[77].Args != nil {
		t.Errorf("processes: %+v", by)
	}
	p := by[812]
	if p.Exe != "/usr/bin/gitlab-runner" || p.Cwd != "/" || p.PPID != 1 || p.UID != os.Getuid() || len(p.Args) != 4 || len(p.Inodes) != 1 || p.Inodes[0] != 4711 ||
		p.Cgroup != "/system.slice/gitlab-runner.service" || p.Env["LD_PRELOAD"] != "/tmp/x.so" || p.Started.Unix() != 1796000042 {
		t.Errorf("the agent: %+v", p)
	}
	if len(s.Sockets) != 1 || s.Sockets[0].PID != 812 || s.Sockets[0].Remote != "192.0.2.7:443" {
		t.Errorf("sockets: %+v", s.Sockets)
	}
	if len(s.Log) != 1 || !strings.Contains(string(s.Log[0].Text), "received") {
		t.Errorf("log: %+v", s.Log)
	}
	id := s.Ident
	if id.Hostname != "build-07" || id.OS != "Debian GNU/Linux 12" || id.UID != os.Getuid() || id.BootTime.Unix() != 1796000000 || id.MachineID == "" {
		t.Errorf("ident: %+v", id)
	}
	if !s.Offset.Known || s.Offset.Value.Seconds() != 0.25 { // boot time plus uptime
		t.Errorf("offset: %+v", s.Offset)
	}
}

func TestTheWatchProfileReadsOnlyWhatAWatchNeeds(t *testing.T) {
	tr := planted(t)
	for _, sh := range shells(t) {
		out, _ := tr.run(sh, snapshot.ProfileWatch, nil, nil)
		s := read(t, out, snapshot.ProfileWatch)
		if len(s.Processes) != 4 || len(s.Log) != 1 || at(s, "/etc/crontab") != nil || s.Section(snapshot.SectionCron).End != snapshot.EndNotAsked {
			t.Errorf("%s: %d processes, sections %v", sh.name, len(s.Processes), s.Sections)
		}
	}
}

func TestTheCollectorWritesNothing(t *testing.T) {
	tr := planted(t)
	before := tr.listing()
	for _, sh := range shells(t) {
		tr.run(sh, snapshot.ProfileTriage, nil, nil)
	}
	if after := tr.listing(); after != before {
		t.Errorf("the tree changed:\n%s\n%s", before, after)
	}
}

func TestFileNamesAreDataAndNothingElse(t *testing.T) {
	tr := newTree(t)
	all := make([]byte, 0, 255)
	for b := 1; b < 256; b++ {
		if b != '/' {
			all = append(all, byte(b))
		}
	}
	names := []string{
		"a\nb", "$(touch pwned)", "`touch pwned`", "a'b\"c", "-n", "--help", "*", "[a-z]*", " lead", "trail ", "\\", "a\\nb", ";touch pwned;", "\x1b[2J",
		"C1 " + testNonce + " 3 end =triage 2\n=3", string(all[:127]), string(all[127:]),
	}
	for _, n := range names {
		tr.file("/etc/cron.d/"+n, "content of it\n", 0o644)
	}
	tr.dir("/home/x y\n$(touch pwned)*", 0o755)
	tr.file("/home/x y\n$(touch pwned)*/.bashrc", "x\n", 0o644)
	tr.file("/opt/a b$(touch pwned)*/.runner", "{}", 0o644)
	for _, sh := range shells(t) {
		t.Run(sh.name, func(t *testing.T) {
			out, errs := tr.run(sh, snapshot.ProfileTriage, nil, nil)
			s := read(t, out, snapshot.ProfileTriage)
			for _, n := range names {
				if f := at(s, "/etc/cron.d/"+n); f == nil || f.Content != "content of it\n" {
					t.Errorf("%q: %+v", n, f)
				}
			}
			for _, p := range []string{"/home/x y\n$(touch pwned)*/.bashrc", "/opt/a b$(touch pwned)*/.runner"} {
				if at(s, p) == nil {
					t.Errorf("%q was not read", p)
				}
			}
			if len(errs) != 0 {
				t.Errorf("it complained: %s", untrusted.Clean(string(errs), 400))
			}
			for _, dir := range []string{"/", tr.root} {
				if m, _ := filepath.Glob(filepath.Join(dir, "*pwned*")); len(m) != 0 {
					t.Errorf("a file name was run: %v", m)
				}
			}
		})
	}
}

func TestOnlyRegularFilesUnderTheRootAreRead(t *testing.T) {
	tr := newTree(t)
	outside := t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "authorized_keys"), []byte("canary outside"), 0o644); err != nil {
		t.Fatal(err)
	}
	tr.link(filepath.Join(outside, "authorized_keys"), "/root/.ssh/authorized_keys")
	tr.link(outside, "/home/gitlab-runner/.ssh")
	tr.link(outside, "/home/other")
	tr.link(outside+"/authorized_keys", "/var/log/gitlab-runner.log")
	tr.link(outside+"/authorized_keys", "/proc/1/cgroup2")
	tr.dir("/etc/cron.d", 0o755)
	if err := syscall.Mkfifo(tr.path("/etc/cron.d/fifo"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, sh := range shells(t) {
		out, _ := tr.run(sh, snapshot.ProfileTriage, nil, nil) // a fifo that is opened would hang here
		s := read(t, out, snapshot.ProfileTriage)
		if strings.Contains(decoded(t, out), "canary outside") {
			t.Errorf("%s: a link was followed", sh.name)
		}
		if f := at(s, "/root/.ssh/authorized_keys"); f == nil || f.Type != "link" {
			t.Errorf("%s: %+v", sh.name, f)
		}
		if f := at(s, "/etc/cron.d/fifo"); f == nil || f.Type != "other" {
			t.Errorf("%s: %+v", sh.name, f)
		}
		if s.Seen(snapshot.SectionLog) {
			t.Errorf("%s: a log that is a link counts as read", sh.name)
		}
	}
}

func TestACapIsToldNotHidden(t *testing.T) {
	tr := newTree(t)
	tr.file("/etc/cron.d/big", strings.Repeat("# x\n", 40_000), 0o644)
	for i := range 2100 {
		tr.file(fmt.Sprintf("/etc/profile.d/%04d.sh", i), "", 0o644)
	}
	out, _ := tr.run(shells(t)[0], snapshot.ProfileTriage, nil, nil)
	s := read(t, out, snapshot.ProfileTriage)
	if f := at(s, "/etc/cron.d/big"); f == nil || !f.Truncated || len(f.Content) > 65536 {
		t.Errorf("%+v", f)
	}
	if s.Section(snapshot.SectionProfiles).End != snapshot.EndCut {
		t.Errorf("2100 files in one place: %v", s.Section(snapshot.SectionProfiles))
	}
}

// A process may call itself gitlab-runner and name any file; as root we would read
// it for him.
func TestAConfigIsReadOnlyForItsOwner(t *testing.T) {
	tr := newTree(t)
	tr.file("/srv/own.toml", "[[runners]]\n", 0o600)
	tr.file("/etc/shadow", "root:hash", 0o600)
	tr.process(70, 1, os.Getuid(), "gitlab-runner", "/usr/bin/gitlab-runner", "/", nil, "gitlab-runner", "run", "--config=/srv/own.toml")
	tr.process(71, 1, os.Getuid()+1, "gitlab-runner", "/tmp/x", "/", nil, "gitlab-runner", "run", "--config", "/etc/shadow")
	for _, sh := range shells(t) {
		out, _ := tr.run(sh, snapshot.ProfileTriage, nil, nil)
		s := read(t, out, snapshot.ProfileTriage)
		if at(s, "/srv/own.toml") == nil {
			t.Errorf("%s: his own was not read", sh.name)
		}
		if strings.Contains(decoded(t, out), "root:hash") {
			t.Errorf("%s: another's was read", sh.name)
		}
		if len(s.Gaps) == 0 {
			t.Errorf("%s: and nothing says so", sh.name)
		}
	}
}

func TestTheLoginEnvironmentDecidesNothing(t *testing.T) {
	tr := newTree(t)
	evil := t.TempDir()
	ran := filepath.Join(evil, "ran")
	for _, name := range []string{"stat", "head", "base64", "id", "timeout", "find", "rc"} {
		if err := os.WriteFile(filepath.Join(evil, name), []byte("#!/bin/sh\necho x >>"+ran+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	env := []string{
		"PATH=" + evil, "ENV=" + evil + "/rc", "BASH_ENV=" + evil + "/rc", "IFS=/", "CDPATH=" + evil, "LC_ALL=en_US.UTF-8",
		"BASH_FUNC_printf%%=() { echo x >>" + ran + "; }", "BASH_FUNC_stat%%=() { echo x >>" + ran + "; }",
		"BASH_FUNC_grep%%=() { echo x >>" + ran + "; }", "BASH_FUNC_sort%%=() { echo x >>" + ran + "; }", "BASH_FUNC_getcap%%=() { echo x >>" + ran + "; }", "POSIXLY_CORRECT=1", "GLOBIGNORE=*",
	}
	for _, sh := range shells(t) {
		out, _ := tr.run(sh, snapshot.ProfileTriage, env, nil)
		s := read(t, out, snapshot.ProfileTriage)
		if at(s, "/etc/passwd") == nil {
			t.Errorf("%s: read less than with an empty environment", sh.name)
		}
	}
	if _, err := os.Stat(ran); err == nil {
		t.Error("something from the environment was run")
	}
}

func TestAnOrdinaryUserIsToldWhatHeCouldNotSee(t *testing.T) {
	tr := planted(t)
	tr.dir("/root", 0o700)
	tr.dir("/etc/gitlab-runner", 0o700)
	tr.dir("/var/spool/cron/crontabs", 0o730)
	testenv.Root(t) // to make files of another user
	as := &syscall.Credential{Uid: 65534, Gid: 65534, NoSetGroups: false}
	for _, sh := range shells(t) {
		out, _ := tr.run(sh, snapshot.ProfileTriage, nil, as)
		s := read(t, out, snapshot.ProfileTriage)
		for _, sec := range []string{snapshot.SectionDetail, snapshot.SectionUnits, snapshot.SectionCron, snapshot.SectionRunners, snapshot.SectionKeys, snapshot.SectionProfiles, snapshot.SectionSecrets, snapshot.SectionPrivileged} {
			if got := s.Section(sec); got.End != snapshot.EndDenied || got.Why == "" {
				t.Errorf("%s: %v", sh.name, got)
			}
		}
		for _, sec := range []string{snapshot.SectionProc, snapshot.SectionNet, snapshot.SectionWants} {
			if !s.Seen(sec) {
				t.Errorf("%s: %v", sh.name, s.Section(sec))
			}
		}
		if s.Ident.UID != 65534 || len(s.Processes) != 4 {
			t.Errorf("%s: uid %d, %d processes", sh.name, s.Ident.UID, len(s.Processes))
		}
	}
}

func TestAHiddenProcessTableIsDenied(t *testing.T) {
	tr := newTree(t)
	if err := os.Rename(tr.path("/proc/1"), tr.path("/proc/2")); err != nil {
		t.Fatal(err)
	}
	out, _ := tr.run(shells(t)[0], snapshot.ProfileWatch, nil, nil)
	if s := read(t, out, snapshot.ProfileWatch); s.Section(snapshot.SectionProc).End != snapshot.EndDenied {
		t.Errorf("%v", s.Section(snapshot.SectionProc))
	}
}

// The machine that runs the test is a host too.
func TestTheCollectorReadsThisMachine(t *testing.T) {
	tr := &tree{t: t}
	for _, sh := range shells(t) {
		out, errs := tr.run(sh, snapshot.ProfileWatch, nil, nil)
		s := read(t, out, snapshot.ProfileWatch)
		found := false
		for _, p := range s.Processes {
			found = found || p.PID == os.Getpid()
		}
		// The reader tells which process it is, so that nobody takes it for a shell out of place.
		me, told := s.Fact("collector")
		if !told || !slices.ContainsFunc(s.Processes, func(p snapshot.Process) bool { return strconv.Itoa(p.PID) == me && p.PPID == os.Getpid() }) {
			t.Errorf("%s: it says to be process %q, which is no child of this one", sh.name, me)
		}
		if !found || s.Ident.Kernel == "" || s.Ident.BootTime.IsZero() || len(errs) != 0 {
			t.Errorf("%s: own process seen %v, ident %+v, said %s", sh.name, found, s.Ident, errs)
		}
	}
}
