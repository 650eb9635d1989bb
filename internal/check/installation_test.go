package check_test

import (
	"slices"
	"testing"

	"cordon/internal/check"
	"cordon/internal/host/snapshot"
)

func TestInstallationOfACleanHost(t *testing.T) {
	list := check.Installations(cleanHost())
	if len(list) != 1 {
		t.Fatalf("%d installations: %+v", len(list), list)
	}
	in := list[0]
	want := check.Installation{
		Host: "build-07", Kind: check.GitLab, Root: "/etc/gitlab-runner", Config: "/etc/gitlab-runner/config.toml",
		URL: "https://gitlab.example.org", RunnerID: "42", Name: "build-07", SystemID: "s_0123456789ab",
		TokenPrint: "hmac:00112233aabbccdd", ShortToken: "aBcD1234x", Executor: "shell", Unit: "gitlab-runner.service",
	}
	if !slices.Equal(in.PIDs, []int{700}) {
		t.Errorf("processes %v, want the agent alone", in.PIDs)
	}
	in.PIDs = nil
	if a, b := in, want; a.Host != b.Host || a.Kind != b.Kind || a.Root != b.Root || a.Config != b.Config || a.URL != b.URL ||
		a.RunnerID != b.RunnerID || a.Name != b.Name || a.SystemID != b.SystemID || a.TokenPrint != b.TokenPrint ||
		a.ShortToken != b.ShortToken || a.Executor != b.Executor || a.Unit != b.Unit || a.Unexpected != "" || len(a.Problems) != 0 {
		t.Errorf("got  %+v\nwant %+v", a, b)
	}
}

// One gitlab-runner serves many registrations: each entry is an installation, and a
// short token from the log is then nobody's for certain.
func TestEveryEntryIsAnInstallation(t *testing.T) {
	s := cleanHost()
	second := "\n[[runners]]\n  name = \"two\"\n  id = 43\n  url = \"https://gitlab.example.org\"\n  token = [redacted hmac:ffeeffeeffeeffee len:26]\n  executor = \"docker\"\n"
	plantFile(file(runners, "/etc/gitlab-runner/config.toml", 0o600, 0, config+second))(s)
	list := check.Installations(s)
	if len(list) != 2 || list[0].RunnerID != "42" || list[1].RunnerID != "43" {
		t.Fatalf("got %+v", list)
	}
	if list[1].TokenPrint != "hmac:ffeeffeeffeeffee" {
		t.Errorf("a token replaced with its quotes has print %q", list[1].TokenPrint)
	}
	if list[0].ShortToken != "" || list[1].ShortToken != "" {
		t.Errorf("short token guessed: %q, %q", list[0].ShortToken, list[1].ShortToken)
	}
}

func TestSystemIDOfAnotherShapeIsNotOne(t *testing.T) {
	s := cleanHost()
	plantFile(file(runners, "/etc/gitlab-runner/.runner_system_id", 0o600, 0, "\x1b[31ms_0123456789ab"))(s)
	if id := check.Installations(s)[0].SystemID; id != "" {
		t.Errorf("system id %q taken from a forged file", id)
	}
}

func TestGitHubAndGiteaRoots(t *testing.T) {
	s := cleanHost()
	plantFile(file(runners, "/opt/actions-runner/.runner", 0o600, 998, "\ufeff{\"AgentId\":123456789,\"agentName\":\"n\",\"gitHubUrl\":\"https://github.com/acme\"}"))(s)
	plantFile(file(runners, "/srv/act/.runner", 0o600, 998, `{"id":7,"uuid":"u-1","name":"g","address":"https://git.example.org","token":{"redacted":"hmac:1234123412341234","len":40}}`))(s)
	s.Processes = append(s.Processes, process(990, 1, 998, "/opt/actions-runner/bin.2.320.0/Runner.Listener", "/opt/actions-runner/bin/Runner.Listener", "run"))
	list := check.Installations(s)
	if len(list) != 3 {
		t.Fatalf("%d installations: %+v", len(list), list)
	}
	gh, gt := list[1], list[2]
	if gh.Kind != check.GitHub || gh.RunnerID != "123456789" || gh.URL != "https://github.com/acme" || !slices.Equal(gh.PIDs, []int{990}) {
		t.Errorf("GitHub: %+v", gh)
	}
	if gt.Kind != check.Gitea || gt.RunnerID != "7" || gt.TokenPrint != "hmac:1234123412341234" || gt.URL != "https://git.example.org" {
		t.Errorf("Gitea: %+v", gt)
	}
}

// Everything in a snapshot is the host's to choose.
func FuzzRunSurvivesAnyHost(f *testing.F) {
	f.Add("/etc/cron.d/x", "* * * * * root /tmp/x", 1, "/bin/sh")
	f.Add("/root/.gitconfig", "[\n[]\n=", 700, "")
	f.Add("/home/ir/.ssh/authorized_keys", `command="\`, 2, "x (deleted)")
	f.Add("/etc/gitlab-runner/config.toml", "[[runners]]\n[runners.docker]\nvolumes=[\":\"]", -1, "/memfd:")
	f.Add("/etc/systemd/system/gitlab-runner.service.d/a.conf", "[Service]\nExecStart=\"\\\nEnvironment=", 901, "gitlab-runner")
	f.Add("/x/.runner", `{"address":1,"id":1e400}`, 901, "gitlab-runner")
	f.Add("/etc/anacrontab", "@", 901, "/usr/bin/gitlab-runner")
	f.Fuzz(func(t *testing.T, path, content string, ppid int, exe string) {
		s := cleanHost()
		plantFile(file(snapshot.SectionRunners, path, 0o644, 998, content))(s)
		s.Processes = append(s.Processes, process(ppid+1, ppid, 998, exe, exe, content), process(ppid, ppid+1, 998, exe))
		s.Sockets = append(s.Sockets, snapshot.Socket{State: "LISTEN", Local: content, Inode: 1, PID: ppid})
		if len(check.Run(s)) != len(check.All()) {
			t.Fatal("a check did not answer")
		}
		check.Installations(s)
	})
}
