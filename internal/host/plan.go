package host

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"cordon/internal/change"
	"cordon/internal/host/snapshot"
	"cordon/internal/target"
	"cordon/internal/untrusted"
	"cordon/providers"
)

// Operations of this package.
const (
	OpStop  = "host.unit.stop@1"
	OpStart = "host.unit.start@1"
)

// tipsOff is what reaching x shows to whoever owns the host (facts/host.md §3.4, §4.8).
func tipsOff(x Host) string {
	switch x.transport() {
	case snapshot.ByExec:
		return "a shell is visible in its process list, and the program that starts it is recorded where it runs"
	case snapshot.ByLocal:
		return "a shell is visible in the process list of this machine"
	}
	return "a login is visible there (utmp, auth.log, PAM, message of the day) and runs the start-up code of the account"
}

// UnitArgs are the arguments of OpStop and OpStart.
type UnitArgs struct {
	Unit string `json:"unit"`
}

// Plan implements providers.System for collect and stop. It contacts nothing. Args of
// stop may name another unit than the configured one.
func (h *Hosts) Plan(_ context.Context, verb string, t target.Ref, args json.RawMessage) ([]change.Plan, error) {
	if verb != providers.Collect && verb != providers.Stop {
		return nil, fmt.Errorf("plan %s of %s: %w: a host can be read (%s) and its agent stopped (%s)", verb, t, providers.ErrNoVerb, providers.Collect, providers.Stop)
	}
	x, err := h.find(t)
	if err != nil {
		return nil, err
	}
	if verb == providers.Collect {
		return []change.Plan{{
			Verb: verb, Option: option(x), Title: title(x),
			Covers: "processes, sockets, the agent's log, units, timers, cron, keys, runner configuration, start-up files, secrets by place and name",
			Limits: append([]string{
				"as told by the host: whoever is root there can forge every byte", "no memory, no disk image, no content of credential files",
				fmt.Sprintf("at most %d MiB of answer in %s; what does not fit is a gap", h.o.Limits.Most()>>20, h.o.Timeouts.Total),
			}, looking(x)...),
			Contacts: []target.Ref{t}, TipsOff: tipsOff(x), Made: h.o.Clock.Now(),
		}}, nil
	}
	a := UnitArgs{Unit: x.Unit}
	if err := strict(args, &a); err != nil {
		return nil, fmt.Errorf("plan stop of %s: %w", t, err)
	}
	p := change.Plan{
		Verb: verb, Option: "disable-now", Title: "stop and disable the runner's unit on " + x.Name, Made: h.o.Clock.Now(),
		Covers: "the agent does not run, and does not start with the machine",
		Limits: []string{
			"jobs that run go on where the unit says KillMode=process, and so does what they left behind: the host is contained by isolating it, not by this",
			"whoever is root there can start it again",
		},
	}
	if a.Unit == "" {
		p.Option, p.Limits = "by-hand", nil
		p.Manual = []string{
			"the configuration names no unit for " + x.Name + ": add unit: NAME.service under hosts, or stop it there by hand",
			"on the host: systemctl disable --now gitlab-runner.service",
		}
		return []change.Plan{p}, nil
	}
	if !unitRE.MatchString(a.Unit) {
		return nil, fmt.Errorf("plan stop of %s: unit %q is not the name of a service", t, untrusted.Clean(a.Unit, 80))
	}
	c := unitChange(x, OpStop, a.Unit)
	undo := unitChange(x, OpStart, a.Unit)
	c.Undo = &undo
	p.Contacts, p.TipsOff, p.Changes = []target.Ref{t}, c.TipsOff, []change.Change{c}
	return []change.Plan{p}, nil
}

func option(x Host) string { return strings.ReplaceAll(x.transport(), " ", "-") }

func title(x Host) string {
	switch x.transport() {
	case snapshot.ByExec:
		return "run " + untrusted.Clean(strings.Join(x.Exec, " "), 120) + " once and read " + x.Name
	case snapshot.ByLocal:
		return "read this machine, " + x.Name + ", once"
	}
	return "log in to " + x.Name + " once and read it"
}

// looking says what the read itself changes, as limits of it.
func looking(x Host) []string {
	out := effects(x)
	for i := range out {
		out[i] = "looking is not free: " + out[i]
	}
	return out
}

// unitChange is the change that Apply carries out, with the call that Admit is asked for.
func unitChange(x Host, op, unit string) change.Change {
	args, _ := json.Marshal(UnitArgs{Unit: unit}) // a struct of one string marshals
	c := change.Change{
		System: target.SSH, Op: op, Target: ref(x.Name), Args: args, Call: unitCall(x, op, unit),
		TipsOff: tipsOff(x),
	}
	if op == OpStart {
		c.Title = "enable and start " + unit + " on " + x.Name
		return c
	}
	c.Title = "stop and disable " + unit + " on " + x.Name
	c.TipsOff = tipsOff(x) + "; the agent ends, which whoever watches it sees at once"
	c.Capacity = "this machine takes no more jobs from any runner that uses " + unit
	c.Destroys = []string{"host/" + x.Name + "/snapshot.json"} // processes, sockets and memory of the agent are gone afterwards
	return c
}

func unitCall(x Host, op, unit string) change.Call {
	s, act := actStop(), "act-stop"
	if op == OpStart {
		s, act = actStart(), "act-start"
	}
	return change.Call{Method: x.method(), URL: strings.ToLower(x.method()) + "://" + x.Name + "/" + act, Body: "sha256:" + s.SHA256 + " unit=" + unit}
}

// strict decodes args into v; nothing, null and {} change nothing.
func strict(args json.RawMessage, v any) error {
	if len(bytes.TrimSpace(args)) == 0 {
		return nil
	}
	return change.Strict(args, v)
}
