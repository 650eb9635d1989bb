package snapshot

import (
	"fmt"
	"slices"
	"strconv"

	"cordon/internal/untrusted"
)

// facts are the names a fact may have, and how many bytes of it are kept; FORMAT.md
// says what each is.
var facts = map[string]struct {
	section string
	max     int
}{
	"collector": {SectionProc, 16},
	"cmdline":   {SectionKernel, 4096}, "unlisted": {SectionKernel, 4096}, "modules": {SectionKernel, 64 << 10}, "tainted": {SectionKernel, 64},
	"core_pattern": {SectionKernel, 512}, "modprobe": {SectionKernel, 512}, "mounts": {SectionKernel, 256 << 10},
	"route": {SectionKernel, 16 << 10}, "arp": {SectionKernel, 64 << 10}, "vendor": {SectionKernel, 256}, "capeff": {SectionKernel, 64},
	"probed": {SectionCross, 16}, "pidmax": {SectionCross, 16}, "tasks": {SectionCross, 32}, "hidden": {SectionCross, 4096}, "starts": {SectionLog, 16 << 10},
	"shadow": {SectionSystem, 64 << 10}, "caps": {SectionPrivileged, 64 << 10}, "dpkg": {SectionOwned, 1 << 20}, "apk": {SectionOwned, 1 << 20}, "rpm": {SectionOwned, 1 << 20},
}

// fact takes one short text. Its lines are searched for secrets one at a time: a
// table is longer than the longest text that is searched as a whole.
func (p *parser) fact(fr Frame) error {
	want, ok := facts[fr.Name]
	if !ok || want.section != p.section || p.seen["fact "+fr.Name] {
		return fmt.Errorf("%w: fact %s in section %q", ErrForged, untrusted.Clean(fr.Name, 20), p.section)
	}
	p.seen["fact "+fr.Name] = true
	text, k := p.x.Marker.Text(string(fr.Body))
	p.s.Redacted += k
	if len(text) > want.max {
		text = text[:want.max]
		p.broken(fr.Name + " is longer than the cap")
	}
	p.s.Facts = append(p.s.Facts, Fact{Section: p.section, Name: fr.Name, Text: untrusted.Text(text)})
	return nil
}

// Fact returns the named fact and whether it was told.
func (s *Snapshot) Fact(name string) (string, bool) {
	i := slices.IndexFunc(s.Facts, func(f Fact) bool { return f.Name == name })
	if i < 0 {
		return "", false
	}
	return string(s.Facts[i].Text), true
}

// memory takes a descriptor of /proc/<n>/mem that another process than n holds.
func (q *Process) memory(target string) {
	m := memLink.FindStringSubmatch(target)
	if m == nil || len(q.Memory) >= maxMemory {
		return
	}
	if n, err := strconv.Atoi(m[1]); err == nil && n != q.PID && !slices.Contains(q.Memory, n) {
		q.Memory = append(q.Memory, n)
	}
}
