package config

// Budget limits the requests that one process makes on one case. What only widens the
// picture stops when no more than Reserve are left, as a gap that says so: pausing,
// stopping and removing must not wait behind it. Absent: no limit.
type Budget struct {
	Calls   int `yaml:"calls"`   // requests; 0: no limit
	Reserve int `yaml:"reserve"` // of those, kept for containment; absent: 50, or half of calls
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
}
