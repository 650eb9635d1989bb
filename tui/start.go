package tui

import (
	"context"
	"slices"
	"strings"

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

	turn   turn
	fleet  *fleet.Fleet
	failed error // why the providers' lists are not there

	cases []app.CaseState
	err   error // why the cases are not there
}

type (
	fleetMsg struct {
		turn  turn
		fleet fleet.Fleet
		err   error
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
	t, a := p.turn.next(), p.e.app
	return tea.Batch(
		p.e.safe(func(ctx context.Context) tea.Msg {
			f, err := a.Fleet(ctx)
			return fleetMsg{t, f, err}
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
	case p.e.demo != nil && p.typed && len(p.cases) == 0:
		return "demo: an alert names " + p.e.demo.Host + ". Type it and press enter"
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
		back := k.Back
		back.Help = "clear"
		return []Binding{open, list, back, typing()}
	}
	return []Binding{k.Open, k.Follow, k.TakeOver.When(p.e.mayTake), k.Down, k.Up, k.Again, k.Back}
}

func (p *start) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case fleetMsg:
		if p.turn.stale(msg.turn) {
			return nil
		}
		p.fleet, p.failed = &msg.fleet, msg.err
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
		p.at = min(p.at, max(0, len(p.cases)-1))
	case tea.KeyMsg:
		return p.key(msg)
	}
	return nil
}

func (p *start) key(k tea.KeyMsg) tea.Cmd {
	keys := p.e.keys
	if p.typed {
		switch {
		case keys.Open.Is(k):
			return p.enter()
		case k.Type == tea.KeyTab, k.Type == tea.KeyDown:
			if len(p.cases) > 0 {
				p.typed, p.at = false, 0
			}
		case keys.Back.Is(k) && p.what.text == "":
			return pop // which says how to leave
		case keys.Back.Is(k):
			p.what.text = ""
		default:
			if p.what.key(k); p.what.why != "" {
				return say(p.what.why)
			}
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
	case keys.Follow.Is(k), keys.TakeOver.Is(k):
		return p.other(keys.TakeOver.Is(k))
	default:
		p.at = scroll(keys, k, p.at, len(p.cases)-1)
	}
	return nil
}

// enter looks the line up, or opens the fleet when it is empty.
func (p *start) enter() tea.Cmd {
	what := strings.TrimSpace(p.what.text)
	switch {
	case what == "":
		return push(newFleet(p.e))
	case hidden(what):
		p.what.text = ""
		return say("a token is not taken here, where it would be seen: cordon triage - asks without echo")
	}
	return push(newTriage(p.e, what))
}

// open goes on with the case under the cursor.
func (p *start) open() tea.Cmd {
	if p.at >= len(p.cases) {
		return nil
	}
	c := p.cases[p.at]
	switch {
	case c.Broken != "":
		return say("that case cannot be read: " + c.Broken)
	case p.e.readOnly:
		return push(newFollow(p.e, c.ID))
	}
	return resumeCase(p.e, c.ID)
}

// other watches the case under the cursor, or asks to take it over.
func (p *start) other(take bool) tea.Cmd {
	if p.at >= len(p.cases) {
		return nil
	}
	c := p.cases[p.at]
	switch {
	case c.Broken != "":
		return say("that case cannot be read: " + c.Broken)
	case !take:
		return push(newFollow(p.e, c.ID))
	case p.e.readOnly:
		return say(p.e.mayTake())
	case p.e.desk.find(c.ID) != nil:
		return say("you have that case open here: enter shows it")
	}
	return push(newTakeOver(p.e, c.ID, "written last by "+c.Writer))
}
