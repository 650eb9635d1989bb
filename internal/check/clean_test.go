package check_test

import (
	"testing"
	"time"

	"cordon/internal/check"
	"cordon/internal/host/snapshot"
	"cordon/internal/untrusted"
)

var taken = time.Date(2026, 3, 4, 3, 0, 0, 0, time.UTC)

const runnerUnit = `[Unit]
Description=GitLab Runner
ConditionFileIsExecutable=/usr/bin/gitlab-runner

After=network.target

[Service]
StartLimitInterval=5
StartLimitBurst=10
ExecStart=/usr/bin/gitlab-runner "run" "--config" "/etc/gitlab-runner/config.toml" "--working-directory" "/home/gitlab-runner" "--service" "gitlab-runner" "--user" "gitlab-runner"

Restart=always
RestartSec=120
EnvironmentFile=-/etc/sysconfig/gitlab-runner

[Install]
WantedBy=multi-user.target
`

const config = `concurrent = 2
check_interval = 0

[[runners]]
  name = "build-07"
  url = "https://gitlab.example.org"
  id = 42
  token = "[redacted hmac:00112233aabbccdd len:26]"
  executor = "shell"
  [runners.cache]
    MaxUploadedArchiveSize = 0
`

const passwd = `root:x:0:0:root:/root:/bin/bash
daemon:x:1:1:daemon:/usr/sbin:/usr/sbin/nologin
news:x:9:9:news:/var/spool/news:/usr/sbin/nologin
nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin
gitlab-runner:x:998:998:GitLab Runner:/home/gitlab-runner:/bin/bash
ir:x:1001:1001:incident response:/home/ir:/bin/sh
`

const aKey = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIExampleExampleExampleExampleExampleExample someone@example"

func file(section, p string, mode uint32, uid int, content string) snapshot.File {
	return snapshot.File{
		Path: untrusted.Text(p), Section: section, Type: "file", Mode: mode, UID: uid, GID: uid,
		Size: int64(len(content)), Content: untrusted.Text(content), Print: "hmac:0f0f0f0f0f0f0f0f",
	}
}

// described is a credential: its content was never read.
func described(p string, mode uint32, uid int) snapshot.File {
	return snapshot.File{Path: untrusted.Text(p), Section: snapshot.SectionSecrets, Type: "file", Mode: mode, UID: uid, GID: uid, Size: 40, Described: true}
}

func link(section, p, to string) snapshot.File {
	return snapshot.File{Path: untrusted.Text(p), Section: section, Type: "link", Mode: 0o777, Link: untrusted.Text(to)}
}

func process(pid, ppid, uid int, exe string, args ...string) snapshot.Process {
	p := snapshot.Process{PID: pid, PPID: ppid, UID: uid, Exe: untrusted.Text(exe), Env: map[string]string{"PATH": "/usr/bin"}, Started: taken.Add(-time.Hour)}
	for _, a := range args {
		p.Args = append(p.Args, untrusted.Text(a))
	}
	if len(args) > 0 {
		p.Comm = untrusted.Text(args[0])
	}
	return p
}

// cleanHost is a Debian host with one gitlab-runner at work: what such a host always
// has, and nothing else.
func cleanHost() *snapshot.Snapshot {
	s := &snapshot.Snapshot{Schema: snapshot.Schema, Host: "build-07", Profile: snapshot.ProfileTriage, Taken: taken, Complete: true}
	s.Ident.UID = 0
	for _, name := range append(snapshot.SectionsOf(snapshot.ProfileTriage), snapshot.SectionHostKey, snapshot.SectionReread) {
		s.Sections = append(s.Sections, snapshot.Section{Name: name, End: snapshot.EndOK})
	}
	s.Facts = []snapshot.Fact{{Section: snapshot.SectionCross, Name: "probed", Text: "32768"}, {Section: snapshot.SectionCross, Name: "hidden"}}
	agent := process(700, 1, 0, "/usr/bin/gitlab-runner", "/usr/bin/gitlab-runner", "run", "--config", "/etc/gitlab-runner/config.toml", "--working-directory", "/home/gitlab-runner", "--service", "gitlab-runner", "--user", "gitlab-runner")
	agent.Inodes = []uint64{9001}
	sshd := process(500, 1, 0, "/usr/sbin/sshd", "sshd: /usr/sbin/sshd -D [listener]")
	sshd.Inodes = []uint64{9000}
	login := process(810, 500, 0, "/usr/sbin/sshd", "sshd: ir [priv]")
	login.Inodes = []uint64{9002}
	work := process(901, 700, 998, "/usr/bin/bash", "bash", "-l")
	work.Env = map[string]string{"CI_JOB_ID": "77", "CI_JOB_TOKEN": "hmac:aa11aa11aa11aa11", "CI_PROJECT_PATH": "acme/web"}
	compiler := process(902, 901, 998, "/usr/bin/git", "git", "fetch")
	compiler.Env, compiler.Inodes = work.Env, []uint64{9003}
	s.Processes = []snapshot.Process{
		process(1, 0, 0, "/usr/lib/systemd/systemd", "/sbin/init"),
		{PID: 2, Comm: "kthreadd"},
		{PID: 15, PPID: 2, Comm: "kworker/0:1"},
		process(400, 1, 0, "/usr/sbin/cron", "/usr/sbin/cron", "-f"),
		sshd, agent, login, work, compiler,
		process(811, 810, 1001, "/usr/bin/dash", "/bin/sh", "-s"),
	}
	s.Sockets = []snapshot.Socket{
		{Proto: "tcp", Local: "0.0.0.0:22", Remote: "0.0.0.0:0", State: "LISTEN", Inode: 9000, PID: 500},
		{Proto: "tcp", Local: "10.0.0.7:41000", Remote: "192.0.2.10:443", State: "ESTABLISHED", Inode: 9001, PID: 700},
		{Proto: "tcp", Local: "10.0.0.7:22", Remote: "192.0.2.99:50000", State: "ESTABLISHED", Inode: 9002, PID: 810},
		{Proto: "tcp", Local: "10.0.0.7:41002", Remote: "192.0.2.10:443", State: "ESTABLISHED", UID: 998, Inode: 9003, PID: 902},
		{Proto: "tcp", Local: "10.0.0.7:41001", Remote: "192.0.2.10:443", State: "TIME_WAIT"},
	}
	s.Log = []snapshot.LogLine{{Unit: "gitlab-runner.service", Text: `Checking for jobs... received job=77 repo_url=https://gitlab.example.org/acme/web.git runner=aBcD1234x`}}
	const units, cron, runners, keys, profiles = snapshot.SectionUnits, snapshot.SectionCron, snapshot.SectionRunners, snapshot.SectionKeys, snapshot.SectionProfiles
	s.Files = []snapshot.File{
		file(units, "/etc/systemd/system/gitlab-runner.service", 0o644, 0, runnerUnit),
		file(units, "/usr/lib/systemd/system/logrotate.timer", 0o644, 0, "[Timer]\nOnCalendar=daily\n"),
		file(units, "/usr/lib/systemd/system/logrotate.service", 0o644, 0, "[Service]\nType=oneshot\nExecStart=/usr/sbin/logrotate /etc/logrotate.conf\n"),
		file(units, "/usr/lib/systemd/system/e2scrub_reap.service", 0o644, 0, "[Service]\nExecStart=/sbin/e2scrub_all -C -r\n"),
		link(snapshot.SectionWants, "/etc/systemd/system/timers.target.wants/logrotate.timer", "/lib/systemd/system/logrotate.timer"),
		link(units, "/etc/systemd/system/dbus-org.freedesktop.timesync1.service", "/lib/systemd/system/systemd-timesyncd.service"),
		file(cron, "/etc/crontab", 0o644, 0, "SHELL=/bin/sh\nPATH=/usr/local/sbin:/usr/sbin:/usr/bin\n17 *\t* * *\troot\tcd / && run-parts --report /etc/cron.hourly\n25 6 * * * root test -x /usr/sbin/anacron || { cd / && run-parts --report /etc/cron.daily; }\n"),
		file(cron, "/etc/cron.d/e2scrub_all", 0o644, 0, "30 3 * * 0 root test -e /run/systemd/system || SERVICE_MODE=1 /usr/lib/x86_64-linux-gnu/e2fsprogs/e2scrub_all_cron\n"),
		file(cron, "/etc/cron.d/.placeholder", 0o644, 0, "# DO NOT EDIT OR REMOVE\n"),
		file(cron, "/etc/cron.daily/apt-compat", 0o755, 0, "#!/bin/sh\nset -e\nexec /usr/lib/apt/apt.systemd.daily\n"),
		file(cron, "/etc/cron.daily/dpkg", 0o755, 0, "#!/bin/sh\n/usr/libexec/dpkg/dpkg-db-backup\n"),
		file(cron, "/etc/cron.daily/logrotate", 0o755, 0, "#!/bin/sh\n/usr/sbin/logrotate /etc/logrotate.conf\n"),
		file(cron, "/etc/cron.daily/man-db", 0o755, 0, "#!/bin/sh\nset -e\n"),
		file(cron, "/var/spool/cron/atjobs/.SEQ", 0o600, 1, "0\n"),
		file(runners, "/etc/gitlab-runner/config.toml", 0o600, 0, config),
		file(runners, "/etc/gitlab-runner/.runner_system_id", 0o600, 0, "s_0123456789ab"),
		file(keys, "/etc/passwd", 0o644, 0, passwd),
		file(keys, "/etc/ssh/sshd_config", 0o644, 0, "Include /etc/ssh/sshd_config.d/*.conf\nKbdInteractiveAuthentication no\nUsePAM yes\n#AuthorizedKeysCommand none\nSubsystem sftp /usr/lib/openssh/sftp-server\n"),
		file(keys, "/home/ir/.ssh/authorized_keys", 0o600, 1001, aKey+"\n"),
		file(profiles, "/etc/profile", 0o644, 0, "if [ \"$(id -u)\" -eq 0 ]; then PATH=\"/usr/bin:/sbin:/bin\"; fi\nexport PATH\n"),
		file(profiles, "/home/ir/.profile", 0o644, 1001, "if [ -d \"$HOME/.local/bin\" ] ; then\n    PATH=\"$HOME/.local/bin:$PATH\"\nfi\n"),
		file(profiles, "/root/.bashrc", 0o644, 0, "alias ll='ls -l'\n"),
		described("/etc/gitlab-runner/config.toml", 0o600, 0),
	}
	return s
}

// The checks are used without a baseline: on a clean host they must be quiet, or
// nobody listens to them on an owned one.
func TestCleanHostHasNothingThatMustBeExplained(t *testing.T) {
	results := check.Run(cleanHost())
	for _, f := range check.AtLeast(results, check.Low) {
		t.Errorf("%s %s: %s at %s: %s", f.Check, f.Severity, f.Title, f.Where, f.Detail)
	}
	for _, r := range results {
		if r.State != check.Nothing && r.State != check.Found {
			t.Errorf("%s says %q (%s), want %q", r.Check, r.State, r.Why, check.Nothing)
		}
		if r.Why != "" {
			t.Errorf("%s calls its look partial on a whole snapshot: %s", r.Check, r.Why)
		}
	}
}

// The runner's own credential is there on every host; it is listed, and no more.
func TestOwnCredentialIsListed(t *testing.T) {
	for _, r := range check.Run(cleanHost()) {
		if r.Check == "secrets-on-disk" && (len(r.Findings) != 1 || r.Findings[0].Severity != check.Info) {
			t.Errorf("secrets-on-disk: %+v, want the runner's own token as info", r.Findings)
		}
	}
}
