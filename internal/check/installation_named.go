package check

import (
	"maps"
	"path"
	"slices"
	"strings"

	"cordon/internal/host/snapshot"
	"cordon/internal/untrusted"
)

// namedConfigs are the configurations that units and running agents name, by path: the
// kind of agent that reads each. A name says nothing about whether the file was read.
func (v *view) namedConfigs() map[string]string {
	out := map[string]string{}
	for _, s := range v.starts() {
		if path.IsAbs(s.named) {
			out[path.Clean(s.named)] = agentKind(s.exe)
		}
	}
	for pid, kind := range v.agents {
		p := v.procs[pid]
		if kind != GitLab && kind != Gitea && kind != Buildkite {
			continue
		}
		c := flagValue(argsOf(p), "--config", "-c")
		for _, name := range configVars {
			if c == "" {
				c = p.Env[name]
			}
		}
		if c != "" {
			out[v.absolute(p, c)] = kind
		}
	}
	return out
}

// configVars name a configuration where no option does: gitlab-runner's and Buildkite's.
var configVars = []string{"CONFIG_FILE", "BUILDKITE_AGENT_CONFIG"}

// gitLabConfig reports whether p is a configuration of gitlab-runner: by its place, by
// who names it, or by what is in it.
func (v *view) gitLabConfig(p string, f *snapshot.File) bool {
	switch {
	case f.Type != "file" && f.Type != "link":
		return false
	case v.named[p] == GitLab || path.Base(p) == "config.toml" && v.looksGitLab(p, f):
		return true
	}
	return f.Section == snapshot.SectionRunners && strings.HasSuffix(p, ".toml") && strings.Contains(string(f.Content), "[[runners]]")
}

// notUnderstood says why nothing of a configuration is known.
func notUnderstood(f *snapshot.File) string {
	if f.Type == "link" {
		return "its configuration is a link to " + untrusted.Clean(string(f.Link), 200) + ", which was not followed"
	}
	return "its configuration could not be read"
}

// unsearched says where a runner may lie or be configured that was not looked for.
func (v *view) unsearched() string {
	var bad []string
	for _, p := range slices.Sorted(maps.Keys(v.named)) {
		if v.files[p] == nil && v.named[p] != "" {
			bad = append(bad, quote(p)+", the configuration of "+v.named[p]+", was not read")
		}
	}
	for _, g := range v.s.Gaps {
		if why, ok := strings.CutPrefix(g.Why, "not searched for installations: "); ok {
			bad = append(bad, quote(g.Name)+" was not searched ("+quote(why)+")")
		}
	}
	if len(bad) > 5 {
		bad = append(bad[:5], "and more")
	}
	return strings.Join(bad, "; ")
}

// workOf is where the jobs of the installation in root work.
func (v *view) workOf(root string) string {
	for _, in := range v.found {
		if string(in.Root) == root && in.Work != "" && (in.Kind == GitHub || in.Kind == Azure) {
			return path.Clean(string(in.Work))
		}
	}
	return root + "/_work"
}

// firstOf reports whether root is the first of those whose jobs share a directory.
func (v *view) firstOf(root, work string) bool {
	for _, in := range v.found {
		if w := string(in.Work); w != "" && path.Clean(w) == work {
			return string(in.Root) == root
		}
	}
	return true
}

// inWork reports whether p lies where jobs work.
func (v *view) inWork(p string) bool {
	if strings.Contains(p, "/_work/") || strings.Contains(p, "/builds/") {
		return true
	}
	return slices.ContainsFunc(v.found, func(in Installation) bool {
		work := path.Clean(string(in.Work))
		return path.IsAbs(work) && work != "/" && below(p, work)
	})
}
