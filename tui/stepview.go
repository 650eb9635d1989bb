package tui

import (
	"fmt"
	"strings"

	"cordon/internal/app"
	"cordon/internal/check"
	"cordon/internal/engine"
)

// stepsWidth is the width of the list of steps.
const stepsWidth = 24

// Title implements page.
func (p *stepper) Title() string {
	if p.about.ID == "" {
		return "case"
	}
	for i, s := range p.steps {
		if s.Now {
			return fmt.Sprintf("step %d/%d %s  %s", i+1, len(p.steps), s.ID, p.about.ID)
		}
	}
	if p.over() {
		return p.cur.Text + "  " + p.about.ID
	}
	return p.about.ID
}

// Hint implements page.
func (p *stepper) Hint() string {
	if h := p.e.demo.hint(p); h != "" {
		return h
	}
	switch {
	case p.dialog != nil && !p.dialog.atField:
		return "something holds this back: write why it should be done all the same, or esc"
	case p.dialog != nil:
		return p.dialog.how()
	case p.held():
		return "somebody else has it: v watches it, t takes it over with a reason"
	case p.dead:
		return "the case is kept: esc, then open it again from the start page"
	case p.over() && p.handed != nil:
		return "the bundle is written and verified; hand the signer's line over by another way"
	case p.over():
		return "e writes the signed bundle and verifies it; b is the brief for the channel"
	case p.cur == nil && p.drv.inFlight():
		return "a call is on its way; leaving waits for it, at most 20 seconds"
	case p.cur == nil:
		return "nothing is asked now; leaving is safe, the case goes on from its journal"
	case p.cur.Kind == engine.Doubt:
		return "nobody knows whether it took effect: r looks again; nothing is sent twice"
	case p.cur.Kind == engine.Watch:
		return "enter opens the confirmation"
	case p.canApply() != "":
		return p.canApply()
	}
	return "read the plan; enter opens the confirmation, whose default is no"
}

// View implements page.
func (p *stepper) View(w, h int) string {
	th := p.e.th
	left := p.left(h)
	rw := w - stepsWidth - 3
	right := p.right(rw, h)
	bar := th.Dim.Render(th.Glyph("bar"))
	out := make([]string, 0, h)
	for i := range h {
		l, r := "", ""
		if i < len(left) {
			l = left[i]
		}
		if i < len(right) {
			r = right[i]
		}
		out = append(out, fit(th, l, stepsWidth)+bar+" "+clip(th, r, rw))
	}
	if p.dialog != nil {
		return over(th, out, p.dialog.view(w-2, h-1), w, h)
	}
	if p.form != nil {
		return over(th, out, p.form.view(w-2, h-1), w, h)
	}
	return strings.Join(out, "\n")
}

// over lays a box over the lower end of a page, so that the top of it stays readable.
func over(th Theme, page []string, box string, w, h int) string {
	lines := strings.Split(box, "\n")
	from := max(0, h-len(lines))
	for len(page) < from {
		page = append(page, "")
	}
	out := append(page[:from:from], lines...)
	for i := range out {
		if i >= from {
			out[i] = " " + fit(th, out[i], w-1)
		}
	}
	return strings.Join(out[:min(len(out), h)], "\n")
}

// left lists the steps; the one that the run stands at has the cursor's mark.
func (p *stepper) left(h int) []string {
	th := p.e.th
	var out []string
	for i, s := range p.steps {
		word := s.End
		glyph := th.Glyph("open")
		switch {
		case s.Now:
			word, glyph = "now", th.Glyph("now")
		case s.End == "" && s.Waits != "":
			word = "waits"
		case s.End != "":
			glyph = th.Tone(level[s.End]).Render(th.Glyph(level[s.End]))
		}
		line := fmt.Sprintf("%s%s %d %s", th.Mark(s.Now), glyph, i+1, fit(th, s.ID, 11))
		if short, ok := shortEnds[word]; ok {
			word = short
		}
		line += th.Tone(level[s.End]).Render(word)
		if s.Now {
			line = th.Title.Render(line)
		}
		out = append(out, line)
	}
	if p.about.ID == "" || h < 14 {
		return out
	}
	out = append(out, "", "  suspect since (w)")
	for _, l := range wrap(since(p.about), stepsWidth-3) {
		out = append(out, "  "+th.Dim.Render(l))
	}
	hosts := "none known"
	if len(p.about.Hosts) > 0 {
		hosts = clean(strings.Join(p.about.Hosts, ", "))
	}
	out = append(out, "", "  hosts")
	for _, l := range wrap(hosts, stepsWidth-3) {
		out = append(out, "  "+th.Dim.Render(l))
	}
	if len(p.found) > 0 {
		out = append(out, "", "  findings (l)")
		for _, l := range wrap(strings.Join(p.found, ", "), stepsWidth-3) {
			out = append(out, "  "+th.Warn.Render(l))
		}
	}
	return out
}

// shortEnds stand beside a step for the ends that are too long for it; the log has
// the whole word.
var shortEnds = map[string]string{engine.Unreached: "gap", engine.NotNeeded: "-", engine.NoHost: "no host"}

func since(o app.Opened) string {
	from := "not known"
	if !o.Window.From.IsZero() {
		from = o.Window.From.UTC().Format("2006-01-02 15:04Z")
	}
	if o.Window.Why != "" {
		from += ", " + clean(o.Window.Why)
	}
	return from
}

// findings counts what a read of a host brought up, the worst first.
func findings(pr engine.Prompt) []string {
	n, blind := map[string]int{}, 0
	for _, r := range pr.Findings {
		if r.State == check.Blind {
			blind++
		}
		for _, f := range r.Findings {
			n[string(f.Severity)]++
		}
	}
	var out []string
	for _, s := range []check.Severity{check.Critical, check.High, check.Medium, check.Low, check.Info} {
		if c := n[string(s)]; c > 0 {
			out = append(out, fmt.Sprintf("%d %s", c, s))
		}
	}
	if len(out) == 0 {
		out = []string{"none"}
	}
	if blind > 0 {
		out = append(out, fmt.Sprintf("%d could not look", blind))
	}
	return out
}
