package report

import (
	"fmt"

	"cordon/internal/untrusted"
)

// open is what is left to do, most dangerous first; what does not fit is counted.
func (f *fold) open() string {
	var out []string
	add := func(all ...string) {
		for _, s := range all {
			if s != "" {
				out = append(out, s)
			}
		}
	}
	if len(f.still) > 0 {
		add(f.onHosts()[0])
	}
	if f.serious > 0 {
		add(f.found())
	}
	add(f.glassSays())
	if f.falsely {
		add(f.aftermath()...)
	}
	add(f.notOurs()...)
	add(f.debts())
	add(f.reachable()...)
	if f.serious == 0 {
		add(f.found())
	}
	return fit(out, maxLine-10)
}

// reachable is what of the credentials that it could reach is open.
func (f *fold) reachable() []string {
	switch {
	case !f.book && len(f.runners) == 0:
		return []string{"who reads a host lists nothing that it could reach"}
	case f.exposed == nil:
		return []string{"what it could reach was not listed"}
	}
	deploy := 0
	for _, c := range f.exposed.Entries {
		if c.Replaced.IsZero() && c.Dead.IsZero() && c.Deploys {
			deploy++
		}
	}
	out := []string{fmt.Sprintf("%d of %d credentials neither replaced nor dead (%d publish or deploy)", f.left(), len(f.exposed.Entries), deploy)}
	if n := len(f.exposed.Gaps); n > 0 {
		out = append(out, fmt.Sprintf("there may be more of them (%d gaps)", n))
	}
	return out
}

// left is how many credentials on the list are neither replaced nor dead.
func (f *fold) left() int {
	n := 0
	for _, c := range f.exposed.Entries {
		if c.Replaced.IsZero() && c.Dead.IsZero() {
			n++
		}
	}
	return n
}

// notOurs are the runners on the hosts that no list of ours has.
func (f *fold) notOurs() []string {
	if len(f.strays) == 0 {
		return nil
	}
	s := fmt.Sprintf("%d runners that no list of ours has: %s", len(f.strays), f.strays[0].What)
	if n := len(f.strays) - 1; n > 0 {
		s += fmt.Sprintf(" and %d more", n)
	}
	return []string{untrusted.Clean(s, 95)}
}
