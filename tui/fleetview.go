package tui

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"cordon/internal/app"
)

// maxGapLines is how many failed scopes have a line of their own.
const maxGapLines = 2

// Title implements page.
func (p *fleetPage) Title() string { return "fleet" }

// Hint implements page.
func (p *fleetPage) Hint() string {
	switch {
	case p.typing && p.wrong != nil:
		return "the list is as it was; correct the filter, or esc"
	case p.typing:
		return "status:offline label:gpu host:build-* !owner:* word; * is known, ? is not"
	case p.tab.Unknown() > 0 && p.reading == 0:
		return fmt.Sprintf("%s not known for %d rows: d reads their details", strings.Join(p.expr.Asks(), ", "), p.tab.Unknown())
	case p.item() != nil && p.item().says() != "":
		return clean(p.item().says())
	case p.tab.Len() > 0:
		return "enter opens the runner; c opens a case for it, which changes nothing yet"
	}
	return ""
}

// says is what has to be known of a row before anything is done with it, "" where that is
// nothing. The cases come first: c is what goes to them.
func (it *fleetItem) says() string {
	var out []string
	switch n := len(it.open); n {
	case 0:
	case 1:
		out = append(out, "c goes on with its open case "+it.open[0])
	default:
		out = append(out, fmt.Sprintf("%d cases are open about it, c asks which", n))
	}
	if it.Why != "" {
		out = append(out, it.State+": "+it.Why)
	}
	return strings.Join(out, "; ")
}

// View implements page.
func (p *fleetPage) View(w, h int) string {
	if w <= 0 || h <= 0 {
		return ""
	}
	th := p.e.th
	out := []string{" " + clip(th, p.reads(), w-1)}
	out = append(out, p.gaps(w)...)
	out = append(out, p.filterLines(w)...)
	if len(out) > max(1, h-4) {
		out = out[:max(1, h-4)]
	}
	room := h - len(out) - 1
	body := strings.Split(p.tab.View(w, room), "\n")
	if p.tab.Len() == 0 {
		body = append(body[:min(1, len(body))], p.empty(w)...)
	}
	for len(body) < room {
		body = append(body, "")
	}
	out = append(append(out, body[:max(0, room)]...), th.Dim.Render(" "+p.tab.Foot(w-1)))
	return bound(th, strings.Join(out, "\n"), w, h)
}

// reads says how fresh the list is.
func (p *fleetPage) reads() string {
	th := p.e.th
	stale := ""
	if l, ok := p.tab.Source().(*fleetList); ok {
		if l.old > 0 {
			stale = fmt.Sprintf("; %d as known before", l.old)
		}
	}
	switch {
	case p.listing && !p.have:
		return "reading the providers; nothing was known before"
	case p.listing:
		return "reading the providers" + stale
	case p.failed != nil && p.have:
		return th.Bad.Render(th.Glyph("bad") + " the providers could not be read: " + clean(app.Hint(p.failed)))
	case p.failed != nil:
		return th.Bad.Render(th.Glyph("bad") + " no list")
	}
	s := "listed " + age(p.now().Sub(p.began)) + " ago" + stale + "; no host was contacted"
	if p.reading > 0 {
		s = fmt.Sprintf("reading the details of %d runners; ", p.reading) + s
	}
	return s
}

// gaps are the scopes that could not be listed, a line each.
func (p *fleetPage) gaps(w int) []string {
	th := p.e.th
	var out []string
	for i, g := range p.fleet.Gaps {
		if i == maxGapLines && len(p.fleet.Gaps) > maxGapLines+1 {
			out = append(out, " "+th.Warn.Render(clip(th, fmt.Sprintf("%s not listed: %d more scopes (cordon fleet has them all)", th.Glyph("warn"), len(p.fleet.Gaps)-i), w-1)))
			break
		}
		out = append(out, " "+th.Warn.Render(clip(th, th.Glyph("warn")+" not listed: "+clean(g.Name)+": "+clean(g.Why), w-1)))
	}
	return out
}

// filterLines are the filter and, under it, what is wrong with it.
func (p *fleetPage) filterLines(w int) []string {
	th := p.e.th
	if !p.typing && p.line.text == "" {
		return nil
	}
	shown := p.line
	if hidden(shown.text) {
		shown.text = fmt.Sprintf("(hidden, %d characters)", len(shown.text))
	}
	out := []string{" " + th.Key.Render("/") + " " + shown.view(th, w-4, p.typing)}
	if p.wrong == nil {
		return out
	}
	why := clean(p.wrong.Why)
	if n := utf8.RuneCountInString(p.line.text); n <= w-6 && shown.text == p.line.text {
		carets := strings.Repeat(" ", p.wrong.At) + strings.Repeat("^", max(1, min(p.wrong.Len, w-6-p.wrong.At)))
		return append(out, "   "+th.Warn.Render(clip(th, carets+" "+why, w-3)))
	}
	return append(out, "   "+th.Warn.Render(clip(th, th.Glyph("warn")+" "+why, w-3)))
}

// empty says why there is no row and what to do.
func (p *fleetPage) empty(w int) []string {
	th := p.e.th
	var say []string
	switch {
	case p.failed != nil && !p.have:
		say = []string{clean(app.Hint(p.failed)), "r reads again; the cases on the start page do not need the list."}
	case p.listing || p.job != 0:
		say = []string{"The rows come in page by page. Nothing has to be waited for: esc goes back."}
	case p.line.text != "" && p.tab.Unknown() > 0:
		say = []string{fmt.Sprintf("No row is known to match, and of %d the lists do not tell.", p.tab.Unknown()), "d reads their details, esc drops the filter."}
	case p.line.text != "":
		say = []string{fmt.Sprintf("None of %d rows matches.", p.tab.Total()), "/ changes the filter, esc drops it."}
	case len(p.fleet.Gaps) > 0:
		say = []string{"No runner is listed, and the list is not whole: see above.", "That is not the same as no runner. r reads again."}
	default:
		say = []string{"The providers list no runner to this credential.", "A runner of a group or project that it has no part in is not in the list: check scopes in the configuration."}
	}
	out := []string{""}
	for _, s := range say {
		for _, l := range wrap(s, w-4) {
			out = append(out, "   "+th.Plain.Render(l))
		}
	}
	return out
}
