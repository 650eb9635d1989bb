package tui

import (
	"context"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"cordon/internal/app"
)

// takeOver asks whether a case is to be taken from whoever has it: with a written reason,
// and the end of its id typed. It is never one key.
type takeOver struct {
	e      env
	id     string
	why    string // who has it
	dialog *dialog
	begun  bool
}

func newTakeOver(e env, id, who string) page {
	p := &takeOver{e: e, id: id, why: clean(who)}
	p.dialog = (&dialog{
		th: e.th, keys: e.keys, wall: e.wall,
		title: "Take over " + clean(id),
		facts: []string{
			"A holder that lives gives way as soon as no call of his is on its way, and can write nothing afterwards.",
			"He is told who took it and why. If he does not answer you are told who he is, and nothing is taken.",
		},
		held: []string{p.why},
		want: id[max(0, len(id)-4):], why: "somebody else works on it",
		yes: func(reason string) tea.Cmd {
			p.begun = true
			return showCase(e, id, "asking the holder of "+clean(id)+" to give way", func(ctx context.Context) (*app.Session, error) {
				return e.app.TakeOver(ctx, id, reason)
			})
		},
	}).open()
	return p
}

func (p *takeOver) Init() tea.Cmd { return nil }
func (p *takeOver) Title() string { return "take over  " + p.id }

func (p *takeOver) Hint() string {
	if p.dialog == nil {
		return ""
	}
	if !p.dialog.atField {
		return "write why you take it; esc takes nothing, and v then only watches it"
	}
	return p.dialog.how()
}

func (p *takeOver) Mode() Mode {
	if p.dialog == nil {
		return Normal
	}
	return p.dialog.mode()
}

// Shown goes back where the case was opened and left again.
func (p *takeOver) Shown() tea.Cmd {
	if p.begun {
		return pop
	}
	return nil
}

func (p *takeOver) Keys() []Binding {
	if p.dialog == nil {
		return []Binding{p.e.keys.Back}
	}
	return p.dialog.bindings()
}

func (p *takeOver) Update(msg tea.Msg) tea.Cmd {
	k, ok := msg.(tea.KeyMsg)
	if !ok || p.dialog == nil {
		return nil
	}
	closed, cmd := p.dialog.key(k)
	if !closed {
		return cmd
	}
	p.dialog = nil
	if cmd == nil {
		return pop
	}
	return cmd
}

func (p *takeOver) View(w, h int) string {
	lines := []string{"", " " + p.e.th.Title.Render(clip(p.e.th, p.why, w-2))}
	if p.dialog == nil {
		return strings.Join(lines, "\n")
	}
	return over(p.e.th, lines, p.dialog.view(w-2, h-1), w, h)
}
