package check

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"cordon/internal/host/snapshot"
	"cordon/internal/untrusted"
)

func installationsCheck() Check {
	return Check{
		ID:     "installations",
		Title:  "Runners on this host",
		Why:    "An intruder who registers a second runner keeps receiving trusted jobs after the first one is removed.",
		Reads:  "configurations and roots of every runner, running agents, units that start them",
		Root:   "roots of other users, links of other users' processes",
		Needs:  []string{snapshot.SectionProc, snapshot.SectionDetail, snapshot.SectionRunners, snapshot.SectionUnits, snapshot.SectionKeys},
		Attack: []string{"T1543.002", "T1078"},
		NIST:   []string{"CM-8", "CM-7", "SI-4"},
		look:   (*view).findInstallations,
		unseen: (*view).unsearched,
	}
}

func (v *view) findInstallations() []Finding {
	var out []Finding
	list := v.found
	places := map[string]*placeOf{}
	for _, in := range list {
		root := string(in.Root)
		if places[root] == nil {
			places[root] = &placeOf{first: in}
		}
		pl := places[root]
		pl.names = append(pl.names, describe(in))
		pl.problems = append(pl.problems, in.Problems...)
	}
	roots := make([]string, 0, len(places))
	for r := range places {
		roots = append(roots, r)
	}
	slices.Sort(roots)
	for _, r := range roots {
		pl := places[r]
		f := Finding{Where: untrusted.Text(r), Evidence: v.rootEvidence(pl.first)}
		who := strings.Join(pl.names, "; ")
		switch {
		case slices.Contains(pl.problems, noConfig):
			f.Severity, f.Title = High, "a runner runs from a place that holds no known installation"
			f.Detail = text("%s. %s. Nobody can say what it is registered as; ask the provider for a runner that nobody claims.", who, noConfig)
			if pl.first.Unexpected != "" {
				f.Detail += text(" The place %s.", pl.first.Unexpected)
			}
		case pl.first.Unexpected != "":
			f.Severity, f.Title = High, "a runner is installed where no installer puts one"
			f.Detail = text("%s. The place %s. Find its registration at the provider before you remove the files.", who, pl.first.Unexpected)
		case len(pl.problems) > 0:
			f.Severity, f.Title = Medium, "a runner's configuration does not say what it is"
			f.Detail = text("%s: %s. Hooks and mounts in it were not checked.", who, strings.Join(pl.problems, "; "))
		default:
			continue
		}
		out = append(out, f)
	}
	if len(roots) > 1 {
		f := several(list, roots)
		for _, r := range roots {
			f.Evidence = append(f.Evidence, v.rootEvidence(places[r].first)...)
		}
		out = append(out, f)
	}
	v.each(func(p string, f *snapshot.File) {
		if path.Base(p) == ".dev-env" && f.Type == "dir" && places[p] == nil {
			out = append(out, Finding{
				Severity: Medium, Title: "a directory of the name under which runners were planted before",
				Where: untrusted.Text(p), Evidence: evidenceFile(f),
				Detail: "The npm worm of November 2025 put its runner into ~/.dev-env. No registration was found in it; look at what is there.",
			})
		}
	})
	for _, in := range list {
		out = append(out, v.standing(in)...)
	}
	return append(out, v.agentFindings()...)
}

type placeOf struct {
	first    Installation
	names    []string
	problems []string
}

// several reports that there is more than one root. Several of one kind at one
// service are common; another service or kind is what a planted runner looks like.
func several(list []Installation, roots []string) Finding {
	homes, gitlabs := map[string]bool{}, map[string]bool{}
	for _, in := range list {
		if in.Kind == GitLab {
			gitlabs[string(in.Root)] = true
		}
		homes[in.Kind+" "+service(string(in.URL))] = true
	}
	f := Finding{Severity: Low, Title: fmt.Sprintf("%d runner installations on one host", len(roots)), Where: untrusted.Text(strings.Join(roots, ", "))}
	f.Detail = "Several runners of one service may be meant. Compare them with the provider's list: each needs an owner."
	switch {
	case len(gitlabs) > 1:
		f.Severity = Medium
		f.Detail = "One gitlab-runner serves many registrations from one configuration; a second configuration on the same host has to be explained by its owner."
	case len(homes) > 1:
		f.Severity = Medium
		f.Detail = "They serve different services or are of different kinds: jobs of one reach the credentials of the other, and one of them may be planted. Compare with the provider's list."
	}
	return f
}

// service is scheme and host of a URL: repositories of one GitHub are one service.
func service(url string) string {
	scheme, rest, ok := strings.Cut(url, "://")
	if !ok {
		return url
	}
	host, _, _ := strings.Cut(rest, "/")
	return strings.ToLower(scheme + "://" + host)
}

// agentFindings judges the running agents themselves.
func (v *view) agentFindings() []Finding {
	var out []Finding
	pids := make([]int, 0, len(v.agents))
	for pid := range v.agents {
		pids = append(pids, pid)
	}
	slices.Sort(pids)
	for _, pid := range pids {
		p := v.procs[pid]
		exe, deleted := exeOf(p)
		if deleted {
			out = append(out, Finding{
				Severity: High, Title: "a runner runs from an executable that is no longer on the disk",
				Where: untrusted.Text(exe), Attack: []string{"T1554", "T1070.004"}, Evidence: evidenceProc(p),
				Detail: text("Process %d. Either its package was upgraded and it was never restarted, or the file was removed so that it cannot be examined. Copy /proc/%d/exe before the process ends.", pid, pid),
			})
		}
		if odd := oddPlace(exe); odd != "" {
			out = append(out, Finding{
				Severity: High, Title: "a runner's executable is out of place",
				Where: untrusted.Text(exe), Attack: []string{"T1554", "T1036.005"}, Evidence: evidenceProc(p),
				Detail: text("Process %d: the program %s.", pid, odd),
			})
		}
	}
	return out
}

func describe(in Installation) string {
	parts := []string{in.Kind}
	for _, kv := range [][2]string{
		{"name", string(in.Name)},
		{"at", string(in.URL)},
		{"id", string(in.RunnerID)},
		{"system id", in.SystemID},
		{"pool", string(in.Pool)},
		{"version", in.Version},
	} {
		if kv[1] != "" {
			parts = append(parts, kv[0]+" "+quote(kv[1]))
		}
	}
	if n := len(in.PIDs); n > 0 {
		parts = append(parts, fmt.Sprintf("running as %d process(es)", n))
	}
	return strings.Join(parts, ", ")
}

func (v *view) rootEvidence(in Installation) []string {
	if f := v.files[string(in.Config)]; f != nil {
		return evidenceFile(f)
	}
	if len(in.PIDs) > 0 {
		return evidenceProc(v.procs[in.PIDs[0]])
	}
	return nil
}

func evidenceProc(p *snapshot.Process) []string { return []string{fmt.Sprintf("processes:%d", p.PID)} }

// text formats a detail; foreign parts stay foreign.
func text(format string, args ...any) untrusted.Text {
	return untrusted.Text(fmt.Sprintf(format, args...))
}
