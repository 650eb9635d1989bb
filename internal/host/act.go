package host

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"cordon/internal/change"
	"cordon/internal/host/snapshot"
	"cordon/internal/untrusted"
	"cordon/internal/witness"
)

// Applier carries out OpStop and OpStart. It is not constructed in read-only mode.
// Safe for concurrent use.
type Applier struct{ h *Hosts }

// NewApplier returns the applier for the hosts of h.
func NewApplier(h *Hosts) *Applier { return &Applier{h: h} }

// unitState is what an act answered.
type unitState struct {
	before, after struct{ active, enabled string }
	did, stderr   string
	exit          int
	mainPID       string
}

// Apply implements providers.Applier. change.Admit is asked before a connection is
// opened. The script reads the state, acts unless it is so already, and reads it again;
// an answer that is not whole leaves the outcome unknown.
func (a *Applier) Apply(ctx context.Context, c change.Change) (change.Outcome, error) {
	out := change.Outcome{Change: c.ID, State: change.Refused, At: a.h.o.Clock.Now()}
	refuse := func(err error) (change.Outcome, error) {
		out.Why = untrusted.Clean(err.Error(), 500)
		return out, err
	}
	if c.Op != OpStop && c.Op != OpStart {
		return refuse(fmt.Errorf("apply %s: no operation %s in this build: plan again", c.ID, c.Op))
	}
	x, err := a.h.find(c.Target)
	if err != nil {
		return refuse(err)
	}
	var args UnitArgs
	if err := strict(c.Args, &args); err != nil {
		return refuse(fmt.Errorf("apply %s: %w", c.ID, err))
	}
	if !unitRE.MatchString(args.Unit) {
		return refuse(fmt.Errorf("apply %s: unit %q is not the name of a service", c.ID, untrusted.Clean(args.Unit, 80)))
	}
	if err := change.Admit(ctx, unitCall(x, c.Op, args.Unit)); err != nil {
		return refuse(fmt.Errorf("%s: %w", c.Title, err))
	}
	script, verb := actStop(), "stop"
	if c.Op == OpStart {
		script, verb = actStart(), "start"
	}
	var st unitState
	j := job{
		script: script, nonce: newNonce(), third: "U=" + args.Unit, profile: args.Unit,
		idle: a.h.o.Timeouts.Act, total: a.h.o.Timeouts.Act,
	}
	j.read = func(r io.Reader) (err error) {
		st, err = readAct(snapshot.NewFrames(r, j.nonce, snapshot.Limits{Frame: 64 << 10, Total: 256 << 10, Frames: 100}), verb, args.Unit)
		return err
	}
	ex, err := a.h.run(ctx, x, j)
	out.Status = max(ex.Exit, 0)
	switch {
	case err != nil && !ex.Sent:
		return refuse(fmt.Errorf("%s: nothing was sent: %w", c.Title, err))
	case err != nil:
		out.State = change.Unknown
		err = fmt.Errorf("%s: sent, but no whole answer came: %w; look before anything else", c.Title, err)
		out.Why = untrusted.Clean(err.Error(), 500)
		return out, err
	}
	return st.outcome(out, c, verb, args.Unit)
}

// outcome judges what the host claims.
func (st unitState) outcome(out change.Outcome, c change.Change, verb, unit string) (change.Outcome, error) {
	out.Status = st.exit
	out.Made = map[string]string{
		"unit": unit, "before": st.before.active + " " + st.before.enabled, "after": st.after.active + " " + st.after.enabled,
	}
	if st.mainPID != "" && st.mainPID != "0" {
		out.Made["mainpid"] = st.mainPID
	}
	reached := stopped(st.after.active) && !starts(st.after.enabled)
	if verb == "start" {
		reached = st.after.active == "active" && starts(st.after.enabled)
	}
	now := st.after.active + " and " + st.after.enabled
	var err error
	switch {
	case st.did == "nothing":
		out.State, err = change.Refused, fmt.Errorf("%s: there is no such unit (or no systemctl) on the host; is the name right?", c.Title)
	case st.did == "already" && reached:
		out.State, out.Why = change.Already, "it was "+now+" before"
	case st.did == "ran" && reached:
		out.State, out.Why = change.Applied, "as told by the host it is "+now
	case st.did == "ran" && st.exit != 0:
		out.State = change.Refused
		err = fmt.Errorf("%s: systemctl ended with %d and the unit is %s: %s; does this account need sudo: true?", c.Title, st.exit, now, untrusted.Clean(st.stderr, 300))
	default:
		out.State, err = change.Unknown, fmt.Errorf("%s: systemctl ran, but the unit is %s", c.Title, now)
	}
	if err != nil {
		out.Why = untrusted.Clean(err.Error(), 500)
	}
	return out, err
}

func stopped(active string) bool {
	return active == "inactive" || active == "failed" || active == "unknown"
}

func starts(enabled string) bool {
	switch enabled {
	case "enabled", "enabled-runtime", "linked", "linked-runtime", "alias":
		return true
	}
	return false
}

// actKeys are the values of an act, in their order (FORMAT.md).
var actKeys = []string{"unit", "before.active", "before.enabled", "did", "exit", "stderr", "after.active", "after.enabled", "mainpid"}

// readAct takes the answer of an act: begin, every value once and in order, end.
func readAct(f *snapshot.Frames, verb, unit string) (unitState, error) {
	var st unitState
	forged := func(fr snapshot.Frame, what string) (unitState, error) {
		return st, fmt.Errorf("frame %d: %w: %s", fr.Seq, snapshot.ErrForged, what)
	}
	into := []*string{new(string), &st.before.active, &st.before.enabled, &st.did, new(string), &st.stderr, &st.after.active, &st.after.enabled, &st.mainPID}
	for {
		fr, err := f.Next()
		if errors.Is(err, io.EOF) {
			return st, snapshot.ErrCut
		} else if err != nil {
			return st, err
		}
		i := fr.Seq - 2
		switch {
		case fr.Seq == 1:
			if fr.Kind != "begin" || fr.Name != verb || string(fr.Body) != "cordon-act 1" {
				return forged(fr, "another script")
			}
		case i < len(actKeys):
			if fr.Kind != "value" || fr.Name != actKeys[i] {
				return forged(fr, "a value out of place")
			}
			*into[i] = untrusted.Clean(string(fr.Body), 2048)
		case fr.Kind != "end" || fr.Name != verb || string(fr.Body) != strconv.Itoa(fr.Seq-1):
			return forged(fr, "an end that does not fit")
		default:
			n, err := strconv.Atoi(*into[4])
			if err != nil || *into[0] != unit {
				return forged(fr, "the values are not about what was asked")
			}
			st.exit = n
			return st, nil
		}
	}
}

// Settle implements providers.Settler: it reads the host and tells whether the unit
// starts at boot and has a process. A stopped unit whose agent goes on outside of it is
// not settled: a person has to look. It acts on nothing.
func (h *Hosts) Settle(ctx context.Context, c change.Change) (state, why string, err error) {
	x, err := h.find(c.Target)
	if err != nil {
		return change.Unknown, "", err
	}
	var args UnitArgs
	if err := strict(c.Args, &args); err != nil || (c.Op != OpStop && c.Op != OpStart) {
		return change.Unknown, "", fmt.Errorf("settle %s: no operation %s in this build: plan again", c.ID, c.Op)
	}
	s, err := h.Read(ctx, x.Name, snapshot.ProfileWatch)
	if ctx.Err() != nil {
		return change.Unknown, "", ctx.Err()
	}
	if err != nil {
		return change.Unknown, untrusted.Clean(err.Error(), 500), nil
	}
	enabled, runs := atBoot(s, args.Unit), runsUnit(s, args.Unit)
	why = fmt.Sprintf("as told by the host, %s: starts at boot %s, runs %s", args.Unit,
		orWhyNot(enabled, s, snapshot.SectionWants), orWhyNot(runs, s, snapshot.SectionProc))
	want := witness.Of(c.Op == OpStart)
	switch {
	case enabled == witness.Unknown || runs == witness.Unknown:
		return change.Unknown, why, nil
	case enabled != want || runs != want:
		return change.Refused, why, nil
	case c.Op == OpStop:
		if beside := besideUnit(s, args.Unit); beside != "" {
			return change.Unknown, why + ", but " + beside + ": the unit is stopped and the agent is not; look at it on the host, and end it there", nil
		}
	}
	return change.Applied, why, nil
}

// orWhyNot is t, or why the section that would tell does not.
func orWhyNot(t witness.Tri, s *snapshot.Snapshot, section string) string {
	if t == witness.Unknown {
		return "unknown (" + unseen(s, section) + ")"
	}
	return string(t)
}

// atBoot looks for a link to the unit in the *.wants of /etc/systemd/system.
func atBoot(s *snapshot.Snapshot, unit string) witness.Tri {
	for _, f := range s.Files {
		if f.Section == snapshot.SectionWants && strings.HasSuffix(string(f.Path), "/"+unit) {
			return witness.Yes
		}
	}
	if s.Seen(snapshot.SectionWants) {
		return witness.No
	}
	return witness.Unknown
}

// besideUnit names an agent that the unit could have started and that runs outside of
// its control group, "" for none: systemd knows nothing of it.
func besideUnit(s *snapshot.Snapshot, unit string) string {
	b := belonging{unit: unit, agent: snapshot.AgentOf(unit), root: rootOf(s, unit)}
	own, _ := b.split(Agents(s))
	for _, p := range own {
		if !inUnit(p, unit) {
			return fmt.Sprintf("%s runs as process %d, outside of it", executable(p), p.PID)
		}
	}
	return ""
}

func inUnit(p snapshot.Process, unit string) bool {
	return strings.HasSuffix(string(p.Cgroup), "/"+unit)
}

// runsUnit looks for an agent's process in the unit's control group. Others there
// are what jobs left behind.
func runsUnit(s *snapshot.Snapshot, unit string) witness.Tri {
	for _, p := range Agents(s) {
		if inUnit(p, unit) {
			return witness.Yes
		}
	}
	if s.Seen(snapshot.SectionProc) {
		return witness.No
	}
	return witness.Unknown
}
