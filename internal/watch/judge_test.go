package watch

import (
	"slices"
	"strings"
	"testing"
	"time"

	"cordon/internal/target"
	"cordon/internal/witness"
)

var (
	began  = time.Date(2026, 11, 30, 3, 0, 0, 0, time.UTC)
	runner = target.Ref{System: "gl", Kind: target.Runner, ID: "42"}
	host   = target.Ref{System: target.SSH, Kind: target.Host, ID: "build-07"}
)

// seen is an observation so many minutes after the watch began.
func seen(on target.Ref, src witness.Source, minute int, f func(*witness.Observation)) witness.Observation {
	o := witness.Observation{Subject: on, Source: src, At: began.Add(time.Duration(minute) * time.Minute)}
	if f != nil {
		f(&o)
	}
	return o
}

func gone(o *witness.Observation)    { o.Exists = witness.No }
func runs(o *witness.Observation)    { o.Exists = witness.Yes }
func dark(o *witness.Observation)    { o.CouldNot = "no route to host" }
func nowhere(o *witness.Observation) { o.Returned = witness.No }
func back(o *witness.Observation)    { o.Returned = witness.Yes }
func idle(o *witness.Observation)    { o.Polling = witness.No }

// knock is a refused contact so many minutes after the watch began; answered one that
// got an answer.
func knock(minute int) func(*witness.Observation) {
	return func(o *witness.Observation) {
		o.Rejected, o.LastContact = witness.Yes, began.Add(time.Duration(minute)*time.Minute)
	}
}

func answered(minute int) func(*witness.Observation) {
	return func(o *witness.Observation) {
		o.Polling, o.Rejected, o.LastContact = witness.Yes, witness.No, began.Add(time.Duration(minute)*time.Minute)
	}
}

// looks are a first and a last look at the host with that log.
func looks(first, last func(*witness.Observation)) []witness.Observation {
	var all []witness.Observation
	for minute, log := range map[int]func(*witness.Observation){1: first, 64: last} {
		all = append(all, seen(host, witness.HostProcess, minute, gone), seen(host, witness.HostSocket, minute, idle), seen(host, witness.HostLog, minute, log))
	}
	return all
}

// quiet is everything that speaks for silence.
func quiet() []witness.Observation {
	return append(looks(knock(-5), knock(-5)), seen(runner, witness.ProviderAPI, 64, gone), seen(runner, witness.ProviderAPI, 64, nowhere))
}

// swap replaces what one source said of one subject from a minute on.
func swap(on target.Ref, src witness.Source, minute int, f func(*witness.Observation)) []witness.Observation {
	all := slices.DeleteFunc(quiet(), func(o witness.Observation) bool {
		return o.Subject == on && o.Source == src && o.At.Equal(began.Add(time.Duration(minute)*time.Minute)) && o.Returned == witness.Unknown
	})
	if f == nil {
		return all
	}
	return append(all, seen(on, src, minute, f))
}

func judge(minutes int, all []witness.Observation) witness.Verdict {
	return Judge(Window{Runner: runner, Hosts: []target.Ref{host}, From: began, Needs: 65 * time.Minute, Now: began.Add(time.Duration(minutes) * time.Minute), Passed: time.Duration(minutes) * time.Minute}, all)
}

// TestSilenceNeedsEveryWitness takes away or turns one witness at a time: only with all
// of them, over the whole window, is a runner silent.
func TestSilenceNeedsEveryWitness(t *testing.T) {
	for _, c := range []struct {
		name    string
		minutes int
		seen    []witness.Observation
		state   string
		why     string
	}{
		{"all speak for it", 65, quiet(), witness.Silent, ""},
		{"the window is not over", 64, quiet(), witness.Waiting, ""},
		{"nobody was asked", 65, nil, witness.CannotTell, "the provider was not asked"},
		{"the provider could not be asked at last", 65, swap(runner, witness.ProviderAPI, 64, dark), witness.CannotTell, "no route"},
		{"nobody looked for another registration", 65, slices.DeleteFunc(quiet(), func(o witness.Observation) bool { return o.Returned != witness.Unknown }), witness.CannotTell, "another registration"},
		{"the registration is still there", 65, swap(runner, witness.ProviderAPI, 64, runs), witness.CannotTell, "still there"},
		{"it came back", 65, append(quiet(), seen(runner, witness.ProviderAPI, 30, back)), witness.Resurrected, ""},
		{"the host could not be read at last", 65, append(quiet(), seen(host, witness.HostProcess, 65, dark)), witness.CannotTell, "no route"},
		{"an agent runs", 65, swap(host, witness.HostProcess, 64, runs), witness.CannotTell, "an agent process still runs"},
		{"it knocked meanwhile", 65, swap(host, witness.HostLog, 64, knock(40)), witness.Knocking, ""},
		{"it was answered meanwhile", 65, swap(host, witness.HostLog, 64, answered(40)), witness.Polling, ""},
		{"the provider heard it", 65, append(quiet(), seen(runner, witness.ProviderAPI, 20, answered(10))), witness.Polling, ""},
		{"an audit log that cannot be read takes nothing away", 65, append(quiet(), seen(runner, witness.ProviderAudit, 64, dark)), witness.Silent, ""},
		{"an audit log that has nothing is no word on the registration", 65, append(swap(runner, witness.ProviderAPI, 64, nil), seen(runner, witness.ProviderAudit, 64, idle)), witness.CannotTell, "the provider was not asked"},
		{"the audit log has it come back", 65, append(quiet(), seen(runner, witness.ProviderAudit, 30, back)), witness.Resurrected, ""},
		{"the audit log has it come online", 65, append(quiet(), seen(runner, witness.ProviderAudit, 30, answered(20))), witness.Polling, ""},
		{"the audit log has it online before the watch", 65, append(quiet(), seen(runner, witness.ProviderAudit, 30, answered(-20))), witness.Silent, ""},
		{"a late job is told beside the search for it", 65, append(quiet(), seen(runner, witness.ProviderAPI, 40, func(o *witness.Observation) { nowhere(o); answered(30)(o) })), witness.Polling, ""},
		{"a knock before the watch does not count", 65, append(looks(knock(-1), knock(-1)), quiet()[6:]...), witness.Silent, ""},
		{"the log was never read", 65, swapLog(nil, nil), witness.CannotTell, "log could not be read"},
		{"the log was read at the end only", 65, swapLog(nil, knock(40)), witness.CannotTell, "read once only"},
		{"the log was read at the beginning only", 65, swapLog(knock(-5), nil), witness.CannotTell, "read once only"},
		{"the log was emptied", 65, swapLog(knock(-5), idle), witness.CannotTell, "lost lines"},
		{"the log has no times", 65, swapLog(untimed, untimed), witness.CannotTell, "carry no time"},
		{"the log never had a contact", 65, swapLog(empty, empty), witness.Silent, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := judge(c.minutes, c.seen)
			if v.State != c.state || !strings.Contains(v.Why, c.why) {
				t.Errorf("%s (%s), want %s (%s); missing %q", v.State, v.Why, c.state, c.why, v.Missing)
			}
		})
	}
}

func untimed(o *witness.Observation) { o.Rejected = witness.Yes }
func empty(*witness.Observation)     {}

// swapLog gives the two looks another log; nil: it could not be read then.
func swapLog(first, last func(*witness.Observation)) []witness.Observation {
	all := slices.DeleteFunc(quiet(), func(o witness.Observation) bool { return o.Source == witness.HostLog })
	for minute, f := range map[int]func(*witness.Observation){1: first, 64: last} {
		if f == nil {
			f = dark
		}
		// The log comes first, so that what is asked here is the log and not the last word of the host.
		all = append([]witness.Observation{seen(host, witness.HostLog, minute, f)}, all...)
	}
	return all
}

// What nobody can be made to say here is told beside a verdict and holds up none; what a
// witness says against itself, or left to a later look, is not silence.
func TestWhatWasNotLookedAtIsNamedInTheVerdict(t *testing.T) {
	brief := func(o *witness.Observation) { o.Brief = "the lists of all scopes are read at the end" }
	listed := func(o *witness.Observation) { nowhere(o); o.Exists = witness.Yes }
	search := func(minute int, f func(*witness.Observation)) []witness.Observation {
		all := slices.DeleteFunc(quiet(), func(o witness.Observation) bool { return o.Returned != witness.Unknown })
		return append(all, seen(runner, witness.ProviderAPI, minute, f))
	}
	for name, c := range map[string]struct {
		seen    []witness.Observation
		state   string
		missing string
	}{
		"a log that cannot be read":            {append(quiet(), seen(runner, witness.ProviderAudit, 64, dark)), witness.Silent, "no route"},
		"a log that was read at last":          {append(quiet(), seen(runner, witness.ProviderAudit, 30, dark), seen(runner, witness.ProviderAudit, 64, nil)), witness.Silent, ""},
		"a log that goes on":                   {append(quiet(), seen(runner, witness.ProviderAudit, 64, func(o *witness.Observation) { o.Except = "there is more" })), witness.Silent, "there is more"},
		"a level that is not configured":       {search(64, func(o *witness.Observation) { nowhere(o); o.Except = "an enterprise" }), witness.Silent, "an enterprise"},
		"listed, and gone by its number":       {search(64, listed), witness.CannotTell, "in the list of runners all the same"},
		"looked for in part at last":           {search(64, brief), witness.CannotTell, "looked for in part"},
		"looked for in part, and then wholly":  {append(search(30, brief), seen(runner, witness.ProviderAPI, 64, nowhere)), witness.Silent, ""},
		"a brief look found it":                {search(64, func(o *witness.Observation) { brief(o); back(o) }), witness.Resurrected, ""},
		"a brief look had a job of it":         {append(quiet(), seen(runner, witness.ProviderAPI, 50, func(o *witness.Observation) { brief(o); answered(40)(o) })), witness.Polling, ""},
		"a brief look after the registration":  {append(quiet(), seen(runner, witness.ProviderAPI, 64, brief)), witness.Silent, ""},
		"nothing of all this, for the control": {quiet(), witness.Silent, ""},
	} {
		v := judge(65, c.seen)
		if v.State != c.state || !strings.Contains(strings.Join(v.Missing, "\n"), c.missing) || c.state == witness.Silent && (len(v.Missing) > 0) != (c.missing != "") {
			t.Errorf("%s: %s (%s), missing %q", name, v.State, v.Why, v.Missing)
		}
	}
}

// A planted agent on its host stands against the silence of a runner for as long as it
// runs; one that is ours, beside it, does not.
func TestAPlantedAgentOnItsHostIsNotSilence(t *testing.T) {
	beside := func(minute int) witness.Observation {
		x := target.Ref{System: target.SSH, Scope: target.Scope{Level: target.Host, Path: host.ID}, Kind: target.Installation, ID: "Runner.Listener-9"}
		return seen(x, witness.HostProcess, minute, func(o *witness.Observation) { runs(o); o.Says = "another runner agent runs on build-07" })
	}
	for name, c := range map[string]struct {
		at    int
		stray func(witness.Observation) bool
		state string
		now   int
	}{
		"it runs":                      {64, func(witness.Observation) bool { return true }, witness.Polling, 65},
		"it runs, and the watch too":   {64, func(witness.Observation) bool { return true }, witness.Waiting, 64},
		"it was gone at the last look": {1, func(witness.Observation) bool { return true }, witness.Silent, 65},
		"it is one of ours":            {64, func(witness.Observation) bool { return false }, witness.Silent, 65},
		"nobody knows of planted ones": {64, nil, witness.Silent, 65},
	} {
		all := append(quiet(), beside(c.at))
		v := Judge(Window{Runner: runner, Hosts: []target.Ref{host}, From: began, Needs: 65 * time.Minute, Now: began.Add(time.Duration(c.now) * time.Minute), Passed: time.Duration(c.now) * time.Minute, Stray: c.stray}, all)
		against := slices.ContainsFunc(v.Against, func(o witness.Observation) bool { return o.Subject.Kind == target.Installation })
		if v.State != c.state || against != (c.state == witness.Polling || c.state == witness.Waiting) {
			t.Errorf("%s: %s (%s), against %+v", name, v.State, v.Why, v.Against)
		}
	}
}
