package check_test

import (
	"testing"

	"cordon/internal/check"
	"cordon/internal/host/snapshot"
)

// Who logs in as the account of the jobs, or has the bus that a package brought for every
// login, left nothing behind; the same below the account's own systemd is a job's.
func TestAPersonAtTheJobsAccountLeftNothing(t *testing.T) {
	const group = "/user.slice/user-998.slice/"
	bus := process(852, 850, 998, "/usr/bin/dbus-daemon", "dbus-daemon")
	bus.Cgroup = group + "user@998.service/app.slice/dbus.service"
	manager := process(850, 1, 998, "/usr/lib/systemd/systemd", "systemd", "--user")
	manager.Cgroup = group + "user@998.service/init.scope"
	pam := process(851, 850, 998, "", "(sd-pam)")
	pam.Cgroup = manager.Cgroup
	plant := func(s *snapshot.Snapshot) {
		s.Processes = append(s.Processes, manager, pam, bus,
			process(860, 500, 998, "/usr/sbin/sshd", "sshd: gitlab-runner"), process(861, 860, 998, "/usr/bin/bash", "bash"),
			process(862, 861, 0, "/usr/bin/sudo", "sudo", "less"), withEnv(process(863, 862, 0, "/usr/bin/less", "less"), "SUDO_USER", "gitlab-runner"))
		plantFile(file(units, "/usr/lib/systemd/user/dbus.service", 0o644, 0, "[Service]\nExecStart=/usr/bin/dbus-daemon --session\n"))(s)
		s.Facts = append(s.Facts, snapshot.Fact{Section: snapshot.SectionOwned, Name: "dpkg", Text: "/usr/lib/systemd/user/dbus.service\n"})
	}
	s := cleanHost()
	plant(s)
	for _, f := range resultOf(t, s, "orphans").Findings {
		t.Errorf("%s %s: %s", f.Severity, f.Where, f.Detail)
	}
	for name, p := range map[string]snapshot.Process{
		"a unit of its own":          process(870, 850, 998, "/usr/bin/sleep", "sleep", "9"),
		"another program as the bus": {PID: 871, PPID: 850, UID: 998, Comm: "dbus-daemon", Exe: "/usr/local/bin/dbus-daemon", Args: bus.Args, Cgroup: bus.Cgroup},
		"the bus below process 1":    {PID: 872, PPID: 1, UID: 998, Comm: "dbus-daemon", Exe: bus.Exe, Args: bus.Args, Cgroup: bus.Cgroup},
		"a manager in another group": {PID: 873, PPID: 1, UID: 998, Comm: "systemd", Exe: manager.Exe, Args: manager.Args, Cgroup: "/system.slice/x.service"},
		"root through an old sudo":   withEnv(process(874, 1, 0, "/usr/bin/sleep", "sleep"), "SUDO_USER", "gitlab-runner"),
	} {
		s := cleanHost()
		plant(s)
		s.Processes = append(s.Processes, p)
		if found := resultOf(t, s, "orphans").Findings; len(found) != 1 || !found[0].Severity.AtLeast(check.Medium) {
			t.Errorf("%s: %+v", name, found)
		}
	}
}
