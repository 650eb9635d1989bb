package tui

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"cordon/internal/app"
	"cordon/tui/table"
)

// hidden reports whether a line looks like a credential. It is then not shown.
func hidden(s string) bool {
	s = strings.TrimSpace(s)
	for _, p := range []string{"glpat-", "glrt-", "gldt-", "glcbt-", "glptt-", "glsa-", "GR1348941", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "AKIA", "ASIA", "xox", "eyJ"} {
		if strings.HasPrefix(s, p) {
			return true
		}
	}
	return false
}

// View implements page.
func (p *start) View(w, h int) string {
	th := p.e.th
	shown := p.what
	if hidden(shown.text) {
		shown.text = fmt.Sprintf("(hidden, %d characters)", len(shown.text))
	}
	out := []string{
		"",
		" " + th.Title.Render("What is it about? host, address, URL, runner or token"),
		th.Mark(p.typed) + shown.view(th, min(w-4, 72), p.typed),
		"",
	}
	out = append(out, " "+th.Title.Render(fmt.Sprintf("open cases (%d)", len(p.cases))))
	if len(p.cases) == 0 && p.err == nil {
		out = append(out, "   none in "+clean(p.e.state))
	}
	if p.err != nil {
		out = append(out, "   "+th.Bad.Render(th.Glyph("bad")+" "+clean(app.Hint(p.err))))
	}
	most := max(1, h-len(out)-2) // the last two lines are for readiness
	for i, c := range p.cases {
		if i == most-1 && len(p.cases) > most {
			out = append(out, th.Dim.Render(fmt.Sprintf("   %d more: cordon case list", len(p.cases)-i)))
			break
		}
		out = append(out, p.row(i, p.caseLine(c), w))
	}
	for len(out) < h-1 {
		out = append(out, "")
	}
	return strings.Join(append(out[:h-1], " "+p.ready()), "\n")
}

func (p *start) row(i int, text string, w int) string {
	at := !p.typed && i == p.at
	line := " " + p.e.th.Mark(at) + text
	if at {
		return p.e.th.Cursor.Render(fit(p.e.th, line, w))
	}
	return line
}

// caseLine is one open case: where it stands, how old it is, what it is about. The
// id comes last because it is the longest.
func (p *start) caseLine(c app.CaseState) string {
	if c.Broken != "" {
		return clean(c.ID + "  BROKEN: " + c.Broken)
	}
	step, of := c.At()
	word := "over"
	if step > 0 {
		word = fmt.Sprintf("step %d/%d %s", step, of, c.Steps[step-1].ID)
	}
	return fmt.Sprintf("%s %s %s %s", fit(p.e.th, word, 20), fit(p.e.th, age(p.e.now().Sub(c.Last)), 4), fit(p.e.th, table.Whole(c.Runner.Short(), p.refWidth(), p.e.th.ASCII), p.refWidth()), clean(c.ID))
}

// refWidth is the width of the column of runners: whole, as far as an id can stand behind.
func (p *start) refWidth() int {
	n := 16
	for _, c := range p.cases {
		n = max(n, min(30, ansi.StringWidth(c.Runner.Short())))
	}
	return n
}

// ready says whether the providers answer and what is missing from their lists.
func (p *start) ready() string {
	th := p.e.th
	switch {
	case p.failed != nil:
		return th.Bad.Render(th.Glyph("bad") + " not ready: " + clean(app.Hint(p.failed)))
	case p.fleet == nil:
		return th.Dim.Render("asking the providers " + th.Glyph("more"))
	case len(p.fleet.Gaps) > 0:
		g := p.fleet.Gaps[0]
		return th.Warn.Render(fmt.Sprintf("%s %d runners, but %d lists are missing; first: %s: %s", th.Glyph("warn"), len(p.fleet.Rows), len(p.fleet.Gaps), clean(g.Name), clean(g.Why)))
	}
	listed, alone := 0, 0
	for _, r := range p.fleet.Rows {
		if r.Runner.Ref.IsZero() {
			alone++
		} else {
			listed++
		}
	}
	if listed == 0 {
		return th.Warn.Render(fmt.Sprintf("%s no provider lists a runner; %d installations on hosts that were read before", th.Glyph("warn"), alone))
	}
	return th.Good.Render(th.Glyph("good")) + fmt.Sprintf(" ready: the providers answered, %d runners; no host was contacted", listed)
}
