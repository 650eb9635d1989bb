package tui

import (
	"fmt"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"
)

// deaf is how long a dialog that has just opened hears nothing: keys that were typed
// ahead, and a held key's repeats, were not meant for it.
const deaf = 300 * time.Millisecond

// dialog asks before an effect. Its default is no. What can be undone and hits one
// runner takes one key; everything else is typed: the end of the id, or the count.
// Enter never confirms and a paste is never taken for a confirmation.
type dialog struct {
	th     Theme
	keys   KeyMap
	wall   func() time.Time
	opened time.Time

	title  string
	facts  []string // what will happen, plain text
	held   []string // what holds it back: a reason sets it aside
	want   string   // what has to be typed; "y": one key
	why    string   // why that
	blocks func() string

	reason  field
	typed   field
	atField bool   // the reason is done, or none is needed
	said    string // why the last key did nothing
	yes     func(reason string) tea.Cmd
}

// open starts the time in which nothing is heard.
func (d *dialog) open() *dialog {
	d.opened, d.atField = d.wall(), len(d.held) == 0
	return d
}

// mode says how keys reach the dialog.
func (d *dialog) mode() Mode {
	if d.atField && d.want == "y" {
		return Asking
	}
	return Typing
}

// bindings are the keys of the dialog, for the footer. While something is typed every
// other key is a letter.
func (d *dialog) bindings() []Binding {
	if d.mode() == Asking {
		return []Binding{d.keys.Yes, d.keys.No}
	}
	open, back := d.keys.Open, d.keys.Back
	open.Help, back.Help = "go on", "do nothing"
	if d.atField {
		return []Binding{back, typing()}
	}
	return []Binding{open, back, typing()}
}

// key takes one key. closed reports that the dialog is over; cmd is then what it led
// to, nil for no.
func (d *dialog) key(k tea.KeyMsg) (closed bool, cmd tea.Cmd) {
	d.said = ""
	switch {
	case d.keys.Back.Is(k):
		return true, nil
	case d.wall().Sub(d.opened) < deaf:
		return false, nil
	case !d.atField:
		d.reasonKey(k)
		return false, nil
	case k.Type == tea.KeyEnter || k.Type == tea.KeyCtrlJ:
		// A newline may be the middle of a paste that does not say it is one.
		d.said, d.opened, d.typed.text = "enter does not confirm: "+d.how(), d.wall(), ""
	case k.Paste:
		d.said = "a paste does not confirm: " + d.how()
	case d.want == "y":
		if k.String() == "n" {
			return true, nil
		}
		if d.keys.Yes.Is(k) {
			return d.confirm()
		}
		d.said, d.opened = d.how(), d.wall()
	default:
		d.typed.max = len(d.want)
		if d.typed.key(k) && d.typed.text == d.want {
			return d.confirm()
		}
		if len(d.typed.text) >= len(d.want) && d.typed.text != d.want {
			d.said, d.typed.text = "not what was asked for: "+d.how(), ""
		}
	}
	return false, nil
}

func (d *dialog) confirm() (bool, tea.Cmd) {
	d.typed.text = ""
	if d.blocks != nil {
		if why := d.blocks(); why != "" {
			d.said = why
			return false, nil
		}
	}
	return true, d.yes(strings.TrimSpace(d.reason.text))
}

func (d *dialog) reasonKey(k tea.KeyMsg) {
	if k.Type == tea.KeyEnter || k.Type == tea.KeyTab {
		if strings.TrimSpace(d.reason.text) == "" {
			d.said = "write why it should be done all the same, or esc"
			return
		}
		d.atField, d.opened = true, d.wall()
		return
	}
	d.reason.key(k)
	d.said = d.reason.why
}

func (d *dialog) how() string {
	if d.want == "y" {
		return "y does it, n or esc does not"
	}
	return fmt.Sprintf("type %s to do it, esc does not", d.want)
}

// view draws the dialog in w cells; what asks stands last and is never cut off.
func (d *dialog) view(w, h int) string {
	th := d.th
	w = min(w, 96)
	inner := w - 4
	var top, end []string
	put := func(to *[]string, style func(...string) string, text string) {
		for _, l := range wrap(text, inner) {
			*to = append(*to, style(l))
		}
	}
	put(&top, th.Title.Render, d.title)
	for _, f := range d.facts {
		put(&top, th.Plain.Render, f)
	}
	for _, g := range d.held {
		put(&end, th.Warn.Render, th.Glyph("warn")+" held back: "+g)
	}
	if len(d.held) > 0 {
		end = append(end, "Why do it all the same? (kept in the case)", d.reason.view(th, inner, !d.atField))
	}
	if d.atField {
		end = append(end, "")
		switch d.want {
		case "y":
			put(&end, th.Title.Render, fmt.Sprintf("Do it? [No]  (%s)  %s", d.why, d.how()))
		default:
			put(&end, th.Title.Render, fmt.Sprintf("Do it? [No]  (%s)  %s", d.why, d.how()))
			end = append(end, "> "+d.typed.view(th, max(8, len(d.want)+2), true))
		}
	} else {
		end = append(end, th.Dim.Render("enter goes on to the confirmation, esc does nothing"))
	}
	if d.said != "" {
		put(&end, th.Warn.Render, d.said)
	}
	if over := len(end) + 2 - h; over > 0 && over < len(end) {
		end = end[over:] // the question itself stands last and stays
	}
	if most := h - 2 - len(end); most <= 0 {
		top = nil
	} else if len(top) > most {
		top = append(top[:most-1], th.Dim.Render(fmt.Sprintf("%s %d more lines: esc, then read the plan", th.Glyph("more"), len(top)-most+1)))
	}
	return box(th, append(top, end...), w, h)
}

// box frames lines.
func box(th Theme, lines []string, w, h int) string {
	bar, line := th.Glyph("bar"), th.Glyph("line")
	edge := strings.Repeat(line, max(0, w))
	out := []string{edge}
	for _, l := range lines {
		out = append(out, bar+" "+fit(th, l, w-4)+" "+bar)
	}
	return bound(th, strings.Join(append(out, edge), "\n"), w, h)
}
