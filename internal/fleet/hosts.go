package fleet

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"cordon/internal/check"
	"cordon/internal/host/snapshot"
	"cordon/providers"
)

// HostsOf proposes which configured hosts use a runner, from the addresses that the
// provider saw its managers come from, and says how that is known. hosts maps a
// configured name to its addresses. It is a proposal: an address behind a NAT belongs
// to many, and then all of them are named. Without a match how says why.
func HostsOf(r providers.Runner, managers []providers.Manager, hosts map[string][]string) (names []string, how string) {
	if len(managers) == 0 {
		return nil, ""
	}
	var said, lost []string
	for _, m := range managers {
		from := address(string(m.Address))
		if from == "" {
			continue
		}
		var here []string
		for name, known := range hosts {
			if slices.ContainsFunc(known, func(a string) bool { return address(a) == from }) {
				here = append(here, name)
			}
		}
		slices.Sort(here)
		line := fmt.Sprintf("%s came from %s, the address of %s", r.Ref.Short(), from, strings.Join(here, " and of "))
		switch {
		case len(here) == 0:
			lost = append(lost, from)
			continue
		case len(here) > 1:
			line += " (one address, several hosts: look which)"
		}
		if !slices.Contains(said, line) {
			said = append(said, line)
		}
		names = append(names, here...)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	slices.Sort(lost)
	if lost = slices.Compact(lost); len(lost) > 0 && len(hosts) > 0 {
		said = append(said, fmt.Sprintf("no configured host has the address %s, which it came from too", strings.Join(lost, ", ")))
	}
	return names, strings.Join(said, "; ")
}

// HostsSeen is HostsOf from what hosts said about themselves: the system ids of
// snapshots taken before. It contacts nothing.
func HostsSeen(managers []providers.Manager, snaps []*snapshot.Snapshot) (names []string, how string) {
	var said []string
	for _, s := range snaps {
		for _, in := range check.Installations(s) {
			for _, m := range managers {
				if in.SystemID == "" || string(m.SystemID) != in.SystemID || slices.Contains(names, s.Host) {
					continue
				}
				names = append(names, s.Host)
				said = append(said, fmt.Sprintf("%s had system id %s on %s", s.Host, in.SystemID, s.Taken.UTC().Format("2006-01-02 15:04Z")))
			}
		}
	}
	slices.Sort(names)
	slices.Sort(said)
	return names, strings.Join(said, "; ")
}

// address is the IP address in s ("1.2.3.4", "1.2.3.4:22", "[::1]:22"), "" where there
// is none: names are not resolved here.
func address(s string) string {
	s = strings.TrimSpace(s)
	if at, err := netip.ParseAddrPort(s); err == nil {
		return at.Addr().Unmap().String()
	}
	if ip, err := netip.ParseAddr(strings.Trim(s, "[]")); err == nil {
		return ip.Unmap().WithZone("").String()
	}
	return ""
}
