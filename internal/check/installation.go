package check

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"cordon/internal/host/snapshot"
	"cordon/internal/untrusted"
)

// Installation is one runner found on a host: one entry of a gitlab-runner's
// configuration, one root of a GitHub, Azure Pipelines, Gitea or Forgejo runner, one
// configuration of a Buildkite agent, one directory of a Jenkins agent. Its identity is
// what the host says; internal/fleet holds it against what the provider says.
type Installation struct {
	Host   string         `json:"host"`
	Kind   string         `json:"kind"` // gitlab-runner, github, azure-pipelines, gitea, buildkite, jenkins
	Root   untrusted.Text `json:"root"`
	Config untrusted.Text `json:"config,omitempty"`

	URL        untrusted.Text `json:"url,omitempty"`
	RunnerID   untrusted.Text `json:"runner_id,omitempty"` // the provider's number, from the configuration
	Name       untrusted.Text `json:"name,omitempty"`
	SystemID   string         `json:"system_id,omitempty"`   // gitlab-runner's s_… or r_…, cleaned
	TokenPrint string         `json:"token_print,omitempty"` // fingerprint; never the token
	ShortToken string         `json:"short_token,omitempty"` // what logs call it, where that is certain
	Executor   untrusted.Text `json:"executor,omitempty"`

	UUID      untrusted.Text `json:"uuid,omitempty"`      // Gitea's and Forgejo's own name for it
	Pool      untrusted.Text `json:"pool,omitempty"`      // GitHub: runner group's pool; Azure Pipelines: agent pool
	Work      untrusted.Text `json:"work,omitempty"`      // where its jobs work
	Version   string         `json:"version,omitempty"`   // digits and dots, where something says so
	Ephemeral bool           `json:"ephemeral,omitempty"` // it was registered for one job
	Pinned    bool           `json:"pinned,omitempty"`    // it is set never to update itself
	Monitor   untrusted.Text `json:"monitor,omitempty"`   // where it reports what it does (monitorSocketAddress)
	Contested time.Time      `json:"contested,omitzero"`  // when the service last said that another session uses its registration; host clock
	JIT       bool           `json:"jit,omitempty"`       // GitHub: configured just in time; URL is the service's, and no account is kept
	Residue   bool           `json:"residue,omitempty"`   // no registration: what one that removed itself left, or .dev-env

	PIDs       []int    `json:"pids,omitempty"`
	Unit       string   `json:"unit,omitempty"`       // cleaned name of the unit that starts it
	Unexpected string   `json:"unexpected,omitempty"` // why its place is not one that installers use
	Problems   []string `json:"problems,omitempty"`   // what could not be read; the fields above may lack something
}

// Installations finds every runner on the host, ordered by root. An agent process
// whose root holds no readable configuration is listed too, with a Problem.
func Installations(s *snapshot.Snapshot) []Installation {
	if s == nil {
		return nil
	}
	return viewOf(s).found
}

func (v *view) installations() []Installation {
	var out []Installation
	v.each(func(p string, f *snapshot.File) {
		if f.Type != "file" && f.Type != "link" {
			return
		}
		f = v.follow(p, f)
		switch {
		case v.gitLabConfig(p, f):
			out = append(out, v.fromGitLab(p, f)...)
		case path.Base(p) == ".runner" || path.Base(p) == ".agent":
			out = append(out, v.fromDirectory(p, f))
		case v.named[p] == Buildkite || path.Base(p) == "buildkite-agent.cfg" && f.Section != snapshot.SectionWork:
			out = append(out, v.fromBuildkite(p, f))
		}
	})
	out = append(out, v.residues(out)...)
	out = append(out, v.jenkins()...)
	v.claim(&out)
	starts := v.starts()
	for i := range out {
		in := &out[i]
		in.Host = v.s.Host
		in.Unexpected = v.unexpected(*in)
		in.Unit = v.unitOf(*in, starts)
		if in.Version == "" {
			in.Version = v.version(*in)
		}
		in.Contested = v.contested(*in)
		slices.Sort(in.PIDs)
	}
	slices.SortStableFunc(out, func(a, b Installation) int {
		if d := strings.Compare(string(a.Root), string(b.Root)); d != 0 {
			return d
		}
		return strings.Compare(string(a.RunnerID), string(b.RunnerID))
	})
	return out
}

// looksGitLab keeps other programs' config.toml out.
func (v *view) looksGitLab(p string, f *snapshot.File) bool {
	return path.Base(path.Dir(p)) == "gitlab-runner" || path.Base(path.Dir(p)) == ".gitlab-runner" ||
		strings.Contains(string(f.Content), "[[runners]]") || v.roots[p]
}

var systemID = regexp.MustCompile(`^[sr]_[0-9a-zA-Z]{12}$`)

func (v *view) fromGitLab(p string, f *snapshot.File) []Installation {
	base := Installation{Kind: GitLab, Root: untrusted.Text(path.Dir(p)), Config: untrusted.Text(p)}
	if id := strings.TrimSpace(v.content(path.Join(path.Dir(p), ".runner_system_id"))); systemID.MatchString(id) {
		base.SystemID = id
	}
	if f.Content == "" {
		base.Problems = []string{notUnderstood(f)}
		return []Installation{base}
	}
	t, err := parseConfig(string(f.Content))
	if err != nil {
		base.Problems = []string{"its configuration is " + err.Error()}
		return []Installation{base}
	}
	if f.Truncated {
		base.Problems = []string{"its configuration was cut; entries may be missing"}
	}
	var out []Installation
	for _, r := range t.runners() {
		in := base
		in.Problems = slices.Clone(base.Problems)
		in.URL, in.RunnerID = untrusted.Text(r.text("url")), untrusted.Text(r.text("id"))
		in.Name, in.Executor = untrusted.Text(r.text("name")), untrusted.Text(r.text("executor"))
		in.TokenPrint = tokenPrint(r["token"])
		if dir := r.text("builds_dir"); path.IsAbs(dir) {
			in.Work = untrusted.Text(path.Clean(dir))
		}
		out = append(out, in)
	}
	if len(out) == 1 {
		out[0].ShortToken = v.shortToken()
	}
	return out
}

var shortShape = regexp.MustCompile(`"?\brunner"?\s*[=:]\s*"?([0-9A-Za-z_-]{8,9})\b`)

// shortToken is the name that gitlab-runner's log gives a registration, where the
// log knows only one.
func (v *view) shortToken() string {
	found := ""
	for _, l := range v.s.Log {
		for _, m := range shortShape.FindAllStringSubmatch(string(l.Text), 4) {
			if found != "" && found != m[1] {
				return ""
			}
			found = m[1]
		}
	}
	return found
}

// claim gives every agent process to the installations of its root; a process that
// none claims becomes an installation of its own.
func (v *view) claim(list *[]Installation) {
	pids := make([]int, 0, len(v.agents))
	for pid := range v.agents {
		pids = append(pids, pid)
	}
	slices.Sort(pids)
	at := map[string][]int{}
	for i, in := range *list {
		for _, place := range []untrusted.Text{in.Root, in.Config} {
			at[in.Kind+string(place)] = append(at[in.Kind+string(place)], i)
		}
	}
	for _, pid := range pids {
		p, kind := v.procs[pid], v.agents[pid]
		root, claimed := v.agentRoot(p, kind), false
		for _, i := range at[kind+root] {
			in := &(*list)[i]
			claimed = true
			if len(in.PIDs) < maxPIDs {
				in.PIDs = append(in.PIDs, pid)
			}
		}
		if !claimed && kind != Jenkins {
			in := Installation{Kind: kind, Root: untrusted.Text(root), PIDs: []int{pid}, Problems: []string{noConfig}}
			if kind == GitLab && path.Base(root) == "config.toml" {
				in.Root, in.Config = untrusted.Text(path.Dir(root)), untrusted.Text(root)
			}
			*list = append(*list, in)
		}
	}
}

// maxPIDs bounds the processes named for one installation.
const maxPIDs = 64

// noConfig marks an agent that runs from no configuration that was found.
const noConfig = "an agent runs, and its configuration was not found where it says it is"

// unexpected says why a root is not where installers and administrators put one.
func (v *view) unexpected(in Installation) string {
	root := string(in.Root)
	switch {
	case root == "":
		return ""
	case inTemp(root):
		return "lies in a directory that anybody may write to"
	case in.Kind == Buildkite && path.Base(root) == ".buildkite-agent" && hiddenPart(path.Dir(root)) == "":
		return "" // where the agent itself looks first
	case hiddenPart(root) != "":
		return "lies under a hidden name"
	}
	if in.Kind != GitLab {
		return ""
	}
	owner, home := v.homeOwner(root)
	switch {
	case root == "/etc/gitlab-runner":
		return ""
	case home && owner.uid != 0 && (root == path.Join(owner.home, ".gitlab-runner") || root == owner.home):
		return ""
	}
	return "is not a place where gitlab-runner keeps its configuration"
}
