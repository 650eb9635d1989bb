package playbooks

import (
	"slices"
	"strconv"

	"cordon/internal/untrusted"
)

// act checks one act of step i. A field that the kind of act does not use is an
// error: whoever wrote it expects something to happen.
func (l *linter) act(i int, at []string, a Act) {
	if !slices.Contains(kinds, a.Do) {
		l.err(below(at, "do"), "do %q is unknown%s", untrusted.Text(a.Do), maybe(a.Do, kinds))
		return
	}
	l.word(at, "on", a.On, places)
	l.word(at, "profile", a.Profile, profiles)
	l.word(at, "verify", a.Verify, verifies)
	l.word(at, "ask", a.Ask, asks)
	switch a.Do {
	case Gather:
		l.unused(at, a, append([]string{"verb", "destroys", "verify", "ask", "name", "until"}, ofManual...)...)
		l.wanted(at, "on", a.On, "profile", a.Profile)
		if a.On == OnHosts {
			l.err(below(at, "on"), "hosts are read by \"do: plan, verb: collect\": logging in tips off, so a person confirms it")
		}
	case Plan:
		l.unused(at, a, append([]string{"until"}, ofManual...)...)
		l.plan(i, at, a)
	case Manual:
		l.unused(at, a, "verb", "profile", "destroys", "verify", "ask", "name", "until")
		l.manual(at, a)
	case Wait:
		l.unused(at, a, append([]string{"verb", "profile", "optional", "destroys", "verify", "ask", "name"}, ofManual...)...)
		l.wanted(at, "on", a.On, "until", a.Until)
		l.word(at, "until", a.Until, untils)
		if a.On == OnHosts {
			l.err(below(at, "on"), "the provider says whether a job runs: write on: runner")
		}
	case Exposure, Confirm:
		l.unused(at, a, append([]string{"verb", "profile", "on", "optional", "destroys", "verify", "ask", "name", "until"}, ofManual...)...)
	}
}

func (l *linter) plan(i int, at []string, a Act) {
	v, ok := findVerb(a.Verb)
	if !ok {
		l.err(below(at, "verb"), "verb %q is unknown%s", untrusted.Text(a.Verb), maybe(a.Verb, verbNames()))
		return
	}
	l.wanted(at, "on", a.On)
	if a.On != "" && v.on != "" && a.On != v.on {
		l.err(below(at, "on"), "%s is done on: %s", v.name, v.on)
	}
	if v.name == verbCollect {
		l.wanted(at, "profile", a.Profile)
		l.unused(at, a, "destroys", "verify")
	} else {
		l.unused(at, a, "profile")
	}
	if v.name == verbOperator {
		// Which actions there are is the configuration's affair, on the machine that runs it.
		l.wanted(at, "name", a.Name)
		if a.Name != "" && !nameForm.MatchString(a.Name) {
			l.err(below(at, "name"), "name %q: use A-Z a-z 0-9 . _ -, at most 63, starting with a letter or digit", untrusted.Text(a.Name))
		}
		l.unused(at, a, "verify")
	} else {
		l.unused(at, a, "name")
	}
	if a.Verify != "" && v.name != verbOperator && a.Verify != v.verify {
		l.err(below(at, "verify"), "verify %s does not tell whether %s worked", a.Verify, v.name)
	}
	if a.Optional && a.On == OnRunner {
		l.err(below(at, "optional"), "only hosts may be out of reach; what a provider does not answer is unknown, not optional")
	}
	for j, d := range a.Destroys {
		if !globForm.MatchString(d) {
			l.err(below(at, "destroys", strconv.Itoa(j)), "destroys %q: evidence names are made of A-Z a-z 0-9 . _ / - and the globs * and ?", untrusted.Text(d))
		}
	}
	switch {
	case v.after && !l.evidence(i, true):
		l.err(below(at, "verb"), "%s without a collection first: let the step need one that has \"do: plan, verb: collect\"", v.name)
	case len(a.Destroys) > 0 && !l.evidence(i, false):
		l.err(below(at, "destroys"), "destroys evidence that no needed step has kept")
	}
	if v.name == verbRotate && !l.exposes() {
		l.add(SeverityWarning, at, "rotates the runner's credential, and no act \"do: exposure\" lists what else it could reach")
	}
}

func (l *linter) exposes() bool {
	for _, s := range l.p.Steps {
		if slices.ContainsFunc(s.Acts, func(a Act) bool { return a.Do == Exposure }) {
			return true
		}
	}
	return false
}

func (l *linter) word(at []string, key, value string, known []string) {
	if value != "" && !slices.Contains(known, value) {
		l.err(below(at, key), "%s %q is unknown%s", key, untrusted.Text(value), maybe(value, known))
	}
}

// wanted takes pairs of key and value.
func (l *linter) wanted(at []string, pairs ...string) {
	for ; len(pairs) > 1; pairs = pairs[2:] {
		if pairs[1] == "" {
			l.err(at, "no %s", pairs[0])
		}
	}
}

func (l *linter) unused(at []string, a Act, keys ...string) {
	set := map[string]bool{
		"verb": a.Verb != "", "profile": a.Profile != "", "on": a.On != "", "optional": a.Optional,
		"destroys": len(a.Destroys) > 0, "verify": a.Verify != "", "ask": a.Ask != "",
		"name": a.Name != "", "until": a.Until != "", "text": a.Text != "", "fields": len(a.Fields) > 0,
		"owner": a.Owner != "", "due": a.Due != "", "attach": a.Attach, "sign_off": a.SignOff != "",
	}
	for _, k := range keys {
		if set[k] {
			what := a.Do
			if a.Do == Plan {
				what = a.Verb
			}
			l.err(below(at, k), "%s has no %s", what, k)
		}
	}
}
