package check_test

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"cordon/internal/check"
	"cordon/internal/host/snapshot"
)

// Nothing runs in a disk image: what a unit names is then all that leads to a
// configuration, and it is read there too.
func TestAnImageTellsWhatItsUnitsName(t *testing.T) {
	tr := newTree(t)
	gitlabAt("/opt/gl/config.toml", aToken+"  pre_build_script = \"/usr/local/sbin/prepare\"\n")(tr)
	tr.file(actUnit, "[Service]\nExecStart=/usr/local/bin/act_runner daemon --config /etc/act_runner/config.yaml\nWorkingDirectory=/var/lib/act_runner\n", 0o644)
	tr.file("/var/lib/act_runner/.runner", `{"WARNING": "x", "id": 3, "uuid": "1-2", "name": "act", "address": "https://git.example.org"}`, 0o600)
	tr.file("/etc/act_runner/config.yaml", "container:\n  privileged: true\n", 0o644)
	tr.file("/var/cache/x/.runner", aRunner, 0o644)
	s := tr.readProfile(snapshot.ProfileImage)
	results := check.Run(s)
	for _, r := range []row{
		{check: "job-hooks", least: check.Medium, where: "/opt/gl/config.toml|pre_build_script"},
		{check: "runner-files", least: check.Medium, where: "/etc/act_runner/config.yaml|privileged"},
		{check: "installations", least: check.High, where: "/opt/gl|deploy"},
	} {
		if !hit(results, r) {
			t.Errorf("%s says nothing of %s", r.check, r.where)
		}
	}
	if !slices.ContainsFunc(check.Installations(s), func(in check.Installation) bool { return in.Root == "/var/cache/x" }) {
		t.Error("a root in /var/cache is in no list")
	}
}

// What was not looked for is named: a configuration that is not there or lies behind a
// link, a mount whose kind nobody knows, file systems of containers, a directory of jobs
// that belongs to somebody else.
func TestWhatWasNotSearchedIsNamed(t *testing.T) {
	quiet := check.Run(newTree(t).read())
	for name, c := range map[string]struct {
		check, says string
		plant       func(*tree)
	}{
		"configuration that is not there": {"installations", "/opt/gone/config.toml", func(tr *tree) {
			tr.file(glUnit, "[Service]\nExecStart=/usr/bin/gitlab-runner run --config /opt/gone/config.toml\n", 0o644)
		}},
		"hooks of it": {"job-hooks", "/opt/gone/config.toml", func(tr *tree) {
			tr.file(glUnit, "[Service]\nExecStart=/usr/bin/gitlab-runner run --config /opt/gone/config.toml\n", 0o644)
		}},
		"configuration behind a link": {"installations", "a link leads there", func(tr *tree) {
			tr.file("/opt/there/config.toml", aToken, 0o600)
			tr.link("/opt/there", "/opt/here")
			tr.file(glUnit, "[Service]\nExecStart=/usr/bin/gitlab-runner run --config /opt/here/config.toml\n", 0o644)
		}},
		"configuration of no known form": {"runner-files", "/etc/act.conf", func(tr *tree) {
			tr.file("/etc/act.conf", "cache:\n  secret: x\n", 0o600)
			tr.file(actUnit, "[Service]\nExecStart=/usr/local/bin/act_runner daemon --config /etc/act.conf\n", 0o644)
		}},
		"mount of another kind": {"installations", "/srv/vm", func(tr *tree) {
			tr.more("/proc/self/mountinfo", "30 21 0:9 / /srv/vm rw shared:1 - virtiofs share rw\n")
		}},
		"file systems of containers": {"installations", "/var/lib/docker/overlay2", func(tr *tree) { tr.dir("/var/lib/docker/overlay2/a", 0o755) }},
		"directory of jobs that is another's": {"developer-tools", "belongs to another user, not looked at: /srv/closed", func(tr *tree) {
			tr.file("/opt/gh-n/.runner", `{"agentId": 8, "agentName": "n", "gitHubUrl": "https://github.example.org/acme", "workFolder": "/srv/closed"}`, 0o644)
			tr.must(osChown(tr.root+"/opt/gh-n", jobUser))
			tr.file("/srv/closed/p/.git/hooks/post-checkout", "must stay there\n", 0o755)
			tr.must(os.Chmod(tr.root+"/srv/closed", 0o700))
		}},
		"directory of jobs without a plain name": {"developer-tools", "no plain name", func(tr *tree) {
			tr.file("/opt/gh-n/.runner", `{"agentId": 8, "agentName": "n", "gitHubUrl": "https://github.example.org/acme", "workFolder": "../../root"}`, 0o644)
		}},
	} {
		if os.Getuid() != 0 && strings.HasSuffix(name, "another's") {
			continue // who asks owns all of it
		}
		tr := newTree(t)
		for _, r := range quiet {
			if r.Check == c.check && strings.Contains(r.Why, c.says) {
				t.Errorf("%s: said without it: %s", name, r.Why)
			}
		}
		c.plant(tr)
		s := tr.read()
		if slices.ContainsFunc(s.Files, func(f snapshot.File) bool { return strings.Contains(string(f.Content), "must stay there") }) {
			t.Errorf("%s: what the account could not read was read for it", name)
		}
		for _, r := range check.Run(s) {
			if r.Check == c.check && !strings.Contains(r.Why, c.says) {
				t.Errorf("%s: %s says %q and why %q", name, r.Check, r.State, r.Why)
			}
		}
	}
}

// What lies beside a project while a job runs may be that job's; what is older than it,
// or lies there when none runs, was left.
func TestWhatAJobLeftIsToldApartFromWhatOneUses(t *testing.T) {
	const variable = "/home/gitlab-runner/builds/T/0/g/p.tmp/DEPLOY_KEY"
	for name, c := range map[string]struct {
		age  time.Duration
		idle bool
		want check.Severity
	}{
		"of the job that runs": {time.Minute, false, check.Info},
		"older than it":        {2 * time.Hour, false, check.Medium},
		"when nothing runs":    {time.Minute, true, check.Medium},
	} {
		s := cleanHost()
		if c.idle {
			s.Processes = slices.DeleteFunc(s.Processes, func(p snapshot.Process) bool { return p.PID >= 900 })
		}
		f := file(snapshot.SectionHomes, variable, 0o600, 998, "")
		f.Size, f.Ctime = 40, taken.Add(-c.age)
		plantFile(f)(s)
		if got := at(s, "secrets-on-disk", variable); len(got) != 1 || got[0].Severity != c.want {
			t.Errorf("%s: %+v, want %s", name, got, c.want)
		}
	}
}

// Which repositories ran here is read where the jobs work, not where they usually do.
func TestTheRecordOfRepositoriesIsReadWhereJobsWork(t *testing.T) {
	tr := newTree(t)
	runnerAt("/opt/gh-w", "/srv/w", "/srv/w/_PipelineMapping/acme/old/PipelineFolder.json", `{"RepositoryName":"acme/old","LastRunOn":"11/20/2026 08:00:00 +00:00"}`)(tr)
	jobs := tr.read().Jobs
	if !slices.ContainsFunc(jobs, func(j snapshot.Job) bool { return j.Root == "/opt/gh-w" && j.Repository == "acme/old" }) {
		t.Errorf("%+v", jobs)
	}
}
