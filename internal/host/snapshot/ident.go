package snapshot

import (
	"strconv"
	"strings"
	"time"
)

// value takes one fact of the section ident.
func (p *parser) value(key, v string) {
	id := &p.s.Ident
	switch key {
	case "date":
		if sec, err := strconv.ParseInt(v, 10, 64); err == nil {
			p.offset(time.Unix(sec, 0).Add(500 * time.Millisecond)) // the fraction was dropped
		}
	case "uid":
		if n, err := strconv.Atoi(v); err == nil && n >= 0 {
			id.UID = n
		}
	case "hostname":
		id.Hostname = p.text(v, 300)
	case "kernel":
		id.Kernel = p.text(v, 300)
	case "os":
		id.OS = p.text(strings.Trim(v, `"'`), 300)
	case "machineid":
		if v = strings.TrimSpace(v); v != "" {
			id.MachineID = p.x.Marker.Print(v)
		}
	case "bootid":
		id.BootID = p.text(v, 100)
	case "btime":
		if sec, err := strconv.ParseInt(strings.TrimSpace(v), 10, 64); err == nil && sec > 0 && sec < 1<<36 {
			id.BootTime = time.Unix(sec, 0).UTC()
		}
	case "uptime":
		if f, err := strconv.ParseFloat(v, 64); err == nil && f >= 0 && f < 1e9 && !p.s.Offset.Known && !id.BootTime.IsZero() {
			// A tree in place of a machine has no clock of its own but this.
			p.offset(id.BootTime.Add(time.Duration(f * float64(time.Second))))
		}
	default:
		p.machine(key, cutTo(v, maxMachine))
	}
}

// offset compares the host's time with the middle of ours since the script was sent
// (facts/host.md §4.7): the truth lies within half of the round trip.
func (p *parser) offset(host time.Time) {
	if p.x.Now != nil {
		p.s.Offset = OffsetOf(host, p.x.Sent, p.x.Now())
	}
}

// OffsetOf is how far the clock of a host is from ours: it said host some time between
// sent and now, in a whole second plus a half. It is not known for a time that is none.
func OffsetOf(host, sent, now time.Time) Offset {
	if host.Year() < 1971 || host.Year() > 9000 {
		return Offset{}
	}
	half := max(now.Sub(sent), 0) / 2
	return Offset{Known: true, Value: host.Sub(sent.Add(half)), Uncertainty: half + 500*time.Millisecond}
}

// cutTo cuts s after n bytes.
func cutTo(s string, n int) string {
	if len(s) > n {
		return s[:n]
	}
	return s
}
