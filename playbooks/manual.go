package playbooks

import (
	"strconv"
	"strings"
	"time"

	"cordon/internal/untrusted"
)

// ofManual are the keys of an act that only a manual one has.
var ofManual = []string{"text", "fields", "owner", "due", "attach", "sign_off"}

// maxFields bounds what one manual act may ask: more is a form, not a step.
const maxFields = 12

// Within is Due as a duration after the opening of the case; 0 where there is none.
func (a Act) Within() time.Duration {
	if !dueForm.MatchString(a.Due) {
		return 0
	}
	n, _ := strconv.Atoi(a.Due[:len(a.Due)-1]) // at most four digits
	unit := time.Hour
	if strings.HasSuffix(a.Due, "d") {
		unit = 24 * time.Hour
	}
	return time.Duration(n) * unit
}

// manual checks an act that a person does.
func (l *linter) manual(at []string, a Act) {
	l.word(at, "sign_off", a.SignOff, signOffs)
	if strings.TrimSpace(a.Text) == "" {
		l.err(below(at, "text"), "no text: say what the person has to do")
	}
	if a.Due != "" && !dueForm.MatchString(a.Due) {
		l.err(below(at, "due"), "due %q: write hours or days after the opening of the case, such as 12h or 14d", untrusted.Text(a.Due))
	}
	if len(a.Fields) > maxFields {
		l.err(below(at, "fields"), "%d fields: at most %d, split the act", len(a.Fields), maxFields)
	}
	seen := map[string]bool{}
	named := false
	for i, f := range a.Fields {
		here := below(at, "fields", strconv.Itoa(i))
		if !idForm.MatchString(f.ID) {
			l.err(below(here, "id"), "id %q: use 1 to 40 of a-z, 0-9 and -, starting with a letter or digit", untrusted.Text(f.ID))
		}
		if seen[f.ID] {
			l.err(below(here, "id"), "a second field %q", untrusted.Text(f.ID))
		}
		seen[f.ID] = true
		if strings.TrimSpace(f.Title) == "" {
			l.err(below(here, "title"), "no title: it is the question that the person answers")
		}
		l.wanted(here, "kind", f.Kind)
		l.word(here, "kind", f.Kind, fields)
		named = named || f.Kind == FieldPerson
	}
	if a.SignOff != "" && !named {
		l.add(SeverityWarning, at, "a sign-off, and no field of kind person says who did the work: only who wrote it down is compared")
	}
}
