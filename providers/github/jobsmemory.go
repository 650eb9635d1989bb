package github

import (
	"slices"
	"sync"
	"time"
)

// Bounds of what is remembered between two searches.
const (
	maxMemoryJobs  = 100_000
	maxMemoryNames = 50_000
)

// memory keeps the jobs of runs that are over, and the names of runners that were read.
// A run is recognised by its attempt and by when it last changed, which every search
// reads again: so a search that stopped at a bound goes on from there when it is asked
// again. It is safe for concurrent use; the zero value is ready.
type memory struct {
	mu    sync.Mutex
	runs  map[int64]overRun
	jobs  int
	names map[runnerKey]wireRunner
	homes map[runnerKey]int64 // the group that a runner was in before it was held back
	last  searched
}

// searched is the last whole search, for a caller that says how old it may be
// (providers.WithRecent): what a runner reached, what ran and what came out of it are asked
// for one after another, and all begin with the same search.
type searched struct {
	on    runnerKey
	since time.Time
	real  time.Time // as providers.WithRecent counts, whatever the provider's clock says
	s     *search
}

type overRun struct {
	attempt int
	updated time.Time
	jobs    []wireJob
}

type runnerKey struct {
	scope scope
	id    int64
}

func (m *memory) recall(r wireRun) ([]wireJob, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	k, ok := m.runs[r.ID]
	if !ok || r.Status != completed || k.attempt != r.Attempt || !k.updated.Equal(r.UpdatedAt) {
		return nil, false
	}
	return k.jobs, true
}

// keep remembers the jobs of a run, if all of it is over.
func (m *memory) keep(r wireRun, jobs []wireJob) {
	if r.Status != completed || len(jobs) > maxMemoryJobs/10 {
		return
	}
	for _, j := range jobs {
		if j.Status != completed {
			return
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.jobs+len(jobs) > maxMemoryJobs || m.runs == nil {
		m.runs, m.jobs = map[int64]overRun{}, 0
	}
	m.jobs += len(jobs) - len(m.runs[r.ID].jobs)
	m.runs[r.ID] = overRun{r.Attempt, r.UpdatedAt, jobs}
}

func (m *memory) name(sc scope, w wireRunner) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.names == nil || len(m.names) >= maxMemoryNames {
		m.names = map[runnerKey]wireRunner{}
	}
	m.names[runnerKey{sc, w.ID}] = w
}

// told is a registration as an earlier case read it; what was read here counts before it.
func (m *memory) told(sc scope, w wireRunner) {
	if _, ok := m.named(sc, w.ID); !ok {
		m.name(sc, w)
	}
}

func (m *memory) named(sc scope, id int64) (wireRunner, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	w, ok := m.names[runnerKey{sc, id}]
	return w, ok
}

func (m *memory) keepSearch(s *search) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.last = searched{runnerKey{s.sc, s.id}, s.since, time.Now(), s.copy()}
}

// search is the last one, if it was this one and is at most as old as max in real time.
func (m *memory) search(sc scope, id int64, since time.Time, max time.Duration) *search {
	m.mu.Lock()
	defer m.mu.Unlock()
	l := m.last
	if max <= 0 || l.s == nil || l.on != (runnerKey{sc, id}) || !l.since.Equal(since) || time.Since(l.real) > max {
		return nil
	}
	return l.s.copy()
}

// copy shares what a finished search no longer changes.
func (s *search) copy() *search {
	c := *s
	c.b, c.found, c.lacks = nil, slices.Clone(s.found), slices.Clone(s.lacks)
	return &c
}

// leaves remembers the group that a runner is about to be moved out of: its jobs up to now
// are of the repositories of that one.
func (m *memory) leaves(sc scope, id, group int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.homes == nil || len(m.homes) >= maxMemoryNames {
		m.homes = map[runnerKey]int64{}
	}
	m.homes[runnerKey{sc, id}] = group
}

// home is the group that a runner came from into another one, where that is remembered.
func (m *memory) home(sc scope, w wireRunner) (wireRunner, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	id, ok := m.homes[runnerKey{sc, w.ID}]
	if !ok || w.GroupID != nil && *w.GroupID == id {
		return w, false
	}
	w.GroupID = &id
	return w, true
}
