package table

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"unsafe"

	"github.com/charmbracelet/x/ansi"
)

// many is what a large organization has.
const many = 100_000

// wide looks like the list of runners.
var wide = []Column{
	{Title: "RUNNER", Min: 16, Max: 28},
	{Title: "NAME", Min: 18, Max: 36},
	{Title: "STATUS", Min: 9},
	{Title: "PAUSED", Min: 6, Drop: 2},
	{Title: "SEEN", Min: 5, Drop: 4},
	{Title: "HOST", Min: 10, Max: 20, Drop: 3},
	{Title: "OWNER", Min: 12, Max: 30, Drop: 6},
}

type fleetLike []([7]string)

func (f fleetLike) Len() int               { return len(f) }
func (f fleetLike) ID(i int) string        { return f[i][0] }
func (f fleetLike) Cell(i, col int) string { return f[i][col] }

func big() fleetLike {
	f := make(fleetLike, many)
	for i := range f {
		f[i] = [7]string{
			fmt.Sprintf("gitlab-prod/%d", i*7919%1_000_003), fmt.Sprintf("build-%05d.example.org", i*104729%99991),
			[]string{"online", "offline", "stale", "never"}[i%4], []string{"no", "yes"}[i%2], fmt.Sprintf("%dm", i%59), "build-07", "acme/web",
		}
	}
	return f
}

func opened(b *testing.B, src Source) *Table {
	b.Helper()
	tab := New(wide, func(part, s string) string {
		if part == "cursor" {
			return "\x1b[7m" + s + "\x1b[0m"
		}
		return s
	}, false)
	tab.View(80, 21)
	o, err := tab.Job(src, nil, Sort{}).Run(context.Background())
	if err != nil || !tab.Swap(o) {
		b.Fatal(err)
	}
	return tab
}

// BenchmarkKeyToView is one key and the view after it, at 80x24. The metric bytes/key is
// what bubbletea's renderer writes for it: a changed line whole, an unchanged one as \n.
func BenchmarkKeyToView(b *testing.B) {
	tab := opened(b, big())
	last := tab.View(80, 21)
	var wrote int
	b.ReportAllocs()
	for b.Loop() {
		tab.Move(1)
		now := tab.View(80, 21)
		wrote += diff(last, now)
		last = now
	}
	b.ReportMetric(float64(wrote)/float64(b.N), "bytes/key")
}

// diff counts the bytes of a line diff, with the sequences that surround it.
func diff(was, now string) int {
	a, z := strings.Split(was, "\n"), strings.Split(now, "\n")
	n := len("\x1b[24A") + len("\x1b[80D")
	for i := range z {
		n += len("\r\n")
		if i >= len(a) || a[i] != z[i] {
			n += len(z[i]) + len("\x1b[K")
		}
	}
	return n
}

func BenchmarkFilter(b *testing.B) {
	src := big()
	tab := opened(b, src)
	b.ReportAllocs()
	for b.Loop() {
		j := tab.Job(src, func(i int) (bool, bool) { return strings.Contains(src[i][1], "77") && src[i][2] == "offline", false }, Sort{})
		if o, err := j.Run(context.Background()); err != nil || !tab.Swap(o) {
			b.Fatal(err)
		}
	}
}

func BenchmarkSort(b *testing.B) {
	src := big()
	tab := opened(b, src)
	b.ReportAllocs()
	for b.Loop() {
		if o, err := tab.Job(src, nil, Sort{Col: 2}).Run(context.Background()); err != nil || !tab.Swap(o) {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(cap(tab.rows))*float64(unsafe.Sizeof(tab.rows[0]))/many, "table-bytes/row")
}

func BenchmarkCell(b *testing.B) {
	for name, s := range map[string]string{"ascii": "build-07.example.org", "hostile": "e" + strings.Repeat("\u0301", 300), "10kB": strings.Repeat("漢", 10<<10/3)} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if ansi.StringWidth(Cell(s, 20, false)) > 20 {
					b.Fatal("too wide")
				}
			}
		})
	}
}
