package tui

import (
	"fmt"
	"strings"

	"cordon/internal/app"
	"cordon/internal/engine"
	"cordon/internal/witness"
)

// errText is the one line that a person gets for an error.
func errText(err error) string { return app.Hint(err) }

// verdict shows an answer with who is for it, who against, and who is missing.
func verdict(th Theme, v witness.Verdict, w int) []string {
	return append(answer(th, v, w), witnesses(v, w)...)
}

// answer is the question, the word and why.
func answer(th Theme, v witness.Verdict, w int) []string {
	out := []string{clip(th, th.Title.Render(clean(v.Question)+"?")+" "+th.State(clean(v.State)), w)}
	for _, l := range wrap(clean(v.Why), w-2) {
		out = append(out, "  "+l)
	}
	return out
}

func witnesses(v witness.Verdict, w int) []string {
	var out []string
	put := func(label, text string) { out = append(out, hang(label, text, w)...) }
	for _, o := range v.Against {
		put("against", says(o))
	}
	for _, m := range v.Missing {
		put("missing", clean(m))
	}
	for _, o := range v.For {
		put("for", says(o))
	}
	return out
}

// ended is the page of a run that is over.
func (p *stepper) ended(w int) []string {
	th := p.e.th
	e := p.cur.Ending
	tone := "warn"
	switch e.Exit {
	case engine.ExitDone:
		tone = "good"
	case engine.ExitPolls, engine.ExitFailed:
		tone = "bad"
	}
	out := []string{th.Tone(tone).Bold(true).Render(th.Glyph(tone)+" ending: "+clean(e.Word)) + fmt.Sprintf(" (exit %d)", e.Exit)}
	out = append(out, p.bundle(w)...)
	out = append(out, "")
	// The three answers first, together: silence alone is not the end.
	for _, v := range p.cur.Verdicts {
		out = append(out, answer(th, v, w)...)
	}
	for _, n := range e.Notes {
		out = append(out, hang("note", clean(n), w)...)
	}
	for _, v := range p.cur.Verdicts {
		if rest := witnesses(v, w); len(rest) > 0 {
			out = append(append(out, "", th.Title.Render(clean(v.Question)+"? who says so")), rest...)
		}
	}
	return out
}

// bundle is the part of the page that says where the evidence went.
func (p *stepper) bundle(w int) []string {
	th := p.e.th
	switch {
	case p.exporting:
		return []string{"writing and verifying the bundle " + th.Glyph("more")}
	case p.handed == nil:
		return []string{th.Dim.Render("no bundle yet: e writes and verifies it")}
	}
	h := p.handed
	out := []string{th.Good.Render(th.Glyph("good") + fmt.Sprintf(" bundle verified: %d checks, %d files", len(h.Report.Checks), h.Files))}
	out = append(out, path(h.Path, w)...)
	out = append(out, hang("sha256", h.SHA256, w)...)
	return append(out, hang("signers", clean(h.Signers), w)...)
}

// path shows a path whole, broken where the line ends: a cut path is no path.
func path(s string, w int) []string {
	s = clean(s)
	var out []string
	for w > 0 && len(s) > w {
		cut := strings.LastIndexByte(s[:w], '/') + 1
		if cut == 0 {
			cut = w
		}
		out, s = append(out, s[:cut]), s[cut:]
	}
	return append(out, s)
}
