package app

import (
	"fmt"
	"sync"
	"time"

	"cordon/internal/host"
)

// HowFar is how far a read is, for a line that says whose it is: the section and how many
// there are, and how much of the answer came. A file has no sections.
func HowFar(r host.Reading) string {
	if r.Section == "" {
		return size(r.Bytes) + " of at most " + size(r.Most)
	}
	return fmt.Sprintf("section %d of %d, %s, %s", r.N, r.Of, r.Section, size(r.Bytes))
}

// size is a number of bytes as people read them.
func size(n int64) string {
	switch {
	case n < 1<<10:
		return fmt.Sprintf("%d bytes", n)
	case n < 10<<20:
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return fmt.Sprintf("%d MiB", n>>20)
}

// slowRead is after how long a read that goes on is told about, and then how often.
const slowRead = 5 * time.Second

// Reading is for host.WithReading: it writes a line for each host when its answer begins
// to come, and how far slow reads are.
func (l Lines) Reading() func(host.Reading) {
	var mu sync.Mutex
	last := map[string]time.Time{}
	return func(r host.Reading) {
		mu.Lock()
		defer mu.Unlock()
		now := time.Now()
		at, known := last[r.Host]
		switch {
		case r.N == 1 || r.N == 0 && !known:
			last[r.Host] = now
			l.Printf("%s: it answers, and is being read", r.Host)
		case now.Sub(at) >= slowRead:
			last[r.Host] = now
			l.Printf("%s: being read: %s", r.Host, HowFar(r))
		}
	}
}
