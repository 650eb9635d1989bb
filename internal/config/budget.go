package config

import "time"

// Budget limits the requests that one process makes on one case, and the time it works. What only widens the
// picture stops when no more than Reserve are left, as a gap that says so: pausing,
// stopping and removing must not wait behind it. Absent: no limit.
type Budget struct {
	Calls   int `yaml:"calls"`   // requests; 0: no limit
	Reserve int `yaml:"reserve"` // of those, kept for containment; absent: 50, or half of calls

	Time time.Duration `yaml:"time"` // of work, without what it waits for an answer; 0: no limit
	Keep time.Duration `yaml:"keep"` // of that, kept for containment; absent: half of time
}

// DefaultReserve is enough for containing one runner at a GitLab, twice.
const DefaultReserve = 50

func (v *validator) budget(b *Budget) {
	switch {
	case b.Calls < 0 || b.Reserve < 0:
		v.add(at("budget"), "write calls: 300 and reserve: 50", "less than nothing")
	case b.Calls == 0 && b.Reserve > 0:
		v.add(at("budget"), "write calls: 300 too", "a reserve of no number of calls")
	case b.Calls > 0 && b.Reserve >= b.Calls:
		v.add(at("budget", "reserve"), "keep it below calls", "as many kept back as there are: nothing would be read")
	case b.Calls > 0 && b.Reserve == 0:
		b.Reserve = min(DefaultReserve, b.Calls/2)
	}
	switch {
	case b.Time < 0 || b.Keep < 0:
		v.add(at("budget"), "write time: 10m and keep: 5m", "less than nothing")
	case b.Time == 0 && b.Keep > 0:
		v.add(at("budget"), "write time: 10m too", "what is kept of no time")
	case b.Time > 0 && b.Keep >= b.Time:
		v.add(at("budget", "keep"), "keep it below time", "as much kept back as there is: nothing would be read")
	case b.Time > 0 && b.Keep == 0:
		b.Keep = b.Time / 2
	}
}
