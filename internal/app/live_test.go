package app

import (
	"fmt"
	"strings"
	"testing"

	"cordon/internal/host"
)

func at(name string, n int, bytes int64) host.Reading {
	return host.Reading{Host: name, Section: fmt.Sprint("s", n), N: n, Of: 21, Bytes: bytes, Most: 32 << 20}
}

// What stands on the terminal is one line, written again only where its words are others.
func TestTheLineOfAReadIsWrittenOnlyWhereItChanges(t *testing.T) {
	var out strings.Builder
	l := &Live{W: &out, Width: func() int { return 80 }}
	l.Begin(1, true)
	for range 3 {
		l.Reading(at("b7", 1, 100))
	}
	l.Reading(at("b7", 2, 3<<20))
	l.Clear()
	l.Clear()
	want := "\rSIMULATED  b7: section 1 of 21, s1, 100 bytes\x1b[K\rSIMULATED  b7: section 2 of 21, s2, 3072 KiB\x1b[K\r\x1b[K"
	if out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
}

// Of hosts that are read side by side it stays with the one that began first.
func TestTheLineDoesNotJumpBetweenHosts(t *testing.T) {
	var out strings.Builder
	l := &Live{W: &out, Width: func() int { return 80 }}
	l.Begin(3, false)
	l.Reading(at("b7", 1, 100))
	l.Reading(at("b8", 1, 100))
	before := out.Len()
	l.Reading(at("b8", 2, 200))
	if out.Len() != before {
		t.Errorf("drawn for a host that it does not show: %q", out.String()[before:])
	}
	l.Done("b7")
	if got, want := out.String()[before:], "\r1/3 hosts read; b8: section 2 of 21, s2, 200 bytes\x1b[K"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	l.Done("b8")
	if !strings.HasSuffix(out.String(), "\r\x1b[K") {
		t.Errorf("it stays although nothing is read: %q", out.String())
	}
}

// Another line never stands behind it, a question is not written over, and it is never
// wider than the terminal: it could not be taken away then.
func TestTheLineGivesWay(t *testing.T) {
	var out strings.Builder
	width := 20
	l := &Live{W: &out, Width: func() int { return width }}
	l.Begin(1, false)
	l.Reading(at("evil\x1b[2J", 1, 100))
	if got := out.String(); strings.Contains(got, "\x1b[2J") || len(strings.TrimSuffix(got, "\x1b[K")) > width {
		t.Errorf("%q", got)
	}
	out.Reset()
	fmt.Fprintln(l.Above(&out), "a line")
	if out.String() != "\r\x1b[Ka line\n" {
		t.Errorf("%q", out.String())
	}
	out.Reset()
	release := l.Hold()
	l.Reading(at("b7", 2, 100))
	if out.Len() != 0 {
		t.Errorf("drawn over a question: %q", out.String())
	}
	release()
	l.Reading(at("b7", 3, 100))
	if out.Len() == 0 {
		t.Error("it does not come back")
	}
	var none *Live
	none.Begin(1, false)
	none.Done("b7")
	none.Clear()
	none.Hold()()
	if none.Above(&out) != &out {
		t.Error("without a line nothing stands between")
	}
}
