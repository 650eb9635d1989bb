package host

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"cordon/internal/evidence"
	"cordon/internal/host/snapshot"
	"cordon/internal/target"
	"cordon/internal/untrusted"
	"cordon/internal/witness"
)

// Observe implements providers.System: one read with the watch profile, told as
// process table, sockets and log. All three are one witness, the host's own. What
// was not wholly seen stays Unknown.
func (h *Hosts) Observe(ctx context.Context, t target.Ref) ([]witness.Observation, error) {
	x, err := h.find(t)
	if err != nil && !errors.Is(err, ErrBadConfig) {
		return nil, err
	}
	o := witness.Observation{Subject: t, Source: witness.HostProcess, At: h.o.Clock.Now()}
	var s *snapshot.Snapshot
	if err == nil {
		s, err = h.Read(ctx, x.Name, snapshot.ProfileWatch)
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if s != nil {
		if to := evidence.SinkFrom(ctx); to != nil {
			digest, kerr := keep(ctx, to, s, watchName(x.Name, o.At))
			if kerr != nil {
				return nil, kerr
			}
			o.Evidence = []string{digest}
		}
	}
	if err != nil {
		o.CouldNot = untrusted.Clean(err.Error(), 500)
		o.Says = "host could not be read: " + o.CouldNot
		return []witness.Observation{o}, nil
	}
	return tell(o, s, x.Unit), nil
}

// processes tells of the agents that may be the watched runner's; others is how many run
// beside them.
func processes(o witness.Observation, s *snapshot.Snapshot, agents []snapshot.Process, others int) witness.Observation {
	o.Source = witness.HostProcess
	switch {
	case len(agents) > 0:
		o.Exists = witness.Yes
		o.Says = fmt.Sprintf("%s runs as process %d", agents[0].Comm, agents[0].PID)
		if len(agents) > 1 {
			o.Says += fmt.Sprintf(" (and %d more)", len(agents)-1)
		}
	case s.Seen(snapshot.SectionProc):
		o.Exists = witness.No
		o.Says = fmt.Sprintf("no %s among %d processes", agentWords(others), len(s.Processes))
	default:
		o.CouldNot = unseen(s, snapshot.SectionProc)
		o.Says = "processes: " + o.CouldNot
	}
	return o
}

// agentWords names what was looked for: where others run, not every agent.
func agentWords(others int) string {
	switch others {
	case 0:
		return "runner agent"
	case 1:
		return "agent of this runner (another one runs beside)"
	}
	return fmt.Sprintf("agent of this runner (%d others run beside)", others)
}

func sockets(o witness.Observation, s *snapshot.Snapshot, agents []snapshot.Process, others int) witness.Observation {
	o.Source = witness.HostSocket
	is := map[int]bool{}
	for _, p := range agents {
		is[p.PID] = true
	}
	for _, k := range s.Sockets {
		if k.PID != 0 && is[k.PID] && k.State == "ESTABLISHED" {
			o.Polling = witness.Yes
			o.Says = fmt.Sprintf("process %d is connected to %s", k.PID, k.Remote)
			return o
		}
	}
	need := []string{snapshot.SectionNet, snapshot.SectionProc}
	if len(agents) > 0 {
		need = append(need, snapshot.SectionDetail) // whose a socket is
	}
	for _, sec := range need {
		if !s.Seen(sec) {
			o.CouldNot = unseen(s, sec)
			o.Says = "sockets: " + o.CouldNot
			return o
		}
	}
	o.Polling = witness.No
	o.Says = fmt.Sprintf("no connection of a runner agent among %d sockets", len(s.Sockets))
	if others > 0 {
		o.Says = fmt.Sprintf("no connection of an agent of this runner among %d sockets", len(s.Sockets))
	}
	return o
}

// unseen says why a section cannot be relied on.
func unseen(s *snapshot.Snapshot, name string) string {
	sec := s.Section(name)
	if sec.End == snapshot.EndOK {
		return "the host's answer was not complete"
	}
	return strings.TrimSpace(sec.End + " " + sec.Why)
}
