package tui

import (
	"context"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"cordon/internal/app"
	"cordon/internal/report"
)

// brief shows and copies the eight lines for the channel. They are folded from the
// journal as it is on disk, so they can be had while the run is at work.
func (p *stepper) brief() tea.Cmd {
	if p.about.ID == "" {
		return say("no case is open here")
	}
	e, id := p.e, p.about.ID
	return e.safe(func(context.Context) tea.Msg {
		v, err := e.app.View(id)
		if err != nil {
			return sayMsg{"no brief: " + app.Hint(err)}
		}
		lines := report.Brief(v, e.app.Clock().Now())
		return tea.BatchMsg{
			push(newReader(e, "brief of "+id, func() []string { return lines }, false)),
			e.copyAs("the brief", strings.Join(lines, "\n")),
		}
	})
}
