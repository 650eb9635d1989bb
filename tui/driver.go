package tui

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"cordon/internal/app"
	"cordon/internal/engine"
	"cordon/internal/host"
)

// How long a screen that goes away waits, in real time: for an effect in flight to
// come back, and then for the case to be synced and closed after it was cut off.
const (
	waitForEffect = 20 * time.Second
	waitForClose  = 5 * time.Second
)

// driver owns one run and its case, in a goroutine of its own that no screen can
// block: it posts what happened and takes orders. Its context is not the screen's, so
// a lost terminal cannot cut an effect off in flight.
type driver struct {
	open  func(context.Context) (*app.Session, error)
	crash func(v any, stack []byte) string

	ctx    context.Context
	cancel context.CancelFunc
	orders chan order
	leave  chan struct{} // closed when nobody is there any more
	done   chan struct{} // closed when the case is closed

	mu      sync.Mutex
	queue   []event
	wake    chan struct{} // holds one token while queue is not empty
	acting  bool          // an effect may be in flight
	cut     context.CancelFunc
	once    sync.Once
	session app.Opened
	ending  *engine.Ending
}

// order is one thing asked of the run: a decision, another beginning of the suspect
// window (why is set), a note, a file to keep, a waiting step to show, or, when none of
// these, to try again after an error.
type order struct {
	decision *engine.Decision
	since    time.Time
	why      string

	note       string
	file, what string
	pick       string // key of a task
}

// event is one thing that happened. Exactly one of its parts is set, and Steps.
type event struct {
	opened *app.Opened
	prompt *engine.Prompt
	looks  []host.Looking // with prompt: how the hosts of its plans are reached
	note   string         // an order was carried out
	err    error          // an order was not taken, or the run stands still
	dead   bool           // with err: the run is over, the case stays open
	steps  []engine.StepState
	grid   engine.Matrix // with steps
	at     time.Time     // wall clock

	reading *host.Reading // how far the read of a host is; only the newest of a row is kept
}

// start makes a driver and lets it go.
func (e env) start(open func(context.Context) (*app.Session, error)) *driver {
	ctx, cancel := context.WithCancel(context.WithoutCancel(e.ctx))
	d := &driver{
		open: open, crash: e.crash, cancel: cancel,
		orders: make(chan order, 1), leave: make(chan struct{}), done: make(chan struct{}), wake: make(chan struct{}, 1),
	}
	d.ctx = host.WithReading(ctx, func(r host.Reading) { d.post(event{reading: &r}) })
	go d.run()
	return d
}

// give hands an order over. A run that is waiting in a watch is woken for it.
func (d *driver) give(o order) {
	select {
	case d.orders <- o:
	default: // one order at a time: the page asks only when the last one was answered
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.cut != nil && !d.acting {
		d.cut()
	}
}

// events waits for what happened since the last call. ok is false when there will be
// nothing more, or ctx ended.
func (d *driver) events(ctx context.Context) (evs []event, ok bool) {
	take := func() []event {
		d.mu.Lock()
		defer d.mu.Unlock()
		evs := d.queue
		d.queue = nil
		return evs
	}
	select {
	case <-d.wake:
		return take(), true
	case <-d.done:
		evs := take()
		return evs, len(evs) > 0
	case <-ctx.Done():
		return nil, false
	}
}

func (d *driver) post(e event) {
	d.mu.Lock()
	if n := len(d.queue); e.reading != nil && n > 0 && d.queue[n-1].reading != nil {
		d.queue = d.queue[:n-1]
	}
	d.queue = append(d.queue, e)
	d.mu.Unlock()
	select {
	case d.wake <- struct{}{}:
	default:
	}
}

// detach ends the run at a safe point and closes the case: reads and waits are cut
// off, an effect in flight may come back first. It is safe to call twice.
func (d *driver) detach() {
	d.once.Do(func() { close(d.leave) })
	d.mu.Lock()
	acting := d.acting
	if d.cut != nil && !acting {
		d.cut()
	}
	d.mu.Unlock()
	if acting {
		d.waitDone(waitForEffect)
	}
	d.cancel()
	d.waitDone(waitForClose)
}

func (d *driver) waitDone(most time.Duration) {
	t := time.NewTimer(most)
	defer t.Stop()
	select {
	case <-d.done:
	case <-t.C:
	}
}

func (d *driver) leaving() bool {
	select {
	case <-d.leave:
		return true
	default:
		return false
	}
}

// begin marks work that an order or a leaving screen may cut off, or an effect that
// only detach may, after a while.
func (d *driver) begin(effect bool) context.Context {
	ctx, cut := context.WithCancel(d.ctx)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.acting, d.cut = effect, cut
	if !effect && (d.leaving() || len(d.orders) > 0) {
		cut()
	}
	return ctx
}

func (d *driver) end() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.cut != nil {
		d.cut()
	}
	d.acting, d.cut = false, nil
}

func (d *driver) run() {
	defer close(d.done)
	defer func() {
		if v := recover(); v != nil {
			d.post(event{err: fmt.Errorf("cordon failed here; trace in %s", d.crash(v, debug.Stack())), dead: true})
		}
	}()
	ctx := d.begin(false)
	s, err := d.open(ctx)
	d.end()
	if err != nil {
		d.post(event{err: err, dead: true})
		return
	}
	defer func() {
		if err := s.Close(); err != nil {
			d.post(event{err: err, dead: true})
		}
	}()
	d.opened(s)
	for !d.leaving() {
		p, err := s.Run.Next(d.begin(false))
		d.end()
		if err == nil {
			d.post(event{prompt: &p, looks: d.looks(s, p), steps: s.Steps(), grid: s.Matrix(), at: time.Now()})
			if p.Kind == engine.Finished {
				d.mu.Lock()
				d.ending = p.Ending
				d.mu.Unlock()
			}
			if p.Kind == engine.Progress {
				continue
			}
		} else if !errors.Is(err, context.Canceled) {
			d.post(event{err: err, steps: s.Steps(), at: time.Now()})
		} else if len(d.orders) == 0 {
			continue
		}
		if !d.obey(s) {
			return
		}
	}
}

// obey takes orders until one of them asks for the next prompt.
func (d *driver) obey(s *app.Session) bool {
	select {
	case <-d.leave:
		return false
	case <-s.TakenOver(): // told at once, not at the key that would have decided
		d.post(event{err: s.TakenBy(), dead: true})
		return false
	case o := <-d.orders:
		switch {
		case o.decision != nil:
			err := s.Run.Answer(d.begin(true), *o.decision)
			d.end()
			if err != nil {
				d.post(event{err: err, steps: s.Steps(), at: time.Now()})
			}
		case o.note != "":
			d.did("noted: "+o.note, s.Note(o.note))
		case o.file != "":
			it, err := s.Attach(d.begin(false), o.file, o.what)
			d.end()
			d.did("kept: "+it.Name, err)
		case o.pick != "":
			d.did("", s.Run.Pick(o.pick))
		case o.why != "":
			if err := s.SuspectSince(o.since, o.why); err != nil {
				d.post(event{err: err, at: time.Now()})
			} else {
				d.opened(s)
				d.post(event{note: "suspect since " + o.since.Format("2006-01-02 15:04Z"), at: time.Now()})
			}
		}
	}
	return true
}

// looks asks how the hosts of a question are reached, which contacts nobody.
func (d *driver) looks(s *app.Session, p engine.Prompt) []host.Looking {
	if p.Kind != engine.Choose {
		return nil
	}
	defer d.end()
	return s.Looks(d.begin(false), p)
}

// did posts what came of an order beside the question.
func (d *driver) did(note string, err error) {
	if err != nil {
		d.post(event{err: err, at: time.Now()})
	} else if note != "" {
		d.post(event{note: note, at: time.Now()})
	}
}

func (d *driver) opened(s *app.Session) {
	o := s.Opened()
	d.mu.Lock()
	d.session = o
	d.mu.Unlock()
	d.post(event{opened: &o, steps: s.Steps(), grid: s.Matrix(), at: time.Now()})
}

// id is the case's id, "" until it is open.
func (d *driver) id() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.session.ID
}

// ended is how the run ended, nil while it has not.
func (d *driver) ended() *engine.Ending {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.ending
}

// alive reports whether the run still takes orders.
func (d *driver) alive() bool {
	select {
	case <-d.done:
		return false
	default:
		return true
	}
}

// kept reports whether the case outlives the run.
func (d *driver) kept() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.session.Kept
}

// inFlight reports whether an effect may be on its way.
func (d *driver) inFlight() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.acting
}
