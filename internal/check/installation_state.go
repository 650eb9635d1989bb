package check

import (
	"fmt"
	"slices"

	"cordon/internal/host/snapshot"
	"cordon/internal/untrusted"
)

// standing judges how one installation stands: who started it, how often, and whether
// what it was registered for is over.
func (v *view) standing(in Installation) []Finding {
	var out []Finding
	add := func(s Severity, title string, attack []string, format string, args ...any) {
		out = append(out, Finding{
			Severity: s, Title: title, Where: in.Root, Attack: attack, Evidence: v.standingEvidence(in),
			Detail: text("%s. %s", describe(in), fmt.Sprintf(format, args...)),
		})
	}
	if len(in.PIDs) > 1 && (in.Kind == GitHub || in.Kind == Azure) {
		add(Medium, "more than one listener runs from one root", []string{"T1036.005"},
			"Processes %v. One is enough, and the service takes a session of one only; see who started each.", in.PIDs)
	}
	if !in.Contested.IsZero() {
		add(High, "another session uses this runner's registration", []string{"T1078", "T1552.001"},
			"The service said so at %s by the host's clock, and no answer followed. Its key is on a second machine, or it was started twice; the key cannot be rotated, so the registration has to go.",
			in.Contested.UTC().Format("2006-01-02 15:04:05Z"))
	}
	if in.Ephemeral && in.Config != "" {
		switch {
		case v.ranOne(in):
			add(Medium, "an ephemeral runner is still here after its job", []string{"T1078"},
				"It was registered for one job and removes its registration after it. A job of it ended and the registration is on the disk: somebody put it back, or keeps a copy.")
		case len(in.PIDs) == 0:
			add(Low, "the registration of an ephemeral runner was left, and nothing runs it", nil,
				"Whoever reads the files can start it elsewhere until the service forgets it, which takes a day.")
		}
	}
	if unit, by := v.startedBy(in); len(in.PIDs) > 0 && unit == "" && by != "" {
		add(Low, "a runner that no unit starts", []string{"T1543"},
			"Process %d runs in %s: started by hand, by nohup or in a terminal that stays. It does not come back with the machine unless something else sees to it.", in.PIDs[0], quote(by))
	}
	if len(in.PIDs) > 0 && v.refused(in) {
		add(Low, "an agent runs that the service refuses", nil,
			"The last word in its log is a refusal. Its registration is gone or its token was changed, and it goes on asking.")
	}
	if in.Pinned {
		add(Info, "a runner that never updates itself", nil, "It was registered with updates off (disableUpdate).")
	}
	if in.Monitor != "" {
		add(Low, "a runner tells somebody what it does", nil, "It reports to %s (monitorSocketAddress), which few installations use.", quote(string(in.Monitor)))
	}
	if in.Residue {
		add(Info, "a runner's root without a registration", nil,
			"It removed its registration when the service no longer knew it or after its one job, or somebody did. Its logs and its work directory may still be there.")
	}
	return out
}

func (v *view) standingEvidence(in Installation) []string {
	if e := v.rootEvidence(in); len(e) > 0 {
		return e
	}
	return []string{"files:" + untrusted.Clean(string(in.Root), 300)}
}

// ranOne reports whether a job of the installation ended, by its own logs.
func (v *view) ranOne(in Installation) bool {
	written := v.files[string(in.Config)]
	return slices.ContainsFunc(v.s.Jobs, func(j snapshot.Job) bool {
		return j.Root == in.Root && !j.Ended.IsZero() && (written == nil || !written.Mtime.After(j.Ended)) // a newer one is a new registration
	})
}

// startedBy is the unit that an installation's process runs in, and what it runs in
// where that is no unit; both empty where the table does not say.
func (v *view) startedBy(in Installation) (unit, group string) {
	if in.Unit != "" {
		return in.Unit, ""
	}
	for _, pid := range in.PIDs {
		p := v.procs[pid]
		if u := serviceOf(p); u != "" {
			return u, ""
		}
		if g := string(p.Cgroup); g != "" && g != "/" && group == "" {
			group = g
		}
	}
	return "", group
}

// refused reports whether the last thing the installation's log says about asking is
// that it was refused.
func (v *view) refused(in Installation) bool {
	last := snapshot.Contact{}
	for _, l := range v.s.Log {
		if c := l.Contact(); c.Is() && v.logOf(in, l) {
			last = c
		}
	}
	return last.Refused
}

// logOf reports whether a line certainly is of the installation.
func (v *view) logOf(in Installation, l snapshot.LogLine) bool {
	if r := l.Root(); r != "" {
		return r == string(in.Root)
	}
	return in.Unit != "" && string(l.Unit) == in.Unit
}
