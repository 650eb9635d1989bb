package tui

import (
	"strings"

	tea "github.com/charmbracelet/bubbletea"
)

// reader shows lines of clean text that may still grow.
type reader struct {
	e     env
	title string
	lines func() []string
	off   int
	last  int
	end   bool // begin at the end
}

func newReader(e env, title string, lines func() []string, end bool) page {
	return &reader{e: e, title: title, lines: lines, end: end}
}

func (p *reader) Init() tea.Cmd { return nil }
func (p *reader) Title() string { return p.title }
func (p *reader) Hint() string  { return "esc goes back, y copies it all" }
func (p *reader) Mode() Mode    { return Normal }
func (p *reader) Keys() []Binding {
	k := p.e.keys
	return []Binding{k.Down, k.Up, k.HalfDown, k.HalfUp, k.Copy, k.Back}
}

func (p *reader) Update(msg tea.Msg) tea.Cmd {
	k, ok := msg.(tea.KeyMsg)
	if !ok {
		return nil
	}
	if p.e.keys.Copy.Is(k) {
		return p.e.copy(strings.Join(p.lines(), "\n"))
	}
	p.off = scroll(p.e.keys, k, p.off, p.last)
	return nil
}

func (p *reader) View(w, h int) string {
	var out []string
	for _, l := range p.lines() {
		in := len(l) - len(strings.TrimLeft(l, " "))
		for i, s := range wrap(strings.TrimLeft(l, " "), w-in-3) {
			if i > 0 {
				s = "  " + s
			}
			out = append(out, " "+strings.Repeat(" ", in)+s)
		}
	}
	p.last = max(0, len(out)-h)
	if p.end && p.last > 0 {
		p.off, p.end = p.last, false
	}
	p.off = min(p.off, p.last)
	return strings.Join(out[p.off:], "\n")
}
