package table

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

// grid is a Source of text; the first cell is the id.
type grid [][]string

func (g grid) Len() int        { return len(g) }
func (g grid) ID(i int) string { return g[i][0] }
func (g grid) Cell(i, col int) string {
	if col < len(g[i]) {
		return g[i][col]
	}
	return ""
}

func numbered(n int) grid {
	g := grid{}
	for i := range n {
		g = append(g, []string{fmt.Sprintf("id-%03d", i), fmt.Sprintf("name %d", i), []string{"b", "a"}[i%2]})
	}
	return g
}

var three = []Column{{Title: "ID", Min: 8, Max: 12}, {Title: "NAME", Min: 10, Max: 40, Drop: 1}, {Title: "STATUS", Min: 9, Drop: 2}}

func fill(t *testing.T, tab *Table, src Source, keep func(int) (bool, bool), s Sort) {
	t.Helper()
	o, err := tab.Job(src, keep, s).Run(context.Background())
	if err != nil || !tab.Swap(o) {
		t.Fatalf("swap: %v", err)
	}
}

func TestTheWindowJumpsByHalfWhenTheCursorLeavesIt(t *testing.T) {
	tab := New(three, nil, false)
	tab.View(80, 11) // ten rows
	fill(t, tab, numbered(100), nil, Sort{})
	for range 9 {
		tab.Move(1)
	}
	if tab.off != 0 {
		t.Fatalf("moved before the cursor left: off %d", tab.off)
	}
	tab.Move(1)
	if tab.off != 6 || tab.Cursor() != "id-010" {
		t.Errorf("off %d, cursor %s", tab.off, tab.Cursor())
	}
	tab.Bottom()
	if tab.off != 90 || tab.Cursor() != "id-099" {
		t.Errorf("bottom: off %d, cursor %s", tab.off, tab.Cursor())
	}
	tab.Move(-10)
	if tab.off != 84 {
		t.Errorf("up: off %d", tab.off)
	}
	tab.Move(-1000)
	tab.HalfPage(1)
	if tab.Cursor() != "id-005" {
		t.Errorf("half page: %s", tab.Cursor())
	}
	tab.View(80, 3) // smaller: the cursor stays visible
	if v := tab.View(80, 3); !strings.Contains(v, "> id-005") && !strings.Contains(v, ">  id-005") {
		t.Errorf("after resize:\n%s", v)
	}
}

func TestOnlyTheWindowIsMadeIntoText(t *testing.T) {
	src := &counted{grid: numbered(1000), asked: map[int]bool{}}
	tab := New(three, nil, false)
	tab.View(80, 11)
	fill(t, tab, src, nil, Sort{})
	tab.Move(500)
	src.asked = map[int]bool{}
	tab.View(80, 11)
	if len(src.asked) != 10 {
		t.Errorf("%d rows were asked for cells", len(src.asked))
	}
}

type counted struct {
	grid
	asked map[int]bool
}

func (c *counted) Cell(i, col int) string { c.asked[i] = true; return c.grid.Cell(i, col) }

func TestSortIsStableShownAndKeepsCursorAndSelection(t *testing.T) {
	tab := New(three, nil, true)
	tab.View(80, 11)
	src := numbered(6)
	src[4][2] = "" // not known: last in both directions
	fill(t, tab, src, nil, Sort{})
	tab.Move(2)
	tab.Toggle() // id-002
	order := func() string {
		var ids []string
		for _, i := range tab.rows {
			ids = append(ids, src.ID(int(i))[5:])
		}
		return strings.Join(ids, "")
	}
	for _, c := range []struct {
		s    Sort
		want string
		head string
	}{
		{Sort{Col: 3}, "135024", "STATUS^"},
		{Sort{Col: 3, Desc: true}, "021354", "STATUSv"},
		{Sort{Desc: true}, "543210", "STATUS "},
		{Sort{}, "012345", "STATUS "},
	} {
		fill(t, tab, src, nil, c.s)
		if got := order(); got != c.want {
			t.Errorf("%+v: %s, want %s", c.s, got, c.want)
		}
		v := tab.View(80, 11)
		if !strings.Contains(v, c.head) {
			t.Errorf("%+v: header %q", c.s, strings.Split(v, "\n")[0])
		}
		if !strings.Contains(v, ">* id-002") {
			t.Errorf("%+v: cursor or selection moved off its row\n%s", c.s, v)
		}
	}
}

func TestAnOlderJobIsNotSwappedIn(t *testing.T) {
	tab := New(three, nil, false)
	old, _ := tab.Job(numbered(3), nil, Sort{}).Run(context.Background())
	fill(t, tab, numbered(5), nil, Sort{})
	if tab.Swap(old) || tab.Len() != 5 {
		t.Errorf("a stale order was taken: %d rows", tab.Len())
	}
}

func TestACancelledJobSaysSo(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := New(three, nil, false).Job(numbered(3), nil, Sort{}).Run(ctx); err == nil {
		t.Error("no error")
	}
}

func TestTheSelectionSurvivesFiltersAndNewRows(t *testing.T) {
	tab := New(three, nil, false)
	tab.View(80, 11)
	fill(t, tab, numbered(10), nil, Sort{})
	tab.Move(3)
	tab.Toggle()
	tab.Move(1)
	tab.Toggle()
	even := func(i int) (bool, bool) { return i%2 == 0, i == 5 }
	tab.View(100, 11)
	fill(t, tab, numbered(10), even, Sort{})
	if tab.Cursor() != "id-004" || tab.Hidden() != 1 || tab.Unknown() != 1 {
		t.Errorf("cursor %s, hidden %d, unknown %d", tab.Cursor(), tab.Hidden(), tab.Unknown())
	}
	if f := tab.Foot(100); f != "3/5 of 10; 1 more where the filter cannot tell; 2 selected (1 not on this list)" {
		t.Errorf("foot %q", f)
	}
	more := append(grid{{"new", "first"}}, numbered(10)...)
	fill(t, tab, more, nil, Sort{})
	if got := strings.Join(tab.Selected(), " "); got != "id-003 id-004" || tab.Cursor() != "id-004" || tab.Hidden() != 0 {
		t.Errorf("selected %s, cursor %s", got, tab.Cursor())
	}
	if v := tab.View(80, 11); !strings.Contains(v, ">* id-004") || !strings.Contains(v, " * id-003") {
		t.Errorf("marks:\n%s", v)
	}
	tab.ToggleAll()
	if len(tab.Selected()) != 11 {
		t.Errorf("all: %d", len(tab.Selected()))
	}
	tab.ToggleAll()
	if len(tab.Selected()) != 0 {
		t.Errorf("none: %v", tab.Selected())
	}
}

func TestTheCursorIsSoundOnEmptyAndRefilledLists(t *testing.T) {
	tab := New(three, nil, false)
	tab.Move(1)
	tab.Toggle()
	tab.Bottom()
	fill(t, tab, grid{}, nil, Sort{})
	tab.Move(1)
	if tab.Cursor() != "" || tab.Row() != -1 || tab.View(80, 5) == "" {
		t.Error("an empty list has a cursor")
	}
	fill(t, tab, numbered(3), nil, Sort{})
	if tab.Cursor() == "" {
		t.Error("no cursor after a refill")
	}
	tab.Bottom()
	fill(t, tab, numbered(2), nil, Sort{})
	if tab.Cursor() != "id-001" {
		t.Errorf("cursor %q on a shorter list", tab.Cursor())
	}
}

func TestColumnsAreDroppedByPriorityAndThatIsSaid(t *testing.T) {
	tab := New(three, nil, false)
	fill(t, tab, numbered(2), nil, Sort{})
	for w, want := range map[int]string{80: "", 34: "", 33: "status", 23: "status", 22: "name, status"} {
		head, _, _ := strings.Cut(tab.View(w, 4), "\n")
		if got := strings.Join(tab.HiddenColumns(), ", "); got != want {
			t.Errorf("%d: hidden %q, want %q (%q)", w, got, want, head)
		}
	}
	tab.View(33, 4)
	if f := tab.Foot(33); f != "1/2 of 2; hidden: status" {
		t.Errorf("foot %q", f)
	}
	if s := tab.NextSort(Sort{Col: 2}); s.Col != 0 {
		t.Errorf("sorted by a hidden column: %+v", s)
	}
	if s := tab.NextSort(Sort{Col: 1}); s.Col != 2 {
		t.Errorf("next %+v", s)
	}
}

// hostile are names that break grids.
var hostile = []string{
	"\x1b[31mred\x1b[0m\x1b]0;title\a", "\x1b[2J\x1b[H", "a\u202eb\u2066c", "e" + strings.Repeat("\u0301", 300),
	strings.Repeat("漢字", 40), "漢", strings.Repeat("x", 10<<10), strings.Repeat("\u0301", 50), "a\tb\nc\r\nd", "\u009b31m",
	"👨‍👩‍👧‍👦 family", "👍🏽👍🏽👍🏽", "🇩🇪🇩🇪🇩🇪", "⚠️ warning", "กำกำ", "क्षि", "\xff\xfe", "ﷺﷺﷺ", "\U000e0041tag", "ｗｉｄｅ", "한글 각", "",
}

func TestHostileNamesNeverBreakTheGrid(t *testing.T) {
	for _, ascii := range []bool{false, true} {
		for _, w := range []int{4, 9, 21, 33, 60, 80, 120} {
			g := grid{}
			for i, h := range hostile {
				g = append(g, []string{fmt.Sprintf("%d", i), h, h})
			}
			tab := New(three, nil, ascii)
			fill(t, tab, g, nil, Sort{Col: 2})
			for range hostile {
				v := tab.View(w, len(hostile)/2)
				lines := strings.Split(v, "\n")
				if len(lines) > len(hostile)/2 {
					t.Fatalf("%d lines", len(lines))
				}
				for _, l := range lines {
					if ansi.StringWidth(l) != w || ansi.StringWidthWc(l) != w {
						t.Errorf("%d cells (%d by runes), want %d: %q", ansi.StringWidth(l), ansi.StringWidthWc(l), w, l)
					}
					if strings.ContainsAny(l, "\x1b\x07\x00\t\r") || strings.Contains(l, "\u202e") {
						t.Errorf("raw control: %q", l)
					}
				}
				if n := strings.Count(v, "\n>"); n != 1 {
					t.Errorf("%d cursors", n)
				}
				tab.Move(1)
			}
		}
	}
}

func TestStylesChangeNoWidthAndCoverTheWholeCursorLine(t *testing.T) {
	paint := func(part, s string) string { return "\x1b[7m" + s + "\x1b[0m" }
	tab := New(three, paint, false)
	fill(t, tab, toned{numbered(3)}, nil, Sort{})
	for i, l := range strings.Split(tab.View(50, 4), "\n") {
		if ansi.StringWidth(l) != 50 {
			t.Errorf("line %d: %d cells", i, ansi.StringWidth(l))
		}
		if n := strings.Count(l, "\x1b[7m"); i == 1 && n != 1 || i == 2 && n != 1 {
			t.Errorf("line %d: %d styles in %q", i, n, l)
		}
	}
}

type toned struct{ grid }

func (toned) Tone(_, col int) string {
	if col == 2 {
		return "good"
	}
	return ""
}

// ranked compares numbers that are written as text; x is not known.
type ranked struct{ grid }

func (r ranked) Last(i, col int) bool { return r.grid[i][col] == "x" }
func (r ranked) Compare(i, j, col int) int {
	return len(r.grid[i][col]) - len(r.grid[j][col])
}

func TestASourceThatComparesKeepsTheUnknownLast(t *testing.T) {
	tab := New(three, nil, false)
	src := ranked{grid{{"a", "x"}, {"b", "333"}, {"c", "22"}, {"d", "x"}, {"e", "44"}, {"f", "7"}}}
	for _, c := range []struct {
		desc bool
		want string
	}{{false, "fcebad"}, {true, "bcefad"}} {
		fill(t, tab, src, nil, Sort{Col: 2, Desc: c.desc})
		got := ""
		for _, i := range tab.rows {
			got += src.ID(int(i))
		}
		if got != c.want {
			t.Errorf("desc %v: %s, want %s", c.desc, got, c.want)
		}
	}
}
