package tui

import (
	tea "github.com/charmbracelet/bubbletea"

	"cordon/internal/app"
)

// stepper is the page of one case.
type stepper struct {
	e   env
	drv *driver
}

// openCase opens a case for a runner and shows its page.
func openCase(e env, ref string, spec app.CaseSpec) tea.Cmd { return say("contain " + ref) }

// resumeCase goes on with a case and shows its page.
func resumeCase(e env, id string) tea.Cmd { return say("resume " + id) }

func (p *stepper) Init() tea.Cmd          { return nil }
func (p *stepper) Title() string          { return "case" }
func (p *stepper) Hint() string           { return "" }
func (p *stepper) Mode() Mode             { return Normal }
func (p *stepper) Keys() []Binding        { return nil }
func (p *stepper) Update(tea.Msg) tea.Cmd { return nil }
func (p *stepper) View(w, h int) string   { return "" }
