package app

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"cordon/internal/casefile"
)

// yieldEvery is how often the holder of a case looks whether somebody wants it, in real
// time.
const yieldEvery = 500 * time.Millisecond

// aside is what goes on beside a run and must never hold it up: giving the case up when
// somebody takes it over, and telling the program that the owner named.
type aside struct {
	c    *casefile.Case
	stop chan struct{}
	wg   sync.WaitGroup
	tell *teller // nil: nobody is told
	once sync.Once

	by   string        // who took the case over; set before over is closed
	over chan struct{} // closed when somebody did
}

// beside starts it for a case that this process writes.
func (a *App) beside(c *casefile.Case) *aside {
	s := &aside{c: c, stop: make(chan struct{}), over: make(chan struct{})}
	if a.cfg.Notify != nil && !a.o.ReadOnly {
		s.tell = newTeller(a.cfg.Notify, c, a.Simulated())
	}
	s.wg.Add(1)
	go s.yield()
	return s
}

func (s *aside) yield() {
	defer s.wg.Done()
	again := time.NewTicker(yieldEvery)
	defer again.Stop()
	for {
		select {
		case <-s.stop:
			return
		case <-again.C:
		}
		// What keeps it from giving way is told to whoever asked, who then waits in vain.
		by, err := s.c.Yield()
		if by != "" {
			s.by = by
			close(s.over)
		}
		if by != "" || errors.Is(err, casefile.ErrClosed) {
			return
		}
	}
}

// TakenOver is closed when somebody else took the case over while this session held it;
// TakenBy then says who and why. A dry run, which nobody else sees, has none (nil).
func (s *Session) TakenOver() <-chan struct{} {
	if s.aside == nil {
		return nil
	}
	return s.aside.over
}

// TakenBy is what to tell whoever held the case, once TakenOver is closed.
func (s *Session) TakenBy() error {
	return fmt.Errorf("%w: %s; nothing more is written or sent from here; look on with: cordon case show %s --follow", casefile.ErrFenced, s.aside.by, s.c.ID())
}

// end waits for what is still to be told, within bounds, and for everything to be over.
func (s *aside) end() {
	s.once.Do(func() {
		close(s.stop)
		if s.tell != nil {
			s.tell.end()
		}
		s.wg.Wait()
	})
}
