package engine

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"reflect"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"cordon/internal/casefile"
	"cordon/internal/casefile/faultfs"
	"cordon/internal/change"
	"cordon/internal/engine/enginemodel"
	"cordon/internal/target"
	"cordon/playbooks"
)

var (
	modelRuns = flag.Int("runs", 2000, "how many random lives of a case the model test tries")
	modelSeed = flag.Uint64("seed", 1, "the first seed of the model test; they count up")
)

// TestModelOfARun drives cases through random decisions while disks fail, processes die,
// power goes, a provider loses answers, others interfere and the clock jumps. After each
// of them the rules of the design hold (oracle_test.go); a failure prints its seed, and
// -runs 1 -seed N repeats it.
func TestModelOfARun(t *testing.T) {
	runs := *modelRuns
	if testing.Short() {
		runs /= 10
	}
	defer debug.SetGCPercent(debug.SetGCPercent(800)) // short lives: collecting them takes a third of the time
	var sum tally
	var mu sync.Mutex
	var next atomic.Int64
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for i := next.Add(1) - 1; i < int64(runs) && !t.Failed(); i = next.Add(1) - 1 {
				m := newModel(t, *modelSeed+uint64(i))
				m.live()
				mu.Lock()
				sum.add(m.tally)
				mu.Unlock()
				if m.bad.Load() {
					if runs == 1 {
						m.trace()
					}
					t.Errorf("repeat it: go test ./internal/engine -run TestModelOfARun -runs 1 -seed %d", m.seed)
				}
			}
		})
	}
	workers.Wait()
	t.Logf("seeds %d to %d: %+v", *modelSeed, *modelSeed+uint64(runs)-1, sum)
	if least := sum.least(); runs >= 200 && least < runs/100 {
		t.Errorf("the model does not reach everything it should: %+v", sum)
	}
}

// tally counts what happened, to see that the model reaches it.
type tally struct {
	Effects, Crashes, Poisons, Full, Doubts, Guarded, Waived, StoodDown, Undone, Drifts, Held, Glass, Approved, Contained int
}

func (a *tally) add(b tally) {
	x, y := reflect.ValueOf(a).Elem(), reflect.ValueOf(b)
	for i := range x.NumField() {
		x.Field(i).SetInt(x.Field(i).Int() + y.Field(i).Int())
	}
}

func (a tally) least() int {
	n, x := 1<<30, reflect.ValueOf(a)
	for i := range x.NumField() {
		n = min(n, int(x.Field(i).Int()))
	}
	return n
}

type model struct {
	tally
	t       *testing.T
	seed    uint64
	rng     *rand.Rand
	w       *enginemodel.World
	f       *faultfs.FS
	s       *casefile.Store
	c       *casefile.Case
	r       *Run
	pb      *playbooks.Playbook
	runners []target.Ref
	hosts   []target.Ref
	second  *secondPerson
	calm    bool           // little goes wrong, so that it gets far
	sent    map[string]int // change id → how often its call was let through
	over    bool
	bad     atomic.Bool
}

// errorf is how a broken rule is told.
func (m *model) errorf(format string, a ...any) {
	m.bad.Store(true)
	m.t.Errorf("seed %d: "+format, append([]any{m.seed}, a...)...)
}

// giveUp ends a life that cannot go on.
type giveUp struct{}

func (m *model) fatalf(format string, a ...any) {
	m.errorf(format, a...)
	panic(giveUp{})
}

const modelCase = "M"

func newModel(t *testing.T, seed uint64) *model {
	m := &model{
		t: t, seed: seed, rng: rand.New(rand.NewPCG(seed, 7)), f: faultfs.New(seed),
		sent: map[string]int{}, second: bob(t),
	}
	n := 1 + m.rng.IntN(3)*m.rng.IntN(2)
	m.w = enginemodel.New(n)
	m.w.Late, m.calm = m.rng.IntN(3), m.rng.IntN(5) == 0
	for i := range n {
		m.runners = append(m.runners, enginemodel.RunnerRef(fmt.Sprint(i+1)))
		m.hosts = append(m.hosts, enginemodel.HostRef(fmt.Sprintf("h%d", i+1)))
	}
	m.w.Next, m.w.Effect, m.w.Die = m.fault, m.effect, m.f.Stop
	m.pb = modelPlaybook(t, m.rng.IntN(2) == 0)
	var err error
	if m.s, err = casefile.OpenStore(casefile.Opener{Dir: "/state", Clock: m.w.Clock, FS: m.f}); err != nil {
		t.Fatal(err)
	}
	return m
}

// live is one life of a case.
func (m *model) live() {
	defer func() {
		if v := recover(); v != nil && v != (giveUp{}) {
			panic(v)
		}
	}()
	var all []target.Ref
	for i := range m.runners {
		all = append(all, m.runners[i], m.hosts[i])
	}
	c, err := m.s.Create(m.t.Context(), casefile.Opening{ID: modelCase, Kind: "incident", Targets: all, Playbook: m.pb.Source, PlaybookName: m.pb.ID}, casefile.Actor{Name: "alice", Host: "a", BootID: "b", PID: 1})
	if err != nil {
		m.fatalf("create: %v", err)
	}
	m.c = c
	m.open()
	steps := 15 + 10*m.rng.IntN(6)
	if m.calm {
		steps = 60
	}
	for range steps {
		if m.r.st.watch != nil && !m.calm && m.rng.IntN(3) == 0 {
			break // the rest of a watch is much the same
		}
		m.meanwhile()
		if m.step(); m.bad.Load() {
			return
		}
		if m.over && m.rng.IntN(3) > 0 {
			break
		}
	}
	doubtful := len(m.r.st.doubts) > 0 && m.rng.IntN(2) == 0
	if doubtful || m.rng.IntN(4) == 0 { // it was a false alarm after all
		for m.standDown(); !m.over && !m.bad.Load() && m.rng.IntN(12) > 0; {
			m.step()
		}
	}
	if v, err := m.s.Read(modelCase); err == nil { // else the machine is off
		m.check(v)
	}
}

// seen is a case that remembers how it was read last: reading it is what takes time.
type seen struct {
	*casefile.Case
	v *casefile.View
}

func (s *seen) View() (*casefile.View, error) {
	v, err := s.Case.View()
	s.v = v
	return v, err
}

// open starts a run on the case as it is, and returns what it read.
func (m *model) open() *casefile.View {
	j := &seen{Case: m.c}
	var of map[target.Ref][]target.Ref
	runners, hosts := m.runners, m.hosts
	if len(runners) > 1 {
		of = map[target.Ref][]target.Ref{}
		for i, r := range runners {
			of[r] = hosts[i : i+1]
		}
	}
	r, err := Open(Options{
		Journal: j, Playbook: m.pb, Runner: runners[0], Runners: runners, Hosts: hosts, HostsOf: of, Systems: m.w.Systems(), Appliers: m.w.Appliers(),
		Issuer: change.NewIssuer(), Clock: m.w.Clock, Actor: Actor{Name: "alice"}, Approval: Approvals{By: m.second.approvers()},
	})
	if err != nil {
		m.fatalf("open: %v", err)
	}
	m.r, m.over = r, false
	return j.v
}

func (m *model) view() *casefile.View {
	v, err := m.s.Read(modelCase)
	if err != nil {
		m.fatalf("the chain is not whole: %v", err)
	}
	return v
}

// crash ends the process, or the machine with it, and opens the case again.
func (m *model) crash(power bool) {
	m.Crashes++
	m.f.Stop()
	m.f.Reboot(power)
	_ = m.c.Close() // of a process that is gone
	m.f.SetCapacity(0)
	c, err := m.s.Take(m.t.Context(), modelCase, casefile.Actor{Name: "alice", Host: "a", BootID: "b", PID: 1})
	if err != nil {
		m.fatalf("take after a crash: %v", err)
	}
	m.c = c
	m.check(m.open())
}

func (m *model) standDown() {
	err := m.r.StandDown("false alarm")
	if err == nil {
		m.StoodDown++
	}
	m.survive(err)
}

// survive takes an error of the journal: the process ends and another goes on.
func (m *model) survive(err error) bool {
	if err == nil {
		return true
	}
	switch {
	case errors.Is(err, casefile.ErrPoisoned):
		m.Poisons++
	case errors.Is(err, casefile.ErrNoSpace):
		m.Full++
	case errors.Is(err, casefile.ErrBroken), errors.Is(err, casefile.ErrFenced):
		m.errorf("%v", err)
	}
	m.crash(errors.Is(err, faultfs.ErrStopped) || m.rng.IntN(2) == 0)
	return false
}

// step is one prompt and one answer.
func (m *model) step() {
	p, err := m.r.Next(m.t.Context())
	if !m.survive(err) {
		return
	}
	switch p.Kind {
	case Finished:
		m.over = true
		m.judge(*p.Ending)
		return
	case Progress:
		if p.Word == Drift {
			m.Drifts++
		}
		return
	case Doubt:
		m.Doubts++
	}
	d := m.decide(p)
	before, _ := m.c.Head()
	err = m.r.Answer(m.t.Context(), d)
	if slices.ContainsFunc([]error{ErrOutdated, ErrReason, ErrGuarded, ErrChoice}, func(e error) bool { return errors.Is(err, e) }) {
		if errors.Is(err, ErrGuarded) {
			m.Guarded++
		}
		if now, _ := m.c.Head(); now != before {
			m.errorf("a refused decision (%v) wrote %d lines", err, now-before)
		}
		return
	}
	m.survive(err)
}

// same compares the live run with one that was folded from the journal.
func (m *model) same(v *casefile.View) {
	other := newState()
	other.window = v.Opening.Window
	for _, l := range v.Lines {
		if err := other.apply(l); err != nil {
			m.fatalf("line %d: %v", l.Seq, err)
		}
	}
	if !reflect.DeepEqual(m.r.st, other) {
		m.errorf("RESUMED DIFFERS: the live run is not the fold of its journal")
	}
}
