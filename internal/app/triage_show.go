package app

import (
	"strconv"
	"strings"
)

// Card writes what triage found, each answer with how it is known.
func (l Lines) Card(c Card) {
	l.Printf("triage of %s (%s): %s", c.Asked, c.Kind, count(len(c.Runners), "no runner is known", "one runner", "runners, none is chosen"))
	for _, r := range c.Runners {
		l.Printf("runner %s  %s", short(r.Ref), r.Name)
		for _, f := range r.Found {
			l.fact("found", f)
		}
		l.answers(r.Answers)
	}
	for _, h := range c.Hosts {
		l.Printf("host %s", h.Name)
		l.fact("found", h.Found)
		l.answers(h.Answers)
	}
	for _, n := range c.Notes {
		l.Printf("known      %s", n)
	}
	for _, u := range c.Unknown {
		l.Printf("not known  %s", u)
	}
	for _, n := range c.Next {
		l.Printf("next  %s", n.Command)
		l.Printf("      %s; who notices: %s", n.Does, n.Notice)
	}
	l.Printf("no host was contacted")
}

func (l Lines) answers(as []Answer) {
	for _, a := range as {
		l.fact(a.Question, a.Fact)
	}
}

func (l Lines) fact(label string, f Fact) {
	text := f.Text
	if text == "" {
		text = strings.ToUpper(f.Known)
		if f.Known != "not asked" && f.Known != couldNot {
			text = "NOT SAID (" + f.Known + ")"
		}
		l.Printf("  %-24s %s", label, text)
	} else {
		l.Printf("  %-24s %s  [%s]", label, text, f.Known)
	}
	for _, i := range f.Items {
		l.Printf("  %-24s   %s", "", i)
	}
}

func count(n int, none, one, many string) string {
	switch n {
	case 0:
		return none
	case 1:
		return one
	}
	return strconv.Itoa(n) + " " + many
}
