package check_test

import (
	"fmt"
	"os"
	"path"
	"strings"
	"testing"

	"cordon/internal/check"
)

// away puts content where nobody looks, and a link to it where it counts.
func away(p, content string) func(*tree) {
	return func(tr *tree) {
		to := "/opt/tools/" + path.Base(p) + ".real"
		tr.file(to, content, 0o755)
		tr.link(to, p)
	}
}

const (
	unsigned = "#!/bin/sh\n/usr/local/sbin/upd\n" // no word in it is a sign of anything
	disguise = "(/usr/local/sbin/systemd-resolvd &) 2>/dev/null\n"
)

// linkRows are what needs no word that anybody could look for: links, other places from
// which a file takes more, units and drop-ins that start a plain program.
var linkRows = []row{
	{"authorized_keys of root as a link", "authorized-keys", check.Medium, "/root/.ssh/authorized_keys$", false, away("/root/.ssh/authorized_keys", aKey+"\n")},
	{"authorized_keys of jobs with variables as a link", "authorized-keys", check.High, "/home/runner/.ssh/environment$", false, away("/home/runner/.ssh/environment", "LD_PRELOAD=/opt/x.so\n")},
	{"sshd-config as a link", "authorized-keys", check.Medium, "sshd_config.d/9.conf$", false, away("/etc/ssh/sshd_config.d/9.conf", "AuthorizedKeysCommand /opt/keys\n")},
	{"sshd-config include", "authorized-keys", check.Medium, "sshd_config.d/8.conf$", false, plainFile("/etc/ssh/sshd_config.d/8.conf", "Include /usr/local/etc/sshd_extra/*.conf\n")},
	{"shell_profile as a link", "shell-profiles", check.High, "/home/runner/.bash_login$", false, away("/home/runner/.bash_login", unsigned)},
	{"shell_profile of root as a link", "shell-profiles", check.Medium, "/root/.profile$", false, away("/root/.profile", unsigned)},
	{"shell_profile of the machine as a link", "shell-profiles", check.Medium, "/etc/profile.d/zz2.sh$", false, away("/etc/profile.d/zz2.sh", unsigned)},
	{"shell_profile without a sign", "shell-profiles", check.High, "/etc/profile.d/zz-locale.sh$", false, plainFile("/etc/profile.d/zz-locale.sh", disguise)},
	{"shell_profile that no package brought", "shell-profiles", check.Low, "/etc/profile.d/zy.sh$", false, plainFile("/etc/profile.d/zy.sh", "export EDITOR=vi\n")},
	{"shell_profile of a person without a sign", "shell-profiles", check.High, "/home/ir/.bash_profile$", false, plainFile("/home/ir/.bash_profile", disguise)},
	{"git_persistence settings as a link", "shell-profiles", check.Medium, "/root/.gitconfig$", false, away("/root/.gitconfig", "[core]\n\thooksPath = /opt/h\n")},
	{"sudoers_backdoor as a link", "privileges", check.Medium, "/etc/sudoers.d/zz$", false, away("/etc/sudoers.d/zz", "ci ALL=(ALL) NOPASSWD: ALL\n")},
	{"sudoers_backdoor include", "privileges", check.Medium, "/etc/sudoers.d/10-site$", false, plainFile("/etc/sudoers.d/10-site", "@include /usr/local/etc/sudoers.local\n")},
	{"sudoers_backdoor include of a file that was read", "privileges", check.Medium, "/etc/sudoers.d/11-site$|NOPASSWD", false, func(tr *tree) {
		tr.file("/etc/profile.d/zx.sh", "staff ALL=(ALL) NOPASSWD: ALL\n", 0o644)
		tr.file("/etc/sudoers.d/11-site", "#include /etc/profile.d/zx.sh\n", 0o440)
	}},
	{"pam as a link", "logins", check.Medium, "/etc/pam.d/other-x$", false, away("/etc/pam.d/other-x", "session optional pam_exec.so /opt/p\n")},
	{"pam module elsewhere", "logins", check.High, "/etc/pam.d/cron$", false, plainFile("/etc/pam.d/cron", "auth sufficient /opt/tools/pam_site.so\n")},
	{"motd_backdoor as a link", "logins", check.Medium, "/etc/update-motd.d/98-z$", false, away("/etc/update-motd.d/98-z", unsigned)},
	{"udev as a link", "event-hooks", check.Medium, "udev/rules.d/zz.rules$", false, away("/etc/udev/rules.d/zz.rules", "RUN+=\"/opt/u\"\n")},
	{"loader-paths include", "event-hooks", check.Medium, "/etc/ld.so.conf.d/i.conf", false, plainFile("/etc/ld.so.conf.d/i.conf", "include /opt/tools/*.conf\n")},
	{"package_manager_persistence as a link", "package-hooks", check.Medium, "apt.conf.d/99x$", false, away("/etc/apt/apt.conf.d/99x", "APT::Update::Pre-Invoke {\"/bin/true\"};\n")},
	{"network_manager as a link", "boot-hooks", check.Medium, "if-up.d/zz9$", false, away("/etc/network/if-up.d/zz9", unsigned)},
	{"initd_backdoor link of a run level", "boot-hooks", check.Medium, "/etc/rc3.d/S99certs$", false, away("/etc/rc3.d/S99certs", unsigned)},
	{"initd_backdoor file in a run level", "boot-hooks", check.Medium, "/etc/rc3.d/S98certs$", false, program("/etc/rc3.d/S98certs", unsigned)},
	{"lkm modprobe", "boot-hooks", check.Medium, "modprobe.d/usb.conf", false, plainFile("/etc/modprobe.d/usb.conf", "install usb_storage /usr/local/sbin/upd\n")},
	{"cloud-init settings", "boot-hooks", check.Medium, "cloud.cfg.d/99-x.cfg", false, plainFile("/etc/cloud/cloud.cfg.d/99-x.cfg", "#cloud-config\nbootcmd:\n - /usr/local/sbin/upd\n")},
	{"cron cron.daily as a link", "cron-timers", check.Medium, "cron.daily/update-certs$", false, away("/etc/cron.daily/update-certs", unsigned)},
	{"cron cron.d as a link", "cron-timers", check.Medium, "cron.d/certs$", false, away("/etc/cron.d/certs", "* * * * * root /usr/local/sbin/upd\n")},
	{"cron with a name of the system's", "cron-timers", check.High, "cron.d/app$", false, plainFile("/etc/cron.d/app", "* * * * * root /usr/local/sbin/systemd-resolvd\n")},
	{"rc_local_backdoor without a sign", "cron-timers", check.Low, "/etc/rc.local", false, program("/etc/rc.local", "#!/bin/sh\n/usr/local/sbin/upd &\nexit 0\n")},
	{"rc_local_backdoor with a name of the system's", "cron-timers", check.High, "/etc/rc.local", false, program("/etc/rc.local", "#!/bin/sh\n"+disguise+"exit 0\n")},
	{"systemd unit as a link", "unit-dropins", check.Medium, "system/telemetry.service$", false, func(tr *tree) {
		tr.file("/opt/vendor/telemetry.service", "[Service]\nExecStart=/opt/vendor/agent\n", 0o644)
		tr.link("/opt/vendor/telemetry.service", "/etc/systemd/system/telemetry.service")
		tr.link("/opt/vendor/telemetry.service", "/etc/systemd/system/multi-user.target.wants/telemetry.service")
	}},
	{"systemd unit of an account as a link", "unit-dropins", check.High, "/home/runner/.config/systemd/user/u.service$", false, away("/home/runner/.config/systemd/user/u.service", "[Service]\nExecStart=/opt/agent\n")},
	{"systemd unit of root's own", "unit-dropins", check.Medium, "/root/.config/systemd/user/pulse.service", false, plainFile("/root/.config/systemd/user/pulse.service", "[Service]\nExecStart=/opt/agent\n")},
	{"systemd unit that nobody brought", "unit-dropins", check.Low, "system/pw.service", false, plainFile("/etc/systemd/system/pw.service", "[Service]\nExecStart=/usr/local/sbin/pw\n")},
	{"systemd unit with a name of the system's", "unit-dropins", check.High, "dbus-org.freedesktop.resolved.service", false, plainFile("/etc/systemd/system/dbus-org.freedesktop.resolved.service", "[Service]\nExecStart=/usr/local/sbin/upd\n")},
	{"systemd program with a name of the system's", "unit-dropins", check.High, "system/names.service", false, plainFile("/etc/systemd/system/names.service", "[Service]\nExecStart=/usr/local/sbin/systemd-resolvd\n")},
	{"systemd unit in place of a package's", "unit-dropins", check.Medium, "/etc/systemd/system/cron.service", false, func(tr *tree) {
		tr.file("/usr/lib/systemd/system/cron.service", "[Service]\nExecStart=/usr/sbin/cron -f\n", 0o644)
		tr.file("/etc/systemd/system/cron.service", "[Service]\nExecStart=/usr/sbin/cron -f\nExecStartPost=/usr/bin/upd\n", 0o644)
	}},
	{"systemd path", "unit-dropins", check.Medium, "system/watch.path", false, plainFile("/etc/systemd/system/watch.path", "[Path]\nPathChanged=/etc/passwd\nUnit=pw2.service\n")},
	{"systemd socket", "unit-dropins", check.Medium, "system/door.socket", false, plainFile("/etc/systemd/system/door.socket", "[Socket]\nListenStream=8022\nAccept=yes\n")},
	{"systemd socket among the vendor's", "boot-hooks", check.Medium, "/usr/lib/systemd/system/door2.socket", false, plainFile("/usr/lib/systemd/system/door2.socket", "[Socket]\nListenStream=8022\nAccept=yes\n")},
	{"systemd drop-in of another service", "unit-dropins", check.Low, "cron.service.d/override.conf", false, plainFile("/etc/systemd/system/cron.service.d/override.conf", "[Service]\nExecStartPre=/usr/local/sbin/upd\n")},
	{"systemd drop-in of every user", "unit-dropins", check.High, "user@.service.d/o.conf", false, plainFile("/etc/systemd/system/user@.service.d/o.conf", "[Service]\nEnvironment=LD_PRELOAD=/opt/x.so\n")},
	{"systemd drop-in as a link", "unit-dropins", check.Medium, "ssh.service.d/o.conf$", false, away("/etc/systemd/system/ssh.service.d/o.conf", "[Service]\nExecStartPre=/opt/x\n")},
	{"systemd settings of its own", "unit-dropins", check.High, "/etc/systemd/system.conf", false, plainFile("/etc/systemd/system.conf", "[Manager]\nDefaultEnvironment=LD_PRELOAD=/opt/x.so\n")},
	{"systemd environment generator", "unit-dropins", check.Medium, "system-environment-generators/50-x", false, program("/etc/systemd/system-environment-generators/50-x", unsigned)},
	{"runner-unit drop-in by the beginning of a name", "unit-dropins", check.Medium, "gitlab-.service.d/10-limits.conf", false, func(tr *tree) {
		tr.file("/etc/systemd/system/gitlab-runner.service", runnerUnit, 0o644)
		tr.file("/etc/systemd/system/gitlab-.service.d/10-limits.conf", "[Service]\nExecStartPre=/usr/local/sbin/upd\n", 0o644)
	}},
	{"job-hooks in a file elsewhere", "job-hooks", check.Medium, "/srv/gh/.env$", false, func(tr *tree) {
		tr.file("/srv/gh/.runner", `{"agentId": 8, "agentName": "gh-2", "gitHubUrl": "https://github.example.org/acme"}`, 0o600)
		away("/srv/gh/.env", "ACTIONS_RUNNER_HOOK_JOB_STARTED=/opt/h.sh\n")(tr)
	}},
	{"1.2 configuration elsewhere", "installations", check.Medium, "/root/.gitlab-runner/config.toml$", false, away("/root/.gitlab-runner/config.toml", "[[runners]]\n  name = \"away\"\n")},
}

// apart are rows whose artefact is no content that a link could keep from us.
var apart = map[string]string{
	"audit-4 configuration that nothing names": "no unit names it; it was found by a search for what is in files, wherever they lie",
	"audit-10 terminal into jobs":              "no unit names it; it was found by a search for what is in files, wherever they lie",
	"malicious_package":                        "searched for words, which leads through a link of the machine and not of a tree",
	"suid_backdoor":                            "the bit is on the file, wherever that lies",
	"k8s-runner token":                         "it is there, whatever it leads to",
	"reach known hosts":                        "a note on where the account can go",
	"reach cluster":                            "a note on where the account can go",
	"age":                                      "a note on the age of the host",
}

// Whatever a check judges by its content may be moved away and linked: then it is a
// finding there, or the check did not look whole and names the place. Each row's own
// file is moved so.
func TestALinkKeepsNothingFromACheck(t *testing.T) {
	for _, world := range worlds() {
		tr := newTree(t)
		moved := map[string]string{}
		for i, r := range world {
			if r.root && os.Getuid() != 0 {
				continue
			}
			tr.made, tr.pids, tr.told = nil, nil, nil
			r.plant(tr)
			if apart[r.id] != "" || r.check == check.SecretsOnDisk || // a credential is counted where it lies
				len(tr.made) != 1 || tr.made[0] == "/etc/passwd" || len(tr.pids)+len(tr.told) > 0 || strings.HasPrefix(tr.made[0], "/proc/") {
				continue
			}
			p := tr.made[0]
			if st, err := os.Lstat(tr.root + p); err != nil || !st.Mode().IsRegular() || st.Size() == 0 {
				continue
			}
			to := fmt.Sprintf("/opt/moved/%d", i)
			tr.dir("/opt/moved", 0o755)
			tr.must(os.Rename(tr.root+p, tr.root+to))
			tr.link(to, p)
			moved[r.id] = p
		}
		results := check.Run(tr.read())
		for _, r := range world {
			p := moved[r.id]
			if p == "" {
				continue
			}
			told := false
			for _, res := range results {
				told = told || strings.Contains(res.Why, p)
				for _, f := range res.Findings {
					told = told || strings.Contains(string(f.Where), p) && f.Severity.AtLeast(check.Medium)
				}
			}
			if !told {
				t.Errorf("%s: nothing is said of the link %s", r.id, p)
			}
		}
	}
}

// Without the table of accounts no home is known, so that what leads it elsewhere is
// told, and no check that asks whose a file is says that it saw all.
func TestATableOfAccountsElsewhereIsTold(t *testing.T) {
	tr := newTree(t)
	tr.must(os.Rename(tr.root+"/etc/passwd", tr.root+"/etc/passwd.real"))
	tr.link("passwd.real", "/etc/passwd")
	s := tr.read()
	for _, id := range []string{"logins", "authorized-keys"} {
		r := resultOf(t, s, id)
		if len(r.Findings) == 0 || r.Findings[0].Severity != check.High || !strings.Contains(r.Why, "/etc/passwd -> passwd.real") {
			t.Errorf("%s says %q (%s): %+v", id, r.State, r.Why, r.Findings)
		}
	}
}
