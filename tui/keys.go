package tui

import (
	"reflect"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"
)

// Binding is one key or a few that do the same.
type Binding struct {
	Keys []string // as tea.KeyMsg writes them
	Show string   // as people write them
	Help string   // one or two words for the footer
	Long string   // one line for `?`, `cordon keys` and the README
	In   string   // where it works: everywhere, lists, fleet, cards, case, dialog

	// Disabled says why the key cannot be used now, "" if it can. nil: it always can.
	Disabled func() string
}

// Is reports whether the key belongs to the binding. A disabled one matches too:
// the page then says why.
func (b Binding) Is(k tea.KeyMsg) bool { return !k.Paste && slices.Contains(b.Keys, k.String()) }

// Off is why the binding cannot be used now.
func (b Binding) Off() string {
	if b.Disabled == nil {
		return ""
	}
	return b.Disabled()
}

// When returns a copy that is disabled while why gives a reason.
func (b Binding) When(why func() string) Binding {
	b.Disabled = why
	return b
}

// typing stands in the footer while a field has the focus.
func typing() Binding { return Binding{Show: "all else", Help: "is typed"} }

// KeyMap holds every key of the program. Two keys of one context never collide (a
// test looks), and no key that acts sits on one that moves.
type KeyMap struct {
	Up, Down, HalfUp, HalfDown, Top, Bottom Binding
	Open, Back, Quit, Leave, Help, Suspend  Binding
	Again, Copy                             Binding

	Filter, Sort, SortBack, Select, SelectAll, Columns, Details Binding
	Contain, Web, ByHand, Evidence, Look                        Binding

	Apply, NextPlan, PrevPlan, Skip, LeaveDoubt, Anew, Blind, Brief, Window, Export, Steps Binding
	Note, Attach, Matrix, Left, Right, Follow, TakeOver                                    Binding

	Yes, No Binding
}

// NewKeyMap is the one place where keys are written down.
func NewKeyMap() KeyMap {
	b := func(in, keys, show, help, long string) Binding {
		return Binding{Keys: strings.Split(keys, "|"), Show: show, Help: help, Long: long, In: in}
	}
	return KeyMap{
		Up:       b("lists", "up|k", "k/up", "up", "move up"),
		Down:     b("lists", "down|j", "j/down", "down", "move down"),
		HalfUp:   b("lists", "ctrl+u|pgup", "ctrl+u", "half page up", "half a page up"),
		HalfDown: b("lists", "ctrl+d|pgdown", "ctrl+d", "half page down", "half a page down"),
		Top:      b("lists", "g|home", "g", "top", "to the top"),
		Bottom:   b("lists", "G|end", "G", "bottom", "to the bottom"),

		Open:    b("everywhere", "enter", "enter", "open", "open what the cursor is on; never confirms anything"),
		Back:    b("everywhere", "esc", "esc", "back", "back, close, cancel; always harmless"),
		Quit:    b("everywhere", "q", "q", "quit", "leave the screen; an open case is kept and can be resumed"),
		Leave:   b("everywhere", "ctrl+c", "ctrl+c", "quit", "leave from anywhere, also while typing"),
		Help:    b("everywhere", "?", "?", "help", "all keys"),
		Suspend: b("everywhere", "ctrl+z", "ctrl+z", "suspend", "back to the shell; fg returns"),
		Again:   b("everywhere", "r", "r", "read again", "read the provider again; never a host"),
		Copy:    b("everywhere", "y", "y", "copy", "copy to the terminal's clipboard (OSC 52) and show the text"),

		Filter:    b("fleet", "/", "/", "filter", "filter: status:offline label:gpu host:build-* !owner:* word"),
		Sort:      b("fleet", "s", "s", "sort", "sort by the next column"),
		SortBack:  b("fleet", "S", "S", "reverse", "turn the order round"),
		Select:    b("fleet", " ", "space", "select", "select or unselect the row"),
		SelectAll: b("fleet", "a", "a", "all", "select every row that the filter shows, or none"),
		Columns:   b("fleet", "v", "v", "columns", "which columns are hidden at this width"),

		Details: b("fleet", "d", "d", "details", "read what lists leave out (labels, owner, last contact): one call a runner"),

		Contain:  b("cards", "c", "c", "contain", "open a case for this runner; nothing is changed yet"),
		Web:      b("cards", "w", "w", "address", "copy the exact web address"),
		ByHand:   b("cards", "h", "h", "by hand", "copy the exact command to do it by hand"),
		Evidence: b("cards", "e", "e", "evidence", "what a finding rests on"),
		Look:     b("cards", "l", "l", "check", "read the host once; asks first, and says how it is reached"),

		Apply:      b("case", "enter", "enter", "apply", "open the confirmation of the plan on screen"),
		NextPlan:   b("case", "tab", "tab", "next plan", "the next plan of this step"),
		PrevPlan:   b("case", "shift+tab", "shift+tab", "plan before", "the plan before"),
		Skip:       b("case", "x", "x", "skip", "skip this with a written reason"),
		LeaveDoubt: b("case", "o", "o", "leave open", "go on and leave the doubt on record, with a written reason"),
		Anew:       b("case", "a", "a", "plan anew", "plan once more although the last try may have taken effect, with a written reason"),
		Blind:      b("case", "p", "p", "provider only", "watch by the provider alone: no host is logged in to"),
		Brief:      b("case", "b", "b", "brief", "eight lines for the channel, shown and copied"),
		Window:     b("case", "w", "w", "window", "change since when the runner is suspect, with a reason"),
		Export:     b("case", "e", "e", "export", "write the signed bundle and verify it"),
		Steps:      b("case", "l", "l", "log", "what was done so far"),

		Note:     b("case", "n", "n", "note", "write a note into the case"),
		Attach:   b("case", "f", "f", "file", "keep a file in the case, and say what it is"),
		Matrix:   b("case", "m", "m", "matrix", "all runners of the case and all steps; enter picks one that waits"),
		Left:     b("case", "left", "left", "left", "the step to the left, in the matrix"),
		Right:    b("case", "right", "right", "right", "the step to the right, in the matrix"),
		Follow:   b("case", "v", "v", "watch", "watch a case that somebody else has; nothing is written"),
		TakeOver: b("case", "t", "t", "take over", "take a case from whoever has it, with a written reason"),

		Yes: b("dialog", "y", "y", "yes", "do it; only what can be undone and hits one runner"),
		No:  b("dialog", "n", "n/esc", "no", "do nothing; the default"),
	}
}

// Row is one line of the table of keys.
type Row struct {
	In   string `json:"in"`
	Keys string `json:"keys"`
	Does string `json:"does"`
}

// Table lists every key by context, in the order of the KeyMap, for `cordon keys`,
// the help screen and the README.
func Table() []Row {
	var rows []Row
	v := reflect.ValueOf(NewKeyMap())
	for _, in := range Contexts {
		for i := range v.NumField() {
			if b := v.Field(i).Interface().(Binding); b.In == in {
				rows = append(rows, Row{in, b.Show, b.Long})
			}
		}
	}
	return rows
}

// Contexts are the places that keys belong to, in the order they are shown.
var Contexts = [...]string{"everywhere", "lists", "fleet", "cards", "case", "dialog"}
