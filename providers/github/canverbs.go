package github

import (
	"slices"
	"strings"

	"cordon/providers"
)

// needs of one verb at one level: any of the classic scopes, or the fine-grained
// permission (API description and github/docs, server-to-server permissions).
type needs struct {
	classic []string
	fine    string // NAME:LEVEL; empty: GitHub has none that is known
	limits  string // why it is not the whole verb
}

const (
	wholeGroup   = "GitHub has no pause: the runner is moved to a group that serves nobody, where the plan allows groups"
	labelsOnly   = "GitHub has no pause: custom labels are taken off, and jobs that ask for self-hosted alone still come"
	noRotation   = "GitHub has no rotation of a runner's credential: the registration is removed and made again, and secrets are replaced by hand"
	byCredential = "each credential has an owner of its own; the plan says who ends it"
)

// verbs are what a plan can be asked for, in the order in which they are shown.
var verbs = []string{
	providers.Pause, providers.Resume, providers.Cancel, providers.Rotate, providers.Deregister, providers.Revoke, providers.Purge,
}

// verbsOf leaves out what is a repository's matter alone.
func verbsOf(sc scope) []string {
	if sc.level == repository {
		return verbs
	}
	return slices.DeleteFunc(slices.Clone(verbs), func(v string) bool { return v == providers.Purge || v == providers.Cancel })
}

func needsOf(verb string, sc scope) needs {
	n := map[string]needs{
		repository:   {[]string{"repo"}, "administration:write", ""},
		organization: {[]string{"admin:org"}, "organization_self_hosted_runners:write", ""},
		enterprise:   {[]string{"manage_runners:enterprise"}, "", ""},
	}[sc.level]
	switch {
	case verb == providers.Cancel, verb == providers.Purge:
		return needs{[]string{"repo"}, "actions:write", ""}
	case verb == providers.Pause && sc.level == repository:
		n.limits = labelsOnly
	case verb == providers.Pause:
		n.limits = wholeGroup
	}
	return n
}

// may says whether the holder can do verb in sc. a is the answer to its list, lerr why
// that could not be read: who cannot see a runner cannot change it.
func (h holder) may(verb string, sc scope, a answer, lerr error) providers.Capability {
	c := providers.Capability{Verb: verb}
	n := needsOf(verb, sc)
	switch {
	case verb == providers.Rotate:
		c.Level, c.Why = manual, noRotation
	case verb == providers.Revoke:
		c.Level, c.Why = partial, byCredential
	case h.apart:
		c.Level, c.Why, c.Missing = unsure, "the credential for acting is another one and was not asked about", ""
	case lerr != nil:
		if c = tried(verb, a, lerr); c.Level == full {
			c.Level = unsure
		}
	case h.granted != nil && n.fine == "":
		c.Level, c.Why = unsure, "whether an App reaches the runners of an enterprise is not documented"
	case h.granted != nil:
		name, level, _ := strings.Cut(n.fine, ":")
		if has := h.granted[name]; has == level || has == "admin" {
			c.Level, c.Why = full, "the App's installation has "+name+": "+has
		} else {
			c.Level, c.Missing, c.Why = none, "permission "+name+": "+level, "the App's installation does not have it"
		}
	case h.classic && anyScope(h.scopes, strings.Join(n.classic, ",")):
		c.Level, c.Why = full, "the token has the scope; the person's role decides"
	case h.classic:
		c.Level, c.Missing, c.Why = none, "scope "+strings.Join(n.classic, " or "), "the token does not have it"
	default:
		name, _, _ := strings.Cut(n.fine, ":")
		needs := strings.Replace(n.fine, ":", ": ", 1)
		switch h.knows[name] {
		case "write":
			c.Level, c.Why = full, "the token has "+needs+", as a read told that only who may write is given; the person's role decides"
		case lacks:
			c.Level, c.Missing, c.Why = none, "permission "+needs, "the token does not have it: a read that needs it was refused"
		default:
			c.Level, c.Why = unsure, "a fine-grained token does not say what it may do, and no read tells"
			if n.fine != "" {
				c.Why += "; it needs " + needs
			}
		}
	}
	if c.Level == full && n.limits != "" {
		c.Level, c.Why = partial, n.limits
	}
	return c
}

// implied are the scopes that a classic token has with another one (docs: scopes for
// OAuth apps).
var implied = map[string][]string{
	"repo":             {"repo:status", "repo_deployment", "public_repo", "repo:invite", "security_events"},
	"admin:org":        {"write:org", "read:org", "manage_runners:org"},
	"write:org":        {"read:org"},
	"admin:enterprise": {"manage_runners:enterprise", "manage_billing:enterprise", "read:enterprise"},
	"admin:repo_hook":  {"write:repo_hook", "read:repo_hook"},
	"write:repo_hook":  {"read:repo_hook"},
	"write:packages":   {"read:packages"},
	"audit_log":        {"read:audit_log"},
	"user":             {"read:user", "user:email", "user:follow"},
	"codespace":        {"codespace:secrets"},
	"write:discussion": {"read:discussion"},
}

// anyScope reports whether one of the scopes of wants is among has or implied by one.
func anyScope(has, wants string) bool {
	have := list(has)
	for _, h := range have {
		have = append(have, implied[h]...)
	}
	return slices.ContainsFunc(list(wants), func(w string) bool { return slices.Contains(have, w) })
}
