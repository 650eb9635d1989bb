package tui

import (
	"errors"
	"fmt"

	tea "github.com/charmbracelet/bubbletea"

	"cordon/internal/app"
	"cordon/internal/casefile"
)

// What can be done beside the question on screen: a note, a file, a look at all runners,
// and at a case that somebody else has.

// held reports whether the case could not be opened because somebody else has it.
func (p *stepper) held() bool {
	return p.dead && (errors.Is(p.err, casefile.ErrHeld) || errors.Is(p.err, casefile.ErrHandedOver))
}

// aside says why nothing can be written into the case now.
func (p *stepper) aside() string {
	switch {
	case p.dead || p.about.ID == "":
		return "no case is open here"
	case !p.about.Kept:
		return "a dry run keeps nothing"
	case p.cur == nil:
		return "cordon is at work: wait for it"
	}
	return ""
}

// note asks for a text that is kept in the case.
func (p *stepper) noteForm() tea.Cmd {
	p.form = newForm(p.e.th, p.e.keys, "A note, kept in the case with your name and the time", func(v []string) (tea.Cmd, string) {
		if v[0] == "" {
			return nil, "write something, or esc"
		}
		if why := p.aside(); why != "" {
			return nil, why
		}
		p.send(order{note: v[0]}, "writing it down")
		return nil, ""
	}, "what")
	return nil
}

// attachForm asks for a file that is kept in the case, and what it is.
func (p *stepper) attachForm() tea.Cmd {
	p.form = newForm(p.e.th, p.e.keys, "A file, kept in the case as it is: a secret in it goes into every bundle", func(v []string) (tea.Cmd, string) {
		if err := app.CheckFile(v[0]); err != nil {
			return nil, clean(err.Error())
		}
		if v[1] == "" {
			return nil, "say what it is: that is kept with it"
		}
		if why := p.aside(); why != "" {
			return nil, why
		}
		p.send(order{file: v[0], what: v[1]}, "keeping it")
		return nil, ""
	}, "its path", "what it is and where it comes from")
	return nil
}

// side handles the keys of this file; false: the key is none of them.
func (p *stepper) side(k tea.KeyMsg) (tea.Cmd, bool) {
	keys := p.e.keys
	off := func(why string, do func() tea.Cmd) (tea.Cmd, bool) {
		if why != "" {
			return say(why), true
		}
		return do(), true
	}
	notHeld := ""
	if !p.held() {
		notHeld = "nobody else has this case"
	}
	switch {
	case keys.Note.Is(k):
		return off(p.aside(), p.noteForm)
	case keys.Attach.Is(k):
		return off(p.aside(), p.attachForm)
	case keys.Matrix.Is(k):
		if len(p.grid.Steps) == 0 {
			return say("no case is open here"), true
		}
		return push(newMatrix(p)), true
	case keys.Follow.Is(k):
		return off(notHeld, func() tea.Cmd { return push(newFollow(p.e, p.wants)) })
	case keys.TakeOver.Is(k):
		return off(notHeld, func() tea.Cmd { return push(newTakeOver(p.e, p.wants, errText(p.err))) })
	}
	return nil, false
}

// leases are the lines of pauses that end by themselves.
func (p *stepper) leases(w int) []string {
	var out []string
	for _, x := range p.cur.Leases {
		text := fmt.Sprintf("%s is paused until %s, and made so again before that", clean(x.Target.Short()), x.Until.UTC().Format("2006-01-02 15:04Z"))
		out = append(out, hang("lease", text, w)...)
	}
	return out
}
