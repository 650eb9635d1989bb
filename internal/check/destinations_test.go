package check_test

import (
	"net/netip"
	"testing"

	"cordon/internal/check"
	"cordon/internal/host/snapshot"
)

// Without an own list a public address is a note; with one, what is not on it must be
// explained, and what is on it or private is not told at all.
func TestDestinationsAreHeldAgainstTheOwnList(t *testing.T) {
	worst := func(o check.Options, remote string) check.Severity {
		s := cleanHost()
		plantProcess(holding(process(975, 902, 998, "/usr/bin/node", "node"), 9130),
			snapshot.Socket{Proto: "tcp", Local: "10.0.0.7:41200", Remote: remote, State: "ESTABLISHED", UID: 998, Inode: 9130, PID: 975})(s)
		var w check.Severity
		for _, r := range check.RunWith(s, o) {
			for _, f := range r.Findings {
				if f.Check == "destinations" && string(f.Where) == remote {
					w = f.Severity
				}
			}
		}
		return w
	}
	own := check.Options{Allow: []netip.Prefix{netip.MustParsePrefix("198.51.100.0/24")}}
	for _, x := range []struct {
		o      check.Options
		remote string
		want   check.Severity
	}{
		{check.Options{}, "198.51.100.9:443", check.Info},
		{own, "198.51.100.9:443", ""},
		{own, "203.0.113.9:443", check.Medium},
		{check.Options{Allow: []netip.Prefix{}}, "198.51.100.9:443", check.Medium},
		{own, "10.1.2.3:443", ""},
		{own, "[::ffff:203.0.113.9]:443", check.Medium},
	} {
		if got := worst(x.o, x.remote); got != x.want {
			t.Errorf("%s with %v: %q, want %q", x.remote, x.o.Allow, got, x.want)
		}
	}
}
