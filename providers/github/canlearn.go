package github

import (
	"bytes"
	"context"
	"net/url"
	"strings"
)

// learned is what answers to reads tell of the permissions of a credential that does not
// say what it has: a fine-grained token, or an App's that was not made here. X-Accepted-
// GitHub-Permissions names what a read needs: one that was answered tells that it is there,
// one that was refused for it that it is not (docs: troubleshooting the REST API).
type learned map[string]string // by name: read, write (at least); lacks: not even what the read needed

const lacks = "lacks"

// learn adds what one answer tells. Where there are several ways to be let in, or another
// reason to be refused, it tells nothing.
func (l learned) learn(a answer) {
	if a.Classic || a.Needs == "" || strings.Contains(a.Needs, ";") {
		return
	}
	wants := list(a.Needs)
	refused := a.Status == 403 && !a.SSO && len(wants) == 1 && bytes.Contains(a.Body, []byte("Resource not accessible by"))
	for _, w := range wants {
		name, level, _ := strings.Cut(w, "=")
		switch {
		case !permissionForm.MatchString(name) || !permissionLevels[level]:
		case a.Status == 200 && l[name] != "write":
			l[name] = level
		case refused && level == "read", refused && l[name] == "":
			l[name] = lacks
		case refused && l[name] == "read": // it reads, and was refused what needs writing
			l[name] = lacks
		}
	}
}

// tries are reads that GitHub gives only to who may write: so they tell what a change would
// find out. There is none for runners of organizations and enterprises, nor for runs
// (github/docs, fine-grained-pat-permissions).
func (p *Provider) tries(ctx context.Context, sc scope, l learned) error {
	if sc.level != repository {
		return nil
	}
	a, err := p.act.get(ctx, sc.prefix()+"/rulesets/rule-suites", url.Values{"per_page": {"1"}})
	if done := finished(ctx, err); done != nil {
		return done
	}
	l.learn(a)
	return nil
}
