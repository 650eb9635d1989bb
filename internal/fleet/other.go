package fleet

import (
	"fmt"
	"slices"
	"strings"

	"cordon/internal/check"
	"cordon/internal/host/snapshot"
	"cordon/internal/target"
	"cordon/internal/untrusted"
	"cordon/providers"
)

// maxNamed is how many registrations of others are named in one sentence.
const maxNamed = 3

// NotOf says why a host that was read is not this runner's: it holds registrations of
// others, and nothing on it is or can be this one's. It is empty where the host may be the
// right one, or tells of no registration. in is what is known of the fleet.
func NotOf(in Input, r providers.Runner, ms []providers.Manager, s *snapshot.Snapshot) string {
	j := &join{in: in, runners: append(slices.Clone(in.Runners), r)}
	var others []string
	for _, x := range check.Installations(s) {
		switch {
		case j.canBe(r, ms, x):
			return ""
		case x.RunnerID != "":
			if n := j.whose(r, x); !slices.Contains(others, n) {
				others = append(others, n)
			}
		}
	}
	if len(others) == 0 {
		return ""
	}
	if n := len(others) - maxNamed; n > 0 {
		others = append(others[:maxNamed], fmt.Sprintf("%d more", n))
	}
	return fmt.Sprintf("%s holds the registration of %s and none of %s", untrusted.Clean(s.Host, 80), strings.Join(others, ", "), called(r))
}

// canBe reports whether an installation is this runner's or may be: what does not tell
// whose it is may be anybody's, and a machine that registered itself anew has another
// number under its old name or system id.
func (j *join) canBe(r providers.Runner, ms []providers.Manager, in check.Installation) bool {
	github := accounts[r.Ref.Scope.Level]
	if github != (in.Kind == check.GitHub) || !github && in.Kind != check.GitLab {
		return false
	}
	if string(in.RunnerID) == r.Ref.ID && in.Name != "" && strings.EqualFold(string(in.Name), string(r.Name)) {
		return true // a service has several addresses (a proxy, an old name); number and name agree
	}
	here, there := j.at(r), service(string(in.URL))
	if !in.JIT && here != "" && there != "" && here != there {
		return false
	}
	c, ok := claimOf(in)
	switch {
	case in.RunnerID == "" || j.same(r, ms, in) != "":
		return true
	case ok && c.scope != lower(r.Ref.Scope):
		return false
	case string(in.RunnerID) == r.Ref.ID:
		return true
	case github:
		return in.Name != "" && strings.EqualFold(string(in.Name), string(r.Name))
	}
	return in.SystemID != "" && slices.ContainsFunc(ms, func(m providers.Manager) bool { return string(m.SystemID) == in.SystemID })
}

// whose names the registration of an installation: as a runner of ours where it is one.
func (j *join) whose(not providers.Runner, in check.Installation) string {
	for _, r := range j.runners {
		if r.Ref != not.Ref && j.same(r, j.in.Managers[r.Ref], in) != "" {
			return called(r)
		}
	}
	s := "runner " + untrusted.Clean(string(in.RunnerID), 40)
	if in.Name != "" {
		s += fmt.Sprintf(" (%q)", untrusted.Clean(string(in.Name), 80))
	}
	return s
}

func called(r providers.Runner) string {
	if r.Name == "" {
		return "runner " + r.Ref.ID
	}
	return fmt.Sprintf("runner %s (%q)", r.Ref.ID, untrusted.Clean(string(r.Name), 80))
}

// RunnersAt are those of refs that a host holds the registration of, as snapshots that
// were taken before tell.
func RunnersAt(in Input, host string, refs []target.Ref) []target.Ref {
	var out []target.Ref
	j := newJoin(in)
	for _, r := range j.runners {
		if !slices.Contains(refs, r.Ref) {
			continue
		}
		for _, p := range j.all {
			if p.Host == host && j.same(r, in.Managers[r.Ref], p.Installation) != "" {
				out = append(out, r.Ref)
				break
			}
		}
	}
	return out
}
