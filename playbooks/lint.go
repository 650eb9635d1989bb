package playbooks

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"cordon/internal/untrusted"
	"cordon/internal/yamlfile"
)

// Severities of a Problem.
const (
	SeverityError   = "error"   // the engine would not run it
	SeverityWarning = "warning" // it runs, and somebody will be sorry
)

// Problem is one thing that Lint found. Line and Col count from 1; 0 for a
// playbook that was not parsed from a file.
type Problem struct {
	Line     int    `json:"line"`
	Col      int    `json:"col"`
	Severity string `json:"severity"`
	Text     string `json:"text"`
}

var (
	idForm     = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,39}$`)
	attackForm = regexp.MustCompile(`^T[0-9]{4}(\.[0-9]{3})?$`)
	nistForm   = regexp.MustCompile(`^[A-Z]{2}-[0-9]{1,2}(\([0-9]{1,2}\))?$`)
	nameForm   = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$`)
	dueForm    = regexp.MustCompile(`^[1-9][0-9]{0,3}[hd]$`)
	globForm   = regexp.MustCompile(`^[A-Za-z0-9._*?/-]+$`)
)

// Lint checks what a playbook means. Problems come in the order of the file; nil
// is a clean playbook.
func Lint(p *Playbook) []Problem {
	l := &linter{p: p, index: map[string]int{}}
	l.text(nil, p.ID, p.Title, p.Why)
	l.codes(nil, p.Attack, p.NIST)
	if len(p.Steps) == 0 {
		l.err([]string{"steps"}, "no steps: there is nothing to do")
	}
	for i, s := range p.Steps {
		l.step(i, s)
		if _, twice := l.index[s.ID]; !twice {
			l.index[s.ID] = i
		}
	}
	l.ending()
	slices.SortStableFunc(l.found, func(a, b Problem) int { return cmp.Or(a.Line-b.Line, a.Col-b.Col) })
	return l.found
}

type linter struct {
	p     *Playbook
	index map[string]int // id of the steps so far
	found []Problem
}

func (l *linter) add(severity string, at []string, format string, args ...any) {
	line, col := l.p.doc.Pos(at...)
	l.found = append(l.found, Problem{line, col, severity, fmt.Sprintf(format, args...)})
}

func (l *linter) err(at []string, format string, args ...any) {
	l.add(SeverityError, at, format, args...)
}

func (l *linter) text(at []string, id, title, why string) {
	if !idForm.MatchString(id) {
		l.err(below(at, "id"), "id %q: use 1 to 40 of a-z, 0-9 and -, starting with a letter or digit", untrusted.Text(id))
	}
	if strings.TrimSpace(title) == "" {
		l.err(below(at, "title"), "no title: the responder sees it before anything else")
	}
	if strings.TrimSpace(why) == "" {
		l.add(SeverityWarning, below(at, "why"), "no why: say in plain words why this is done, and why here")
	}
}

func (l *linter) codes(at []string, attack, nist []string) {
	for i, a := range attack {
		if !attackForm.MatchString(a) {
			l.err(below(at, "attack", strconv.Itoa(i)), "%q is not an ATT&CK technique such as T1078 or T1543.002", untrusted.Text(a))
		}
	}
	for i, n := range nist {
		if !nistForm.MatchString(n) {
			l.err(below(at, "nist", strconv.Itoa(i)), "%q is not an SP 800-53 control such as IR-4 or AU-10(3)", untrusted.Text(n))
		}
	}
}

func (l *linter) step(i int, s Step) {
	at := []string{"steps", strconv.Itoa(i)}
	l.text(at, s.ID, s.Title, s.Why)
	l.codes(at, s.Attack, s.NIST)
	if _, twice := l.index[s.ID]; twice {
		l.err(below(at, "id"), "a second step %q", untrusted.Text(s.ID))
	}
	for j, n := range s.Needs {
		where := below(at, "needs", strconv.Itoa(j))
		later := slices.IndexFunc(l.p.Steps, func(o Step) bool { return o.ID == n })
		_, before := l.index[n]
		switch {
		case before:
		case later == i:
			l.err(where, "step %q needs itself", untrusted.Text(n))
		case later > i:
			l.err(where, "needs %q, which comes later; steps are done from top to bottom", untrusted.Text(n))
		default:
			l.err(where, "needs %q, and there is no such step%s", untrusted.Text(n), maybe(n, l.ids()))
		}
	}
	if len(s.Acts) == 0 {
		l.err(below(at, "acts"), "no acts: the step does nothing")
	}
	for j, a := range s.Acts {
		l.act(i, below(at, "acts", strconv.Itoa(j)), a)
	}
}

// ending wants exactly one confirm, as the last act that is not manual: whatever
// cordon does after the verdict makes it a verdict on something else. What people do
// elsewhere (scrap the machine, sign for it) may follow.
func (l *linter) ending() {
	type place struct {
		at []string
		do string
	}
	var acts []place
	last := -1
	for i, s := range l.p.Steps {
		for j, a := range s.Acts {
			if a.Do != Manual {
				last = len(acts)
			}
			acts = append(acts, place{[]string{"steps", strconv.Itoa(i), "acts", strconv.Itoa(j)}, a.Do})
		}
	}
	if last < 0 && len(acts) > 0 {
		last = len(acts) - 1
	}
	for k, a := range acts {
		switch {
		case k == last && a.do != Confirm:
			l.err(a.at, "the last act is not confirm: nobody looks whether it worked")
		case k != last && a.do == Confirm:
			l.err(a.at, "confirm comes once, as the last act")
		}
	}
}

// evidence reports whether a step that step i needs, directly or through others,
// reads and keeps something; collected asks for a collection from hosts.
func (l *linter) evidence(i int, collected bool) bool {
	seen := map[int]bool{i: true}
	var look func(i int) bool
	look = func(i int) bool {
		for _, n := range l.p.Steps[i].Needs {
			k, ok := l.index[n]
			if !ok || seen[k] {
				continue
			}
			seen[k] = true
			for _, a := range l.p.Steps[k].Acts {
				if a.Do == Plan && a.Verb == verbCollect || a.Do == Gather && !collected {
					return true
				}
			}
			if look(k) {
				return true
			}
		}
		return false
	}
	return look(i)
}

func (l *linter) ids() []string {
	var ids []string
	for _, s := range l.p.Steps {
		ids = append(ids, s.ID)
	}
	return ids
}

func maybe(word string, known []string) string {
	if near := yamlfile.Nearest(word, known); near != "" {
		return "; did you mean " + near + "?"
	}
	return "; there are: " + untrusted.Clean(strings.Join(known, ", "), 200)
}

func below(at []string, more ...string) []string { return append(slices.Clone(at), more...) }
