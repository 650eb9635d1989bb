package app

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"cordon/internal/change"
	"cordon/internal/check"
	"cordon/internal/engine"
	"cordon/internal/untrusted"
	"cordon/internal/witness"
)

// Lines writes prompts as plain lines, for logs, serial consoles and screen readers.
// In a simulated run every line says so. All text is made safe here once more: what
// reaches a terminal through Lines holds no control character.
type Lines struct {
	W         io.Writer
	Simulated bool
}

// Printf writes one or more lines.
func (l Lines) Printf(format string, a ...any) {
	for line := range strings.SplitSeq(strings.TrimRight(fmt.Sprintf(format, a...), "\n"), "\n") {
		if l.Simulated {
			line = "SIMULATED  " + line
		}
		fmt.Fprintln(l.W, untrusted.Clean(line, 0))
	}
}

// Prompt writes what a person has to know before deciding.
func (l Lines) Prompt(p engine.Prompt) {
	if p.Kind == engine.Finished {
		l.Ending(p)
		return
	}
	head := fmt.Sprintf("[%d/%d %s] ", p.Index, p.Of, p.Step)
	switch p.Kind {
	case engine.Progress:
		l.Printf("%s%s", head, p.Text)
	case engine.Choose:
		l.Printf("%s%s  (%s)", head, p.Title, p.Target)
	default:
		l.Printf("%s%s: %s", head, p.Title, p.Text)
	}
	for _, x := range p.Leases {
		l.Printf("  %s is paused until %s, and made so again before that", x.Target.Short(), x.Until.UTC().Format("2006-01-02 15:04Z"))
	}
	for i, pl := range p.Plans {
		n := ""
		if pl.Appliable() && len(p.Plans) > 1 && p.CannotDo == "" {
			n = strconv.Itoa(i+1) + ". "
		}
		l.plan(n, pl, p.Guards[i])
	}
	if p.Manual != nil {
		l.Manual(p.Manual)
	}
	if p.CannotDo != "" {
		l.Printf("  cannot be applied: %s", p.CannotDo)
	}
	if len(p.Verdicts) == 0 {
		for _, o := range p.Seen {
			l.Observation("  saw", o)
		}
	}
	l.Findings(p.Findings)
	if p.Exposed != nil {
		for _, c := range p.Exposed.Entries {
			l.Printf("  exposed: %-8s %-12s %s  (%s) %s", exposedState(c), c.Kind, c.Name, c.Where, owned(c))
		}
		for _, g := range p.Exposed.Gaps {
			l.Printf("  not known: %s: %s", g.Name, g.Why)
		}
		l.around(p.Exposed)
	}
	for _, v := range p.Verdicts {
		if v.State != witness.Waiting {
			l.Verdict(v)
		}
	}
}

// plan writes one option whole: its number where it is one of several to apply, what is
// sent, who else is hit, what is lost.
func (l Lines) plan(n string, p change.Plan, guards []engine.Guard) {
	kind := "plan"
	if !p.Appliable() {
		kind = "by hand"
	}
	l.Printf("  %s%s %s/%s: %s", n, kind, p.Verb, p.Option, p.Title)
	put := func(label, text string) {
		if text != "" {
			l.Printf("    %-10s %s", label, text)
		}
	}
	put("covers", p.Covers)
	for _, r := range Reaches(p, nil) {
		put("reaches", r.Does)
	}
	for _, c := range p.Changes {
		put("sends", c.Call.String())
		put("hits", c.Blast())
		put("capacity", c.Capacity)
		put("destroys", strings.Join(c.Destroys, ", "))
		put("tips off", c.TipsOff)
		put("ends", c.Ends)
		put("undo", WayBack(p, c))
	}
	if len(p.Changes) == 0 {
		put("tips off", p.TipsOff)
	}
	for _, x := range p.Limits {
		put("limit", x)
	}
	for _, x := range p.Manual {
		put("by hand", x)
	}
	for _, x := range p.ByHand {
		put("by hand", strings.TrimSpace(x.Title+"  "+x.URL+"  "+x.Command))
	}
	for _, g := range guards {
		put("guard", "["+g.Class+"] "+g.Text)
	}
	put("hash", p.Hash()[:12])
}

// Observation writes who says what.
func (l Lines) Observation(label string, o witness.Observation) {
	says := o.Says
	if o.CouldNot != "" {
		says = "could not see: " + o.CouldNot
	}
	l.Printf("%s [%s] %s: %s", label, o.Source, o.Subject.Short(), says)
}

// Findings writes the findings, the worst first, and behind them what every check says
// that did not just find something.
func (l Lines) Findings(rs []check.Result) {
	var all []check.Finding
	for _, r := range rs {
		all = append(all, r.Findings...)
	}
	worse := check.Severities()
	slices.SortStableFunc(all, func(a, b check.Finding) int {
		return slices.Index(worse, b.Severity) - slices.Index(worse, a.Severity)
	})
	for _, f := range all {
		l.Printf("  finding %-8s %s: %s  %s  %s", f.Severity, f.Check, f.Title, f.Where, f.Detail)
	}
	for _, r := range rs {
		if r.State != check.Found || r.Why != "" {
			l.Printf("  check %-18s %s%s", r.Check, r.State, dash(r.Why))
		}
	}
}

// Verdict writes an answer with what is for it, against it and missing.
func (l Lines) Verdict(v witness.Verdict) {
	l.Printf("  verdict %s? %s%s", v.Question, strings.ToUpper(v.State), dash(v.Why))
	for _, o := range v.For {
		l.Observation("    for    ", o)
	}
	for _, o := range v.Against {
		l.Observation("    against", o)
	}
	for _, m := range v.Missing {
		l.Printf("    missing %s", m)
	}
}

// Ending writes how the run ended.
func (l Lines) Ending(p engine.Prompt) {
	for _, v := range p.Verdicts {
		l.Printf("%s? %s%s", v.Question, strings.ToUpper(v.State), dash(v.Why))
	}
	for _, n := range p.Ending.Notes {
		l.Printf("  note %s", n)
	}
	if p.Exposed != nil {
		l.stillOpen(p.Exposed)
	}
	l.Printf("ending: %s", p.Ending.Line())
}

func dash(s string) string {
	if s == "" {
		return ""
	}
	return " (" + s + ")"
}
