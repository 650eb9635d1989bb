package tui

import (
	"strings"

	tea "github.com/charmbracelet/bubbletea"
)

// help is the table of keys, with the context of the page below first.
type help struct {
	e   env
	off int
	n   int // lines on the last view
}

func newHelp(e env, _ page) page { return &help{e: e} }

func (p *help) Init() tea.Cmd { return nil }
func (p *help) Title() string { return "keys" }
func (p *help) Hint() string  { return "esc goes back" }
func (p *help) Mode() Mode    { return Normal }
func (p *help) Keys() []Binding {
	return []Binding{p.e.keys.Down, p.e.keys.Up, p.e.keys.Back}
}

func (p *help) Update(msg tea.Msg) tea.Cmd {
	k, ok := msg.(tea.KeyMsg)
	if !ok {
		return nil
	}
	p.off = scroll(p.e.keys, k, p.off, p.n)
	return nil
}

func (p *help) View(w, h int) string {
	var lines []string
	in := ""
	for _, r := range Table() {
		if r.In != in {
			in = r.In
			lines = append(lines, p.e.th.Title.Render(" "+in))
		}
		lines = append(lines, "   "+fit(p.e.th, r.Keys, 11)+" "+r.Does)
	}
	p.n = max(0, len(lines)-h)
	p.off = min(p.off, p.n)
	return strings.Join(lines[p.off:], "\n")
}

// scroll moves an offset by the keys of lists, within 0 and last.
func scroll(keys KeyMap, k tea.KeyMsg, off, last int) int {
	const half = 8
	switch {
	case keys.Down.Is(k):
		off++
	case keys.Up.Is(k):
		off--
	case keys.HalfDown.Is(k):
		off += half
	case keys.HalfUp.Is(k):
		off -= half
	case keys.Top.Is(k):
		off = 0
	case keys.Bottom.Is(k):
		off = last
	}
	return max(0, min(off, last))
}
