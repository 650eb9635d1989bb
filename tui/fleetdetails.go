package tui

import (
	"context"
	"fmt"
	"maps"

	tea "github.com/charmbracelet/bubbletea"

	"cordon/internal/app"
	"cordon/tui/filter"
)

// maxDetails is how many runners one key reads: one call each.
const maxDetails = 50

// readDetails reads what lists do not have: of the selected rows; else, with a filter
// that cannot tell about some rows, of those; else of the rows in the window.
func (p *fleetPage) readDetails() tea.Cmd {
	list := p.tab.Source().(*fleetList)
	var refs []string
	add := func(it *fleetItem) bool {
		if !it.Runner.Ref.IsZero() {
			refs = append(refs, it.id)
		}
		return len(refs) < maxDetails
	}
	chosen := map[string]bool{}
	for _, id := range p.tab.Selected() {
		chosen[id] = true
	}
	switch {
	case len(chosen) > 0 || p.tab.Unknown() > 0:
		for i := range list.items {
			it := &list.items[i]
			if len(chosen) > 0 && !chosen[it.id] || len(chosen) == 0 && p.expr.Match(it) != filter.Unknown {
				continue
			}
			if !add(it) {
				break
			}
		}
	default:
		for _, i := range p.tab.Visible() {
			if !list.items[i].detailed && !add(&list.items[i]) {
				break
			}
		}
	}
	if len(refs) == 0 {
		return say("the details of these rows were read; a card reads them again")
	}
	p.reading = len(refs)
	data, now := p.data, p.now
	return p.e.safe(func(ctx context.Context) tea.Msg {
		m := fleetDetailMsg{page: p, details: map[string]detail{}}
		for _, ref := range refs {
			if ctx.Err() != nil {
				break
			}
			at := now()
			r, err := data.Runner(ctx, ref)
			if err != nil {
				m.failed, m.err = m.failed+1, err
				continue
			}
			m.details[ref] = detail{r, at}
		}
		return m
	})
}

// detailed lays what was read over the list.
func (p *fleetPage) detailed(msg fleetDetailMsg) tea.Cmd {
	if msg.page != p {
		return nil
	}
	p.reading = 0
	d := maps.Clone(p.details) // the old one may be in a job's hands
	maps.Copy(d, msg.details)
	p.details, p.list = d, nil
	cmd := p.arrange(true)
	if msg.failed > 0 {
		return tea.Batch(cmd, say(fmt.Sprintf("%d of %d could not be read: %s", msg.failed, msg.failed+len(msg.details), app.Hint(msg.err))))
	}
	return cmd
}

func (p *fleetPage) noDetails() string {
	if p.reading > 0 {
		return fmt.Sprintf("the details of %d runners are being read", p.reading)
	}
	if p.tab.Total() == 0 {
		return "there is no row here"
	}
	return ""
}
