package casefile

import (
	"context"
	"errors"
	"time"
)

// followEvery is how often a followed journal is looked at, in real time.
const followEvery = 300 * time.Millisecond

// Follow hands every line of a case to emit, those that are there and then new ones,
// without a lock and without writing. It ends with nil when the case has ended (closed
// and nothing came after, handed over, purged) or with ctx; with emit's error; and with
// ErrBroken when the record is broken, or a line that was seen is another one now.
func (s *Store) Follow(ctx context.Context, id string, emit func(*View, Line) error) error {
	again := time.NewTicker(followEvery)
	defer again.Stop()
	seen, last := 0, ""
	quiet := 0 // looks without a new line
	for {
		v, err := s.Read(id)
		switch {
		case errors.Is(err, ErrPurged) && seen > 0:
			return nil
		case err != nil:
			return err
		case len(v.Lines) < seen:
			return broken(0, "line %d was seen and is not there any more", seen)
		case seen > 0 && v.Lines[seen-1].sum != last:
			return broken(seen, "it was seen with another content: the record was written anew while it was watched")
		}
		if len(v.Lines) == seen {
			quiet++
		} else {
			quiet = 0
		}
		for _, l := range v.Lines[seen:] {
			if err := emit(v, l); err != nil {
				return err
			}
		}
		seen, last = len(v.Lines), v.Head
		sum := v.summary()
		if quiet > 0 && (sum.Closed || sum.HandedOver != "") {
			return nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-again.C:
		}
	}
}
