package check

import (
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"cordon/internal/host/snapshot"
)

func runnerFilesCheck() Check {
	return Check{
		ID:     "runner-files",
		Title:  "The runner's own programs, scripts and tool cache",
		Why:    "Who changes a file of the runner is in every job from then on; most runners can be changed by the jobs they run.",
		Reads:  "owner, mode and times of each runner's root, bin, node and tool cache; its scripts beside what it was unpacked from; the job hook its .env names; directories that its .path names; Buildkite's hooks and settings; act_runner's configuration",
		Root:   "roots of other users",
		Needs:  []string{snapshot.SectionRunners, snapshot.SectionWork, snapshot.SectionProc, snapshot.SectionKeys},
		Attack: []string{"T1554", "T1574"},
		NIST:   []string{"SI-7", "CM-5"},
		look: func(v *view) []Finding {
			var out []Finding
			for _, root := range v.rootList() {
				out = append(out, v.rootFindings(root)...)
			}
			for _, p := range slices.Sorted(maps.Keys(v.named)) {
				if f := v.files[p]; f != nil && v.named[p] == Gitea && !(v.roots[path.Dir(p)] && strings.HasPrefix(path.Base(p), "config.y")) {
					out = append(out, actConfig(v.follow(p, f))...)
				}
			}
			out = append(out, v.pathFindings()...)
			out = append(out, v.toolCache("/opt/hostedtoolcache")...)
			out = append(out, v.judged(buildkitePlaces)...)
			out = append(out, v.buildkiteHooks()...)
			return append(out, v.flagFindings()...)
		},
	}
}

func (v *view) rootList() []string {
	var out []string
	for _, p := range v.paths {
		if v.roots[p] || path.Base(p) == ".runner" {
			root := p
			if path.Base(p) == ".runner" {
				root = path.Dir(p)
			}
			if !slices.Contains(out, root) {
				out = append(out, root)
			}
		}
	}
	return out
}

func (v *view) rootFindings(root string) []Finding {
	var out []Finding
	add := func(f *snapshot.File, s Severity, title, format string, args ...any) {
		out = append(out, Finding{Severity: s, Title: title, Where: f.Path, Detail: text(format, args...), Evidence: evidenceFile(f)})
	}
	if d := v.files[root]; d != nil && d.Type == "dir" {
		name, jobs := v.runnerUID(d.UID)
		switch {
		case d.Mode&0o002 != 0:
			add(d, High, "anybody can change the runner", "The root has mode %04o.", d.Mode)
		case jobs:
			add(d, Info, "jobs can change the runner", "The root belongs to %s, under which jobs run; its installer does it so. A job can change what every later job runs. Ephemeral runners in fresh machines do not have this.", quote(name))
		}
	}
	out = append(out, v.binaries(root)...)
	out = append(out, v.rootScripts(root)...)
	work := v.workOf(root)
	out = append(out, v.toolCache(work+"/_tool")...)
	reused := 0
	v.each(func(p string, f *snapshot.File) {
		if below(p, work) && path.Base(p) == ".git" && f.Type == "dir" {
			reused++
		}
	})
	if w := v.files[work]; w != nil && reused > 0 && v.firstOf(root, work) {
		add(w, Info, "work directories are used again", "%d repositories of earlier jobs lie there. What a job leaves in them, the next one of the same project finds.", reused)
	}
	return out
}

// lateness is how much later than its neighbours a file of the runner may have
// changed: unpacking takes seconds, and an update replaces all of them.
const lateness = time.Hour

// binaries compares the files of bin with each other: unpacked together, they have one
// owner and one time of change.
func (v *view) binaries(root string) []Finding {
	var files []*snapshot.File
	var times []time.Time
	v.each(func(p string, f *snapshot.File) {
		if f.Type != "file" || !below(p, root) {
			return
		}
		if dir := strings.TrimPrefix(path.Dir(p), root); dir == "/bin" || strings.HasPrefix(dir, "/externals/") {
			files = append(files, f)
			times = append(times, f.Ctime)
		}
	})
	if len(files) == 0 {
		return nil
	}
	slices.SortFunc(times, time.Time.Compare)
	middle := times[(len(times)-1)/2]
	var out []Finding
	for _, f := range files {
		var why reasons
		if f.Mode&0o002 != 0 {
			why.add(High, "anybody can write to it (mode %04o)", f.Mode)
		}
		if len(files) > 2 && f.Ctime.Sub(middle) > lateness {
			why.add(Medium, "it changed at %s, and the others that were unpacked with it at %s", f.Ctime.Format(time.DateTime), middle.Format(time.DateTime))
		}
		if base := path.Base(string(f.Path)); (base == "Runner.Listener" || base == "Runner.Worker" || base == "Agent.Listener" || base == "node") && f.Size > 0 && f.Size < 20_000 && f.Mode&0o111 != 0 && v.complete(root) {
			why.add(High, "it has %d bytes: a program of that name has more; this is a script in its place", f.Size)
		}
		if why.worst != "" {
			out = append(out, Finding{Severity: why.worst, Title: "a program of the runner was changed after it was installed", Where: f.Path, Detail: text("%s.", why.text()), Evidence: evidenceFile(f)})
		}
	}
	return out
}

// complete reports whether root holds a whole runner and not only its name.
func (v *view) complete(root string) bool {
	return v.files[root+"/bin/Runner.Worker"] != nil || v.files[root+"/bin/Agent.Worker"] != nil
}

// rootScripts holds the scripts of a root against what they were made from.
func (v *view) rootScripts(root string) []Finding {
	var out []Finding
	add := func(f *snapshot.File, s Severity, title, format string, args ...any) {
		out = append(out, Finding{Severity: s, Title: title, Where: f.Path, Detail: text(format, args...), Evidence: evidenceFile(f)})
	}
	for _, name := range []string{"safe_sleep.sh", "config.sh", "env.sh", "bin/runsvc.sh", "bin/run-helper.sh.template"} {
		if f := v.files[root+"/"+name]; f != nil && f.Content != "" {
			if signs := clear(string(f.Content)); len(signs) > 0 {
				add(f, High, "a script of the runner does what its makers' does not", "It %s.", strings.Join(signs, ", "))
			}
		}
	}
	for _, pair := range [][2]string{{"runsvc.sh", "bin/runsvc.sh"}, {"run-helper.sh", "run-helper.sh.template"}} {
		used, from := v.files[root+"/"+pair[0]], v.files[root+"/"+pair[1]]
		if used != nil && from != nil && used.Content != "" && from.Content != "" && used.Content != from.Content && len(clear(string(used.Content))) == 0 {
			add(used, Medium, "a script of the runner is not the one it was made from", "%s was copied from %s, and they differ.", pair[0], pair[1])
		}
	}
	svc, name := v.files[root+"/svc.sh"], strings.TrimSpace(v.content(root+"/.service"))
	if svc != nil && svc.Content != "" && name != "" {
		if m := serviceName.FindStringSubmatch(string(svc.Content)); m != nil && m[1] != name {
			add(svc, Medium, "the runner's service has two names", "svc.sh starts %s and .service says %s.", quote(m[1]), quote(name))
		}
	}
	if f := v.files[root+"/.runner"]; f != nil {
		if regexp.MustCompile(`(?i)"monitorSocketAddress"\s*:\s*"[^"]+"`).MatchString(string(f.Content)) {
			add(f, Medium, "the runner reports to a socket", "monitorSocketAddress is set; installers leave it out.")
		}
		if regexp.MustCompile(`(?i)"disableUpdate"\s*:\s*true`).MatchString(string(f.Content)) {
			add(f, Low, "the runner does not update itself", "disableUpdate is true.")
		}
	}
	for name, value := range inOrder(assignments(v.content(root + "/.env"))) {
		env := v.files[root+"/.env"]
		switch {
		case strings.HasPrefix(name, "ACTIONS_RUNNER_HOOK_JOB_"):
			hook := v.files[path.Clean(value)]
			if hook == nil {
				continue
			}
			if who, jobs := v.runnerUID(hook.UID); jobs || hook.Mode&0o002 != 0 {
				add(hook, High, "jobs can change the script that runs around every job", "It belongs to %s, mode %04o, and %s names it.", quote(who), hook.Mode, quote(name))
			}
		case name == "RUNNER_TOOL_CACHE" || name == "RUNNER_TOOLSDIRECTORY" || name == "AGENT_TOOLSDIRECTORY":
			s := Low
			if oddPlace(value) != "" {
				s = High
			}
			add(env, s, "jobs take their tools from another directory", "%s=%s", name, quote(value))
		case strings.EqualFold(name, "https_proxy") || strings.EqualFold(name, "http_proxy"):
			s := Low
			if bareAddress.MatchString(value) {
				s = Medium
			}
			add(env, s, "everything jobs fetch goes through a proxy", "%s=%s", name, quote(value))
		}
	}
	for _, name := range []string{"config.yaml", "config.yml"} {
		if f := v.files[root+"/"+name]; f != nil {
			out = append(out, actConfig(f)...)
		}
	}
	return out
}

var serviceName = regexp.MustCompile(`SVC_NAME="([^"]+)"`)

// actSettings let a job of act_runner out of its container (facts/host.md §1.3).
var actSettings = []struct {
	re  *regexp.Regexp
	s   Severity
	why string
}{
	{regexp.MustCompile(`(?m)^\s*privileged:\s*true`), Medium, "jobs run in privileged containers: root on this host"},
	{regexp.MustCompile(`(?m)^\s*valid_volumes:[\s\S]{0,40}['"]\*\*['"]`), Medium, "jobs may mount every directory of this host"},
	{regexp.MustCompile(`(?m)^\s*docker_host:\s*["']?automount`), Medium, "jobs get the socket of the container engine: root on this host"},
	{regexp.MustCompile(`(?m)^\s*insecure:\s*true`), Medium, "it accepts any certificate of its server"},
	{regexp.MustCompile(`(?m)^\s*-?\s*["']?[\w.-]+:host["']?\s*$`), Low, "jobs run on this host itself and not in containers"},
}

func actConfig(f *snapshot.File) []Finding {
	var why reasons
	for _, a := range actSettings {
		if a.re.MatchString(string(f.Content)) {
			why.add(a.s, "%s", a.why)
		}
	}
	if why.worst == "" {
		return nil
	}
	return []Finding{{Severity: why.worst, Title: "a runner's settings let jobs out", Attack: []string{"T1611"}, Where: f.Path, Detail: text("%s.", why.text()), Evidence: evidenceFile(f)}}
}
