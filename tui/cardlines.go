package tui

import (
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"cordon/internal/untrusted"
)

// cardLine is one thing on a card, or, with head set, the title over some.
type cardLine struct {
	id   string // keeps the cursor on it while other parts come in
	head bool
	text string   // clean
	tone string   // good, warn, bad or ""
	more []string // clean, under it

	web, cmd string   // the exact address, the exact command by hand
	evidence []string // what it rests on
	open     func() tea.Cmd
}

// card is a column of lines with a cursor, for both cards.
type card struct {
	e     env
	lines []cardLine
	at    int
	off   int // first line of the body on screen
	h     int
}

// set takes new lines; the cursor stays on its thing.
func (c *card) set(lines []cardLine) {
	id := ""
	if c.at < len(c.lines) {
		id = c.lines[c.at].id
	}
	c.lines = lines
	for i, l := range lines {
		if l.id == id && !l.head {
			c.at = i
			return
		}
	}
	c.at = c.next(max(0, min(c.at, len(lines)-1)), 1)
}

// short makes foreign text safe and keeps one thing from filling the card; the evidence
// has all of it.
func short(s string) string { return untrusted.Clean(s, 400) }

// next is the first thing from i on in a direction, or the last one the other way.
func (c *card) next(i, dir int) int {
	for j := i; j >= 0 && j < len(c.lines); j += dir {
		if !c.lines[j].head {
			return j
		}
	}
	for j := i; j >= 0 && j < len(c.lines); j -= dir {
		if !c.lines[j].head {
			return j
		}
	}
	return 0
}

// cursor is the line under the cursor; zero on an empty card.
func (c *card) cursor() cardLine {
	if c.at < len(c.lines) && !c.lines[c.at].head {
		return c.lines[c.at]
	}
	return cardLine{}
}

// bindings are the keys of both cards.
func (c *card) bindings() []Binding {
	k := c.e.keys
	l := c.cursor()
	when := func(b Binding, ok bool, why string) Binding {
		return b.When(func() string {
			if ok {
				return ""
			}
			return why
		})
	}
	return []Binding{
		when(k.Open, l.open != nil, "nothing to open here"), k.Copy,
		when(k.Web, l.web != "", "no address of this is known"), when(k.ByHand, l.cmd != "", "no command for this"),
		when(k.Evidence, len(l.evidence) > 0, "nothing is kept for this"),
	}
}

// key takes the keys of both cards.
func (c *card) key(k tea.KeyMsg) tea.Cmd {
	keys, l := c.e.keys, c.cursor()
	copyOr := func(s, why string) tea.Cmd {
		if s == "" {
			return say(why)
		}
		return c.e.copy(s)
	}
	switch {
	case keys.Down.Is(k):
		c.at = c.next(min(c.at+1, len(c.lines)-1), 1)
	case keys.Up.Is(k):
		c.at = c.next(max(c.at-1, 0), -1)
	case keys.HalfDown.Is(k):
		c.at = c.next(max(0, min(c.at+max(1, c.h/2), len(c.lines)-1)), 1)
	case keys.HalfUp.Is(k):
		c.at = c.next(max(c.at-max(1, c.h/2), 0), -1)
	case keys.Top.Is(k):
		c.at = c.next(0, 1)
	case keys.Bottom.Is(k):
		c.at = c.next(max(0, len(c.lines)-1), -1)
	case keys.Copy.Is(k):
		return copyOr(strings.Join(append([]string{l.text}, l.more...), "\n"), "nothing to copy here")
	case keys.Web.Is(k):
		return copyOr(l.web, "no address of this is known")
	case keys.ByHand.Is(k):
		return copyOr(l.cmd, "no command for this")
	case keys.Evidence.Is(k):
		if len(l.evidence) == 0 {
			return say("nothing is kept for this")
		}
		lines := append([]string{l.text}, l.evidence...)
		return push(newReader(c.e, "evidence", func() []string { return lines }, false))
	case keys.Open.Is(k):
		if l.open == nil {
			return say("nothing to open here; w copies its address, h the command by hand")
		}
		return l.open()
	}
	return nil
}

// view draws the body and, under it, the exact address and command of the line under
// the cursor.
func (c *card) view(w, h int) string {
	if w <= 4 || h <= 0 {
		return ""
	}
	th := c.e.th
	foot := c.foot(w)
	c.h = max(1, h-len(foot))
	var out []string
	from, to := 0, 0
	for i, l := range c.lines {
		if l.head {
			if i > 0 {
				out = append(out, "")
			}
			out = append(out, " "+th.Title.Render(clip(th, l.text, w-1)))
			continue
		}
		if i == c.at {
			from = len(out)
		}
		for n, s := range wrap(l.text, w-6) {
			mark := th.Mark(i == c.at && n == 0)
			if n > 0 {
				s = "  " + s
			}
			switch {
			case i == c.at:
				out = append(out, mark+" "+th.Cursor.Render(s))
			default:
				out = append(out, mark+" "+th.Tone(l.tone).Render(s))
			}
		}
		for _, m := range l.more {
			for _, s := range wrap(m, w-8) {
				out = append(out, "     "+th.Dim.Render(s))
			}
		}
		if i == c.at {
			to = len(out)
		}
	}
	c.reveal(from, min(to, from+c.h), len(out))
	out = out[c.off:min(c.off+c.h, len(out))]
	for len(out) < c.h {
		out = append(out, "")
	}
	return bound(th, strings.Join(append(out, foot...), "\n"), w, h)
}

// reveal jumps by half a screen when the cursor leaves it. The title over the first
// thing comes along.
func (c *card) reveal(from, to, all int) {
	if from <= 2 {
		from = 0
	}
	switch {
	case from < c.off:
		c.off = from - c.h/2
	case to > c.off+c.h:
		c.off = max(to-c.h, from-(c.h-1)/2)
	}
	c.off = max(0, min(c.off, all-c.h))
}

func (c *card) foot(w int) []string {
	th, l := c.e.th, c.cursor()
	line := func(key, s string) string {
		if s == "" {
			return ""
		}
		return " " + th.Key.Render(key) + " " + th.Dim.Render(clip(th, s, w-4))
	}
	return []string{line("w", l.web), line("h", l.cmd)}
}
