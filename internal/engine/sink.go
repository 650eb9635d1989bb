package engine

import (
	"context"
	"io"
	"sync"

	"cordon/internal/evidence"
)

// sink passes evidence on to the journal and folds what was kept at once, so that a
// guard never rests on an older fold than the disk. Reads may come from several
// goroutines; the run itself waits for them.
type sink struct {
	to Journal
	st *state
	mu *sync.Mutex
}

// sink of this run.
func (r *Run) sink() evidence.Sink { return sink{r.o.Journal, r.st, &r.sinking} }

// Put implements evidence.Sink.
func (s sink) Put(ctx context.Context, it evidence.Item, in io.Reader) (evidence.Item, error) {
	it, err := s.to.Put(ctx, it, in)
	if err == nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.st.kept(it.Name, it.Digest)
	}
	return it, err
}

// Miss implements evidence.Sink.
func (s sink) Miss(ctx context.Context, g evidence.Gap) error {
	err := s.to.Miss(ctx, g)
	if err == nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.st.missed(g.Name, g.Why)
	}
	return err
}
