package check

import (
	"iter"
	"maps"
	"path"
	"slices"
	"strings"

	"cordon/internal/host/snapshot"
	"cordon/internal/untrusted"
)

// envFileHooks reads .env and .path of GitHub roots: the listener loads both at
// start, and every job inherits them (actions/runner Program.cs LoadAndSetEnv).
func (v *view) envFileHooks() []Finding {
	var out []Finding
	v.each(func(p string, f *snapshot.File) {
		root := path.Dir(p)
		if f.Content == "" || !v.roots[root] {
			return
		}
		switch path.Base(p) {
		case "runsvc.sh", "run.sh", "run-helper.sh", "run-helper.sh.template", "svc.sh":
			if signs := strongSigns(string(f.Content)); len(signs) > 0 {
				out = append(out, Finding{
					Severity: High, Title: "a script of the runner does what its makers' does not",
					Where: untrusted.Text(p), Attack: []string{"T1554"}, Evidence: evidenceFile(f),
					Detail: text("It %s. It runs with the agent every time that starts.", strings.Join(signs, ", ")),
				})
			}
		case ".env":
			for name, value := range inOrder(assignments(string(f.Content))) {
				if hit, ok := variable(name, value); ok {
					hit.Where, hit.Evidence = untrusted.Text(p), evidenceFile(f)
					out = append(out, hit)
				}
			}
		case ".path":
			for dir := range strings.SplitSeq(strings.TrimSpace(string(f.Content)), ":") {
				why := ""
				if odd := oddPlace(dir); odd != "" {
					why = odd
				} else if !strings.HasPrefix(dir, "/") {
					why = "is relative to wherever a job stands"
				}
				if why != "" {
					out = append(out, Finding{
						Severity: Medium, Title: "jobs look for programs in a directory that is out of place",
						Where: untrusted.Text(p), Attack: []string{"T1574.007"}, Evidence: evidenceFile(f),
						Detail: text("%s %s. A program of a known name put there runs instead of the real one.", quote(dir), why),
					})
				}
			}
		}
	})
	return out
}

// runnerRoots are the roots of GitHub and Gitea runners, and what running agents use.
func (v *view) runnerRoots() map[string]bool {
	out := map[string]bool{}
	for _, p := range v.paths {
		if base := path.Base(p); base == ".runner" || base == ".agent" {
			out[path.Dir(p)] = true
		}
	}
	for pid, kind := range v.agents {
		if root := v.agentRoot(v.procs[pid], kind); root != "" {
			out[root] = true
		}
	}
	return out
}

// unitHooks finds hook variables of the GitHub runner in units, drop-ins and their
// environment files; loader variables there belong to unit-dropins.
func (v *view) unitHooks() []Finding {
	var out []Finding
	v.each(func(p string, f *snapshot.File) {
		if f.Content == "" {
			return
		}
		env := map[string]string{}
		switch {
		case isUnitFile(p) || isDropIn(p):
			env = parseUnit(string(f.Content)).environment()
		case isEnvFile(p):
			env = assignments(string(f.Content))
		}
		for name, value := range inOrder(env) {
			if _, loader := loaderVar(name, value); loader {
				continue
			}
			if hit, ok := variable(name, value); ok {
				hit.Where, hit.Evidence = untrusted.Text(p), evidenceFile(f)
				out = append(out, hit)
			}
		}
	})
	return out
}

// agentEnvHooks looks at what the running agents were really started with.
func (v *view) agentEnvHooks() []Finding {
	var out []Finding
	for pid := range v.agents {
		p := v.procs[pid]
		for name, value := range inOrder(p.Env) {
			hit, ok := variable(name, value)
			if !ok {
				continue
			}
			hit.Where, hit.Evidence = text("process %d (%s)", pid, quote(string(p.Comm))), evidenceProc(p)
			hit.Detail += " The running agent was started with it."
			out = append(out, hit)
		}
	}
	slices.SortFunc(out, func(a, b Finding) int { return strings.Compare(string(a.Where), string(b.Where)) })
	return out
}

// assignments reads NAME=VALUE lines; "export" and quotes are removed.
func assignments(content string) map[string]string {
	out := map[string]string{}
	for line := range strings.Lines(content) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' || line[0] == ';' {
			continue
		}
		line = strings.TrimPrefix(line, "export ")
		if k, val, ok := strings.Cut(line, "="); ok && !strings.ContainsAny(k, " \t$(){}[]") {
			out[strings.TrimSpace(k)] = strings.Trim(strings.TrimSpace(val), `"'`)
		}
	}
	return out
}

// inOrder yields a map by key, so that one snapshot always gives one text.
func inOrder(m map[string]string) iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		for _, k := range slices.Sorted(maps.Keys(m)) {
			if !yield(k, m[k]) {
				return
			}
		}
	}
}
