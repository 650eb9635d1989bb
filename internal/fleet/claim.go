package fleet

import (
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"cordon/internal/check"
	"cordon/internal/target"
	"cordon/internal/untrusted"
	"cordon/providers"
)

// claim is the account that an installation says it is registered to, and its owner:
// GitHub's runners belong to an enterprise, an organization or user, or a repository.
type claim struct {
	scope target.Scope
	owner string
}

// claimOf reads it from the address that GitHub's runner keeps. A service whose
// registrations are found by their number alone has none.
func claimOf(in check.Installation) (claim, bool) {
	if in.Kind != check.GitHub || in.JIT {
		return claim{}, false
	}
	u, err := url.Parse(string(in.URL))
	if err != nil || u.Host == "" {
		return claim{}, false
	}
	part := strings.Split(strings.Trim(strings.ToLower(u.Path), "/"), "/")
	switch {
	case len(part) == 2 && part[0] == "enterprises":
		return claim{target.Scope{Level: "enterprise", Path: part[1]}, part[1]}, true
	case len(part) == 2:
		return claim{target.Scope{Level: "repository", Path: part[0] + "/" + part[1]}, part[0]}, true
	case len(part) == 1 && part[0] != "":
		return claim{target.Scope{Level: "organization", Path: part[0]}, part[0]}, true
	}
	return claim{}, false
}

// same reports how it is known that an installation is of this runner; "" if it is not.
// The configuration's own number counts only at the right service, and at GitHub in the
// right account: number 42 exists at every GitLab and in every organization.
func (j *join) same(r providers.Runner, ms []providers.Manager, in check.Installation) string {
	here, there := j.at(r), service(string(in.URL))
	if in.RunnerID != "" && string(in.RunnerID) != r.Ref.ID {
		return ""
	}
	c, ok := claimOf(in)
	switch {
	case ok && c.scope != lower(r.Ref.Scope):
		return ""
	case in.Kind == check.GitHub && !ok:
		// A runner of a just-in-time configuration does not keep the account: number and
		// name together have to do, and only of a provider that registers to accounts.
		if accounts[r.Ref.Scope.Level] && in.RunnerID != "" && in.Name != "" && in.Name == r.Name {
			return fmt.Sprintf("number %s and name %s, and it keeps no account", untrusted.Clean(string(in.RunnerID), 40), untrusted.Clean(string(in.Name), 80))
		}
		return ""
	}
	if here != "" && there != "" && here != there {
		return ""
	}
	if in.RunnerID != "" && here != "" && here == there {
		return "its configuration names runner " + untrusted.Clean(string(in.RunnerID), 40)
	}
	for _, m := range ms {
		if in.SystemID != "" && string(m.SystemID) == in.SystemID {
			return "system id " + in.SystemID
		}
	}
	return ""
}

// accounts are the levels of scopes that GitHub registers runners to.
var accounts = map[string]bool{"enterprise": true, "organization": true, "repository": true}

func lower(s target.Scope) target.Scope {
	return target.Scope{Level: s.Level, Path: strings.ToLower(s.Path)}
}

// unsupported are kinds for which cordon has no provider.
var unsupported = map[string]string{check.Buildkite: "Buildkite", check.Jenkins: "Jenkins", check.Azure: "Azure Pipelines"}

// stray says what an installation is that no listed runner claims.
func (j *join) stray(in check.Installation) (state, why string) {
	who := service(string(in.URL))
	if name := unsupported[in.Kind]; name != "" {
		return NoProvider, fmt.Sprintf("it is an agent of %s (%s), for which cordon has no provider: whether it is registered has to be looked up there", name, cmp.Or(who, "no address told"))
	}
	if in.Residue {
		return Leftover, "a runner was installed there, and its registration is gone from the disk: it removed itself, or somebody removed it"
	}
	if who == "" {
		return Rogue, "it does not say which service it is registered with: " + untrusted.Clean(strings.Join(in.Problems, "; "), 200)
	}
	bases := j.bases()
	var at []string
	for _, system := range slices.Sorted(maps.Keys(bases)) {
		if bases[system] == who {
			at = append(at, system)
		}
	}
	if len(at) == 0 {
		return NotOurs, fmt.Sprintf("it serves %s, which no configured provider is: its registration is not ours to end", untrusted.Clean(who, 120))
	}
	if c, ok := claimOf(in); ok {
		return j.account(in, c, at, who)
	}
	if in.Kind == check.GitHub {
		return CannotTell, fmt.Sprintf("it is registered at %s and does not say with which account", untrusted.Clean(who, 120))
	}
	return j.listed(in, at[0], who, bases)
}

// listed is stray at a service whose runners are found by number or system id.
func (j *join) listed(in check.Installation, system, who string, bases map[string]string) (state, why string) {
	if in.RunnerID == "" && in.SystemID == "" {
		return CannotTell, fmt.Sprintf("%s is configured as %s, and the installation names neither a runner nor a system id", who, system)
	}
	for _, g := range j.in.Gaps {
		if !elsewhere(g.Name, system, bases) {
			return CannotTell, fmt.Sprintf("%s could not be listed whole (%s: %s), so that it may be registered there", system, untrusted.Clean(g.Name, 80), untrusted.Clean(g.Why, 120))
		}
	}
	if in.RunnerID == "" && !j.managersRead(system) {
		return CannotTell, fmt.Sprintf("its configuration names no runner, and the managers of %s were not asked", system)
	}
	return Rogue, fmt.Sprintf("%s (%s) lists no runner %s", system, who, untrusted.Clean(cmp.Or(string(in.RunnerID), in.SystemID), 40))
}

// elsewhere reports whether a gap certainly is another provider's: its name begins with
// that one's.
func elsewhere(gap, system string, bases map[string]string) bool {
	first, _, _ := strings.Cut(gap, "/")
	return first != system && bases[first] != ""
}

// account is stray at a service that registers runners to accounts: what was read
// decides, and only an account that nobody configured is somebody else's.
func (j *join) account(in check.Installation, c claim, at []string, who string) (state, why string) {
	name := untrusted.Clean(c.scope.Level+" "+c.scope.Path, 120)
	id := untrusted.Clean(string(in.RunnerID), 40)
	asked, ours := false, ""
	for _, system := range at {
		whole := j.listedScopes(system)
		named, all := j.named(system, c)
		asked = asked || len(whole) > 0 || all
		if named {
			ours = system
		}
		switch read, there := whole[c.scope]; {
		case there && read && id != "":
			return Rogue, fmt.Sprintf("%s (%s) lists no runner %s in %s", system, who, id, name)
		case there && read:
			return CannotTell, fmt.Sprintf("it is registered to %s, which %s lists, and does not say as which runner", name, system)
		case there:
			return CannotTell, fmt.Sprintf("the runners of %s could not be listed to the end, so that it may be registered there", name)
		}
		for s, read := range whole {
			owner, _, _ := strings.Cut(s.Path, "/")
			if owner == c.owner && (s.Level == "enterprise") == (c.scope.Level == "enterprise") || s.Level == "mine" && !read {
				ours = system
			}
		}
	}
	switch {
	case !asked:
		return CannotTell, fmt.Sprintf("it is registered to %s, and the runners of %s were not listed", name, strings.Join(at, ", "))
	case ours != "":
		return CannotTell, fmt.Sprintf("it is registered to %s, whose runners %s does not list: add it under scopes, and list again", name, ours)
	}
	return NotOurs, fmt.Sprintf("it is registered to %s at %s, which is no configured account: its registration is not ours to end, and whoever owns that account can give it work", name, untrusted.Clean(who, 120))
}

// named reports whether the configuration names the owner of a claim, and whether it
// names all owners that there are.
func (j *join) named(system string, c claim) (named, all bool) {
	all = len(j.in.Configured[system]) > 0
	for _, s := range j.in.Configured[system] {
		s = lower(s)
		owner, _, _ := strings.Cut(s.Path, "/")
		all = all && s.Level != "mine"
		named = named || owner == c.owner && (s.Level == "enterprise") == (c.scope.Level == "enterprise")
	}
	return named, all
}

// listedScopes are the scopes of a system that were asked for. A runner that is known
// says that its scope was, though not that it was read to the end.
func (j *join) listedScopes(system string) map[target.Scope]bool {
	out := map[target.Scope]bool{}
	for s, whole := range j.in.Listed[system] {
		was, twice := out[lower(s)]
		out[lower(s)] = whole && (was || !twice)
	}
	for _, r := range j.runners {
		if _, ok := out[lower(r.Ref.Scope)]; !ok && r.Ref.System == system {
			out[lower(r.Ref.Scope)] = false
		}
	}
	return out
}
