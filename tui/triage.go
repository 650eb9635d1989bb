package tui

import (
	"context"
	"fmt"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"cordon/internal/app"
)

// triager answers what an alert is about. *app.App is one; it contacts no host.
type triager interface {
	Triage(ctx context.Context, what string) (app.Card, error)
	Ran(ctx context.Context, c *app.Card, since time.Time) error
}

// triage is the page of what was looked up: one runner with every answer and how it
// is known, or the runners that it may be, of which none is chosen.
type triage struct {
	e    env
	data triager
	what string

	turn   turn
	card   *app.Card
	failed error
	asking bool

	at, off, last int
}

type triageMsg struct {
	page *triage
	turn turn
	card app.Card
	err  error
}

func newTriage(e env, what string) page { return &triage{e: e, data: e.app, what: what} }

// Init implements page.
func (p *triage) Init() tea.Cmd { return p.ask(p.what, false) }

// ask looks up what; ran asks for the jobs of the suspect window too, which is one
// call more and so waits until somebody wants it.
func (p *triage) ask(what string, ran bool) tea.Cmd {
	p.what, p.asking = what, true
	t, data := p.turn.next(), p.data
	return p.e.safe(func(ctx context.Context) tea.Msg {
		c, err := data.Triage(ctx, what)
		if err == nil && ran {
			err = data.Ran(ctx, &c, time.Time{})
		}
		return triageMsg{p, t, c, err}
	})
}

// Title implements page.
func (p *triage) Title() string { return "triage " + p.what }

// Mode implements page.
func (p *triage) Mode() Mode { return Normal }

// Hint implements page.
func (p *triage) Hint() string {
	demo := p.e.demo != nil
	switch {
	case p.asking:
		return "asking the providers; no host is contacted"
	case p.failed != nil:
		return "esc goes back to the line; r tries again"
	case p.only() != nil && demo:
		return "demo: this is the one. c opens a case for it, which changes nothing"
	case p.only() != nil:
		return "c opens a case, which changes nothing yet; r asks also what ran before"
	case len(p.card.Runners) > 1 && demo:
		return "demo: two have that name, and a name proves nothing: enter reads the first"
	case len(p.card.Runners) > 1:
		return "none is chosen for you: enter reads the one under the cursor"
	}
	if p.card != nil && len(p.card.Hosts) > 0 {
		return "no runner is known for this host; in the fleet, d reads who uses which address"
	}
	return "nothing is known under that; an empty line on the start page opens the fleet"
}

// Keys implements page.
func (p *triage) Keys() []Binding {
	k := p.e.keys
	open := k.Open
	open.Help = "card"
	if p.only() == nil {
		open.Help = "choose"
	}
	return []Binding{k.Contain.When(p.cannotContain), open, k.Again, k.Down, k.Back}
}

func (p *triage) only() *app.Candidate {
	if p.card == nil {
		return nil
	}
	return p.card.Only()
}

func (p *triage) cannotContain() string {
	switch {
	case p.only() == nil:
		return "choose one runner first: enter"
	case p.e.readOnly:
		return "read-only: no change can be permitted in this process"
	}
	return ""
}

// Update implements page.
func (p *triage) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case triageMsg:
		if msg.page != p || p.turn.stale(msg.turn) {
			return nil
		}
		p.asking, p.failed = false, msg.err
		if msg.err == nil {
			p.card, p.at, p.off = &msg.card, 0, 0
		}
	case tea.KeyMsg:
		return p.key(msg)
	}
	return nil
}

func (p *triage) key(k tea.KeyMsg) tea.Cmd {
	keys, one := p.e.keys, p.only()
	switch {
	case keys.Again.Is(k):
		return p.ask(p.what, one != nil)
	case p.card == nil:
	case keys.Contain.Is(k):
		if why := p.cannotContain(); why != "" {
			return say(why)
		}
		return contain(p.e, one.Ref, one.With...)
	case keys.Open.Is(k) && one != nil:
		return push(newCard(p.e, one.Ref.String()))
	case keys.Open.Is(k) && p.at < len(p.card.Runners):
		return p.ask(p.card.Runners[p.at].Ref.String(), false)
	case one == nil && len(p.card.Runners) > 0:
		p.at = scroll(keys, k, p.at, len(p.card.Runners)-1)
	default:
		p.off = scroll(keys, k, p.off, p.last)
	}
	return nil
}

// View implements page.
func (p *triage) View(w, h int) string {
	th := p.e.th
	var out []string
	switch {
	case p.failed != nil:
		for _, l := range wrap(th.Glyph("bad")+" "+clean(app.Hint(p.failed)), w-2) {
			out = append(out, " "+th.Bad.Render(l))
		}
	case p.card == nil:
		out = append(out, " asking the providers "+th.Glyph("more"))
	default:
		out = p.lines(w)
	}
	p.last = max(0, len(out)-h)
	p.off = min(p.off, p.last)
	if p.last > p.off {
		out = append(out[p.off:p.off+h-1:p.off+h-1], th.Dim.Render(fmt.Sprintf(" %s %d more lines below: j", th.Glyph("down"), p.last-p.off+1)))
		return strings.Join(out, "\n")
	}
	return strings.Join(out[p.off:], "\n")
}
