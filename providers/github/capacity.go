package github

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"cordon/internal/witness"
)

// capacity says who else could take its jobs, as far as this credential sees, and what waits.
func (p *Provider) capacity(ctx context.Context, v view, t traffic) (string, error) {
	others, where, more, err := p.peers(ctx, v)
	if done := finished(ctx, err); done != nil {
		return "", done
	}
	if err != nil {
		return "unknown: the other runners could not be read (" + err.Error() + "); " + queue, nil
	}
	s := fmt.Sprintf("%d other online runners of %s carry all of its labels", others, where)
	switch {
	case more:
		s = "at least " + s
	case others == 0:
		s = "no other online runner of " + where + " carries all of its labels"
	}
	return s + "; " + queue + t.queue(), nil
}

// peers counts online runners that carry all labels of this one: of its group where that
// is known, else of its scope.
func (p *Provider) peers(ctx context.Context, v view) (n int, where string, more bool, err error) {
	path, where := v.sc.prefix()+"/actions/runners", v.sc.String()
	if v.group != nil && !v.group.quarantine() {
		path, where = v.sc.group(v.group.ID)+"/runners", "its group "+string(p.text(v.group.Name))
	}
	const most = 3
	pages := 0
	err = p.few(most).all(ctx, path, nil, most, func(a answer) (bool, error) {
		l, err := rows(a)
		for _, w := range l.Runners {
			if w.ID != v.runner.ID && w.online() == witness.Yes && covers(w, v.runner) {
				n++
			}
		}
		pages++
		more = a.Next != 0
		return pages < most, err
	})
	return n, where, more, err
}

func covers(w, of wireRunner) bool {
	return !slices.ContainsFunc(of.Labels, func(l wireLabel) bool {
		return !slices.ContainsFunc(w.Labels, func(o wireLabel) bool { return strings.EqualFold(o.Name, l.Name) })
	})
}
