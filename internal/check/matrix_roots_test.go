package check_test

import (
	"os"
	"path"

	"cordon/internal/check"
)

const (
	actUnit = "/etc/systemd/system/act_runner.service"
	glUnit  = "/etc/systemd/system/gitlab-runner.service"
	aToken  = "[[runners]]\n  name = \"deploy\"\n  url = \"https://gitlab.example.org\"\n  executor = \"shell\"\n"
	aRunner = `{"agentId": 9, "agentName": "gh-9", "gitHubUrl": "https://github.example.org/acme"}`
	// aHook does nothing that a build would not do.
	aHook = "#!/bin/sh\nexec /usr/local/sbin/notify-build\n"
)

// gitlabAt is a gitlab-runner whose unit names a configuration elsewhere.
func gitlabAt(config, text string) func(*tree) {
	return func(tr *tree) {
		tr.file(glUnit, "[Service]\nExecStart=/usr/bin/gitlab-runner \"run\" \"--config\" \""+config+"\" \"--working-directory\" \"/srv/gl\" \"--user\" \"runner\"\n", 0o644)
		tr.file(config, text, 0o600)
	}
}

// runnerAt is a root of GitHub's runner with a directory for jobs of its own.
func runnerAt(root, work string, more ...string) func(*tree) {
	return func(tr *tree) {
		tr.file(root+"/.runner", `{"agentId": 8, "agentName": "`+path.Base(root)+`", "gitHubUrl": "https://github.example.org/acme", "workFolder": "`+work+`"}`, 0o644)
		for i := 0; i+1 < len(more); i += 2 {
			tr.file(more[i], more[i+1], 0o755)
		}
	}
}

// aPath is a runner whose .path has more before the system's directories.
func aPath(root, dirs string, more func(*tree)) func(*tree) {
	return func(tr *tree) {
		runnerAt(root, "_work")(tr)
		tr.file(root+"/.path", dirs+":/usr/bin:/bin\n", 0o644)
		if more != nil {
			more(tr)
		}
	}
}

func gitlabDocker(name, line string) func(*tree) {
	return gitlab(name, "  [runners.docker]\n    "+line)
}

// secretAt is a credential in a place of its own; what it is says the path.
func secretAt(p string) func(*tree) {
	return func(tr *tree) { tr.file(p, "x\n", 0o600) }
}

// rootRows are what an independent audit planted and nothing told: configurations,
// work directories and roots that are not in their usual place.
var rootRows = []row{
	// 1: what is a link is there.
	{"audit-1 config.toml is a link", "installations", check.Medium, "/home/ir/.gitlab-runner|a link to /opt/gl/main.toml", false, func(tr *tree) {
		tr.link("/opt/gl/main.toml", "/home/ir/.gitlab-runner/config.toml")
	}},
	{"audit-1 .runner is a link", "installations", check.Medium, "/opt/r2|a link to /opt/tools/dotrunner", false, func(tr *tree) {
		tr.file("/opt/r2/run.sh", "#!/bin/bash\n", 0o755)
		tr.link("/opt/tools/dotrunner", "/opt/r2/.runner")
	}},
	{"audit-1 .runner is a link where only the search comes", "installations", check.Medium, "/usr/lib/gvfs-m|a link to", false, func(tr *tree) {
		tr.link("/opt/tools/dotrunner", "/usr/lib/gvfs-m/.runner")
	}},
	{"audit-1 buildkite-agent.cfg is a link", "installations", check.Medium, "/home/ir/.buildkite-agent|a link to", false, func(tr *tree) {
		tr.link("/opt/tools/bk.cfg", "/home/ir/.buildkite-agent/buildkite-agent.cfg")
	}},

	// 4: configurations that units name.
	{"audit-4 configuration of gitlab-runner elsewhere", "installations", check.High, "/opt/gl-a|deploy", false, gitlabAt("/opt/gl-a/config.toml", aToken)},
	{"audit-4 its hook", "job-hooks", check.Medium, "/opt/gl-b/runner.toml|pre_build_script", false, func(tr *tree) {
		tr.file("/etc/systemd/system/gl-b.service", "[Service]\nExecStart=/usr/bin/gitlab-runner run \\\n  --config=/opt/gl-b/runner.toml\n", 0o644)
		tr.file("/opt/gl-b/runner.toml", aToken+"  pre_build_script = \"/usr/local/sbin/prepare\"\n", 0o600)
	}},
	{"audit-4 configuration in a drop-in's variable", "job-hooks", check.Medium, "/opt/gl-c/config.toml|pre_build_script", false, func(tr *tree) {
		tr.file("/etc/systemd/system/gl-c.service", "[Service]\nExecStart=/usr/bin/gitlab-runner run\n", 0o644)
		tr.file("/etc/systemd/system/gl-c.service.d/10-c.conf", "[Service]\nEnvironment=\"CONFIG_FILE=/opt/gl-c/config.toml\"\n", 0o644)
		tr.file("/opt/gl-c/config.toml", aToken+"  pre_build_script = \"/usr/local/sbin/prepare\"\n", 0o600)
	}},
	{"audit-4 configuration that nothing names", "installations", check.High, "/var/cache/gl-d|deploy", false, func(tr *tree) { // found by what is in it, which a link would keep from the search
		tr.file("/var/cache/gl-d/config.toml", aToken, 0o600)
		tr.file("/var/cache/gl-d/.runner_system_id", "r_0123456789ab", 0o600)
	}},
	{"audit-4 configuration of act_runner", "runner-files", check.Medium, "/etc/act_runner/config.yaml|privileged", false, func(tr *tree) {
		tr.file(actUnit, "[Service]\nExecStart=/usr/local/bin/act_runner daemon --config /etc/act_runner/config.yaml\nWorkingDirectory=/var/lib/act_runner\nUser=runner\n", 0o644)
		tr.file("/var/lib/act_runner/.runner", `{"WARNING": "x", "id": 3, "uuid": "1-2", "name": "act", "address": "https://git.example.org"}`, 0o600)
		tr.file("/etc/act_runner/config.yaml", "container:\n  privileged: true\n  valid_volumes: [\"**\"]\n  docker_host: automount\n", 0o644)
	}},
	{"audit-4 registration that the configuration names", "installations", check.Medium, "/usr/libexec/act/reg", false, func(tr *tree) {
		tr.file("/etc/systemd/system/act-2.service", "[Service]\nExecStart=/usr/local/bin/forgejo-runner daemon -c /etc/forgejo.yml\n", 0o644)
		tr.file("/etc/forgejo.yml", "runner:\n  file: /usr/libexec/act/reg/.runner\n", 0o644)
		tr.file("/usr/libexec/act/reg/.runner", `{"WARNING": "x", "id": 4, "uuid": "1-4", "name": "act-2", "address": "https://git.example.org"}`, 0o600)
	}},

	// 7: where jobs work.
	{"audit-7 hook below another workFolder", "developer-tools", check.Medium, "/srv/w/acme/acme/.git/hooks/post-checkout", false, runnerAt("/opt/gh-w", "/srv/w", "/srv/w/acme/acme/.git/hooks/post-checkout", aHook)},
	{"audit-7 tool cache below another workFolder", "runner-files", check.Medium, "/srv/w2/_tool$", false, func(tr *tree) {
		runnerAt("/opt/gh-w2", "/srv/w2")(tr)
		tr.dir("/srv/w2/_tool", 0o777)
	}},
	{"audit-7 hook below a relative workFolder", "developer-tools", check.Medium, "/opt/gh-w3/jobs/a/.git/hooks/post-merge", false, runnerAt("/opt/gh-w3", "jobs", "/opt/gh-w3/jobs/a/.git/hooks/post-merge", aHook)},
	{"audit-7 hook below builds_dir", "developer-tools", check.Medium, "/srv/builds-x/g/p/.git/hooks/post-checkout", false, func(tr *tree) {
		gitlabAt("/opt/gl-e/config.toml", aToken+"  builds_dir = \"/srv/builds-x\"\n")(tr)
		tr.file("/srv/builds-x/g/p/.git/hooks/post-checkout", aHook, 0o755)
	}},
	{"audit-7 hook below the unit's working directory", "developer-tools", check.Medium, "/srv/gl/builds/T/0/g/p/.git/hooks/post-checkout", false, func(tr *tree) {
		gitlabAt("/opt/gl-f/config.toml", aToken)(tr)
		tr.file("/srv/gl/builds/T/0/g/p/.git/hooks/post-checkout", aHook, 0o755)
	}},
	{"audit-7 hook below nested groups", "developer-tools", check.Medium, "/home/runner/builds/T/0/g/s1/s2/s3/proj/.git/hooks/post-checkout", false, program("/home/runner/builds/T/0/g/s1/s2/s3/proj/.git/hooks/post-checkout", aHook)},
	{"audit-7 hook of a submodule", "developer-tools", check.Medium, "/.git/modules/sub/dir/hooks/post-checkout", false, program("/home/runner/builds/T/0/g/p/.git/modules/sub/dir/hooks/post-checkout", aHook)},
	{"audit-7 hook of a bare repository", "developer-tools", check.Medium, "/mirror.git/hooks/post-update", false, program("/home/runner/mirror.git/hooks/post-update", aHook)},
	{"audit-7 settings of one work tree", "developer-tools", check.Medium, "/config.worktree", false, plainFile("/home/runner/builds/T/0/g/p2/.git/config.worktree", "[core]\n\tfsmonitor = /usr/local/sbin/watch\n")},
	{"audit-7 hook in a project called objects", "developer-tools", check.Medium, "/objects/.git/hooks/post-checkout", false, program("/home/runner/builds/T/0/g/objects/.git/hooks/post-checkout", aHook)},
	{"audit-7 variable of a job that was left", "secrets-on-disk", check.Info, "/p.tmp/DEPLOY_KEY", false, plainFile("/home/runner/builds/T/0/g/p.tmp/DEPLOY_KEY", "x\n")},
	{"audit-7 log page that was left", "secrets-on-disk", check.Info, "/_diag/blocks/a_1.1", false, runnerAt("/opt/gh-left", "_work", "/opt/gh-left/_diag/blocks/a_1.1", "x\n")},

	// 9: roots where no installer puts one.
	{"audit-9 root in /var/cache", "installations", check.High, "/var/cache/.fontconfig/x", false, plainFile("/var/cache/.fontconfig/x/.runner", aRunner)},
	{"audit-9 root in /var/log", "installations", check.High, "/var/log/.a", false, plainFile("/var/log/.a/.runner", aRunner)},
	{"audit-9 root in /usr/lib", "installations", check.Medium, "/usr/lib/gvfs-x", false, plainFile("/usr/lib/gvfs-x/.runner", aRunner)},
	{"audit-9 root in /run", "installations", check.Medium, "/run/x", false, plainFile("/run/x/.runner", aRunner)},
	{"audit-9 root deep in a home", "installations", check.Medium, "/home/ir/a/b/c/d/e/f/g", false, plainFile("/home/ir/a/b/c/d/e/f/g/.runner", aRunner)},

	// 10: keys of config.toml.
	{"audit-10 command of new machines", "job-hooks", check.Medium, "/etc/gitlab-runner/config.toml|ext-01", false, gitlab("ext-01", "  [runners.autoscaler]\n    instance_ready_command = \"/usr/local/sbin/ready\"")},
	{"audit-10 plugin of a scaler", "job-hooks", check.Medium, "/etc/gitlab-runner/config.toml|ext-02", false, gitlab("ext-02", "  [runners.autoscaler]\n    plugin = \"/opt/tools/fleet\"")},
	{"audit-10 container beside every job", "job-hooks", check.Low, "/etc/gitlab-runner/config.toml|ext-03", false, gitlab("ext-03", "  [[runners.docker.services]]\n    name = \"docker:dind\"\n    command = [\"/opt/serve\"]")},
	{"audit-10 disk of the host", "job-hooks", check.High, "/etc/gitlab-runner/config.toml|ext-04", false, gitlabDocker("ext-04", `devices = ["/dev/sda:/dev/sda:rwm"]`)},
	{"audit-10 log of the kernel", "job-hooks", check.Medium, "/etc/gitlab-runner/config.toml|ext-05", false, gitlabDocker("ext-05", `devices = ["/dev/kmsg"]`)},
	{"audit-10 volumes of another container", "job-hooks", check.Medium, "/etc/gitlab-runner/config.toml|ext-06", false, gitlabDocker("ext-06", `volumes_from = ["tools:rw"]`)},
	{"audit-10 SYS_RAWIO", "job-hooks", check.Medium, "/etc/gitlab-runner/config.toml|ext-07", false, gitlabDocker("ext-07", `cap_add = ["SYS_RAWIO"]`)},
	{"audit-10 BPF", "job-hooks", check.Medium, "/etc/gitlab-runner/config.toml|ext-08", false, gitlabDocker("ext-08", `cap_add = ["BPF"]`)},
	{"audit-10 NET_ADMIN", "job-hooks", check.Low, "/etc/gitlab-runner/config.toml|ext-09", false, gitlabDocker("ext-09", `cap_add = ["NET_ADMIN"]`)},
	{"audit-10 images that run privileged", "job-hooks", check.Medium, "/etc/gitlab-runner/config.toml|ext-10", false, gitlabDocker("ext-10", `allowed_privileged_images = ["*/*:*"]`)},
	{"audit-10 rights in the container", "job-hooks", check.Medium, "/etc/gitlab-runner/config.toml|ext-11", false, gitlab("ext-11", "  [runners.kubernetes]\n    allow_privilege_escalation = true")},
	{"audit-10 any service account", "job-hooks", check.Medium, "/etc/gitlab-runner/config.toml|ext-12", false, gitlab("ext-12", "  [runners.kubernetes]\n    service_account_overwrite_allowed = \".*\"")},
	{"audit-10 patch of pods", "job-hooks", check.Medium, "/etc/gitlab-runner/config.toml|ext-13", false, gitlab("ext-13", "  [runners.kubernetes]\n    [[runners.kubernetes.pod_spec]]\n      name = \"x\"\n      patch = '{\"hostNetwork\":true}'")},
	{"audit-10 key of the machine not checked", "job-hooks", check.Medium, "/etc/gitlab-runner/config.toml|ext-14", false, gitlab("ext-14", "  [runners.ssh]\n    disable_strict_host_key_checking = true")},
	{"audit-10 another shell", "job-hooks", check.Medium, "/etc/gitlab-runner/config.toml|ext-15", false, gitlab("ext-15", `  shell = "/opt/tools/sh"`)},
	{"audit-10 builds in shared memory", "job-hooks", check.Medium, "/etc/gitlab-runner/config.toml|ext-16", false, gitlab("ext-16", `  builds_dir = "/dev/shm/b"`)},
	{"audit-10 directory of the kubelet", "job-hooks", check.High, "/etc/gitlab-runner/config.toml|ext-17", false, gitlabDocker("ext-17", `volumes = ["/var/lib/kubelet:/k"]`)},
	{"audit-10 terminal into jobs", "job-hooks", check.Low, "/opt/gl-s/config.toml|session_server", false, plainFile("/opt/gl-s/config.toml", "[session_server]\n  listen_address = \"0.0.0.0:8093\"\n"+aToken)},

	// 13: hooks of Buildkite elsewhere.
	{"audit-13 hook in the agent's home", "runner-files", check.Medium, "/home/runner/.buildkite-agent/hooks/environment", false, func(tr *tree) {
		tr.file("/home/runner/.buildkite-agent/buildkite-agent.cfg", "token=\"x\"\nhooks-path=\"$HOME/.buildkite-agent/hooks\"\n", 0o600)
		tr.file("/home/runner/.buildkite-agent/hooks/environment", aHook, 0o755)
	}},
	{"audit-13 hook in /usr/local/etc", "runner-files", check.Medium, "/usr/local/etc/buildkite-agent/hooks/pre-command", false, program("/usr/local/etc/buildkite-agent/hooks/pre-command", aHook)},
	{"audit-13 hook where the settings say", "runner-files", check.Medium, "/srv/bk-hooks/pre-exit", false, func(tr *tree) {
		tr.file("/srv/bk/buildkite-agent.cfg", "token=\"x\"\nhooks-path=\"/srv/bk-hooks\"\n", 0o600)
		tr.file("/srv/bk-hooks/pre-exit", aHook, 0o755)
	}},
	{"audit-13 hook below build-path", "developer-tools", check.Medium, "/srv/bk-builds/a/org/p/.git/hooks/post-checkout", false, func(tr *tree) {
		tr.file("/srv/bk2/buildkite-agent.cfg", "token=\"x\"\nbuild-path=\"/srv/bk-builds\"\n", 0o600)
		tr.file("/srv/bk-builds/a/org/p/.git/hooks/post-checkout", aHook, 0o755)
	}},

	// 14: .path, PATH, .env.
	{"audit-14 directory of the jobs in .path", "runner-files", check.Low, "/opt/gh-p/.path|/home/runner/bin", false, aPath("/opt/gh-p", "/home/runner/bin", func(tr *tree) { tr.dir("/home/runner/bin", 0o755) })},
	{"audit-14 directory that jobs can make", "runner-files", check.Medium, "/opt/gh-q/.path|is not there", false, aPath("/opt/gh-q", "/home/runner/tools", nil)},
	{"audit-14 git before git", "runner-files", check.Medium, "/home/runner/bin2/git", false, aPath("/opt/gh-r", "/home/runner/bin2", func(tr *tree) {
		tr.file("/home/runner/bin2/git", "#!/bin/sh\nexec /usr/bin/git \"$@\"\n", 0o755)
	})},
	{"audit-14 script in /usr/local/bin", "runner-files", check.Medium, "/usr/local/bin/git", false, program("/usr/local/bin/git", "#!/bin/sh\n/usr/local/sbin/notify\nexec /usr/bin/git \"$@\"\n")},
	{"audit-14 git's settings in variables", "job-hooks", check.High, ghHome + "/.env|GIT_CONFIG_KEY_0", false, env("GIT_CONFIG_COUNT=1\nGIT_CONFIG_KEY_0=core.hooksPath\nGIT_CONFIG_VALUE_0=/opt/h")},
	{"audit-14 logs of a day", "job-hooks", check.Medium, ghHome + "/.env|RUNNER_LOGRETENTION", false, env("RUNNER_LOGRETENTION=1")},
	{"audit-14 logs of workers", "job-hooks", check.Medium, ghHome + "/.env|WORKER_LOGRETENTION", false, env("WORKER_LOGRETENTION=1")},
	{"audit-14 template of the service", "job-hooks", check.Medium, ghHome + "/.env|SERVICE_TEMPLATE", false, env("GITHUB_ACTIONS_RUNNER_SERVICE_TEMPLATE=/opt/t")},
	{"audit-14 start-up hook of .NET", "job-hooks", check.High, ghHome + "/.env|DOTNET_STARTUP_HOOKS", false, env("DOTNET_STARTUP_HOOKS=/opt/h.dll")},
	{"audit-14 trace of Azure's agent", "job-hooks", check.Medium, ghHome + "/.env|VSTS_AGENT_HTTPTRACE", false, env("VSTS_AGENT_HTTPTRACE=true")},
	{"audit-14 function in place of git", "job-hooks", check.High, "process 2920|BASH_FUNC_git", false, func(tr *tree) {
		tr.process(2920, 1, jobUser, "Runner.Listener", ghHome+"/bin/Runner.Listener", "/system.slice/"+ghUnitName, []string{"BASH_FUNC_git%%=() { /opt/g; }"}, "Runner.Listener", "run")
	}},
	{"audit-14 PATH of an agent", "job-hooks", check.Medium, "process 2921|PATH", false, func(tr *tree) {
		tr.process(2921, 1, jobUser, "Runner.Listener", ghHome+"/bin/Runner.Listener", "/system.slice/"+ghUnitName, []string{"PATH=/var/tmp/b:/usr/bin"}, "Runner.Listener", "run")
	}},

	// 18: every place that the check names is read.
	{"audit-18 podman", "secrets-on-disk", check.Low, "/home/ir/.config/containers/auth.json", false, secretAt("/home/ir/.config/containers/auth.json")},
	{"audit-18 podman of a session", "secrets-on-disk", check.Low, "/run/user/1001/containers/auth.json", false, secretAt("/run/user/1001/containers/auth.json")},
	{"audit-18 terraform", "secrets-on-disk", check.Low, "/home/ir/.terraformrc", false, plainFile("/home/ir/.terraformrc", "credentials \"app.example.org\" {\n  token = \"x\"\n}\n")},
	{"audit-18 azure", "secrets-on-disk", check.Low, "service_principal_entries.json", false, secretAt("/home/ir/.azure/service_principal_entries.json")},
	{"audit-18 gcloud", "secrets-on-disk", check.Low, "access_tokens.db", false, secretAt("/home/ir/.config/gcloud/access_tokens.db")},
	{"audit-18 keystore", "secrets-on-disk", check.Low, "/home/ir/release.jks", false, secretAt("/home/ir/release.jks")},
	{"audit-18 keystore of Android", "secrets-on-disk", check.Low, "/home/ir/app.keystore", false, secretAt("/home/ir/app.keystore")},
	{"audit-18 certificate with its key", "secrets-on-disk", check.Low, "/home/ir/cert.pfx", false, secretAt("/home/ir/cert.pfx")},

	// 19: a token that everybody reads.
	{"audit-19 token of gitlab-runner", "secrets-on-disk", check.High, "/home/ir/.gitlab-runner/config.toml|anybody", false, func(tr *tree) {
		tr.file("/home/ir/.gitlab-runner/config.toml", aToken, 0o644)
		tr.must(os.Chmod(tr.root+"/home/ir/.gitlab-runner", 0o755))
	}},
	{"audit-19 token of the machine's gitlab-runner", "secrets-on-disk", check.High, "/etc/gitlab-runner/config.toml$|anybody", false, func(tr *tree) {
		tr.more("/etc/gitlab-runner/config.toml", aToken)
		tr.must(os.Chmod(tr.root+"/etc/gitlab-runner", 0o755))
	}},
}
