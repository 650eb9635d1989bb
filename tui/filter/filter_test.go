package filter

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"
)

// row has known fields only for the keys in it.
type row map[Key][]string

func (r row) Each(k Key, yield func(string) bool) bool {
	vs, known := r[k]
	for _, v := range vs {
		if !yield(v) {
			break
		}
	}
	return known
}

var build = row{
	Status: {"offline"}, Label: {"gpu", "Linux"}, Host: {"build-07"}, Owner: {}, Name: {"Build seven"},
	Provider: {"gitlab-prod"}, State: {"cannot-tell"}, Paused: {"no"}, Scope: {"group:acme/web"},
}

func TestMatch(t *testing.T) {
	for text, want := range map[string]Answer{
		"":                               Yes,
		"status:offline":                 Yes,
		"status:off":                     No,
		"status:off*":                    Yes,
		"STATUS:OFFLINE":                 Yes,
		"label:linux":                    Yes,
		"label:gpu label:linux":          Yes,
		"label:gpu label:arm":            No,
		"!label:arm":                     Yes,
		"!label:gpu":                     No,
		"host:build-*":                   Yes,
		"host:*-07":                      Yes,
		"host:b*l*-*7":                   Yes,
		"host:b*x*7":                     No,
		"owner:*":                        No,
		"!owner:*":                       Yes,
		"owner:?":                        No,
		"seven":                          Yes,
		"gitlab":                         Yes,
		"g*prod":                         Yes,
		"nine":                           No,
		"!nine":                          Yes,
		`"build seven"`:                  Yes,
		`name:"build seven"`:             Yes,
		"name:build":                     No,
		"state:cannot-tell":              Yes,
		`state:"cannot tell"`:            Yes,
		"paused:no":                      Yes,
		"paused:yes":                     No,
		"scope:group:acme/*":             Yes,
		"status:offline !host:build-*":   No,
		"  status:offline   label:gpu  ": Yes,

		// Busy is not known of this row: neither yes nor no.
		"busy:yes":            Unknown,
		"!busy:yes":           Unknown,
		"busy:?":              Yes,
		"!busy:?":             No,
		"busy:*":              No,
		"!busy:*":             Yes,
		"busy:yes status:off": No,
		"busy:yes label:gpu":  Unknown,
	} {
		e, err := Parse(text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if got := e.Match(build); got != want {
			t.Errorf("%q: got %d, want %d", text, got, want)
		}
	}
}

func TestAnErrorPointsAtItsPlaceAndHelps(t *testing.T) {
	for text, want := range map[string]struct {
		at, n int
		why   string
	}{
		"stats:offline":          {0, 5, "did you mean status?"},
		"a lable:gpu":            {2, 5, "did you mean label?"},
		"!hots:x":                {1, 4, "did you mean host?"},
		"http://x":               {0, 4, "in quotes"},
		"a !":                    {2, 1, "turns the term"},
		"label:":                 {0, 6, "needs a value"},
		`ä label:"x`:             {8, 2, "not closed"},
		`"a"b`:                   {3, 1, "space is missing"},
		"paused:yse":             {7, 3, "did you mean yes?"},
		"state:gost":             {6, 4, "did you mean ghost?"},
		":x":                     {0, 1, "missing before the colon"},
		strings.Repeat("a ", 40): {64, 16, "at most 32"},
	} {
		_, err := Parse(text)
		var e *Error
		if !errors.As(err, &e) {
			t.Errorf("%q: no error", text)
			continue
		}
		if e.At != want.at || e.Len != want.n || !strings.Contains(e.Why, want.why) {
			t.Errorf("%q: got %d+%d %q, want %d+%d %q", text, e.At, e.Len, e.Why, want.at, want.n, want.why)
		}
	}
}

func TestAsksNamesEachKeyOnce(t *testing.T) {
	e, err := Parse("label:a label:b word !host:*")
	if err != nil || strings.Join(e.Asks(), " ") != "label host" {
		t.Errorf("got %v, %v", e.Asks(), err)
	}
}

// FuzzParse: no text breaks the parser, an error lies inside the text, and a
// negated term never answers like the plain one unless nothing is known.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"status:offline label:gpu", `!owner:* "a b"`, "x:", "!", "\x00\xff:", "host:****a*b*"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		e, err := Parse(s)
		if err != nil {
			var fe *Error
			if !errors.As(err, &fe) || fe.At < 0 || fe.Len < 1 || fe.At+fe.Len > utf8.RuneCountInString(s) {
				t.Fatalf("%q: %#v", s, err)
			}
			return
		}
		for i := range e.Terms {
			yes := Expr{e.Terms[i : i+1 : i+1]}
			not := Expr{[]Term{e.Terms[i]}}
			not.Terms[0].Not = !not.Terms[0].Not
			if a, b := yes.Match(build), not.Match(build); a+b != Yes {
				t.Fatalf("%q: %d and negated %d", s, a, b)
			}
		}
	})
}
