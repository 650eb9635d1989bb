package tui

import (
	"fmt"
	"strings"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"

	"cordon/internal/engine"
	"cordon/tui/table"
)

// matrix is the page of a case with several runners: a row for each, a column for each
// step. A step that waits for somebody is picked here.
type matrix struct {
	e        env
	of       *stepper
	row, col int
	top      int // first row shown
}

func newMatrix(p *stepper) page {
	m := &matrix{e: p.e, of: p}
	for i, s := range p.grid.Steps {
		if s.Now {
			m.col = i
		}
	}
	return m
}

func (p *matrix) Init() tea.Cmd { return nil }
func (p *matrix) Mode() Mode    { return Normal }
func (p *matrix) Title() string {
	return fmt.Sprintf("%d runners, %d steps  %s", len(p.of.grid.Runners), len(p.of.grid.Steps), p.of.about.ID)
}

func (p *matrix) Hint() string {
	if why := p.canPick(); why != "" {
		return "a step that waits is picked with enter; here: " + why
	}
	return "enter asks for it now: " + p.cell().Waits
}

func (p *matrix) Keys() []Binding {
	k := p.e.keys
	pick := k.Open.When(p.canPick)
	pick.Help = "pick"
	return []Binding{pick, k.Left, k.Right, k.Down, k.Up, k.Back}
}

// cell is the one under the cursor.
func (p *matrix) cell() engine.Cell {
	g := p.of.grid
	if p.row >= len(g.Cells) || p.col >= len(g.Cells[p.row]) {
		return engine.Cell{}
	}
	return g.Cells[p.row][p.col]
}

// canPick says why what is under the cursor cannot be picked.
func (p *matrix) canPick() string {
	c := p.cell()
	switch {
	case c.Task == "" && c.End != "":
		return "it is over: " + c.End
	case c.Task == "":
		return "it does not wait for anybody"
	case p.of.dead || p.of.over():
		return "this run stands still"
	case p.of.cur == nil:
		return "cordon is at work: wait for it"
	}
	return ""
}

func (p *matrix) Update(msg tea.Msg) tea.Cmd {
	k, ok := msg.(tea.KeyMsg)
	if !ok {
		return nil
	}
	keys, g := p.e.keys, p.of.grid
	switch {
	case keys.Left.Is(k):
		p.col = max(0, p.col-1)
	case keys.Right.Is(k):
		p.col = max(0, min(len(g.Steps)-1, p.col+1))
	case keys.Open.Is(k):
		if why := p.canPick(); why != "" {
			return say(why)
		}
		p.of.send(order{pick: p.cell().Task}, "asking for it")
		return pop
	default:
		p.row = scroll(keys, k, p.row, len(g.Runners)-1)
	}
	return nil
}

// words of a cell, as wide as there is room and in three letters.
var cellWords = map[string][2]string{
	engine.Done: {"done", "ok"}, engine.NotNeeded: {"-", "-"}, engine.Skipped: {"skipped", "skp"}, engine.RefusedBy: {"refused", "REF"},
	engine.InDoubt: {"unknown", "???"}, engine.Unreached: {"gap", "gap"}, "waits": {"waits", "wai"}, "now": {"now", "now"}, "": {".", "."},
}

// word is how a cell reads in w letters, and how bad that is.
func word(c engine.Cell, w int) (text, tone string) {
	is := c.End
	switch {
	case c.None:
		return "", ""
	case c.Now:
		is, tone = "now", "warn"
	case c.End == "" && c.Task != "":
		is, tone = "waits", "warn"
	default:
		tone = level[c.End]
	}
	text = cellWords[is][0]
	if len(text) > w {
		text = cellWords[is][1]
	}
	return text, tone
}

// nameWidth is the width of the column of runners: whole references where they leave room
// for four steps.
func (p *matrix) nameWidth(w int) int {
	n := 22
	for _, r := range p.of.grid.Runners {
		n = max(n, ansi.StringWidth(r.Short())+3)
	}
	return min(n, max(22, w-1-4*4))
}

func (p *matrix) View(w, h int) string {
	th, g := p.e.th, p.of.grid
	if len(g.Steps) == 0 {
		return " nothing is known of the steps yet"
	}
	nameWidth := p.nameWidth(w)
	each := max(4, min(10, (w-nameWidth-1)/len(g.Steps)))
	fits := max(1, (w-nameWidth-1)/each)
	from := max(0, min(p.col-fits+1, len(g.Steps)-fits))
	to := min(len(g.Steps), from+fits)
	head := fit(th, "", nameWidth)
	for i := from; i < to; i++ {
		head += edge(i, p.col) + fit(th, fmt.Sprint(i+1), each-1)
	}
	head += edge(to, p.col)
	out := []string{th.Title.Render(clip(th, head, w))}
	detail := p.detail(w)
	room := max(1, h-1-len(detail)-1)
	p.top = min(max(p.top, p.row-room+1), p.row)
	for i := p.top; i < min(len(g.Runners), p.top+room); i++ {
		col := -2 // no cursor in this row
		if i == p.row {
			col = p.col
		}
		line := fit(th, th.Mark(i == p.row)+table.Whole(g.Runners[i].Short(), nameWidth-3, th.ASCII), nameWidth)
		for j := from; j < to; j++ {
			text, tone := word(g.Cells[i][j], each-1)
			line += edge(j, col) + th.Tone(tone).Render(fit(th, text, each-1))
		}
		line += edge(to, col)
		out = append(out, clip(th, line, w))
	}
	for len(out) < h-len(detail) {
		out = append(out, "")
	}
	return strings.Join(append(out[:h-len(detail)], detail...), "\n")
}

// edge stands before column i and frames the one with the cursor, so that it is seen
// without colour.
func edge(i, cursor int) string {
	switch i {
	case cursor:
		return "["
	case cursor + 1:
		return "]"
	}
	return " "
}

// detail says in words what is under the cursor.
func (p *matrix) detail(w int) []string {
	th, g := p.e.th, p.of.grid
	if p.col >= len(g.Steps) || p.row >= len(g.Runners) {
		return nil
	}
	s, c := g.Steps[p.col], p.cell()
	says := c.End
	switch {
	case c.None:
		says = "nothing in it is about this runner: no host of it is known"
	case c.Now:
		says = "the run stands here"
	case c.End == "" && c.Waits != "":
		says = "waits for " + clean(c.Waits)
	case c.End == "":
		says = "open"
	}
	if c.Once {
		says += "; done once, for all runners"
	}
	out := []string{"", th.Title.Render(clip(th, fmt.Sprintf(" %d/%d %s, %s", p.col+1, len(g.Steps), clean(s.Title), clean(g.Runners[p.row].Short())), w))}
	for _, l := range clamp(th, wrap(says, w-2), 2) {
		out = append(out, " "+l)
	}
	return out
}
