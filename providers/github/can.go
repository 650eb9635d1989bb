package github

import "slices"

// implied are the scopes that a classic token has with another one (docs: scopes for
// OAuth apps).
var implied = map[string][]string{
	"repo":             {"repo:status", "repo_deployment", "public_repo", "repo:invite", "security_events"},
	"admin:org":        {"write:org", "read:org", "manage_runners:org"},
	"write:org":        {"read:org"},
	"admin:enterprise": {"manage_runners:enterprise", "manage_billing:enterprise", "read:enterprise"},
	"admin:repo_hook":  {"write:repo_hook", "read:repo_hook"},
	"write:packages":   {"read:packages"},
	"audit_log":        {"read:audit_log"},
	"admin:public_key": {"write:public_key", "read:public_key"},
	"user":             {"read:user", "user:email", "user:follow"},
	"codespace":        {"codespace:secrets"},
	"admin:gpg_key":    {"write:gpg_key", "read:gpg_key"},
	"write:discussion": {"read:discussion"},
	"write:public_key": {"read:public_key"},
	"write:repo_hook":  {"read:repo_hook"},
}

// anyScope reports whether one of the scopes of wants is among has or implied by one.
func anyScope(has, wants string) bool {
	have := list(has)
	for _, h := range have {
		have = append(have, implied[h]...)
	}
	return slices.ContainsFunc(list(wants), func(w string) bool { return slices.Contains(have, w) })
}
