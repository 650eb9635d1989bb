package tui

import (
	tea "github.com/charmbracelet/bubbletea"

	"cordon/tui/filter"
)

// filterKey takes a key while the filter is typed.
func (p *fleetPage) filterKey(k tea.KeyMsg) tea.Cmd {
	keys := p.e.keys
	switch {
	case keys.Back.Is(k):
		p.typing, p.line.text = false, ""
	case k.Type == tea.KeyEnter:
		if p.wrong != nil {
			return nil // the line says what is wrong
		}
		p.typing = false
		return nil
	default:
		if !p.line.key(k) {
			return nil
		}
		if p.line.why != "" {
			return say(p.line.why)
		}
	}
	return p.refilter()
}

// refilter takes the line over; while it is wrong, the list stays as it was.
func (p *fleetPage) refilter() tea.Cmd {
	e, err := filter.Parse(p.line.text)
	if err != nil {
		p.wrong = err.(*filter.Error) // documented: it always is one
		return nil
	}
	p.expr, p.wrong = e, nil
	if !p.have {
		return nil
	}
	return p.arrange(true)
}
