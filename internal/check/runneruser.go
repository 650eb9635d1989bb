package check

import (
	"path"
	"strings"

	"cordon/internal/host/snapshot"
)

func runnerUserCheck() Check {
	return Check{
		ID:     "runner-account",
		Title:  "What the account of the jobs starts by itself",
		Why:    "A job needs no root to come back: its own account's units, keys and login files are enough.",
		Reads:  "user units of the accounts that jobs run under, their .ssh, the jobs' hooks of at and cron are cron-timers', their profiles shell-profiles'",
		Root:   "homes of other users",
		Needs:  []string{snapshot.SectionUnits, snapshot.SectionHomes, snapshot.SectionKeys},
		Attack: []string{"T1543.002", "T1098.004"},
		NIST:   []string{"CM-7", "AC-6"},
		look:   func(v *view) []Finding { return v.judged(accountPlaces) },
	}
}

var accountPlaces = []place{
	{
		func(p string) bool {
			return userUnitDir(p) && (strings.HasSuffix(p, ".service") || strings.HasSuffix(p, ".path") || strings.HasSuffix(p, ".socket"))
		},
		[]string{"T1543.002"},
		"a unit of the account of the jobs", judgeAccountUnit,
	},
	{func(p string) bool { return path.Base(path.Dir(p)) == ".ssh" }, []string{"T1098.004"}, "a key pair in the account of the jobs", judgeAccountKey},
}

func judgeAccountUnit(v *view, p string, f *snapshot.File, why *reasons) {
	u, ok := v.homeOwner(p)
	if !ok || !v.isRunner(u) || f.Type != "file" || v.hasTimer(p) {
		return
	}
	unit := parseUnit(string(f.Content))
	if unit.runner(path.Base(p)) || len(strongExec(unit)) > 0 { // the first is a runner's own, the second unit-dropins reports
		return
	}
	why.add(Medium, "%s runs jobs, and jobs need no unit", quote(u.name))
	for _, e := range execLines(unit) {
		why.add(Medium, "%s=%s", e.key, quote(e.value))
	}
}

func strongExec(u unit) []string {
	var out []string
	for _, e := range execLines(u) {
		out = append(out, strongSigns(e.value)...)
	}
	return out
}

// judgeAccountKey: who made a pair there can use it from elsewhere; deploy keys are
// made so too, so that only odd names are more than a note.
func judgeAccountKey(v *view, p string, f *snapshot.File, why *reasons) {
	u, ok := v.homeOwner(p)
	base := path.Base(p)
	if !ok || !v.isRunner(u) || f.Section != snapshot.SectionHomes || f.Type != "file" || !strings.HasSuffix(base, ".pub") {
		return
	}
	why.add(Low, "%s, from %s: find out who made it and what it opens", quote(base), f.Mtime.Format("2006-01-02"))
}
