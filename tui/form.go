package tui

import (
	"strings"

	tea "github.com/charmbracelet/bubbletea"
)

// form asks for one or two lines of text: a reason, or a time and a reason. Enter on
// the last field hands them over; esc throws them away.
type form struct {
	th     Theme
	keys   KeyMap
	title  string
	labels []string
	fields []field
	at     int
	said   string
	done   func(values []string) (tea.Cmd, string) // the string says what is wrong; the form stays
}

func newForm(th Theme, keys KeyMap, title string, done func([]string) (tea.Cmd, string), labels ...string) *form {
	return &form{th: th, keys: keys, title: title, labels: labels, fields: make([]field, len(labels)), done: done}
}

// bindings are the keys of the form, for the footer.
func (f *form) bindings() []Binding {
	open, back, next := f.keys.Open, f.keys.Back, f.keys.NextPlan
	open.Help, back.Help, next.Help = "keep", "throw away", "next line"
	if len(f.fields) == 1 {
		return []Binding{open, back, typing()}
	}
	return []Binding{open, next, back, typing()}
}

// key takes one key, like dialog.key.
func (f *form) key(k tea.KeyMsg) (closed bool, cmd tea.Cmd) {
	f.said = ""
	switch {
	case f.keys.Back.Is(k):
		return true, nil
	case k.Type == tea.KeyTab, k.Type == tea.KeyEnter && f.at < len(f.fields)-1:
		f.at = (f.at + 1) % len(f.fields)
	case k.Type == tea.KeyShiftTab:
		f.at = (f.at + len(f.fields) - 1) % len(f.fields)
	case k.Type == tea.KeyEnter:
		var vs []string
		for _, x := range f.fields {
			vs = append(vs, strings.TrimSpace(x.text))
		}
		cmd, why := f.done(vs)
		if why == "" {
			return true, cmd
		}
		f.said = why
	default:
		f.fields[f.at].key(k)
		f.said = f.fields[f.at].why
	}
	return false, nil
}

func (f *form) view(w, h int) string {
	w = min(w, 96)
	var lines []string
	for _, l := range wrap(f.title, w-4) {
		lines = append(lines, f.th.Title.Render(l))
	}
	for i := range f.fields {
		lines = append(lines, f.th.Mark(i == f.at)+f.labels[i], "  "+f.fields[i].view(f.th, w-6, i == f.at))
	}
	lines = append(lines, f.th.Dim.Render("enter keeps it, esc throws it away"))
	if f.said != "" {
		for _, l := range wrap(f.said, w-4) {
			lines = append(lines, f.th.Warn.Render(l))
		}
	}
	return box(f.th, lines, w, h)
}
