// Package filter is the language of the list's filter line.
//
// A filter is words and key:value terms, all of which have to hold:
//
//	status:offline label:gpu host:build-* !owner:* "two words"
//
// A word is looked for in everything that is known of a row. A value is compared whole,
// without regard to case; * stands for any text. key:* asks whether a value is known,
// key:? whether none is; ! turns a term round. What is not known of a row is neither
// yes nor no: such rows are counted and never shown as if they had been looked at.
// The package is pure and may import internal/yamlfile.
package filter

import "strings"

// Key names one field of a row.
type Key int

// Keys; Any is a word without a key.
const (
	Any Key = iota
	Status
	Label
	Host
	Owner
	Name
	Provider
	State
	Paused
	Busy
	Scope
	ID
	numKeys
)

var names = [numKeys]string{"", "status", "label", "host", "owner", "name", "provider", "state", "paused", "busy", "scope", "id"}

// String is the key as it is typed.
func (k Key) String() string { return names[k] }

// Keys are the keys that can be typed.
func Keys() []string { return names[1:] }

// Row is what a filter looks at.
type Row interface {
	// Each hands over the values of a field until yield returns false and reports whether
	// the field is known: a known field without a value has none.
	Each(k Key, yield func(value string) bool) (known bool)
}

// Answer is yes, no or unknown.
type Answer int

// Answers, in the order in which they win when terms are joined.
const (
	No Answer = iota
	Unknown
	Yes
)

// Term is one part of a filter.
type Term struct {
	Not   bool
	Key   Key
	Value string // lower case
	At    int    // where it begins in the text, in runes
}

// Expr is a parsed filter. The zero value matches everything. It is immutable and safe
// for concurrent use.
type Expr struct{ Terms []Term }

// Match says whether a row is to be shown. Unknown rows are not, but have to be counted.
func (e Expr) Match(r Row) Answer {
	all := Yes
	for i := range e.Terms {
		if a := e.Terms[i].match(r); a < all {
			all = a
		}
		if all == No {
			return No
		}
	}
	return all
}

// Asks lists the keys that the filter looks at, for "label is not known for 6 rows".
func (e Expr) Asks() []string {
	var out []string
	seen := [numKeys]bool{}
	for _, t := range e.Terms {
		if t.Key != Any && !seen[t.Key] {
			seen[t.Key] = true
			out = append(out, t.Key.String())
		}
	}
	return out
}

func (t *Term) match(r Row) Answer {
	a := t.plain(r)
	if t.Not {
		return Yes - a
	}
	return a
}

func (t *Term) plain(r Row) Answer {
	if t.Key == Any {
		for k := Any + 1; k < numKeys; k++ {
			if hit, _ := t.in(r, k); hit {
				return Yes
			}
		}
		return No // words are looked for in what is on the screen
	}
	if t.Value == "?" {
		if r.Each(t.Key, none) {
			return No
		}
		return Yes
	}
	hit, known := t.in(r, t.Key)
	switch {
	case hit:
		return Yes
	case known || t.Value == "*":
		return No
	}
	return Unknown
}

func none(string) bool { return false }

func (t *Term) in(r Row, k Key) (hit, known bool) {
	known = r.Each(k, func(v string) bool {
		switch {
		case t.Key == Any:
			hit = glob("*"+t.Value+"*", strings.ToLower(v))
		case t.Value == "*":
			hit = v != ""
		default:
			hit = glob(t.Value, strings.ToLower(v))
		}
		return !hit
	})
	return hit, known
}

// glob matches the whole of s, in time proportional to len(p)*len(s) at worst.
func glob(p, s string) bool {
	i, j, star, from := 0, 0, -1, 0
	for j < len(s) {
		switch {
		case i < len(p) && p[i] == '*':
			star, from = i, j
			i++
		case i < len(p) && p[i] == s[j]:
			i, j = i+1, j+1
		case star >= 0:
			from++
			i, j = star+1, from
		default:
			return false
		}
	}
	for i < len(p) && p[i] == '*' {
		i++
	}
	return i == len(p)
}
