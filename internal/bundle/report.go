package bundle

import (
	"fmt"
	"strings"
	"time"

	"cordon/internal/check"
	"cordon/internal/untrusted"
)

// quote puts text that is not ours into a Markdown code span, where nothing is
// markup, and takes from it what could end the span. All of it is foreign: a journal
// can hold what a host or a provider said in any field.
func quote(s string) string {
	s = strings.ReplaceAll(strings.TrimSpace(untrusted.Clean(s, untrusted.MaxShown)), "`", `\x60`)
	if s == "" {
		return "-"
	}
	return "`" + s + "`"
}

// cell is quote for a table, where a bar ends a cell even in a code span.
func cell(s string) string { return strings.ReplaceAll(quote(s), "|", `\x7c`) }

func when(t time.Time) string {
	if t.IsZero() {
		return "not known"
	}
	return t.UTC().Format("2006-01-02 15:04:05Z")
}

// report is report.md: what happened, what is known, and what is not, for a person.
func (s *story) report(status string) []byte {
	var b strings.Builder
	w := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	v := s.v
	w("# Case %s", v.ID)
	w("")
	if v.Simulated {
		w("**%s.**", simulatedWords)
		w("")
	}
	w("Made from `journal.jsonl` in this directory, which is what counts; this page only")
	w("retells it. Text in `this form` is quoted and may come from a host or a provider.")
	w("")
	s.heading(w, status)
	s.verdictPart(w)
	s.unknownPart(w)
	s.actPart(w)
	s.exposurePart(w)
	s.findingPart(w)
	s.gapPart(w)
	s.decisionPart(w)
	w("## Evidence")
	w("")
	w("%d items are kept; `case.json` lists them with their files, sources and digests.", len(v.Items))
	if v.Simulated {
		w("")
		w("**%s.**", simulatedWords)
	}
	return []byte(b.String())
}

type writef func(format string, args ...any)

func (s *story) heading(w writef, status string) {
	v := s.v
	first, last := v.Lines[0], v.Lines[len(v.Lines)-1]
	w("| | |")
	w("|---|---|")
	w("| Title | %s |", cell(v.Opening.Title))
	w("| Kind | %s |", cell(v.Opening.Kind))
	if s.end != nil {
		w("| Ended | %s, %s |", cell(s.end.Msg), when(s.end.T))
	} else {
		w("| Ended | not yet |")
	}
	w("| Bundle | %s |", status)
	for _, t := range v.Opening.Targets {
		w("| Target | %s |", cell(t.String()))
	}
	w("| Suspect window | %s to %s: %s |", when(v.Opening.Window.From), when(v.Opening.Window.To), cell(v.Opening.Window.Why))
	w("| Playbook | %s |", cell(v.Opening.PlaybookName))
	w("| Journal | %d lines, %s to %s, head `%s` |", len(v.Lines), when(first.T), when(last.T), v.Head)
	for _, o := range operators(v.Lines) {
		w("| Operator | %s on %s, key %s |", cell(o.Actor), cell(o.Host), cell(o.Key))
	}
	w("")
}

func (s *story) verdictPart(w writef) {
	w("## Verdicts")
	w("")
	if len(s.verdicts) == 0 {
		w("None was reached.")
		w("")
	}
	for _, j := range s.verdicts {
		kind := "so far"
		if j.final {
			kind = "final"
		}
		for _, d := range j.list {
			w("- **%s: %s** (%s, on %s)", quote(d.Question), quote(d.State), kind, quote(j.on.String()))
			w("  - why: %s", quote(d.Why))
			w("  - window: %s to %s, needed %s", when(d.From), when(d.Until), d.Needs)
			for _, o := range d.For {
				w("  - for: %s", o.text())
			}
			for _, o := range d.Against {
				w("  - against: %s", o.text())
			}
			for _, m := range d.Missing {
				w("  - missing: %s", quote(m))
			}
		}
		w("")
	}
}

func (o observation) text() string {
	says := quote(o.Says)
	if o.CouldNot != "" {
		says = "could not look: " + quote(o.CouldNot)
	}
	return fmt.Sprintf("%s, %s: %s", quote(o.Source), when(o.At), says)
}

func (s *story) unknownPart(w writef) {
	w("## Not known")
	w("")
	for _, u := range s.unknown {
		w("- %s", u)
	}
	if len(s.unknown) == 0 {
		w("The journal records nothing as unknown.")
	}
	w("")
}

func (s *story) actPart(w writef) {
	w("## What was changed")
	w("")
	if len(s.acts) == 0 {
		w("Nothing was sent that changes anything.")
		w("")
		return
	}
	w("| Time | Step | Change | Call | Outcome |")
	w("|---|---|---|---|---|")
	for _, a := range s.acts {
		state := cell(either(a.state, unknownState))
		if a.status != 0 {
			state += fmt.Sprintf(" (%d)", a.status)
		}
		if a.settled {
			state += " settled later"
		}
		if a.why != "" {
			state += ": " + cell(a.why)
		}
		w("| %s | %s | %s | %s | %s |", when(a.at), cell(a.step), cell(a.title), cell(a.call), state)
	}
	w("")
}

func (s *story) exposurePart(w writef) {
	w("## What it could reach")
	w("")
	switch {
	case s.exposed == nil:
		w("No list was made.")
	case len(s.exposed.Entries) == 0:
		w("The list is empty.")
	default:
		w("| Credential | Kind | Where | Owner | Replaced | Dead at its issuer |")
		w("|---|---|---|---|---|---|")
		for _, c := range s.exposed.Entries {
			dead := when(c.Dead)
			if c.DeadSays != "" {
				dead += ", says " + cell(c.DeadSays)
			}
			w("| %s | %s | %s | %s | %s | %s |", cell(c.Name), cell(c.Kind), cell(c.Where), cell(c.Owner), when(c.Replaced), dead)
		}
	}
	w("")
	s.aroundPart(w)
}

func (s *story) findingPart(w writef) {
	w("## Findings")
	w("")
	if len(s.findings) == 0 {
		w("No host was checked.")
		w("")
	}
	for _, f := range s.findings {
		w("### Host %s", quote(f.Host))
		w("")
		list := check.AtLeast(f.Results, check.Info)
		for _, r := range f.Results {
			for _, x := range r.Findings {
				if !x.Severity.Known() { // of a later version: shown last, never dropped
					list = append(list, x)
				}
			}
		}
		for _, x := range list {
			w("- **%s** %s", quote(string(x.Severity)), quote(x.Title))
			if x.Where != "" {
				w("  - where: %s", quote(string(x.Where)))
			}
			if x.Detail != "" {
				w("  - seen: %s", quote(string(x.Detail)))
			}
			if refs := append(append([]string{}, x.Attack...), x.NIST...); len(refs) > 0 {
				w("  - %s", quote(strings.Join(refs, " ")))
			}
		}
		clean := 0
		for _, r := range f.Results {
			if r.State == check.Nothing {
				clean++
			}
		}
		w("")
		w("%d findings; %d of %d checks looked everywhere they must and found nothing; %d could not say (see Not known).",
			len(list), clean, len(f.Results), len(check.Unknown(f.Results)))
		w("")
	}
}

func (s *story) gapPart(w writef) {
	w("## Gaps")
	w("")
	for _, g := range s.v.Gaps {
		w("- %s: could not be had: %s", quote(g.Name), quote(g.Why))
	}
	for _, l := range s.lost {
		w("- %s: was kept and is no longer whole: %s", quote(l.Name), quote(l.Why))
	}
	if len(s.v.Gaps)+len(s.lost) == 0 {
		w("The journal records no gap.")
	}
	w("")
}

func (s *story) decisionPart(w writef) {
	if len(s.said) > 0 {
		w("## Decisions and notes")
		w("")
		for _, l := range s.said {
			w("- %s %s by %s: %s %s", when(l.T), quote(l.Kind), quote(l.Actor), quote(l.Step), quote(l.Msg))
		}
		w("")
	}
	if len(s.steps) > 0 {
		w("## Steps")
		w("")
		for _, d := range s.steps {
			line := fmt.Sprintf("- %s: %s", quote(d.Task), quote(d.End))
			if d.Why != "" {
				line += ": " + quote(d.Why)
			}
			w("%s", line)
		}
		w("")
	}
}
