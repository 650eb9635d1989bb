package clock

import "time"

// Steady is a clock that also counts time that nobody can set: a correction of the
// machine's clock does not show in it. Where the machine sleeps it may stand still.
type Steady interface {
	// Steady is how long this process has run.
	Steady() time.Duration
}

// started has the reading that time.Since counts from.
var started = time.Now()

// Steady implements Steady.
func (Real) Steady() time.Duration { return time.Since(started) }

// Steady implements Steady.
func (s Scaled) Steady() time.Duration {
	return time.Duration(float64(time.Since(started)) * s.factor())
}

// Elapsed tells how long ago it was made, by c's steady time or, where c has none, by
// the time it shows.
func Elapsed(c Clock) func() time.Duration {
	if s, ok := c.(Steady); ok {
		from := s.Steady()
		return func() time.Duration { return max(s.Steady()-from, 0) }
	}
	from := c.Now()
	return func() time.Duration { return max(c.Now().Sub(from), 0) }
}
