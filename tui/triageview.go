package tui

import (
	"fmt"
	"strings"

	"cordon/internal/app"
)

// questionWidth is how wide the column of questions is.
const questionWidth = 26

// lines are the whole card.
func (p *triage) lines(w int) []string {
	th, c := p.e.th, p.card
	var out []string
	one := p.only()
	switch {
	case one != nil:
		out = append(out, " "+th.Title.Render(clip(th, clean(fmt.Sprintf("%s  %s", one.Ref, one.Name)), w-1)))
		for _, f := range one.Found {
			out = append(out, factLines(th, "found", f, w)...)
		}
		out = append(out, answerLines(th, one.Answers, w)...)
	case len(c.Runners) == 0:
		out = append(out, " "+th.Warn.Render(th.Glyph("warn")+" no runner is known under that"))
	default:
		out = append(out, " "+th.Title.Render(fmt.Sprintf("%d runners may be meant", len(c.Runners))))
		for i, r := range c.Runners {
			out = append(out, p.candidate(i, r, w)...)
		}
	}
	for _, h := range c.Hosts {
		out = append(out, "", " "+th.Title.Render("host "+clean(h.Name)))
		out = append(out, factLines(th, "found", h.Found, w)...)
		out = append(out, answerLines(th, h.Answers, w)...)
	}
	for _, n := range c.Notes {
		out = append(out, factLines(th, "known", app.Fact{Text: n}, w)...)
	}
	for _, u := range c.Unknown {
		for _, l := range factLines(th, "not known", app.Fact{Text: u}, w) {
			out = append(out, th.Warn.Render(l))
		}
	}
	for _, n := range c.Next {
		out = append(out, factLines(th, "next", app.Fact{Text: n.Command + ": " + n.Does + "; who notices: " + n.Notice}, w)...)
	}
	return out
}

// candidate is one runner of several, with why it is among them.
func (p *triage) candidate(i int, r app.Candidate, w int) []string {
	th := p.e.th
	line := fit(th, " "+th.Mark(i == p.at)+clean(fmt.Sprintf("%s  %s", r.Ref, r.Name)), w)
	if i == p.at {
		line = th.Cursor.Render(line)
	}
	out := []string{line}
	for _, f := range r.Found {
		for _, l := range wrap(clean(f.Text+" ("+f.Known+")"), w-7) {
			out = append(out, "      "+th.Dim.Render(l))
		}
	}
	return out
}

func answerLines(th Theme, as []app.Answer, w int) []string {
	var out []string
	for _, a := range as {
		out = append(out, factLines(th, a.Question, a.Fact, w)...)
	}
	return out
}

// factLines is an answer with how it is known. No answer is never left blank.
func factLines(th Theme, question string, f app.Fact, w int) []string {
	text, known := clean(f.Text), clean(f.Known)
	style := th.Plain
	switch {
	case text == "":
		text, style = strings.ToUpper(known), th.Warn
	case known != "":
		text += " [" + known + "]"
	}
	var out []string
	for i, l := range wrap(text, max(8, w-questionWidth-2)) {
		label := ""
		if i == 0 {
			label = question
		}
		out = append(out, " "+fit(th, clean(label), questionWidth)+style.Render(l))
	}
	for _, item := range f.Items {
		for _, l := range wrap(clean(item), max(8, w-questionWidth-4)) {
			out = append(out, strings.Repeat(" ", questionWidth+3)+l)
		}
	}
	return out
}
