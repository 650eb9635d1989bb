package check

import (
	"regexp"
	"slices"
	"strings"

	"cordon/internal/host/snapshot"
	"cordon/internal/untrusted"
)

func jobHooksCheck() Check {
	return Check{
		ID:     "job-hooks",
		Title:  "What runs in every job",
		Why:    "A hook in the runner's own configuration runs in each job of each project, with that job's secrets, and no repository shows it.",
		Reads:  "gitlab-runner's config.toml, .env, .path and scripts of GitHub's roots, variables in units and running agents",
		Root:   "config.toml, environments of other users' processes",
		Needs:  []string{snapshot.SectionRunners, snapshot.SectionUnits, snapshot.SectionProc, snapshot.SectionDetail},
		Attack: []string{"T1546.004"},
		NIST:   []string{"CM-7", "SI-7"},
		look: func(v *view) []Finding {
			out := v.configHooks()
			out = append(out, v.envFileHooks()...)
			out = append(out, v.unitHooks()...)
			return append(out, v.agentEnvHooks()...)
		},
		unseen: (*view).unreadConfigs,
	}
}

// unreadConfigs says which configurations were seen and not understood.
func (v *view) unreadConfigs() string {
	var bad []string
	for _, in := range v.found {
		if len(in.Problems) > 0 {
			bad = append(bad, quote(string(in.Root))+": "+in.Problems[0])
		}
	}
	for p, kind := range v.named {
		if f := v.files[p]; kind == GitLab && f == nil {
			bad = append(bad, quote(p)+", which an agent or its unit names, was not read")
		}
	}
	slices.Sort(bad)
	bad = slices.Compact(bad)
	if len(bad) > 5 {
		bad = append(bad[:5], "and more")
	}
	return strings.Join(bad, "; ")
}

// configHooks looks through every entry of every config.toml.
func (v *view) configHooks() []Finding {
	var out []Finding
	v.each(func(p string, f *snapshot.File) {
		if f = v.follow(p, f); f.Content == "" || !v.gitLabConfig(p, f) {
			return
		}
		t, err := parseConfig(string(f.Content))
		if err != nil {
			return // Unseen says so
		}
		all := t.runners()
		if len(all) == 0 {
			all = []table{{}}
		}
		for n, r := range all {
			found := append(scriptHooks(r), isolation(r)...)
			found = append(found, settingHooks(r)...)
			if n == 0 {
				found = append(found, sessions(t)...)
			}
			for i := range found {
				found[i].Where, found[i].Evidence = untrusted.Text(p), evidenceFile(f)
			}
			out = append(out, found...)
		}
	})
	return out
}

// hookScripts are the inline scripts of an entry; pre_clone and post_clone are the
// names before gitlab-runner 16 and still appear in old files.
var hookScripts = []string{
	"pre_get_sources_script", "post_get_sources_script", "pre_clone_script", "post_clone_script",
	"pre_build_script", "post_build_script",
}

func scriptHooks(r table) []Finding {
	var out []Finding
	for _, key := range hookScripts {
		script := r.text(key)
		if strings.TrimSpace(script) == "" {
			continue
		}
		out = append(out, scriptFinding(Medium, "a script in the runner's configuration runs in every job",
			r.name()+": "+key, script))
	}
	for _, kv := range r.list("environment") {
		name, value, _ := strings.Cut(kv, "=")
		if f, ok := variable(name, value); ok {
			f.Detail = text("%s sets it for every job: %s", quote(r.name()), f.Detail)
			out = append(out, f)
		}
	}
	custom := r.sub("custom")
	for _, key := range []string{"config_exec", "prepare_exec", "run_exec", "cleanup_exec"} {
		exe := custom.text(key)
		if exe == "" {
			continue
		}
		line := strings.Join(append([]string{exe}, custom.list(strings.TrimSuffix(key, "_exec")+"_args")...), " ")
		f := scriptFinding(Low, "a custom executor's program handles every job", r.name()+": "+key, line)
		if odd := oddPlace(exe); odd != "" {
			f.Severity = High
			f.Detail += text(" The program %s.", odd)
		}
		out = append(out, f)
	}
	if clone, url := r.text("clone_url"), r.text("url"); clone != "" && service(clone) != service(url) {
		out = append(out, Finding{
			Severity: High, Title: "jobs fetch their sources from another server than the runner's own",
			Attack: []string{"T1195.001"},
			Detail: text("%s: clone_url is %s and url is %s. Every job builds what that server hands out and gives it the job's token.", quote(r.name()), quote(clone), quote(url)),
		})
	}
	return out
}

// scriptFinding reports a script, as High where it shows the signs of an intruder.
func scriptFinding(base Severity, title, what, script string) Finding {
	f := Finding{Severity: base, Title: title}
	f.Detail = text("%s: %s.", quote(what), quote(script))
	if signs := suspicious(script); len(signs) > 0 {
		f.Severity = High
		f.Detail += text(" It %s.", strings.Join(signs, ", "))
	}
	return f
}

// weakVars switch a protection off.
var weakVars = map[string]string{
	"GITHUB_ACTIONS_RUNNER_TLS_NO_VERIFY": "it accepts any certificate of its server",
	"GIT_SSL_NO_VERIFY":                   "git accepts any certificate",
	"NODE_TLS_REJECT_UNAUTHORIZED":        "Node accepts any certificate",
	"RUNNER_ALLOW_RUNASROOT":              "the runner may run as root",
	"ACTIONS_ALLOW_UNSECURE_COMMANDS":     "a job's output may change its environment",
	"GITHUB_ACTIONS_RUNNER_HTTPTRACE":     "requests are written to _diag with the secrets in them",
	"VSTS_AGENT_HTTPTRACE":                "requests are written to _diag with the secrets in them",
}

// fewDays is a time to keep logs that leaves nothing to look at.
var fewDays = regexp.MustCompile(`^[0-6]$`)

// variable judges one variable that agents or jobs are started with.
func variable(name, value string) (Finding, bool) {
	shown := quote(value)
	if printShape.MatchString(value) {
		shown = "(value not kept)"
	}
	switch {
	case strings.HasPrefix(name, "ACTIONS_RUNNER_HOOK_JOB_"), name == "ACTIONS_RUNNER_CONTAINER_HOOKS":
		f := Finding{
			Severity: Medium, Title: "a job hook is set: " + untrusted.Clean(name, 60),
			Detail: text("%s. Its script runs around every job, with the job's secrets; read it and ask who put it there.", shown),
		}
		if odd := oddPlace(value); odd != "" {
			f.Severity = High
			f.Detail += text(" It %s.", odd)
		}
		return f, true
	case name == "ACTIONS_RUNNER_ACTION_ARCHIVE_CACHE":
		return Finding{
			Severity: Medium, Title: "actions are taken from a local directory instead of the server",
			Attack: []string{"T1195.001"}, Detail: text("%s=%s. Whoever writes there decides what every job runs.", quote(name), shown),
		}, true
	}
	switch {
	case name == "GITHUB_ACTIONS_RUNNER_SERVICE_TEMPLATE" && value != "":
		return Finding{
			Severity: Medium, Title: "the runner's service is made from a template of somebody's own",
			Attack: []string{"T1543.002"}, Detail: text("%s=%s. What it says is in the unit from the next installation on.", quote(name), shown),
		}, true
	case (name == "RUNNER_LOGRETENTION" || name == "WORKER_LOGRETENTION") && fewDays.MatchString(value):
		return Finding{
			Severity: Medium, Title: "the runner's logs are deleted early",
			Attack: []string{"T1070"}, Detail: text("%s=%s days; without it they stay for thirty. What ran here is forgotten that much sooner.", quote(name), shown),
		}, true
	case name == "PATH":
		for dir := range strings.SplitSeq(value, ":") {
			if odd := oddPlace(dir); odd != "" && printShape.FindString(value) == "" {
				return Finding{
					Severity: Medium, Title: "jobs look for programs in a directory that is out of place",
					Attack: []string{"T1574.007"}, Detail: text("PATH has %s: it %s. A program of a known name put there runs instead of the real one.", quote(dir), odd),
				}, true
			}
		}
		return Finding{}, false
	}
	if weak, ok := weakVars[name]; ok && value != "0" && value != "false" || ok && name == "NODE_TLS_REJECT_UNAUTHORIZED" && value == "0" {
		return Finding{
			Severity: Medium, Title: "a protection is switched off by " + untrusted.Clean(name, 60),
			Attack: []string{"T1562"}, Detail: text("With %s=%s %s.", quote(name), shown, weak),
		}, true
	}
	if s, ok := loaderVar(name, value); ok {
		f := Finding{
			Severity: s, Title: "a variable makes programs load foreign code: " + untrusted.Clean(name, 60),
			Attack: []string{"T1574.006"}, Detail: text("%s. Everything started with it runs that code first.", shown),
		}
		return f, true
	}
	return Finding{}, false
}
