package check_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cordon/internal/host"
	"cordon/internal/host/snapshot"
	"cordon/internal/redact"
	"cordon/internal/testenv"
)

// tree is a host as files under root, which the collector reads as it reads a host.
type tree struct {
	t    *testing.T
	root string
	made []string // what the row that plants now has made
	pids []int
	told []string // facts that it changed
}

const (
	ghHome  = "/home/runner/actions-runner"
	jobUser = 998
)

// newTree is a clean Debian host with a GitHub runner, its tables of packages included.
func newTree(t *testing.T) *tree {
	t.Helper()
	dir, err := os.MkdirTemp("", "cordon-check")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	tr := &tree{t: t, root: dir}
	for p, text := range map[string]string{
		"/proc/stat": "btime 1796000000\n", "/proc/uptime": "7605.25 100.00\n", "/proc/cmdline": "root=/dev/vda1 ro quiet\n",
		"/proc/modules": "ext4 1 1 - Live 0x0\n", "/proc/sys/kernel/tainted": "0\n", "/proc/sys/kernel/core_pattern": "core\n",
		"/proc/sys/kernel/modprobe": "/sbin/modprobe\n", "/proc/self/mountinfo": "21 1 254:1 / / rw - ext4 /dev/vda1 rw\n",
		"/proc/sys/kernel/hostname": "build-07\n", "/proc/sys/kernel/osrelease": "6.1.0\n", "/proc/sys/kernel/random/boot_id": "1\n",
		"/proc/net/tcp": head, "/proc/net/route": "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\n",
		"/etc/os-release": "PRETTY_NAME=\"Debian GNU/Linux 12\"\n", "/etc/passwd": treePasswd, "/etc/shells": "/bin/sh\n/bin/bash\n",
		"/etc/group":   "root:x:0:\nadm:x:4:\ndisk:x:6:\nsudo:x:27:ir\nshadow:x:42:\ndocker:x:990:ir\nrunner:x:998:\nir:x:1001:\n",
		"/etc/crontab": "17 * * * * root cd / && run-parts --report /etc/cron.hourly\n", "/etc/sudoers": "Defaults env_reset\nroot ALL=(ALL:ALL) ALL\n",
		"/etc/pam.d/common-auth":                         "auth [success=1 default=ignore] pam_unix.so nullok\n",
		"/etc/systemd/system/" + ghUnitName:              ghUnit,
		"/usr/lib/x86_64-linux-gnu/security/pam_unix.so": "\x7fELF", "/usr/bin/ls": "\x7fELF", "/usr/bin/cat": "\x7fELF",
		"/etc/init.d/ssh":                    "#!/bin/sh\nexec /usr/sbin/sshd\n",
		"/var/lib/dpkg/info/base-files.list": "/etc/pam.d/common-auth\n/etc/sudoers\n/usr/bin/ls\n/bin/cat\n/etc/init.d/ssh\n/usr/lib/x86_64-linux-gnu/security/pam_unix.so\n",
		ghHome + "/.runner":                  `{"agentId": 7, "agentName": "gh-1", "gitHubUrl": "https://github.example.org/acme", "workFolder": "_work"}`,
		ghHome + "/.env":                     "LANG=C.UTF-8\n", ghHome + "/.path": "/usr/local/bin:/usr/bin:/bin\n", ghHome + "/.service": ghUnitName + "\n",
		ghHome + "/runsvc.sh": stockRunsvc, ghHome + "/bin/runsvc.sh": stockRunsvc, ghHome + "/svc.sh": "SVC_NAME=\"" + ghUnitName + "\"\n",
		ghHome + "/bin/Runner.Listener": strings.Repeat("\x7fELF", 6000), ghHome + "/bin/Runner.Worker": strings.Repeat("\x7fELF", 6000),
		ghHome + "/run-helper.sh.template": "#!/bin/bash\n\"$DIR\"/bin/Runner.Listener run $*\n",
	} {
		if text != "" {
			tr.file(p, text, 0o644)
		}
	}
	for _, d := range []string{"/root", "/home/runner", "/var/log", "/home/ir"} {
		tr.dir(d, 0o755)
	}
	tr.process(1, 0, 0, "systemd", "/usr/lib/systemd/systemd", "/init.scope", nil, "/sbin/init")
	tr.process(900, 1, jobUser, "Runner.Listener", ghHome+"/bin/Runner.Listener", "/system.slice/"+ghUnitName, nil, ghHome+"/bin/Runner.Listener", "run")
	tr.process(910, 900, jobUser, "Runner.Worker", ghHome+"/bin/Runner.Worker", "/system.slice/"+ghUnitName, nil, ghHome+"/bin/Runner.Worker", "spawnclient", "1", "2")
	tr.made, tr.pids = nil, nil
	return tr
}

const (
	head       = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
	ghUnitName = "actions.runner.acme.gh-1.service"
	ghUnit     = "[Unit]\nDescription=GitHub Actions Runner (acme.gh-1)\nAfter=network-online.target\n\n[Service]\nExecStart=" + ghHome + "/runsvc.sh\nUser=runner\nWorkingDirectory=" + ghHome + "\nKillMode=process\nKillSignal=SIGTERM\nTimeoutStopSec=5min\n\n[Install]\nWantedBy=multi-user.target\n"
	treePasswd = "root:x:0:0:root:/root:/bin/bash\nnews:x:9:9:news:/var/spool/news:/usr/sbin/nologin\nrunner:x:998:998::/home/runner:/bin/bash\nir:x:1001:1001::/home/ir:/bin/sh\n"

	stockRunsvc = "#!/bin/bash\n./externals/$nodever/bin/node ./bin/RunnerService.js &\nPID=$!\nwait $PID\n"
)

func (tr *tree) must(err error) {
	tr.t.Helper()
	if err != nil {
		tr.t.Fatal(err)
	}
}

func (tr *tree) dir(p string, mode fs.FileMode) {
	tr.t.Helper()
	tr.must(os.MkdirAll(tr.root+p, 0o755))
	tr.must(os.Chmod(tr.root+p, mode))
	tr.made = append(tr.made, p)
}

func (tr *tree) file(p, content string, mode fs.FileMode) {
	tr.t.Helper()
	tr.must(os.MkdirAll(filepath.Dir(tr.root+p), 0o755))
	_ = os.Remove(tr.root + p)
	tr.must(os.WriteFile(tr.root+p, []byte(content), 0o600))
	tr.must(os.Chmod(tr.root+p, mode))
	tr.made = append(tr.made, p)
}

// more adds lines to what is there.
func (tr *tree) more(p, content string) {
	tr.t.Helper()
	was, err := os.ReadFile(tr.root + p)
	if err != nil && !os.IsNotExist(err) {
		tr.t.Fatal(err)
	}
	tr.file(p, string(was)+content, 0o644)
}

func (tr *tree) link(target, p string) {
	tr.t.Helper()
	tr.must(os.MkdirAll(filepath.Dir(tr.root+p), 0o755))
	tr.must(os.Symlink(target, tr.root+p))
	tr.made = append(tr.made, p)
}

// process writes /proc/<pid> as the kernel shows it.
func (tr *tree) process(pid, ppid, uid int, comm, exe, cgroup string, env []string, args ...string) {
	tr.t.Helper()
	made := tr.made
	d := fmt.Sprintf("/proc/%d/", pid)
	tr.file(d+"stat", fmt.Sprintf("%d (%s) S %d %d %d 0 -1 4194560 0 0 0 0 0 0 0 0 20 0 1 0 4200 12582912 2048\n", pid, comm, ppid, pid, pid), 0o444)
	tr.file(d+"status", fmt.Sprintf("Name:\t%s\nUid:\t%d\t%d\t%d\t%d\n", comm, uid, uid, uid, uid), 0o444)
	tr.file(d+"cmdline", strings.Join(args, "\x00")+"\x00", 0o444)
	tr.file(d+"environ", strings.Join(append(env, ""), "\x00"), 0o400)
	tr.file(d+"cgroup", "0::"+cgroup+"\n", 0o444)
	tr.link(exe, d+"exe")
	tr.link("/", d+"cwd")
	tr.dir(d+"fd", 0o755)
	tr.made, tr.pids = made, append(tr.pids, pid)
}

// fact changes a table of the kernel.
func (tr *tree) fact(name, p, text string) {
	tr.t.Helper()
	made := tr.made
	tr.more(p, text)
	tr.made, tr.told = made, append(tr.told, name)
}

// read runs the collector on the tree and parses what it says.
func (tr *tree) read() *snapshot.Snapshot {
	tr.t.Helper()
	return tr.readWith(testenv.Need(tr.t, "sh"), "-s")
}

func (tr *tree) readWith(shell ...string) *snapshot.Snapshot {
	tr.t.Helper()
	return tr.readAs(snapshot.ProfileTriage, shell...)
}

// readProfile is read with another profile.
func (tr *tree) readProfile(profile string) *snapshot.Snapshot {
	tr.t.Helper()
	return tr.readAs(profile, testenv.Need(tr.t, "sh"), "-s")
}

func (tr *tree) readAs(profile string, shell ...string) *snapshot.Snapshot {
	tr.t.Helper()
	const nonce = "00112233445566778899aabbccddeeff"
	text := ""
	for _, s := range host.Scripts() {
		if s.Name == "collector.sh" {
			text = s.Text
		}
	}
	cmd := exec.Command(shell[0], shell[1:]...)
	cmd.Env, cmd.Dir = []string{}, "/"
	cmd.Stdin = strings.NewReader("N=" + nonce + "\nR=" + tr.root + "\nP=" + profile + "\n" + text)
	out, err := cmd.Output()
	if err != nil {
		tr.t.Fatal(err)
	}
	at := time.Unix(1796007605, 0).UTC()
	s, err := snapshot.Parse(bytes.NewReader(out), snapshot.Expect{
		Host: "build-07", Nonce: nonce, Profile: profile, Sent: at, Now: func() time.Time { return at },
		Marker: redact.NewMarker([]byte("test key test key test key test!")),
	})
	if err != nil || !s.Complete {
		tr.t.Fatalf("complete %v: %v", s.Complete, err)
	}
	return s
}
