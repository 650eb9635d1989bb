package host

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	"cordon/internal/check"
	"cordon/internal/host/snapshot"
)

const unitText = "[Unit]\nDescription=a runner\n[Service]\nExecStart=%s/runsvc.sh\nUser=ci\nWorkingDirectory=%s\nKillMode=process\n"

const workerText = `[WORKER 2026-11-30 10:00:05Z INFO HostContext] Well known directory 'Bin': '/home/ci/actions-runner/bin'
[WORKER 2026-11-30 10:00:06Z INFO Worker] Job message:
 {
  "mask": [
    {
      "type": "regex",
      "value": "***"
    }
  ],
  "variables": {
    "DEPLOY": {
      "value": "must-stay-there-1"
    }
  },
  "jobId": "11111111-2222-3333-4444-555555555555",
  "jobDisplayName": "build (linux)",
  "contextData": {
    "inputs": {
      "t": 2,
      "d": [
        {
          "k": "repository",
          "v": "forged/by-input"
        }
      ]
    },
    "github": {
      "t": 2,
      "d": [
        {
          "k": "repository",
          "v": "acme/web"
        },
        {
          "k": "run_id",
          "v": "4242"
        },
        {
          "k": "run_attempt",
          "v": "2"
        },
        {
          "k": "token",
          "v": "must-stay-there-2"
        },
        {
          "k": "actor",
          "v": "mallory"
        },
        {
          "k": "event",
          "v": {
            "t": 2,
            "d": [
              {
                "k": "repository",
                "v": "forged/by-event"
              }
            ]
          }
        }
      ]
    }
  }
}
[WORKER 2026-11-30 10:04:00Z INFO JobRunner] Job result after all job steps finish: Failed
[WORKER 2026-11-30 10:04:01Z INFO Worker] Job completed.
`

const listenerText = `[RUNNER 2026-11-30 09:59:00Z INFO Listener] Version: 2.336.0
[RUNNER 2026-11-30 09:59:01Z INFO ConfigurationStore] {"secret": "must-stay-there-3"}
[RUNNER 2026-11-30 09:59:30Z INFO Terminal] WRITE LINE: 2026-11-30 09:59:30Z: Listening for Jobs
[RUNNER 2026-11-30 10:00:01Z INFO Terminal] WRITE LINE: 2026-11-30 10:00:01Z: Running job: build (linux)
[RUNNER 2026-11-30 10:04:02Z INFO Terminal] WRITE LINE: 2026-11-30 10:04:02Z: Job build (linux) completed with result: Failed
 at GitHub.Runner.Listener.must-stay-there-4
[RUNNER 2026-11-30 11:00:00Z INFO Terminal] WRITE LINE: 2026-11-30 11:00:00Z: Running job: deploy
[RUNNER 2026-11-30 11:01:00Z INFO Terminal] WRITE LINE: 2026-11-30 11:01:00Z: Job deploy completed with result: Succeeded
`

// everyKind is a host with one installation of each kind of runner, half of them at work.
func everyKind(t *testing.T) *tree {
	tr := newTree(t)
	tr.file("/etc/passwd", "root:x:0:0:root:/root:/bin/bash\nci:x:1000:1000::/home/ci:/bin/bash\n", 0o644)
	me := os.Getuid()

	gh := "/home/ci/actions-runner"
	tr.file(gh+"/.runner", "\ufeff{\n  \"agentId\": 21,\n  \"agentName\": \"gha-01\",\n  \"poolId\": 1,\n  \"poolName\": \"Default\",\n  \"serverUrl\": \"https://pipelines.actions.example/x/\",\n"+
		"  \"gitHubUrl\": \"https://github.example.org/acme\",\n  \"workFolder\": \"_work\",\n  \"disableUpdate\": true,\n  \"ephemeral\": true\n}", 0o644)
	tr.file(gh+"/.credentials_rsaparams", `{"d":"must-stay-there-5","modulus":"x"}`, 0o600)
	tr.file(gh+"/.credentials", `{"scheme":"OAuth","data":{"clientId":"must-stay-there-6"}}`, 0o600)
	tr.file(gh+"/.env", "LANG=C.UTF-8\nhttps_proxy=http://u:must-stay-there-7@proxy:3128\nCLOUD_KEY=must-stay-there-8\nACTIONS_RUNNER_HOOK_JOB_STARTED=/opt/hook.sh\n", 0o644)
	tr.file(gh+"/.service", "actions.runner.acme.gha-01.service\n", 0o644)
	tr.link("bin.2.336.0", gh+"/bin")
	tr.file(gh+"/bin.2.336.0/Runner.Listener", "\x7fELF", 0o755)
	tr.file("/etc/systemd/system/actions.runner.acme.gha-01.service", fmt.Sprintf(unitText, gh, gh), 0o664)
	tr.file(gh+"/_diag/Runner_20261130-095900-utc.log", listenerText, 0o644)
	tr.file(gh+"/_diag/Worker_20261130-100005-utc.log", workerText, 0o644)
	tr.file(gh+"/_work/_PipelineMapping/acme/old/PipelineFolder.json", "\ufeff{\"RepositoryName\":\"acme/old\",\"PipelineDirectory\":\"old\",\"LastRunOn\":\"11/20/2026 08:00:00 +00:00\",\"Repositories\":{\"acme/old\":{\"RepositoryPath\":\"old/old\"}}}", 0o644)
	tr.process(910, 1, me, "Runner.Listener", gh+"/bin.2.336.0/Runner.Listener", "/system.slice/actions.runner.acme.gha-01.service",
		[]string{"ACTIONS_RUNNER_INPUT_JITCONFIG=must-stay-there-9"}, gh+"/bin/Runner.Listener", "run", "--startuptype", "service")

	tr.file("/home/ci/.dev-env/.runner", `{"agentId":7,"agentName":"SHA1HULUD","gitHubUrl":"https://github.example.org/mallory/x"}`, 0o644)
	tr.process(911, 1, me, "x", "/home/ci/.dev-env/bin/Runner.Listener", "/user.slice/user-1000.slice/session-1.scope", nil,
		"/home/ci/.dev-env/bin/Runner.Listener", "run", "--jitconfig", "must-stay-there-10")

	az := "/srv/azagent"
	tr.file(az+"/.agent", "\ufeff{\"agentId\":\"5\",\"agentName\":\"az-1\",\"poolId\":\"9\",\"poolName\":\"Linux\",\"serverUrl\":\"https://dev.azure.example/acme/\",\"workFolder\":\"_work\"}", 0o644)
	tr.file(az+"/.proxycredentials", "must-stay-there-11", 0o600)
	tr.file("/etc/systemd/system/vsts.agent.acme.Linux.az-1.service", fmt.Sprintf(unitText, az, az), 0o664)

	gt := "/var/lib/gitea-runner"
	tr.file(gt+"/.runner", `{"WARNING":"do not edit","id":3,"uuid":"0000-1111","name":"gt-1","token":"must-stay-there-12","address":"https://gitea.example.org","labels":["linux:host"]}`, 0o600)
	tr.file("/etc/systemd/system/act_runner.service", "[Service]\nExecStart=/usr/local/bin/act_runner daemon\nWorkingDirectory="+gt+"\n", 0o644)
	tr.process(912, 1, me, "act_runner", "/usr/local/bin/act_runner", "/system.slice/act_runner.service", nil, "/usr/local/bin/act_runner", "daemon")
	tr.must(os.Remove(tr.path("/proc/912/cwd")))
	tr.link(gt, "/proc/912/cwd")
	tr.file("/var/log/act_runner.log", `time="2026-11-30T12:00:00Z" level=error msg="failed to fetch task" error="unauthenticated: unregistered runner"`+"\n", 0o644)

	tr.file("/etc/buildkite-agent/buildkite-agent.cfg", "# agent\ntoken=\"must-stay-there-13\"\nname=\"bk-%spawn\"\nbuild-path=\"/var/lib/buildkite-agent/builds\"\nhooks-path=\"/etc/buildkite-agent/hooks\"\ncustom=must-stay-there-14\n", 0o600)
	tr.process(913, 1, me, "buildkite-agent", "/usr/bin/buildkite-agent", "/system.slice/buildkite-agent.service", nil, "/usr/bin/buildkite-agent", "start")

	tr.dir("/srv/jenkins/remoting/jarCache", 0o755)
	tr.file("/srv/jenkins/agent.jar", "PK", 0o644)
	tr.process(914, 1, me, "java", "/usr/lib/jvm/java-17/bin/java", "/system.slice/jenkins-agent.service", nil,
		"java", "-jar", "/srv/jenkins/agent.jar", "-url", "https://jenkins.example.org/", "-secret", strings.Repeat("ab", 32), "-name", "jk-1", "-workDir", "/srv/jenkins")
	return tr
}

func jsonOf(t *testing.T, s *snapshot.Snapshot) string {
	t.Helper()
	var b bytes.Buffer
	if err := s.Encode(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// Whatever /bin/sh is, one tree is one snapshot.
func TestEveryShellTellsTheSameSnapshot(t *testing.T) {
	for name, tr := range map[string]*tree{"kinds": everyKind(t), "planted": planted(t)} {
		for _, profile := range []string{snapshot.ProfileTriage, snapshot.ProfileWatch} {
			if name == "planted" && profile == snapshot.ProfileWatch {
				continue // another test reads it
			}
			first, by := "", ""
			for _, sh := range shells(t) {
				out, errs := tr.run(sh, profile, nil, nil)
				if len(errs) != 0 {
					t.Errorf("%s complained: %s", sh.name, errs)
				}
				got := jsonOf(t, read(t, out, profile))
				if first == "" {
					first, by = got, sh.name
				}
				if got != first {
					a, b := strings.Split(first, "\n"), strings.Split(got, "\n")
					for i := range min(len(a), len(b)) {
						if a[i] != b[i] {
							t.Errorf("%s, %s: %s says %s, %s says %s", name, profile, by, a[i], sh.name, b[i])
							break
						}
					}
				}
			}
		}
	}
}

func TestInstallationsOfEveryKindAreRead(t *testing.T) {
	tr := everyKind(t)
	out, _ := tr.run(shells(t)[0], snapshot.ProfileTriage, nil, nil)
	s := read(t, out, snapshot.ProfileTriage)
	if !s.Seen(snapshot.SectionRunners) || !s.Seen(snapshot.SectionJobs) {
		t.Errorf("%v, %v", s.Section(snapshot.SectionRunners), s.Section(snapshot.SectionJobs))
	}
	got := map[string]check.Installation{}
	for _, in := range check.Installations(s) {
		got[string(in.Root)] = in
	}
	for root, want := range map[string]check.Installation{
		"/home/ci/actions-runner": {Kind: check.GitHub, URL: "https://github.example.org/acme", RunnerID: "21", Name: "gha-01", Unit: "actions.runner.acme.gha-01.service", PIDs: []int{910}, Version: "2.336.0", Work: "/home/ci/actions-runner/_work", Pool: "Default", Ephemeral: true},
		"/home/ci/.dev-env":       {Kind: check.GitHub, URL: "https://github.example.org/mallory/x", RunnerID: "7", Name: "SHA1HULUD", PIDs: []int{911}, Work: "/home/ci/.dev-env/_work"},
		"/srv/azagent":            {Kind: check.Azure, URL: "https://dev.azure.example/acme/", RunnerID: "5", Name: "az-1", Unit: "vsts.agent.acme.Linux.az-1.service", Work: "/srv/azagent/_work", Pool: "Linux"},
		"/var/lib/gitea-runner":   {Kind: check.Gitea, URL: "https://gitea.example.org", RunnerID: "3", UUID: "0000-1111", Name: "gt-1", Unit: "act_runner.service", PIDs: []int{912}},
		"/etc/buildkite-agent":    {Kind: check.Buildkite, URL: "https://agent-edge.buildkite.com", Name: "bk-%spawn", Unit: "buildkite-agent.service", PIDs: []int{913}, Work: "/var/lib/buildkite-agent/builds"},
		"/srv/jenkins":            {Kind: check.Jenkins, URL: "https://jenkins.example.org/", Name: "jk-1", Unit: "jenkins-agent.service", PIDs: []int{914}, Work: "/srv/jenkins"},
	} {
		in, ok := got[root]
		if !ok {
			t.Errorf("%s is missing in %v", root, got)
			continue
		}
		if in.Kind != want.Kind || in.URL != want.URL || in.RunnerID != want.RunnerID || in.UUID != want.UUID || in.Name != want.Name || in.Unit != want.Unit ||
			in.Version != want.Version || in.Work != want.Work || in.Pool != want.Pool || in.Ephemeral != want.Ephemeral || !slices.Equal(in.PIDs, want.PIDs) {
			b, _ := json.Marshal(in)
			t.Errorf("%s: %s", root, b)
		}
	}
	if len(got) != 6 {
		t.Errorf("%d installations", len(got))
	}
}

func TestWhatRanHereIsReadFromTheAgentsOwnFiles(t *testing.T) {
	tr := everyKind(t)
	out, _ := tr.run(shells(t)[0], snapshot.ProfileTriage, nil, nil)
	s := read(t, out, snapshot.ProfileTriage)
	if len(s.Jobs) != 3 {
		t.Fatalf("%d jobs: %+v", len(s.Jobs), s.Jobs)
	}
	for _, j := range s.Jobs {
		if j.Root != "/home/ci/actions-runner" {
			t.Errorf("root of %+v", j)
		}
		switch j.Source {
		case snapshot.JobWorkerLog:
			if j.Name != "build (linux)" || j.Repository != "acme/web" || j.RunID != "4242" || j.Attempt != "2" || j.Actor != "mallory" || j.Result != "Failed" ||
				j.Started.Format("15:04:05") != "10:00:05" || j.Ended.Format("15:04:05") != "10:04:00" {
				t.Errorf("worker: %+v", j)
			}
		case snapshot.JobRunnerLog:
			if j.Name != "deploy" || j.Result != "Succeeded" || j.Started.Format("15:04") != "11:00" || j.Ended.Format("15:04") != "11:01" {
				t.Errorf("listener: %+v", j)
			}
		case snapshot.JobMapping:
			if j.Repository != "acme/old" || j.Started.Format("2006-01-02") != "2026-11-20" {
				t.Errorf("mapping: %+v", j)
			}
		}
	}
}

// What must stay there is in the tree fourteen times; none of it may be in a snapshot,
// and what only a credential file holds may not even cross the wire.
func TestNoSecretOfAnyKindIsInASnapshot(t *testing.T) {
	tr := everyKind(t)
	out, _ := tr.run(shells(t)[0], snapshot.ProfileTriage, nil, nil)
	wire := decoded(t, out)
	text := jsonOf(t, read(t, out, snapshot.ProfileTriage))
	for i := 1; i <= 14; i++ {
		planted := fmt.Sprintf("must-stay-there-%d", i)
		if strings.Contains(text, planted+`"`) || strings.Contains(text, planted+`\`) || strings.Contains(text, planted+"@") {
			t.Errorf("%s is in the snapshot", planted)
		}
	}
	if strings.Contains(text, strings.Repeat("ab", 32)) {
		t.Error("the secret of the Jenkins agent is in the snapshot")
	}
	for _, i := range []int{1, 2, 3, 4, 5, 6, 11} {
		if strings.Contains(wire, fmt.Sprintf("must-stay-there-%d\"", i)) || strings.Contains(wire, fmt.Sprintf("must-stay-there-%d\n", i)) {
			t.Errorf("must-stay-there-%d left the host", i)
		}
	}
}

// A file system that never answers is not asked: here a FIFO stands where a home was
// mounted over the network, and what is below it counts as not looked at.
func TestAMountThatMayHangIsNotTouched(t *testing.T) {
	tr := everyKind(t)
	tr.file("/proc/self/mountinfo", "22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n"+
		"40 22 0:40 / /home/far\\040off rw - nfs4 nas:/x rw\n41 22 0:41 / /home/ci/.config rw - fuse.sshfs x rw\n42 22 0:42 / /proc/sys/fs/binfmt_misc rw - autofs x rw\n", 0o444)
	tr.file("/home/far off/.bashrc", "read-me\n", 0o644)
	tr.file("/home/far off/actions-runner/.runner", "{}", 0o644)
	tr.file("/home/ci/.config/pip/pip.conf", "read-me\n", 0o644)
	for _, sh := range shells(t) {
		out, _ := tr.run(sh, snapshot.ProfileTriage, nil, nil)
		s := read(t, out, snapshot.ProfileTriage)
		if at(s, "/home/far off/.bashrc") != nil || at(s, "/home/far off/actions-runner/.runner") != nil || at(s, "/home/ci/.config/pip/pip.conf") != nil {
			t.Errorf("%s: it was read", sh.name)
		}
		if at(s, "/home/ci/actions-runner/.runner") == nil {
			t.Errorf("%s: the rest was not", sh.name)
		}
		if sec := s.Section(snapshot.SectionProfiles); sec.End != snapshot.EndCut || !strings.Contains(sec.Why, "may hang") {
			t.Errorf("%s: %v", sh.name, sec)
		}
	}
}

// Without timeout(1) our own watch ends what hangs, and leaves nothing behind.
func TestNothingHangsWithoutTimeout(t *testing.T) {
	for _, sh := range shells(t) {
		t.Run(sh.name, func(t *testing.T) {
			t.Parallel()
			text := "N=x\nR=\nP=watch\n" + framesSh + "\nexec 2>/dev/null\nTO='limit 1'\n" + // a shell says that something was killed
				"$TO sleep 600; echo \"slow $?\"\nprintf 'a b' | $TO head -c 1; echo; $TO true; echo \"quick $?\"\n"
			if got := pipe(t, sh, text); got != "slow 137\na\nquick 0\n" {
				t.Errorf("%q", got)
			}
		})
	}
}

// A host without timeout(1) is read all the same, and to the same end.
func TestAHostWithoutTimeoutIsReadTheSame(t *testing.T) {
	tr := everyKind(t)
	without := strings.ReplaceAll(collector().Text, "timeout -s KILL", "no-such-tool -s KILL")
	if without == collector().Text {
		t.Fatal("the script names timeout in another way now")
	}
	for _, sh := range shells(t) {
		want, _ := tr.run(sh, snapshot.ProfileWatch, nil, nil)
		cmd := shellCommand(sh, "N="+testNonce+"\nR="+tr.root+"\nP=watch\n"+without)
		got, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s: %v", sh.name, err)
		}
		if a, b := jsonOf(t, read(t, want, snapshot.ProfileWatch)), jsonOf(t, read(t, got, snapshot.ProfileWatch)); a != b {
			t.Errorf("%s: with it %d bytes of snapshot, without it %d", sh.name, len(a), len(b))
		}
	}
}

// A shell whose own test hangs is ended by its watch, so that the login ends too.
func TestTheWatchEndsAShellThatHangs(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mkfifo(dir+"/fifo", 0o600); err != nil {
		t.Fatal(err)
	}
	for _, sh := range shells(t) {
		t.Run(sh.name, func(t *testing.T) {
			t.Parallel()
			cmd := shellCommand(sh, "N=x\nR=\nP=watch\n"+framesSh+"\nwatchdog 1\nread -r a <"+dir+"/fifo\necho came back\n")
			out, err := cmd.CombinedOutput()
			if err == nil || strings.Contains(string(out), "came back") {
				t.Errorf("%v %q", err, out)
			}
		})
	}
}
