package github

import (
	"encoding/base64"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"
)

// auditEntry is one event. Names are GitHub's (facts/github.md §1.7, misspelling included).
type auditEntry struct {
	seq    int
	at     time.Time
	action string
	actor  string
	owner  string // whose log it is in
	repo   string
	more   map[string]any
}

// verbOf puts the name of a scope's kind before an event.
func verbOf(in scope, event string) string {
	return map[string]string{enterprise: "enterprise.", organization: "org.", repository: "repo."}[in.level] + event
}

func (s *Server) audit(actor, action string, in scope, more map[string]any) {
	s.auditAt(s.clock.Now(), actor, action, in, more)
}

func (s *Server) auditAt(at time.Time, actor, action string, in scope, more map[string]any) {
	s.serial++
	e := auditEntry{seq: s.serial, at: at, action: action, actor: actor, owner: in.path, more: more}
	if in.level == repository {
		e.owner, e.repo = ownerOf(in.path), in.path
	}
	if len(s.log) >= maxAudit {
		s.log = s.log[1:]
	}
	s.log = append(s.log, e)
}

// facts are what an event about a runner carries.
func (r *runner) facts() map[string]any {
	out := map[string]any{"runner_id": r.ID, "runner_name": r.Name, "runner_labels": append(slices.Clone(r.fixed), r.Labels...)}
	if r.Group > 0 {
		out["runner_group_id"] = r.Group
	}
	return out
}

func (g *group) facts() map[string]any {
	return map[string]any{"runner_group_id": g.ID, "runner_group_name": g.Name}
}

// auditLog gives events newest first, with cursors instead of pages.
func (c *call) auditLog() {
	if c.owner != nil && c.owner.NoAudit {
		c.missing()
		return
	}
	of := []string{c.scope.path}
	if c.scope.level == enterprise { // what happened in its organizations too
		for _, o := range c.s.data.Owners {
			if o.Enterprise == c.scope.path {
				of = append(of, o.Login)
			}
		}
	}
	q := c.r.URL.Query()
	list := slices.DeleteFunc(slices.Clone(c.s.log), func(e auditEntry) bool {
		return !slices.Contains(of, e.owner) || !e.fits(q.Get("phrase"))
	})
	slices.SortStableFunc(list, func(a, b auditEntry) int {
		if d := b.at.Compare(a.at); d != 0 {
			return d
		}
		return b.seq - a.seq
	})
	if q.Get("order") == "asc" {
		slices.Reverse(list)
	}
	if after := q.Get("after"); after != "" {
		i := slices.IndexFunc(list, func(e auditEntry) bool { return e.cursor() == after })
		list = list[i+1:]
	}
	per := min(atLeast1(q.Get("per_page"), pageDefault), pageMost)
	if len(list) > per {
		list = list[:per]
		q.Set("after", list[per-1].cursor())
		q.Set("before", "")
		c.w.Header().Set("Link", fmt.Sprintf(`<http://%s%s?%s>; rel="next"`, c.r.Host, c.r.URL.EscapedPath(), q.Encode()))
	}
	out := []any{}
	for _, e := range list {
		out = append(out, e.shape())
	}
	c.json(http.StatusOK, out)
}

func (e auditEntry) cursor() string {
	return base64.StdEncoding.EncodeToString(fmt.Appendf(nil, "%d|%d", e.at.UnixMilli(), e.seq))
}

func (e auditEntry) shape() map[string]any {
	out := map[string]any{
		"@timestamp": e.at.UnixMilli(), "created_at": e.at.UnixMilli(), "action": e.action, "actor": e.actor,
		"_document_id": base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, "doc-%d", e.seq)), "operation_type": operation(e.action),
	}
	if out["org"] = e.owner; strings.HasPrefix(e.action, "enterprise.") {
		delete(out, "org")
		out["business"] = e.owner
	}
	if e.actor != "" {
		out["actor_id"] = accountID(e.actor)
	}
	if e.repo != "" {
		out["repo"] = e.repo
	}
	maps.Copy(out, e.more)
	return out
}

func operation(action string) string {
	for word, op := range map[string]string{"register": "create", "created": "create", "remove": "remove", "revoke": "remove"} {
		if strings.Contains(action, word) {
			return op
		}
	}
	return "modify"
}

// fits understands the part of the search syntax that programs use: action:, actor:,
// repo: and created: with >=, <= or a range.
func (e auditEntry) fits(phrase string) bool {
	for word := range strings.FieldsSeq(phrase) {
		key, want, _ := strings.Cut(word, ":")
		ok := true
		switch key {
		case "action":
			ok = e.action == want || strings.HasPrefix(e.action, want+".")
		case "actor":
			ok = e.actor == want
		case "repo":
			ok = e.repo == want
		case "created":
			ok = within(e.at, want)
		}
		if !ok {
			return false
		}
	}
	return true
}

// within reads GitHub's way of writing a span: >=T, <=T, >T, <T, A..B, or one day.
func within(at time.Time, span string) bool {
	if from, to, ok := strings.Cut(span, ".."); ok {
		return (from == "*" || !at.Before(moment(from, false))) && (to == "*" || !at.After(moment(to, true)))
	}
	for op, ok := range map[string]func(time.Time) bool{
		">=": func(t time.Time) bool { return !at.Before(t) }, "<=": func(t time.Time) bool { return !at.After(t) },
	} {
		if rest, cut := strings.CutPrefix(span, op); cut {
			return ok(moment(rest, op == "<="))
		}
	}
	if rest, cut := strings.CutPrefix(span, ">"); cut {
		return at.After(moment(rest, true))
	}
	if rest, cut := strings.CutPrefix(span, "<"); cut {
		return at.Before(moment(rest, false))
	}
	return !at.Before(moment(span, false)) && !at.After(moment(span, true))
}

// moment is a date or a time; of a date the end where that is meant. What is neither
// is the beginning of time.
func moment(text string, end bool) time.Time {
	if t, err := time.Parse(time.DateOnly, text); err == nil {
		if end {
			return t.Add(24*time.Hour - time.Second)
		}
		return t
	}
	for _, form := range []string{time.RFC3339, "2006-01-02T15:04:05"} {
		if t, err := time.Parse(form, text); err == nil {
			if end {
				return t.Add(time.Second - 1) // written to the second
			}
			return t
		}
	}
	return time.Time{}
}
