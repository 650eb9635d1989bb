package report

import (
	"fmt"
	"strings"

	"cordon/internal/casefile"
	"cordon/internal/check"
	"cordon/internal/host/snapshot"
	"cordon/internal/untrusted"
)

// look finds what of the findings still ran when each host was looked at last: the
// runner's silence says nothing about it.
func (f *fold) look(v *casefile.View) {
	for _, host := range f.grave {
		read, last := check.Looks(v.Items, host)
		if read == "" || last == "" {
			continue
		}
		was, err := snapshotOf(v, read)
		var now *snapshot.Snapshot
		if err == nil {
			now, err = snapshotOf(v, last)
		}
		if err != nil {
			continue // not said; what was found is
		}
		for _, p := range check.Still(f.hostsIn[host].Results, check.High, was, now) {
			f.still = append(f.still, untrusted.Clean(p, 50)+" still runs on "+untrusted.Clean(host, 40))
		}
	}
}

// onHosts is what was found on the hosts and does not end with the runner, most dangerous
// first; nothing where no finding is high or worse.
func (f *fold) onHosts() []string {
	var out []string
	if len(f.still) > 0 {
		out = append(out, f.still[0]+more(len(f.still)-1))
	}
	if f.worse > 0 {
		out = append(out, fmt.Sprintf("%d findings of high severity on %s", f.worse, named(f.grave)))
	}
	return out
}

// found counts the findings for the line of what is open; "" where no host was judged.
func (f *fold) found() string {
	if len(f.hostsIn) == 0 {
		return ""
	}
	s := fmt.Sprintf("%d findings of medium or worse on %d hosts", f.serious, len(f.hostsIn))
	if f.worse > 0 {
		s += fmt.Sprintf(", %d of them high", f.worse)
	}
	return s
}

// named names hosts, and says how many where they are more than two.
func named(hosts []string) string {
	if len(hosts) > 2 {
		return fmt.Sprintf("%d hosts", len(hosts))
	}
	return untrusted.Clean(strings.Join(hosts, " and "), 80)
}

// fit joins items with semicolons in at most room characters. What does not fit is left
// out whole and counted; the first is always there, cut where it is too long by itself.
func fit(items []string, room int) string {
	const tail = len("; and 99 more")
	var out []string
	used := 0
	for i, s := range items {
		s = untrusted.Clean(s, room-tail)
		need := len([]rune(s)) + len("; ")
		left := room - used
		if i < len(items)-1 || len(out) < i { // something else is to be counted
			left -= tail
		}
		if i > 0 && need-2 > left {
			continue
		}
		out = append(out, s)
		used += need
	}
	if n := len(items) - len(out); n > 0 {
		out = append(out, fmt.Sprintf("and %d more", n))
	}
	return strings.Join(out, "; ")
}
