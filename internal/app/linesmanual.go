package app

import (
	"cordon/internal/engine"
	"cordon/internal/untrusted"
)

// Manual writes what a person has to do and what is on record of it.
func (l Lines) Manual(m *engine.ManualTask) {
	put := func(label, text string) {
		if text != "" {
			l.Printf("    %-10s %s", label, text)
		}
	}
	for _, f := range m.Fields {
		text := f.Title + " (" + f.Kind
		if f.Required {
			text += ", required"
		}
		text += ")"
		if f.Value != "" {
			text += ": " + f.Value
		}
		put("field", text)
	}
	if m.Attach {
		put("wants", "a file that is kept with it")
	}
	if m.SignOff {
		put("wants", "the signature of another person")
	}
	for _, f := range m.Files {
		put("kept", f)
	}
	put("owner", m.Owner)
	if !m.Due.IsZero() {
		late := ""
		if m.Late {
			late = ", which has passed"
		}
		put("due", m.Due.UTC().Format("2006-01-02 15:04Z")+late)
	}
	put("waits", m.Waits)
	if m.Worked != "" {
		put("done by", m.Worked+"; not signed for")
	}
	for _, g := range m.Guards {
		put("guard", "["+g.Class+"] "+g.Text)
	}
}

// Safe is s as it may be written into a question.
func (l Lines) Safe(s string) string { return untrusted.Clean(s, 0) }
