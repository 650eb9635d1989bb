package tui

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/muesli/termenv"

	"cordon/internal/fleet"
	"cordon/internal/untrusted"
)

// manyRunners is what a large organization has.
const manyRunners = 100_000

func hugeFleet() fleet.Fleet {
	f := fleet.Fleet{At: still, Rows: make([]fleet.Row, 0, manyRunners)}
	for i := range manyRunners {
		r := someRow(fmt.Sprint(i), fmt.Sprintf("build-%05d.example.org", i*104729%99991), []string{"online", "offline", "stale", "never"}[i%4])
		if i%3 == 0 {
			r.Runner.Labels = []untrusted.Text{"gpu", "linux"}
		}
		f.Rows = append(f.Rows, r)
	}
	return f
}

// hugeScreen is a whole screen of 80x24 over the huge fleet, in colour.
func hugeScreen(b *testing.B) (*model, *fleetPage) {
	b.Helper()
	e, _ := quietEnv(b, termenv.ANSI, false)
	p := fleetOn(e, &fleetFake{fleet: hugeFleet()})
	m := newModel(e, p, nil)
	m.w, m.h = 80, 24
	settled(p)
	m.View()
	return m, p
}

// BenchmarkFleetKey is one key through the root and the whole view after it. bytes/key
// is what the renderer writes: changed lines whole, unchanged ones as a newline.
func BenchmarkFleetKey(b *testing.B) {
	m, _ := hugeScreen(b)
	last := m.View()
	wrote := 0
	b.ReportAllocs()
	for b.Loop() {
		m.Update(tea.KeyMsg{Type: tea.KeyDown})
		now := m.View()
		a, z := strings.Split(last, "\n"), strings.Split(now, "\n")
		wrote += len("\x1b[24A\x1b[80D")
		for i := range z {
			wrote += len("\r\n")
			if a[i] != z[i] {
				wrote += len(z[i]) + len("\x1b[K")
			}
		}
		last = now
	}
	b.ReportMetric(float64(wrote)/float64(b.N), "bytes/key")
}

// BenchmarkFleetFilter is a filter from the line to the swapped list.
func BenchmarkFleetFilter(b *testing.B) {
	_, p := hugeScreen(b)
	b.ReportAllocs()
	for b.Loop() {
		p.line.text = "status:offline !owner:* name:*77*"
		hand(p, p.refilter())
	}
	b.ReportMetric(float64(p.tab.Len()), "rows-left")
}

// BenchmarkFleetSort sorts by name, over all rows.
func BenchmarkFleetSort(b *testing.B) {
	_, p := hugeScreen(b)
	b.ReportAllocs()
	for b.Loop() {
		p.sort.Col, p.sort.Desc = colName+1, !p.sort.Desc
		hand(p, p.arrange(true))
	}
}

// BenchmarkFleetMemory is what the page holds beside the fleet that it was given.
func BenchmarkFleetMemory(b *testing.B) {
	f := hugeFleet()
	var before, after runtime.MemStats
	for b.Loop() {
		runtime.GC()
		runtime.ReadMemStats(&before)
		e, _ := quietEnv(b, termenv.ANSI, false)
		p := settled(fleetOn(e, &fleetFake{fleet: f}))
		runtime.GC()
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/manyRunners, "bytes/row")
		runtime.KeepAlive(p)
	}
}
