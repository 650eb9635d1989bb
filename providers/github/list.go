package github

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"sync"

	"cordon/internal/evidence"
	"cordon/providers"
)

// How a list of runners is read.
const (
	perPage     = 100  // GitHub's largest page
	parallel    = 4    // requests at a time; GitHub allows 100 and 900 points a minute, a read being one
	maxPages    = 1000 // bounds a list that a hostile service never ends
	maxLimited  = 3    // limited answers one after the other that end a list: going on may get the credential banned
	maxShifting = 20   // pages of a list that is read again because it changed while it was read
)

// listing is one reading of a scope's runners. Pages are handed on as they come and not
// kept; what is kept of each runner is its id.
type listing struct {
	p      *Provider
	sc     scope
	yield  func(providers.Page) error
	seen   idSet
	pass   idSet // seen in this reading
	groups map[int64]group
	asked  bool // for the groups
	total  int  // total_count, as last told
	shifts bool // total_count was not always the same
	end    int  // the last page, 0: not known yet
	failed []int
	why    map[int]error
	row    int // limited answers in a row
}

// fetched is one page as it was answered.
type fetched struct {
	page int
	a    answer
	list wireRunners
	err  error
}

func (p *Provider) fetch(ctx context.Context, sc scope, page int) fetched {
	f := fetched{page: page}
	if f.a, f.err = p.look.get(ctx, sc.prefix()+"/actions/runners", pageOf(url.Values{}, page, perPage)); f.err == nil {
		f.list, f.err = rows(f.a)
	}
	f.a.Body = nil
	return f
}

// fetchAll reads up to parallel pages at once and returns when all are there.
func fetchAll[T any](from []T, read func(T) fetched) []fetched {
	out := make([]fetched, len(from))
	var wg sync.WaitGroup
	for i, x := range from {
		wg.Go(func() { out[i] = read(x) })
	}
	wg.Wait()
	return out
}

// list hands on every runner of sc: the first page, which first is where it was read
// already, then the others, some at a time. A page that fails is read once more at the
// end; what then is missing is a gap with its name. The error is yield's or ctx's.
func (p *Provider) list(ctx context.Context, sc scope, first *fetched, yield func(providers.Page) error) error {
	l := &listing{p: p, sc: sc, yield: yield, total: -1, why: map[int]error{}}
	if first == nil {
		f := p.fetch(ctx, sc, 1)
		first = &f
	}
	if first.err != nil && worthAgain(*first) {
		f := p.fetch(ctx, sc, 1)
		first = &f
	}
	if done := finished(ctx, first.err); done != nil {
		return done
	}
	if first.err != nil {
		return l.gap("runners of "+sc.String(), first.err.Error())
	}
	if err := l.take(ctx, *first); err != nil {
		return err
	}
	if err := l.rest(ctx); err != nil {
		return err
	}
	if l.shifts && len(l.why) == 0 && l.end <= maxShifting {
		l.pass, l.shifts, l.end = idSet{}, false, 0
		if err := l.from(ctx, 1); err != nil {
			return err
		}
	}
	return l.judge(ctx)
}

// rest reads what follows the first page, then what failed once more.
func (l *listing) rest(ctx context.Context) error {
	if err := l.from(ctx, 2); err != nil {
		return err
	}
	again := l.failed
	l.failed = nil
	for len(again) > 0 && l.row < maxLimited {
		n := min(parallel, len(again))
		if l.row > 0 {
			n = 1
		}
		if err := l.batch(ctx, again[:n]); err != nil {
			return err
		}
		again = again[n:]
	}
	l.failed = append(l.failed, again...)
	return nil
}

// from reads pages from one on until the list ends.
func (l *listing) from(ctx context.Context, page int) error {
	for ; l.more(page); page++ {
		batch := []int{page}
		for l.row == 0 && len(batch) < parallel && page < min(l.expected(), maxPages) {
			page++
			batch = append(batch, page)
		}
		if err := l.batch(ctx, batch); err != nil {
			return err
		}
		if l.row >= maxLimited {
			for page++; page <= min(l.expected(), maxPages); page++ {
				l.failed, l.why[page] = append(l.failed, page), errSlower
			}
			return nil
		}
	}
	return nil
}

// more reports whether a page is worth asking for: the list has not ended before it. Where
// a page in the middle failed, total_count says how far to go.
func (l *listing) more(page int) bool {
	if page > maxPages {
		return false
	}
	return l.end == 0 || page <= l.end
}

// expected is how many pages total_count makes.
func (l *listing) expected() int { return (max(l.total, 0) + perPage - 1) / perPage }

func (l *listing) batch(ctx context.Context, pages []int) error {
	for _, f := range fetchAll(pages, func(page int) fetched { return l.p.fetch(ctx, l.sc, page) }) {
		if done := finished(ctx, f.err); done != nil {
			return done
		}
		if err := l.take(ctx, f); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// take hands on a page, or writes down that it failed.
func (l *listing) take(ctx context.Context, f fetched) error {
	if f.err != nil {
		l.failed, l.why[f.page] = append(l.failed, f.page), f.err
		if l.end == 0 && f.page >= l.expected() {
			l.end = f.page // nothing says that there is more
		}
		switch {
		case errors.Is(f.err, errKept):
			l.row = maxLimited
		case errors.Is(f.err, providers.ErrLimited):
			l.row++
		default:
			l.row = 0
		}
		return nil
	}
	l.row = 0
	delete(l.why, f.page)
	if l.total >= 0 && l.total != *f.list.Total {
		l.shifts = true
	}
	l.total = *f.list.Total
	if f.a.Next == 0 && (len(f.list.Runners) == 0 || f.page >= l.expected()) {
		if l.end == 0 || f.page < l.end {
			l.end = f.page
		}
	}
	page := providers.Page{Scope: l.sc.target(), Expect: l.total}
	for _, w := range f.list.Runners {
		l.pass.add(w.ID)
		if !l.seen.add(w.ID) {
			continue
		}
		if w.GroupID != nil && !l.asked {
			l.asked, l.groups = true, l.p.groupsOf(ctx, l.sc)
		}
		page.Runners = append(page.Runners, l.p.runner(l.sc, w, l.groups))
	}
	return l.yield(page)
}

// judge says what is missing in the end.
func (l *listing) judge(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	for _, part := range spans(l.failed) {
		if err := l.gap(part.name()+" of runners of "+l.sc.String(), l.why[part.from].Error()); err != nil {
			return err
		}
	}
	missing := l.total - l.pass.n
	switch {
	case len(l.failed) > 0:
		return nil
	case l.end == 0:
		return l.gap("the rest of the runners of "+l.sc.String(), fmt.Sprintf("stopped after %d pages; there are more", maxPages))
	case missing > 0:
		return l.gap(fmt.Sprintf("%d of the runners of %s", missing, l.sc),
			fmt.Sprintf("GitHub counts %d (total_count) and listed %d", l.total, l.pass.n))
	case l.shifts:
		return l.gap("runners of "+l.sc.String()+" that moved between pages",
			fmt.Sprintf("the list changed while it was read, so one may have been passed over; it now counts %d", l.total))
	case missing < 0:
		return l.gap(fmt.Sprintf("runners of %s beside the %d that are counted", l.sc, l.total),
			fmt.Sprintf("GitHub counts %d (total_count) and listed %d: its count or its list is wrong, so neither says that all were seen", l.total, l.pass.n))
	}
	return nil
}

func (l *listing) gap(name, why string) error {
	return l.yield(providers.Page{Scope: l.sc.target(), Expect: -1, Gap: &evidence.Gap{Name: name, Why: why, At: l.p.clock.Now()}})
}

// errSlower is why pages were not asked for.
var errSlower = fmt.Errorf("%w: not asked for: GitHub said %d times in a row that it wants fewer requests; list again in a few minutes", providers.ErrLimited, maxLimited)

// worthAgain reports whether the same read may go better a moment later.
func worthAgain(f fetched) bool {
	return errors.Is(f.err, providers.ErrLimited) && !errors.Is(f.err, errKept) && f.a.again(f.a.At).IsZero()
}
