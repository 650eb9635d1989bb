package tui

import "github.com/charmbracelet/lipgloss"

// Theme is every style of the program, made from one renderer: two screens in one
// process share nothing. Styles only ever add to a word and a glyph, because under
// NO_COLOR lipgloss drops colour, bold and reverse alike.
type Theme struct {
	ASCII bool

	Plain, Bar, Alarm, Title, Dim, Key, Off, Cursor, Good, Warn, Bad, Field lipgloss.Style
}

// newTheme makes the styles. Only the 16 named colours are used, so that the user's
// own palette decides what they look like.
func newTheme(r *lipgloss.Renderer, ascii bool) Theme {
	s := r.NewStyle
	c := func(n string) lipgloss.Style { return s().Foreground(lipgloss.Color(n)) }
	return Theme{
		ASCII: ascii,
		Plain: s(), Bar: s().Reverse(true), Alarm: s().Reverse(true).Bold(true),
		Title: s().Bold(true), Dim: s().Faint(true), Key: s().Bold(true), Off: s().Faint(true),
		Cursor: s().Reverse(true), Good: c("2"), Warn: c("3"), Bad: c("1").Bold(true), Field: s().Underline(true),
	}
}

// Mark is the two cells before a row: the cursor is seen without any colour.
func (t Theme) Mark(cursor bool) string {
	if cursor {
		return "> "
	}
	return "  "
}

// glyphs are the words that states are shown by: glyph, ASCII glyph.
var glyphs = map[string][2]string{
	"good": {"✓", "+"}, "warn": {"!", "!"}, "bad": {"✗", "x"}, "open": {"·", "."}, "now": {"▸", ">"},
	"bar": {"│", "|"}, "line": {"─", "-"}, "more": {"…", "..."}, "dot": {"·", "-"}, "none": {" ", " "}, "up": {"▲", "^"}, "down": {"▼", "v"},
}

// Glyph is the one-cell sign called name ("more" is three cells in ASCII).
func (t Theme) Glyph(name string) string {
	if t.ASCII {
		return glyphs[name][1]
	}
	return glyphs[name][0]
}

// level maps the words of the field to how bad they are. A word that is not here is
// shown without a glyph.
var level = map[string]string{
	"done": "good", "silent": "good", "contained": "good", "applied": "good", "online": "good", "ok": "good", "not needed": "good", "already": "good",
	"skipped": "warn", "no host known": "warn", "unknown": "warn", "could not be reached": "warn", "cannot tell": "warn", "stale": "warn", "waiting": "warn", "paused": "warn",
	"could not look": "warn", "medium": "warn", "offline": "warn", "ghost": "warn", "disagreement": "warn", "open": "warn", "not asked": "open", "never": "open",
	"refused": "bad", "polling": "bad", "knocking": "bad", "resurrected": "bad", "high": "bad", "critical": "bad", "rogue": "bad", "not ours": "bad", "clone": "bad", "no provider": "warn", "leftover": "warn", "failed": "bad",
	"low": "open", "info": "open", "stopped": "warn",
}

// State shows a word with its glyph and colour.
func (t Theme) State(word string) string {
	g := t.Glyph("none")
	l, ok := level[word]
	if ok {
		g = t.Glyph(l)
	}
	return t.Tone(l).Render(g + " " + word)
}

// Tone is the style of good, warn and bad.
func (t Theme) Tone(level string) lipgloss.Style {
	switch level {
	case "good":
		return t.Good
	case "warn":
		return t.Warn
	case "bad":
		return t.Bad
	}
	return t.Plain
}
