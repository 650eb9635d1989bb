package tui

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"cordon/internal/app"
	"cordon/internal/fleet"
)

// start is the first page: one line for what the alert says, the cases that are open,
// and whether the providers answer.
type start struct {
	e     env
	what  field
	typed bool // the field has the focus
	at    int  // row of the list below

	turn    turn
	fleet   *fleet.Fleet
	asked   time.Time // when the providers answered, wall clock
	failed  error
	waiting bool // enter was pressed before the list was there

	about string // what found is about
	found []match
	cases []app.CaseState
	err   error
}

type (
	fleetMsg struct {
		turn  turn
		fleet fleet.Fleet
		err   error
		at    time.Time
	}
	casesMsg struct {
		turn  turn
		cases []app.CaseState
		err   error
	}
)

func newStart(e env) page { return &start{e: e, typed: true} }

// Init reads the providers' lists and the cases. No host is contacted.
func (p *start) Init() tea.Cmd {
	t, a, wall := p.turn.next(), p.e.app, p.e.wall
	return tea.Batch(
		p.e.safe(func(ctx context.Context) tea.Msg {
			f, err := a.Fleet(ctx)
			return fleetMsg{t, f, err, wall()}
		}),
		p.readCases(),
	)
}

func (p *start) readCases() tea.Cmd {
	t, a := p.turn, p.e.app
	return p.e.safe(func(context.Context) tea.Msg {
		cs, err := a.CaseStates()
		return casesMsg{t, cs, err}
	})
}

// Shown reads the cases again: one of them may have gone on meanwhile.
func (p *start) Shown() tea.Cmd { return p.readCases() }

func (p *start) Title() string { return "start" }

func (p *start) Hint() string {
	switch {
	case p.e.demo != nil && len(p.found) == 0 && p.what.text == "":
		return "demo: an alert names " + p.e.demo.Host + ". Type it and press enter"
	case p.e.demo != nil && len(p.found) > 0:
		return "demo: two have that name. The one that is online is meant: enter opens a case"
	case p.typed:
		return "enter looks it up in the providers' lists; on an empty line it opens the fleet"
	}
	return "enter opens it; esc goes back to the line"
}

func (p *start) Mode() Mode {
	if p.typed {
		return Typing
	}
	return Normal
}

// Holds keeps esc here: from the list it goes to the line.
func (p *start) Holds() bool { return true }

func (p *start) Keys() []Binding {
	k := p.e.keys
	list := k.NextPlan
	list.Help = "list"
	if p.typed {
		open := k.Open
		open.Help = "look up"
		if strings.TrimSpace(p.what.text) == "" {
			open.Help = "fleet"
		}
		return []Binding{open, list}
	}
	return []Binding{k.Open, k.Down, k.Up, k.Again, k.Back}
}

func (p *start) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case fleetMsg:
		if p.turn.stale(msg.turn) {
			return nil
		}
		p.fleet, p.failed, p.asked = &msg.fleet, msg.err, msg.at
		if p.waiting {
			p.waiting = false
			p.look()
		}
	case casesMsg:
		if p.turn.stale(msg.turn) {
			return nil
		}
		p.cases, p.err = nil, msg.err
		for _, c := range msg.cases {
			if !c.Closed && c.Simulated == p.e.simulated {
				p.cases = append(p.cases, c)
			}
		}
		slices.SortStableFunc(p.cases, func(a, b app.CaseState) int { return b.Last.Compare(a.Last) })
		p.at = min(p.at, max(0, p.rows()-1))
	case tea.KeyMsg:
		return p.key(msg)
	}
	return nil
}

func (p *start) rows() int { return len(p.found) + len(p.cases) }

func (p *start) key(k tea.KeyMsg) tea.Cmd {
	keys := p.e.keys
	if p.typed {
		switch {
		case keys.Open.Is(k):
			return p.enter()
		case k.Type == tea.KeyTab, k.Type == tea.KeyDown:
			if p.rows() > 0 {
				p.typed, p.at = false, 0
			}
		case keys.Back.Is(k):
			p.what.text, p.found, p.about = "", nil, ""
		default:
			p.what.key(k)
		}
		return nil
	}
	switch {
	case keys.Back.Is(k), keys.NextPlan.Is(k):
		p.typed = true
	case keys.Quit.Is(k):
		return quit
	case keys.Help.Is(k):
		return push(newHelp(p.e, p))
	case keys.Again.Is(k):
		return p.Init()
	case keys.Open.Is(k):
		return p.open()
	default:
		p.at = scroll(keys, k, p.at, p.rows()-1)
	}
	return nil
}

// enter looks the line up, or opens the fleet when it is empty.
func (p *start) enter() tea.Cmd {
	if strings.TrimSpace(p.what.text) == "" {
		return push(newFleet(p.e))
	}
	if hidden(p.what.text) {
		p.what.text = ""
		return say("a token is not taken here, where it would be seen: cordon triage - asks for it without echo")
	}
	if p.fleet == nil {
		p.waiting = true
		return say("looking; the providers have not answered yet")
	}
	p.look()
	if len(p.found) == 0 {
		return say(fmt.Sprintf("nothing in the providers' lists is called %q; enter on an empty line opens the fleet", clean(p.what.text)))
	}
	return nil
}

// look fills the list with what the line matches, and goes there.
func (p *start) look() {
	p.found, p.about = find(*p.fleet, p.what.text), p.what.text
	p.at = 0
	p.typed = len(p.found) == 0
	for i, m := range p.found { // what is online is what is likely meant
		if m.row.Runner.Status == "online" {
			p.at = i
			break
		}
	}
}

// open opens what the cursor is on.
func (p *start) open() tea.Cmd {
	if p.at < len(p.found) {
		ref := p.found[p.at].row.Runner.Ref
		for _, c := range p.cases {
			if c.Runner == ref && c.Broken == "" {
				return resumeCase(p.e, c.ID)
			}
		}
		spec := app.CaseSpec{Dry: p.e.readOnly}
		if p.e.demo != nil {
			spec.Title = p.e.demo.Title
		}
		return openCase(p.e, ref.String(), spec)
	}
	if i := p.at - len(p.found); i < len(p.cases) {
		if c := p.cases[i]; c.Broken != "" {
			return say("that case cannot be read: " + c.Broken)
		}
		return resumeCase(p.e, p.cases[i].ID)
	}
	return nil
}
