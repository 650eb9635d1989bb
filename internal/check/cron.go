package check

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"cordon/internal/host/snapshot"
	"cordon/internal/untrusted"
)

func cronCheck() Check {
	return Check{
		ID:     "cron-timers",
		Title:  "What runs on a schedule",
		Why:    "A scheduled task brings an intruder back after processes are ended and tokens are replaced.",
		Reads:  "crontab, cron.d, cron.daily and their like, personal crontabs, tasks of at, timers, lingering, rc.local",
		Root:   "personal crontabs, tasks of at",
		Needs:  []string{snapshot.SectionCron, snapshot.SectionUnits, snapshot.SectionKeys},
		Attack: []string{"T1053.003"},
		NIST:   []string{"CM-7", "SI-4"},
		look: func(v *view) []Finding {
			var out []Finding
			v.followed(func(p string, f *snapshot.File) {
				hit, ok := v.judgeScheduled(p, f)
				if ok {
					hit.Where, hit.Evidence = untrusted.Text(p), evidenceFile(f)
					out = append(out, hit)
				}
			})
			return out
		},
	}
}

// judgeScheduled sends a path to the judge of its kind.
func (v *view) judgeScheduled(p string, f *snapshot.File) (Finding, bool) {
	base := path.Base(p)
	switch {
	case below(p, "/var/lib/systemd/linger") && base != "linger":
		return v.judgeLinger(base)
	case strings.Contains(p, "/systemd/") && strings.HasSuffix(base, ".timer"):
		return v.judgeTimer(p, v.files[p]) // a link there means something by itself
	case f.Type != "file":
		return Finding{}, false
	}
	switch scheduled(p) {
	case systemTable:
		return v.judgeSystemCron(p, f)
	case cronScript:
		return v.judgeCronScript(p, f)
	case rootTable:
		return v.judgeRootCrontab(f)
	case personalTable:
		return v.judgeCrontab(base, f)
	case atTask:
		return v.judgeAt(f)
	case rcLocal:
		return v.judgeRcLocal(f)
	}
	return Finding{}, false
}

// Kinds of what runs on a schedule or at boot, by place.
const (
	systemTable   = "table of the system"
	cronScript    = "script"
	rootTable     = "root's table on Alpine"
	personalTable = "table of an account"
	atTask        = "task of at"
	rcLocal       = "rc.local"
)

// scheduled says what kind of thing cron, at or the boot take from p; "" for none.
func scheduled(p string) string {
	dir, base := path.Dir(p), path.Base(p)
	switch {
	case p == "/etc/crontab" || dir == "/etc/cron.d" || p == "/etc/anacrontab":
		return systemTable
	case path.Dir(dir) == "/etc/periodic",
		dir == "/etc/cron.hourly" || dir == "/etc/cron.daily" || dir == "/etc/cron.weekly" || dir == "/etc/cron.monthly":
		return cronScript
	case dir == "/etc/crontabs" && base == "root":
		return rootTable
	case dir == "/var/spool/cron/crontabs" || dir == "/var/spool/cron" || dir == "/var/spool/cron/tabs" || dir == "/etc/crontabs":
		return personalTable
	case (dir == "/var/spool/cron/atjobs" || dir == "/var/spool/at") && base != ".SEQ" && base != ".lockfile":
		return atTask
	case p == "/etc/rc.local" || p == "/etc/rc.d/rc.local":
		return rcLocal
	}
	return ""
}

// shipped are the files that Debian, Ubuntu and Red Hat packages put into cron's
// directories. Their content is judged all the same.
var shipped = []string{
	".placeholder", "0anacron", "0hourly", "anacron", "apport", "apt-compat", "apt-show-versions", "aptitude",
	"bsdmainutils", "certbot", "cracklib-runtime", "debsums", "dpkg", "e2scrub_all", "etckeeper", "exim4-base",
	"fake-hwclock", "fstrim", "google-chrome", "locate", "logrotate", "man-db", "mdadm", "mlocate", "ntp", "ntpsec",
	"passwd", "php", "plocate", "popularity-contest", "quota", "raid-check", "rhsmd", "samba", "sendmail", "sysstat",
	"ubuntu-advantage-tools", "update-notifier-common", "zfsutils-linux", "sysstat-collect", "sysstat-summary", "man-db.cron", "mlocate.cron",
}

// isShipped reports whether a package brought p: by the list of packages where there is
// one, else by its name.
func (v *view) isShipped(p string) bool {
	if v.packaged != nil && path.Base(p) != ".placeholder" {
		return !v.foreign(p)
	}
	return slices.Contains(shipped, path.Base(p))
}

// job is one line of a crontab.
type job struct{ user, command string }

// cronJobs reads crontab(5). Lines of /etc/crontab and /etc/cron.d name a user.
// Assignments are returned apart: cron starts commands with them.
func cronJobs(content string, named bool) (jobs []job, env map[string]string) {
	env = map[string]string{}
	for line := range strings.Lines(content) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		fields := strings.Fields(line)
		if name, value, ok := strings.Cut(line, "="); ok && !strings.ContainsAny(strings.TrimSpace(name), " \t*/@,") {
			env[strings.TrimSpace(name)] = strings.Trim(strings.TrimSpace(value), `"'`)
			continue
		}
		skip := 5
		if strings.HasPrefix(line, "@") {
			skip = 1
		}
		var j job
		if named && len(fields) > skip {
			j.user = fields[skip]
			skip++
		}
		if len(fields) <= skip {
			continue
		}
		j.command = strings.Join(fields[skip:], " ")
		jobs = append(jobs, j)
	}
	return jobs, env
}

func (v *view) judgeSystemCron(p string, f *snapshot.File) (Finding, bool) {
	if p == "/etc/anacrontab" { // period, delay, name, command
		return judgeScript(f, "anacron's table runs something that looks planted")
	}
	jobs, env := cronJobs(string(f.Content), true)
	var why reasons
	own := p != "/etc/crontab" && !v.isShipped(p)
	if own && len(jobs) > 0 {
		why.add(Low, "no package of the distribution ships %s", quote(path.Base(p)))
		if who := impersonates(path.Base(p)); who != "" {
			why.add(High, "its name pretends to be part of %s", who)
		}
	}
	if own && f.Content == "" && f.Size > 0 {
		why.add(Medium, "its content could not be read")
	}
	for _, j := range jobs {
		v.judgeJob(j, own, &why)
	}
	cronEnv(env, &why)
	if why.worst == "" {
		return Finding{}, false
	}
	return Finding{Severity: why.worst, Title: "a scheduled task", Detail: text("%s.", why.text())}, true
}

// judgeJob judges one line of cron. Shipped tables hold a few shell tricks of their
// own, so that there only the clear signs count.
func (v *view) judgeJob(j job, own bool, why *reasons) {
	signs := strongSigns(j.command)
	if own {
		signs = suspicious(j.command)
	}
	if len(signs) > 0 {
		why.add(High, "%s: %s", quote(j.command), strings.Join(signs, ", "))
		return
	}
	if u, ok := v.runners[j.user]; ok && j.user != "" {
		why.add(High, "%s runs as %s, the account of the jobs", quote(j.command), quote(u.name))
		return
	}
	if !own {
		return
	}
	words := splitCommand(j.command)
	for len(words) > 1 && (strings.Contains(words[0], "=") || slices.Contains([]string{"exec", "nice", "ionice", "test", "[", "cd", "flock", "command"}, words[0])) {
		words = words[1:]
	}
	v.programsOf(j.command, why)
	if len(words) > 0 && strings.HasPrefix(words[0], "/") && !inSystem(words[0]) {
		why.add(Medium, "%s lies outside the directories of programs", quote(j.command))
		return
	}
	why.add(Low, "%s", quote(j.command))
}

// judgeRootCrontab judges root's table of Alpine, which the system ships with lines that
// run the directories below /etc/periodic.
func (v *view) judgeRootCrontab(f *snapshot.File) (Finding, bool) {
	jobs, env := cronJobs(string(f.Content), false)
	var why reasons
	if f.Content == "" && f.Size > 0 {
		why.add(Medium, "its content could not be read")
	}
	for _, j := range jobs {
		v.judgeJob(j, !periodic.MatchString(j.command), &why)
	}
	cronEnv(env, &why)
	if why.worst == "" {
		return Finding{}, false
	}
	return Finding{Severity: why.worst, Title: "a personal crontab of root", Detail: text("%s.", why.text())}, true
}

var periodic = regexp.MustCompile(`^run-parts /etc/periodic/[a-z0-9]+$`)

func cronEnv(env map[string]string, why *reasons) {
	for name, value := range inOrder(env) {
		if s, ok := loaderVar(name, value); ok {
			why.add(s, "it sets %s=%s, which makes programs load foreign code", quote(name), quote(value))
		}
	}
}

func (v *view) judgeCronScript(p string, f *snapshot.File) (Finding, bool) {
	var why reasons
	if !v.isShipped(p) {
		why.add(Low, "no package of the distribution ships %s", quote(path.Base(p)))
		if who := impersonates(path.Base(p)); who != "" {
			why.add(High, "its name pretends to be part of %s", who)
		}
		v.programsOf(string(f.Content), &why)
		if signs := suspicious(string(f.Content)); len(signs) > 0 {
			why.add(High, "it %s", strings.Join(signs, ", "))
		}
	} else if signs := strongSigns(string(f.Content)); len(signs) > 0 {
		why.add(High, "a package ships a file of this name, and it %s", strings.Join(signs, ", "))
	}
	if why.worst == "" {
		return Finding{}, false
	}
	return Finding{Severity: why.worst, Title: "a scheduled script", Detail: text("%s.", why.text())}, true
}

// judgeCrontab judges a personal crontab; its file is named after its account.
func (v *view) judgeCrontab(owner string, f *snapshot.File) (Finding, bool) {
	jobs, env := cronJobs(string(f.Content), false)
	var why reasons
	if f.Content == "" && f.Size > 0 {
		why.add(Medium, "its content could not be read")
	}
	u, known := v.byName(owner)
	for _, j := range jobs {
		v.judgeJob(j, true, &why)
		switch {
		case v.runners[owner].name != "":
			why.add(High, "%s is the account of the jobs, which needs no crontab", quote(owner))
		case known && u.system():
			why.add(Medium, "%s is an account of the system", quote(owner))
		}
	}
	cronEnv(env, &why)
	if why.worst == "" {
		return Finding{}, false
	}
	return Finding{Severity: why.worst, Title: "a personal crontab of " + quote(owner), Detail: text("%s.", why.text())}, true
}

func (v *view) judgeAt(f *snapshot.File) (Finding, bool) {
	var why reasons
	why.add(Medium, "a task waits to be run once")
	if name, ok := v.runnerUID(f.UID); ok {
		why.add(High, "it belongs to %s, the account of the jobs", quote(name))
	}
	if signs := suspicious(string(f.Content)); len(signs) > 0 {
		why.add(High, "it %s", strings.Join(signs, ", "))
	}
	return Finding{Severity: why.worst, Title: "a task of at", Attack: []string{"T1053.002"}, Detail: text("%s.", why.text())}, true
}

// stockRcLocal are the lines of rc.local as Debian and Red Hat made it when they did.
var stockRcLocal = []string{"exit 0", "set -e", "touch /var/lock/subsys/local"}

// judgeRcLocal: distributions ship none or one that does nothing, so that each line is
// somebody's own.
func (v *view) judgeRcLocal(f *snapshot.File) (Finding, bool) {
	if f.Mode&0o111 == 0 { // then it is not run
		return Finding{}, false
	}
	var why reasons
	for line := range strings.Lines(string(f.Content)) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' && !slices.Contains(stockRcLocal, line) {
			why.add(Low, "%s", quote(line))
		}
	}
	if f.Content == "" && f.Size > 0 {
		why.add(Medium, "its content could not be read")
	}
	v.programsOf(string(f.Content), &why)
	if signs := suspicious(string(f.Content)); len(signs) > 0 {
		why.add(High, "it %s", strings.Join(signs, ", "))
	}
	if why.worst == "" {
		return Finding{}, false
	}
	return Finding{
		Severity: why.worst, Title: "the machine's start-up script runs something of its own",
		Attack: []string{"T1037.004"}, Detail: text("%s.", why.text()),
	}, true
}

func judgeScript(f *snapshot.File, title string) (Finding, bool) {
	signs := suspicious(string(f.Content))
	if len(signs) == 0 {
		return Finding{}, false
	}
	return Finding{Severity: High, Title: title, Detail: text("It %s.", strings.Join(signs, ", "))}, true
}
