package filter

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"cordon/internal/yamlfile"
)

// Limits of a filter: it is typed by hand, and a paste may be anything.
const (
	maxTerms = 32
	maxRunes = 1000
)

// Error says what is wrong where. At and Len are in runes of the text.
type Error struct {
	At, Len int
	Why     string
}

// Error implements error.
func (e *Error) Error() string { return e.Why }

// closed are the keys with few values. Every other key takes any value.
var closed = map[Key][]string{
	Paused: {"yes", "no"},
	Busy:   {"yes", "no"},
	State:  {"agreed", "ghost", "rogue", "not-ours", "no-provider", "leftover", "clone", "disagreement", "cannot-tell", "not-asked", "could-not-look", "host-unknown"},
}

// Parse reads a filter. The error is an *Error.
func Parse(text string) (Expr, error) {
	rs := []rune(text)
	if len(rs) > maxRunes {
		return Expr{}, &Error{maxRunes, len(rs) - maxRunes, fmt.Sprintf("too long: a filter has at most %d characters", maxRunes)}
	}
	var e Expr
	for i := 0; i < len(rs); {
		if unicode.IsSpace(rs[i]) {
			i++
			continue
		}
		t, next, err := term(rs, i)
		if err != nil {
			return Expr{}, err
		}
		if len(e.Terms) == maxTerms {
			return Expr{}, &Error{i, len(rs) - i, fmt.Sprintf("too many terms: at most %d", maxTerms)}
		}
		e.Terms = append(e.Terms, t)
		i = next
	}
	return e, nil
}

// term reads one term that begins at i.
func term(rs []rune, i int) (Term, int, error) {
	t := Term{At: i}
	start := i
	if rs[i] == '!' {
		t.Not = true
		i++
	}
	// The key is what stands before the first colon outside quotes.
	j := i
	for j < len(rs) && !unicode.IsSpace(rs[j]) && rs[j] != ':' && rs[j] != '"' {
		j++
	}
	if j < len(rs) && rs[j] == ':' {
		key := strings.ToLower(string(rs[i:j]))
		k := slices.Index(names[:], key)
		if k < 1 {
			return t, 0, &Error{i, max(1, j-i), unknownKey(key)}
		}
		t.Key, i = Key(k), j+1
	}
	value, quoted, next, err := word(rs, i)
	if err != nil {
		return t, 0, err
	}
	t.Value = strings.ToLower(value)
	switch {
	case t.Value == "" && t.Key == Any && !quoted:
		return t, 0, &Error{start, 1, "! turns the term after it round: !label:gpu"}
	case t.Value == "":
		return t, 0, &Error{start, next - start, fmt.Sprintf("%s needs a value: TEXT, * (is known) or ? (is not known)", or(t.Key.String(), "a word"))}
	}
	if list := closed[t.Key]; list != nil && !strings.Contains(t.Value, "*") && t.Value != "?" {
		v := strings.ReplaceAll(t.Value, " ", "-")
		if !slices.Contains(list, v) {
			return t, 0, &Error{i, max(1, next-i), fmt.Sprintf("%s is one of %s%s", t.Key, strings.Join(list, ", "), mean(v, list))}
		}
	}
	if t.Key == State {
		t.Value = strings.ReplaceAll(t.Value, " ", "-")
	}
	return t, next, nil
}

// word reads a value up to a space; a quoted one up to its quote.
func word(rs []rune, i int) (value string, quoted bool, next int, err error) {
	if i < len(rs) && rs[i] == '"' {
		for j := i + 1; j < len(rs); j++ {
			if rs[j] == '"' {
				if j+1 < len(rs) && !unicode.IsSpace(rs[j+1]) {
					return "", true, 0, &Error{j + 1, 1, "a space is missing after the quote"}
				}
				return string(rs[i+1 : j]), true, j + 1, nil
			}
		}
		return "", true, 0, &Error{i, len(rs) - i, "the quote is not closed"}
	}
	j := i
	for j < len(rs) && !unicode.IsSpace(rs[j]) {
		j++
	}
	return string(rs[i:j]), false, j, nil
}

func unknownKey(key string) string {
	if key == "" {
		return "a key is missing before the colon: one of " + strings.Join(Keys(), ", ")
	}
	if m := mean(key, Keys()); m != "" {
		return fmt.Sprintf("no key %q%s", key, m)
	}
	return fmt.Sprintf("no key %q: one of %s; text with a colon goes in quotes", key, strings.Join(Keys(), ", "))
}

func mean(s string, known []string) string {
	if len(s) > 40 {
		return ""
	}
	if n := yamlfile.Nearest(s, known); n != "" {
		return fmt.Sprintf("; did you mean %s?", n)
	}
	return ""
}

func or(a, b string) string {
	if a == "" {
		return b
	}
	return a
}
