package check

import (
	"encoding/json"
	"path"
	"regexp"
	"slices"
	"strings"

	"cordon/internal/host/snapshot"
	"cordon/internal/untrusted"
)

// fromDirectory reads the registration that a GitHub, Azure Pipelines, Gitea or
// Forgejo runner keeps in its root.
func (v *view) fromDirectory(p string, f *snapshot.File) Installation {
	in := Installation{Kind: GitHub, Root: untrusted.Text(path.Dir(p)), Config: untrusted.Text(p)}
	if path.Base(p) == ".agent" {
		in.Kind = Azure
	}
	if f.Content == "" {
		in.Problems = []string{notUnderstood(f)}
		return in
	}
	raw := map[string]any{}
	text := strings.TrimPrefix(string(f.Content), "\ufeff") // .NET writes a byte order mark
	if err := json.Unmarshal([]byte(text), &raw); err != nil {
		in.Problems = []string{"its configuration is not JSON"}
		return in
	}
	low := table{} // the case of the keys differs between versions
	for k, x := range raw {
		if n, ok := x.(float64); ok {
			x = json.Number(untrusted.Clean(strings.TrimSuffix(jsonNumber(n), ".0"), 30))
		}
		low[strings.ToLower(k)] = x
	}
	pick := func(keys ...string) untrusted.Text {
		for _, k := range keys {
			if s := low.text(k); s != "" {
				return untrusted.Text(s)
			}
		}
		return ""
	}
	if _, ok := low["uuid"]; ok || low["address"] != nil {
		in.Kind, in.TokenPrint = Gitea, tokenPrint(low["token"])
		in.URL, in.RunnerID, in.Name, in.UUID = pick("address"), pick("id", "uuid"), pick("name"), pick("uuid")
		in.Ephemeral = low["ephemeral"] == true
		return in
	}
	in.URL, in.RunnerID, in.Name = pick("githuburl", "serverurlv2", "serverurl"), pick("agentid"), pick("agentname")
	in.JIT = in.Kind == GitHub && low.text("githuburl") == ""
	in.Pool, in.Monitor = pick("poolname", "poolid"), pick("monitorsocketaddress")
	in.Ephemeral, in.Pinned = low["ephemeral"] == true, low["disableupdate"] == true
	work := pick("workfolder")
	if work == "" {
		work = "_work"
	}
	if in.Work = work; !path.IsAbs(string(work)) {
		in.Work = untrusted.Text(path.Join(string(in.Root), string(work)))
	}
	return in
}

func jsonNumber(n float64) string {
	b, err := json.Marshal(n)
	if err != nil {
		return ""
	}
	return string(b)
}

// rootFiles are what a GitHub or Azure Pipelines runner has in its root beside its
// registration.
var rootFiles = map[string]bool{"runsvc.sh": true, "run.sh": true, "svc.sh": true, "run-helper.sh.template": true, ".runner_migrated": true, ".service": true}

// residues are roots whose registration is gone: one that was removed, or removed
// itself after its one job or when the service told it that it is no more.
func (v *view) residues(known []Installation) []Installation {
	marks := map[string]int{}
	v.each(func(p string, f *snapshot.File) {
		if f.Section == snapshot.SectionRunners && rootFiles[path.Base(p)] && (f.Type == "file" || f.Type == "link") {
			marks[path.Dir(p)]++
		}
	})
	for pid, kind := range v.agents {
		if kind == GitHub || kind == Azure {
			delete(marks, v.agentRoot(v.procs[pid], kind)) // a process without a registration is told as such
		}
	}
	var roots []string
	for r, n := range marks {
		if n > 1 && !slices.ContainsFunc(known, func(in Installation) bool { return string(in.Root) == r }) {
			roots = append(roots, r)
		}
	}
	slices.Sort(roots)
	var out []Installation
	for _, r := range roots {
		in := Installation{Kind: GitHub, Root: untrusted.Text(r), Residue: true, Work: untrusted.Text(path.Join(r, "_work"))}
		if f := v.files[path.Join(r, ".service")]; f != nil && strings.HasPrefix(strings.TrimSpace(string(f.Content)), "vsts.agent.") {
			in.Kind = Azure
		}
		out = append(out, in)
	}
	return out
}

// DefaultBuildkite is where an agent without a setting of its own connects.
const DefaultBuildkite = "https://agent-edge.buildkite.com"

var buildkiteLine = regexp.MustCompile(`(?m)^\s*([A-Za-z_][A-Za-z0-9_-]*)\s*=\s*(.*?)\s*$`)

// fromBuildkite reads a buildkite-agent.cfg. The configuration names a token of the
// organization, no agent: one file may start many.
func (v *view) fromBuildkite(p string, f *snapshot.File) Installation {
	in := Installation{Kind: Buildkite, Root: untrusted.Text(path.Dir(p)), Config: untrusted.Text(p), URL: DefaultBuildkite}
	if f.Content == "" {
		in.URL, in.Problems = "", []string{notUnderstood(f)}
		return in
	}
	for _, m := range buildkiteLine.FindAllStringSubmatch(string(f.Content), 400) {
		value := strings.Trim(m[2], `"'`)
		switch m[1] {
		case "name":
			in.Name = untrusted.Text(value)
		case "endpoint":
			in.URL = untrusted.Text(value)
		case "build-path":
			in.Work = untrusted.Text(value)
		case "tags", "queue":
			if in.Pool == "" {
				in.Pool = untrusted.Text(value)
			}
		case "disconnect-after-job":
			in.Ephemeral = value == "true"
		case "token":
			in.TokenPrint = tokenPrint(value)
		}
	}
	return in
}

// jenkins makes installations of the agents of Jenkins that run, and of directories
// where one has run: there is no configuration but the command line.
func (v *view) jenkins() []Installation {
	at := map[string]*Installation{}
	var roots []string
	add := func(root string) *Installation {
		if at[root] == nil {
			at[root] = &Installation{Kind: Jenkins, Root: untrusted.Text(root), Work: untrusted.Text(root)}
			roots = append(roots, root)
		}
		return at[root]
	}
	v.each(func(p string, f *snapshot.File) {
		if f.Section != snapshot.SectionRunners || f.Type != "file" && f.Type != "link" {
			return
		}
		switch path.Base(p) {
		case "agent.jar", "remoting.jar", "slave.jar", "swarm-client.jar":
			add(path.Dir(p))
		}
	})
	for pid, kind := range v.agents {
		if kind != Jenkins {
			continue
		}
		p := v.procs[pid]
		args := argsOf(p)
		in := add(v.agentRoot(p, kind))
		in.Name = untrusted.Text(flagValue(args, "-name", "--name"))
		in.URL = untrusted.Text(flagValue(args, "-url", "--url", "-master"))
		if in.URL == "" { // none at all: the controller started it, over SSH
			in.URL = untrusted.Text(flagValue(args, "-jnlpUrl"))
		}
	}
	slices.Sort(roots)
	var out []Installation
	for _, r := range roots {
		out = append(out, *at[r])
	}
	return out
}
