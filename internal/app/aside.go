package app

import (
	"errors"
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
}

// beside starts it for a case that this process writes.
func (a *App) beside(c *casefile.Case) *aside {
	s := &aside{c: c, stop: make(chan struct{})}
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
		if by, err := s.c.Yield(); by != "" || errors.Is(err, casefile.ErrClosed) {
			return
		}
	}
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
