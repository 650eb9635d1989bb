package check_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"cordon/internal/check"
	"cordon/internal/host/snapshot"
	"cordon/internal/untrusted"
)

const ghRoot = "/home/ir/actions-runner"

// ghHost is a host with one GitHub runner at work, and nothing to explain.
func ghHost(runner string) *snapshot.Snapshot {
	s := cleanHost()
	onGitHub(file(runners, ghRoot+"/.runner", 0o600, 1001, runner))(s)
	plantFile(file(units, "/etc/systemd/system/actions.runner.acme.box.service", 0o664, 0, "[Service]\nExecStart="+ghRoot+"/runsvc.sh\nUser=ir\nWorkingDirectory="+ghRoot+"\nKillMode=process\n"))(s)
	p := process(990, 1, 1001, ghRoot+"/bin/Runner.Listener", "Runner.Listener", "run")
	p.Cgroup = "/system.slice/actions.runner.acme.box.service"
	s.Processes = append(s.Processes, p)
	return s
}

func said(s *snapshot.Snapshot, minute int, words string) {
	s.Log = append(s.Log, snapshot.LogLine{
		At: taken.Add(time.Duration(minute) * time.Minute), Unit: "Runner_20260304-000000-utc",
		From: ghRoot + "/_diag/Runner_20260304-000000-utc.log", Text: untrusted.Text(words),
	})
}

const (
	plainRunner     = `{"agentId":3,"agentName":"box","gitHubUrl":"https://github.com/acme"}`
	ephemeralRunner = `{"agentId":3,"agentName":"box","gitHubUrl":"https://github.com/acme","ephemeral":true}`
)

func TestHowAnInstallationStands(t *testing.T) {
	for name, c := range map[string]struct {
		host  func() *snapshot.Snapshot
		title string // "": nothing to explain
		worst check.Severity
	}{
		"at work": {func() *snapshot.Snapshot { return ghHost(plainRunner) }, "", ""},
		"two listeners of one root": {func() *snapshot.Snapshot {
			s := ghHost(plainRunner)
			s.Processes = append(s.Processes, process(991, 1, 1001, ghRoot+"/bin/Runner.Listener", "Runner.Listener", "run"))
			return s
		}, "more than one listener", check.Medium},
		"its session is taken": {func() *snapshot.Snapshot {
			s := ghHost(plainRunner)
			said(s, 1, "Terminal: A session for this runner already exists.")
			return s
		}, "another session uses", check.High},
		"its session was taken for a moment after a crash": {func() *snapshot.Snapshot {
			s := ghHost(plainRunner)
			said(s, 1, "Terminal: A session for this runner already exists.")
			said(s, 2, "Terminal: Listening for Jobs")
			return s
		}, "", ""},
		"ephemeral and waiting for its job": {func() *snapshot.Snapshot { return ghHost(ephemeralRunner) }, "", ""},
		"ephemeral after its job": {func() *snapshot.Snapshot {
			s := ghHost(ephemeralRunner)
			s.Jobs = []snapshot.Job{{Root: ghRoot, Source: snapshot.JobWorkerLog, Ended: taken}}
			return s
		}, "still here after its job", check.Medium},
		"ephemeral and left": {func() *snapshot.Snapshot {
			s := ghHost(ephemeralRunner)
			s.Processes = slices.DeleteFunc(s.Processes, func(p snapshot.Process) bool { return p.PID == 990 })
			return s
		}, "was left, and nothing runs it", check.Low},
		"started by hand": {func() *snapshot.Snapshot {
			s := ghHost(plainRunner)
			s.Files = slices.DeleteFunc(s.Files, func(f snapshot.File) bool {
				return strings.HasPrefix(string(f.Path), "/etc/systemd/system/actions.runner.")
			})
			s.Processes[len(s.Processes)-1].Cgroup = "/user.slice/user-1001.slice/session-4.scope"
			return s
		}, "no unit starts", check.Low},
		"refused and still at it": {func() *snapshot.Snapshot {
			s := ghHost(plainRunner)
			said(s, 1, "Terminal: Runner connect error: Registration was not found or is not medium trust. Retrying until reconnected.")
			return s
		}, "the service refuses", check.Low},
		"reports elsewhere": {func() *snapshot.Snapshot {
			return ghHost(strings.Replace(plainRunner, "{", `{"monitorSocketAddress":"127.0.0.1:9",`, 1))
		}, "tells somebody", check.Low},
		"updates off": {func() *snapshot.Snapshot {
			return ghHost(strings.Replace(plainRunner, "{", `{"disableUpdate":true,`, 1))
		}, "never updates", check.Info},
		"its registration removed": {func() *snapshot.Snapshot {
			s := ghHost(plainRunner)
			s.Files = slices.DeleteFunc(s.Files, func(f snapshot.File) bool { return strings.HasSuffix(string(f.Path), "/.runner") })
			s.Processes = slices.DeleteFunc(s.Processes, func(p snapshot.Process) bool { return p.PID == 990 })
			plantFile(file(runners, ghRoot+"/run.sh", 0o755, 1001, "#!/bin/bash\n"))(s)
			plantFile(file(runners, ghRoot+"/.service", 0o644, 1001, "actions.runner.acme.box.service\n"))(s)
			return s
		}, "without a registration", check.Info},
	} {
		var got []check.Finding
		for _, r := range check.Run(c.host()) {
			if r.Check == "installations" {
				got = r.Findings
			}
		}
		hit := slices.ContainsFunc(got, func(f check.Finding) bool {
			return c.title != "" && strings.Contains(f.Title, c.title) && f.Severity == c.worst && f.Where == ghRoot && len(f.Evidence) > 0
		})
		if hit != (c.title != "") || len(got) > 1 {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestKindsWithoutADirectoryOfTheirOwn(t *testing.T) {
	s := cleanHost()
	plantFile(file(runners, "/etc/buildkite-agent/buildkite-agent.cfg", 0o600, 0, "token=\"[redacted hmac:0011223344556677 len:50]\"\nname=\"bk\"\n"))(s)
	s.Processes = append(s.Processes,
		process(950, 1, 997, "/usr/bin/buildkite-agent", "buildkite-agent", "start"),
		process(951, 1, 996, "/usr/bin/java", "java", "-jar", "/srv/j/agent.jar", "-url", "https://jenkins.example.org/", "-name", "jk", "-workDir", "/srv/j"),
		process(952, 1, 996, "/usr/bin/java", "java", "-javaagent:/opt/apm/agent.jar", "-jar", "/opt/app/app.jar"),
	)
	var got []string
	for _, in := range check.Installations(s) {
		got = append(got, in.Kind+" "+string(in.Root)+" "+string(in.URL)+" "+string(in.Name)+" "+in.TokenPrint)
	}
	want := []string{
		"buildkite /etc/buildkite-agent " + check.DefaultBuildkite + " bk hmac:0011223344556677",
		"gitlab-runner /etc/gitlab-runner https://gitlab.example.org build-07 hmac:00112233aabbccdd",
		"jenkins /srv/j https://jenkins.example.org/ jk ",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}
