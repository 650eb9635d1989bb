package tui

import tea "github.com/charmbracelet/bubbletea"

// start is the first page.
type start struct{ e env }

func newStart(e env) page { return &start{e: e} }

func (p *start) Init() tea.Cmd   { return nil }
func (p *start) Title() string   { return "start" }
func (p *start) Hint() string    { return "enter opens the fleet" }
func (p *start) Mode() Mode      { return Normal }
func (p *start) Keys() []Binding { return []Binding{p.e.keys.Open} }
func (p *start) Update(msg tea.Msg) tea.Cmd {
	if k, ok := msg.(tea.KeyMsg); ok && p.e.keys.Open.Is(k) {
		return push(newFleet(p.e))
	}
	return nil
}
func (p *start) View(w, h int) string { return "" }
