package sshd

import (
	"fmt"
	"io"
	"slices"
	"strconv"
)

// act simulates systemctl disable --now (or enable --now) and answers in the frames
// of internal/host/snapshot/FORMAT.md, "Values of an act". Nothing is executed.
func (o Options) act(r request, out io.Writer) (int, error) {
	verb := "stop"
	if r.script.kind() == ActStart {
		verb = "start"
	}
	w := &frames{out: out, nonce: r.nonce}
	active, enabled, _ := o.Unit.Status(r.unit)
	w.frame("begin", verb, "cordon-act 1")
	w.value("unit", r.unit)
	w.value("before.active", active)
	w.value("before.enabled", enabled)

	did, exit, stderr := "ran", 0, ""
	switch {
	case enabled == "not-found":
		did = "nothing"
	case verb == "stop" && idle(active) && !starts(enabled), verb == "start" && active == "active" && enabled == "enabled":
		did = "already"
	default:
		do := o.Unit.Stop
		if verb == "start" {
			do = o.Unit.Start
		}
		if err := do(r.unit); err != nil {
			exit, stderr = 1, "Failed to "+verb+" "+r.unit+": "+err.Error()
		}
	}
	w.value("did", did)
	w.value("exit", strconv.Itoa(exit))
	w.value("stderr", stderr)
	pid := 0
	active, enabled = "unknown", "not-found"
	if did != "nothing" {
		active, enabled, pid = o.Unit.Status(r.unit)
	}
	w.value("after.active", active)
	w.value("after.enabled", enabled)
	w.value("mainpid", strconv.Itoa(pid))
	w.frame("end", verb, strconv.Itoa(w.seq))
	if w.err != nil {
		return refusal, fmt.Errorf("write the answer: %w", w.err)
	}
	return 0, nil
}

func idle(active string) bool {
	return slices.Contains([]string{"inactive", "failed", "unknown"}, active)
}

func starts(enabled string) bool {
	return slices.Contains([]string{"enabled", "enabled-runtime", "linked", "linked-runtime", "alias"}, enabled)
}
