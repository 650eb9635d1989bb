package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"cordon/internal/config"
	"cordon/internal/evidence"
	"cordon/internal/fleet"
	"cordon/internal/target"
	"cordon/providers"
)

// streamEvery is how often a list that is still coming in is shown, in real time.
const streamEvery = 300 * time.Millisecond

// managersAtOnce is how many runners are asked for their managers at a time.
const managersAtOnce = 4

// FleetOptions say what a listing does beyond one list a scope.
type FleetOptions struct {
	Managers bool              // ask every runner for its managers: one call more for each
	Partly   func(fleet.Fleet) // called with what there is so far, now and then; nil: not
}

// Fleet lists the runners of every provider and joins them with what is known of
// their managers and hosts. It contacts no host; a scope that could not be listed is a
// gap in the answer, and its runners are there as they were known last.
func (a *App) Fleet(ctx context.Context) (fleet.Fleet, error) {
	return a.ListFleet(ctx, FleetOptions{})
}

// KnownFleet is the fleet as it was known last. It asks nobody: the age of every row is
// in its SeenAt.
func (a *App) KnownFleet() (fleet.Fleet, error) {
	l, err := a.newListing()
	if err != nil {
		return fleet.Fleet{}, err
	}
	return l.fleet(), nil
}

// ListFleet is Fleet with options. The runners that a provider has not listed yet are
// in the parts as they were known last.
func (a *App) ListFleet(ctx context.Context, o FleetOptions) (fleet.Fleet, error) {
	l, err := a.newListing()
	if err != nil {
		return fleet.Fleet{}, err
	}
	l.partly = o.Partly
	if o.Partly != nil {
		l.shown = time.Now()
		o.Partly(l.fleet())
	}
	var wg sync.WaitGroup
	errs := make([]error, len(a.fleet.providers))
	for i, p := range a.fleet.providers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			errs[i] = l.list(ctx, p)
			if errs[i] == nil && o.Managers {
				errs[i] = l.managers(ctx, p)
			}
			if errs[i] == nil {
				l.failed(l.keep(p.Name()))
			}
		}()
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return fleet.Fleet{}, err
	}
	return l.fleet(), nil
}

// listing is one run of ListFleet. Its fields are guarded by mu once providers are asked.
type listing struct {
	a      *App
	base   fleet.Input
	partly func(fleet.Fleet)

	mu      sync.Mutex
	systems map[string]*heard
	lost    []evidence.Gap // what could not be kept
	shown   time.Time
}

// heard is what one provider said in this listing.
type heard struct {
	began    time.Time
	whole    bool // listed to the end
	was      *lastKnown
	runners  []providers.Runner
	gaps     []evidence.Gap
	scopes   map[target.Scope]bool // that were asked for, and whether to their end
	managers map[target.Ref][]providers.Manager
	asked    map[target.Ref]time.Time
}

func (a *App) newListing() (*listing, error) {
	l := a.blankListing()
	cases, err := a.kept()
	if err != nil {
		l.failed(err)
	}
	l.base.Snapshots = snapshots(cases)
	if len(a.fleet.providers) == 0 && len(l.base.Snapshots) == 0 { // with checked hosts their installations are the list
		return nil, fmt.Errorf("%w: no provider is configured; %s", ErrUsage, a.howToConfigure())
	}
	return l, nil
}

// blankListing is a listing in which nobody was asked yet and no host was read.
func (a *App) blankListing() *listing {
	l := &listing{a: a, systems: map[string]*heard{}}
	l.base = fleet.Input{At: a.clock.Now(), Services: map[string]string{}, Hosts: a.hostAddresses(), Configured: map[string][]target.Scope{}}
	for _, p := range a.fleet.providers {
		c := a.cfg.Providers[p.Name()]
		l.base.Services[p.Name()] = c.URL
		for _, word := range c.Scopes {
			if s, ok := config.Scope(c.Type, word); ok {
				l.base.Configured[p.Name()] = append(l.base.Configured[p.Name()], s)
			}
		}
		l.systems[p.Name()] = &heard{
			began: a.clock.Now(), was: a.lastKnown(p.Name()),
			managers: map[target.Ref][]providers.Manager{}, asked: map[target.Ref]time.Time{}, scopes: map[target.Scope]bool{},
		}
	}
	return l
}

func (l *listing) failed(err error) {
	if err != nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.lost = append(l.lost, evidence.Gap{Name: "state directory", Why: err.Error(), At: l.a.clock.Now()})
	}
}

func (l *listing) list(ctx context.Context, p providers.Provider) error {
	h := l.systems[p.Name()]
	err := p.Runners(ctx, func(page providers.Page) error {
		l.mu.Lock()
		h.runners = append(h.runners, page.Runners...)
		if was, ok := h.scopes[page.Scope]; page.Scope != (target.Scope{}) {
			h.scopes[page.Scope] = page.Gap == nil && (was || !ok)
		}
		if page.Gap != nil {
			g := *page.Gap
			g.Name = p.Name() + "/" + g.Name
			h.gaps = append(h.gaps, g)
		}
		l.mu.Unlock()
		l.show()
		return nil
	})
	if err != nil {
		return fmt.Errorf("list runners of %s: %w", p.Name(), err)
	}
	l.mu.Lock()
	h.whole = true
	l.mu.Unlock()
	return nil
}

// managers asks each runner that was listed. One that does not answer is a gap.
func (l *listing) managers(ctx context.Context, p providers.Provider) error {
	h := l.systems[p.Name()]
	slots := make(chan struct{}, managersAtOnce)
	var wg sync.WaitGroup
	for _, r := range h.runners {
		if ctx.Err() != nil {
			break
		}
		slots <- struct{}{}
		wg.Add(1)
		go func() {
			defer func() { <-slots; wg.Done() }()
			at := l.a.clock.Now()
			ms, err := p.Managers(ctx, r.Ref)
			l.mu.Lock()
			if err != nil {
				h.gaps = append(h.gaps, evidence.Gap{Name: p.Name() + "/managers of " + r.Ref.ID, Why: err.Error(), At: at})
			} else {
				h.managers[r.Ref], h.asked[r.Ref] = ms, at
			}
			l.mu.Unlock()
			l.show()
		}()
	}
	wg.Wait()
	return ctx.Err()
}

// keep writes what was heard of one provider into the inventory.
func (l *listing) keep(system string) error {
	h := l.systems[system]
	return l.a.remember(system, func(k *lastKnown) {
		k.listed(h.runners, h.began, h.gaps)
		for ref, at := range h.asked {
			k.put(ref, func(r *knownRunner) { r.Managers, r.ManagersAt = h.managers[ref], at })
		}
	})
}

// show hands out what there is, if the last time was long enough ago.
func (l *listing) show() {
	if l.partly == nil {
		return
	}
	l.mu.Lock()
	due := time.Since(l.shown) >= streamEvery
	if due {
		l.shown = time.Now()
	}
	l.mu.Unlock()
	if due {
		l.partly(l.fleet())
	}
}

// fleet joins what was heard with what was known before.
func (l *listing) fleet() fleet.Fleet { return fleet.Build(l.input()) }

func (l *listing) input() fleet.Input {
	l.mu.Lock()
	in := l.base
	in.Managers = map[target.Ref][]providers.Manager{}
	in.Read = map[target.Ref]map[string]time.Time{}
	in.Gaps = slices.Clone(l.lost)
	in.Listed = map[string]map[target.Scope]bool{}
	for _, p := range l.a.fleet.providers {
		h := l.systems[p.Name()]
		in.Gaps = append(in.Gaps, h.gaps...)
		in.Listed[p.Name()] = map[target.Scope]bool{}
		for s, whole := range h.scopes {
			in.Listed[p.Name()][s] = whole && h.whole // until the end is there, more of it may come
		}
		k := *h.was
		if h.whole {
			k.listed(h.runners, h.began, h.gaps)
		} else if len(h.runners) > 0 { // until the end is there, what is not listed yet stays
			k.listed(h.runners, h.began, []evidence.Gap{{}})
		}
		for _, x := range k.Runners {
			if at, ok := h.asked[x.Runner.Ref]; ok {
				x.Managers, x.ManagersAt = h.managers[x.Runner.Ref], at
			}
			ref := x.Runner.Ref
			in.Runners = append(in.Runners, x.merged())
			in.Read[ref] = x.read()
			if !x.ManagersAt.IsZero() {
				in.Managers[ref] = x.Managers
			}
		}
	}
	l.mu.Unlock()
	return in
}
