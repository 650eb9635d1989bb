package tui

import tea "github.com/charmbracelet/bubbletea"

// fleetPage stands in until the list has landed.
type fleetPage struct{ e env }

// newFleet is the page of all runners.
func newFleet(e env) page { return &fleetPage{e} }

func (p *fleetPage) Init() tea.Cmd          { return nil }
func (p *fleetPage) Title() string          { return "fleet" }
func (p *fleetPage) Hint() string           { return "" }
func (p *fleetPage) Mode() Mode             { return Normal }
func (p *fleetPage) Keys() []Binding        { return []Binding{p.e.keys.Back} }
func (p *fleetPage) Update(tea.Msg) tea.Cmd { return nil }
func (p *fleetPage) View(w, h int) string   { return "" }
