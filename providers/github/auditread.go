package github

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"cordon/providers"
)

// Bounds of one reading of the audit logs. GitHub allows 1,750 queries an hour, a limit of
// its own.
const (
	auditCalls   = 40
	auditPages   = 10 // of one question
	maxAuditRows = 2000
)

// auditReading is what was read of one log, the newest first.
type auditReading struct {
	rows []wireAudit
	seen map[string]bool
	cut  string // why what bears on a return was not read to its end
}

// auditOf asks for each event that bears on a return by itself: in a busy organization what
// people and jobs do with git and repositories drowns it, and a bound would be met before
// it is reached. What else bears on runners comes after that, for the timeline, without the
// events of git, and not between the ends of a watch. Several actions in one phrase are not
// described (docs: searching the audit log).
func (p *Provider) auditOf(ctx context.Context, b *bounded, sc scope, since time.Time) (*auditReading, error) {
	r := &auditReading{seen: map[string]bool{}}
	for i, action := range slices.Concat(auditCame, auditOnline) {
		if level, _, _ := strings.Cut(action, "."); level == enterprise && sc.level != enterprise {
			continue
		}
		more, err := r.ask(ctx, b, sc, "action:"+action, since)
		switch {
		case ctx.Err() != nil:
			return r, ctx.Err()
		case err != nil && (i == 0 || ends(ctx, err) && len(r.rows) == 0 && !errors.Is(err, errBound)):
			return r, err
		case err != nil && r.cut == "":
			r.cut = err.Error()
		case more && r.cut == "":
			r.cut = fmt.Sprintf("more than %d pages of %s", auditPages, action)
		}
	}
	if providers.LookFrom(ctx) != providers.LookBetween {
		if _, err := r.ask(ctx, b, sc, "", since); finished(ctx, err) != nil {
			return r, err
		}
	}
	slices.SortStableFunc(r.rows, func(x, y wireAudit) int { return y.at().Compare(x.at()) })
	return r, nil
}

// ask reads the entries of one phrase, page after page by the cursor in Link.
func (r *auditReading) ask(ctx context.Context, b *bounded, sc scope, phrase string, since time.Time) (more bool, err error) {
	phrase = strings.TrimSpace(phrase + " created:>=" + since.UTC().Format("2006-01-02T15:04:05Z"))
	q := url.Values{"phrase": {phrase}, "include": {"web"}, "order": {"desc"}, "per_page": {"100"}}
	for range auditPages {
		a, err := b.get(ctx, sc.prefix()+"/audit-log", q)
		if err != nil {
			return false, err
		}
		l, err := decode[[]wireAudit](a)
		if err != nil {
			return false, err
		}
		for _, w := range l {
			if w.at().IsZero() || w.at().Before(since) || !auditKnown(w.Action) || w.Document != "" && r.seen[w.Document] {
				continue
			}
			if len(r.rows) == maxAuditRows {
				return true, nil
			}
			r.seen[w.Document] = true
			r.rows = append(r.rows, w)
		}
		switch after := q.Get("after"); {
		case a.After == "" || len(l) == 0:
			return false, nil
		case a.After == after:
			return false, malformed(a, "the next page is this one")
		}
		q.Set("after", a.After)
	}
	return true, nil
}
