package tui

import (
	"context"
	"fmt"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"cordon/internal/app"
	"cordon/internal/target"
)

// already is asked before another case about a runner is opened: two cases about one
// runner each have half of the record, and neither knows what the other undoes.
type already struct {
	e     env
	ref   string
	open  []app.OpenCase
	begin tea.Cmd // opens another one

	at     int
	dialog *dialog
	begun  bool
}

// aboutOf are the open cases about any of these runners. In a read-only process none
// matters: what it opens is not kept.
func (e env) aboutOf(runners ...target.Ref) ([]app.OpenCase, error) {
	if e.readOnly {
		return nil, nil
	}
	all, err := e.app.OpenCases()
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(all, func(c app.OpenCase) bool { return !slices.ContainsFunc(runners, c.About) }), nil
}

// openAsked opens a case for the runner that the command line names, unless one is open
// about it: then it asks.
func openAsked(e env, ref string, spec app.CaseSpec) tea.Cmd {
	return e.safe(func(context.Context) tea.Msg {
		begin := openCase(e, ref, spec)
		var runners []target.Ref
		for _, s := range append([]string{ref}, spec.Also...) {
			if r, err := target.Parse(s); err == nil { // what is wrong with it is said where the case is opened
				runners = append(runners, r)
			}
		}
		open, err := e.aboutOf(runners...)
		if err == nil && len(open) > 0 && !spec.Dry {
			return pushMsg{newAlready(e, ref, open, begin)}
		}
		return begin()
	})
}

func newAlready(e env, ref string, open []app.OpenCase, begin tea.Cmd) *already {
	return &already{e: e, ref: clean(ref), open: open, begin: begin}
}

func (p *already) Init() tea.Cmd { return nil }
func (p *already) Title() string { return "open already  " + p.ref }

func (p *already) Hint() string {
	if p.dialog != nil {
		return p.dialog.how()
	}
	return "enter goes on with the case under the cursor; esc opens nothing"
}

func (p *already) Mode() Mode {
	if p.dialog != nil {
		return p.dialog.mode()
	}
	return Normal
}

// Shown goes back where a case was opened from here and left again.
func (p *already) Shown() tea.Cmd {
	if p.begun {
		return pop
	}
	return nil
}

func (p *already) Keys() []Binding {
	k := p.e.keys
	if p.dialog != nil {
		return p.dialog.bindings()
	}
	on, another := k.Open, k.Contain
	on.Help, another.Help = "go on", "another"
	return []Binding{on, another, k.Down, k.Up, k.Back}
}

func (p *already) Update(msg tea.Msg) tea.Cmd {
	k, ok := msg.(tea.KeyMsg)
	if !ok {
		return nil
	}
	if p.dialog != nil {
		closed, cmd := p.dialog.key(k)
		if closed {
			p.dialog = nil
		}
		return cmd
	}
	switch keys := p.e.keys; {
	case keys.Open.Is(k):
		p.begun = true
		return resumeCase(p.e, p.open[p.at].ID)
	case keys.Contain.Is(k):
		p.ask()
	default:
		p.at = scroll(keys, k, p.at, len(p.open)-1)
	}
	return nil
}

func (p *already) ask() {
	p.dialog = (&dialog{
		th: p.e.th, keys: p.e.keys, wall: p.e.wall,
		title: "Open another case about " + p.ref,
		facts: []string{
			"Each of them has half of the record, and what one undoes the other holds to be in force.",
			"Nothing outside is changed by opening it.",
		},
		want: "y", why: "two cases about one runner",
		yes: func(string) tea.Cmd {
			p.begun = true
			return p.begin
		},
	}).open()
}

func (p *already) View(w, h int) string {
	th := p.e.th
	n := "a case is open"
	if len(p.open) > 1 {
		n = fmt.Sprintf("%d cases are open", len(p.open))
	}
	out := []string{"", " " + th.Warn.Render(clip(th, th.Glyph("warn")+" "+n+" about "+p.ref+" already", w-1)), ""}
	most := max(1, h-len(out)-1)
	from := max(0, min(p.at-most+1, len(p.open)-most))
	for i := from; i < min(len(p.open), from+most); i++ {
		c := p.open[i]
		line := fmt.Sprintf(" %s%s, last line %s ago by %s", th.Mark(i == p.at), clean(c.ID), age(p.e.now().Sub(c.Last)), clean(c.Writer))
		if i == p.at {
			line = th.Cursor.Render(fit(th, line, w))
		}
		out = append(out, line)
	}
	if p.dialog != nil {
		return over(th, out, p.dialog.view(w-2, h-1), w, h)
	}
	return strings.Join(out, "\n")
}
