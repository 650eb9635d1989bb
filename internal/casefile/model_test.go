package casefile_test

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"syscall"
	"testing"

	"cordon/internal/casefile"
	"cordon/internal/casefile/faultfs"
	"cordon/internal/evidence"
)

var modelRuns = flag.Int("model-runs", 120, "how many random lives of a case to try; seeds count from 0")

// TestWhatWasAcknowledgedIsNeverLost drives a case through random work on a disk
// that fails at random, dies at random, and loses what was not synced. Whatever
// happens: every line that was acknowledged is there, in its place, unchanged; the
// chain is whole; every blob that the journal names is whole; the case can be taken.
func TestWhatWasAcknowledgedIsNeverLost(t *testing.T) {
	runs := *modelRuns
	if testing.Short() {
		runs /= 2
	}
	var crashes, poisons, fulls, resumes int
	for seed := range uint64(runs) {
		m := &model{t: t, seed: seed, rng: rand.New(rand.NewPCG(seed, 1)), f: faultfs.New(seed)}
		m.run()
		crashes, poisons, fulls, resumes = crashes+m.crashes, poisons+m.poisons, fulls+m.fulls, resumes+m.resumes
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
	t.Logf("%d runs: %d crashes, %d poisons, %d full disks, %d resumes", runs, crashes, poisons, fulls, resumes)
	if min(crashes, poisons, fulls, resumes) < runs/20 {
		t.Error("the faults do not reach the code")
	}
}

type model struct {
	t     *testing.T
	seed  uint64
	rng   *rand.Rand
	f     *faultfs.FS
	s     *casefile.Store
	acked []casefile.Line // what the case must hold, at Seq

	crashes, poisons, fulls, resumes int
}

func (m *model) run() {
	m.s = memStore(m.t, m.f)
	c := create(m.t, m.s, "INC-1")
	m.ack(read(m.t, m.s, "INC-1").Lines...)
	for range 6 {
		m.fault()
		for range 1 + m.rng.IntN(8) {
			if !m.act(c) && m.rng.IntN(2) == 0 {
				break // others try on
			}
		}
		c = m.reopen(c)
	}
	m.check()
}

func (m *model) ack(l ...casefile.Line) { m.acked = append(m.acked, l...) }

// fault plans what goes wrong next.
func (m *model) fault() {
	r := faultfs.Rule{Nth: 1 + m.rng.IntN(12), Keep: -1}
	switch m.rng.IntN(6) {
	case 0:
		r.Stop = true
	case 1:
		r.Op, r.Err = faultfs.OpSync, syscall.EIO
	case 2:
		r.Op, r.Err = faultfs.OpWrite, syscall.EIO
	case 3:
		r.Err = syscall.EIO
	case 4:
		m.f.SetCapacity(m.f.Used() + int64(m.rng.IntN(3000)))
		return
	case 5:
		return
	}
	m.f.Inject(r)
}

func (m *model) act(c *casefile.Case) bool {
	var l casefile.Line
	var err error
	switch m.rng.IntN(5) {
	case 0:
		_, err = c.Put(m.t.Context(), evidence.Item{Name: "a"}, strings.NewReader(strings.Repeat("x", m.rng.IntN(5000))))
	case 1:
		err = c.SignHead(fakeSigner{})
	case 2:
		l, err = c.Append(casefile.Event{Kind: "intent"})
		if err == nil {
			m.ack(l)
			l, err = c.Append(casefile.Event{Kind: "result", Msg: "\x1b" + strings.Repeat("é", m.rng.IntN(300))})
			if errors.Is(err, casefile.ErrNoSpace) && !errors.Is(err, casefile.ErrPoisoned) {
				m.t.Errorf("seed %d: no room for a result: %v", m.seed, err)
			}
		}
	default:
		l, err = c.Append(casefile.Event{Kind: "note", Msg: fmt.Sprint(m.rng.Uint64())})
	}
	if err != nil {
		oneLine(m.t, err)
	}
	switch {
	case errors.Is(err, casefile.ErrPoisoned):
		m.poisons++
	case errors.Is(err, casefile.ErrNoSpace):
		m.fulls++
	case errors.Is(err, casefile.ErrBroken), errors.Is(err, casefile.ErrFenced):
		m.t.Errorf("seed %d: %v", m.seed, err)
	}
	if err == nil && l.Seq > 0 {
		m.ack(l)
	}
	return err == nil
}

// reopen kills the writer, the machine or nobody, and takes the case again, which may
// take a few crashes more.
func (m *model) reopen(c *casefile.Case) *casefile.Case {
	for try := 0; ; try++ {
		switch m.rng.IntN(3) {
		case 0:
			m.crashes++
			m.f.Stop()
			m.f.Reboot(true)
		case 1:
			m.f.Stop()
			m.f.Reboot(false)
		}
		if c != nil {
			_ = c.Close()
		}
		m.f.Reboot(false) // the process that could not close is gone
		if try < 3 {
			m.fault()
		} else {
			m.f.SetCapacity(0)
		}
		var err error
		if c, err = m.s.Take(m.t.Context(), "INC-1", bob); err == nil {
			m.f.SetCapacity(0)
			m.f.Clear()
			m.check()
			return c
		}
		if try >= 3 || errors.Is(err, casefile.ErrBroken) || errors.Is(err, casefile.ErrHeld) {
			m.t.Fatalf("seed %d: %v", m.seed, err)
		}
		m.f.Clear()
		c = nil
	}
}

func (m *model) check() {
	v := read(m.t, m.s, "INC-1")
	for _, l := range m.acked {
		if l.Seq > len(v.Lines) || v.Lines[l.Seq-1].Sum() != l.Sum() {
			m.t.Fatalf("seed %d: line %d (%s) was acknowledged and is lost or changed", m.seed, l.Seq, l.Kind)
		}
	}
	for _, it := range v.Items {
		blob(m.t, v, it.Digest)
	}
	if _, err := v.Heads(); err != nil {
		m.t.Fatalf("seed %d: %v", m.seed, err)
	}
	spoken(m.t, v, content(m.t, m.f, "/state/cases/INC-1/journal.torn"))
	if slices.ContainsFunc(v.Lines, func(l casefile.Line) bool { return l.Kind == "resume" }) {
		m.resumes++
	}
}
