package engine

import (
	"fmt"
	"slices"
	"strings"

	"cordon/internal/change"
	"cordon/internal/host/snapshot"
	"cordon/internal/target"
	"cordon/providers"
)

// Guards about the hosts of a case. Both are of the class that no standing answer sets
// aside by itself.
const (
	HostUnknown = "no-host"     // nothing says which host uses a runner, so that nothing was asked of it
	WrongHost   = "wrong-host:" // and the host: it holds the registration of another runner and none of this one
)

// notOf is why a host that was read is not a runner's.
type notOf struct {
	Runner target.Ref `json:"runner"`
	Why    string     `json:"why"` // cleaned
}

// notOn asks of which runners of the case a host that was just read is not.
func (r *Run) notOn(host target.Ref, s *snapshot.Snapshot) []notOf {
	if r.o.NotOf == nil {
		return nil
	}
	var out []notOf
	for _, t := range r.o.Runners {
		if !slices.Contains(r.assigned(t), host) {
			continue
		}
		if why := r.o.NotOf(s, r.lastRead(t), r.st.traits[t].Managers); why != "" {
			out = append(out, notOf{t, why})
		}
	}
	return out
}

// lastRead is a runner as this case read it, with its reference alone where it did not yet.
func (r *Run) lastRead(t target.Ref) providers.Runner {
	if x := r.st.traits[t].Runner; x != nil {
		return *x
	}
	return providers.Runner{Ref: t}
}

// assigned are the hosts that somebody or something says use a runner.
func (r *Run) assigned(runner target.Ref) []target.Ref {
	if h, ok := r.o.HostsOf[runner]; ok {
		return h
	}
	return r.o.Hosts
}

// hostsOf are the hosts that use a runner, as far as that is known: those assigned to it
// without the ones that were read and are another's.
func (r *Run) hostsOf(runner target.Ref) []target.Ref {
	return slices.DeleteFunc(slices.Clone(r.assigned(runner)), func(h target.Ref) bool { return r.notIts(h, runner) != "" })
}

// notIts is why a host is not a runner's; empty: it may be.
func (r *Run) notIts(host, runner target.Ref) string {
	for _, n := range r.st.notOf[host.ID] {
		if n.Runner == runner {
			return n.Why
		}
	}
	return ""
}

// wrongHosts is why each of a runner's assigned hosts is not its own that is not.
func (r *Run) wrongHosts(runner target.Ref) []string {
	var out []string
	for _, h := range r.assigned(runner) {
		if why := r.notIts(h, runner); why != "" {
			out = append(out, why)
		}
	}
	return out
}

// hostGuards hold back what would be done to a host that is another runner's, and what
// takes traces away from the hosts of a runner that has none which is its own.
func (r *Run) hostGuards(t task, p change.Plan, destroys []string, add func(Guard)) {
	if t.on.Kind == target.Host {
		if p.Verb != providers.Collect && len(r.o.Runners) > 0 && len(r.runnersOn(t.on)) == 0 {
			for _, n := range r.st.notOf[t.on.ID] {
				add(wrongHost(t.on, n.Why))
			}
		}
		return
	}
	if !slices.ContainsFunc(destroys, func(d string) bool { return strings.HasPrefix(d, "host/") }) {
		return
	}
	about := []target.Ref{t.on}
	for _, c := range p.Changes { // with several runners one plan changes more than one
		if slices.Contains(r.o.Runners, c.Target) && !slices.Contains(about, c.Target) {
			about = append(about, c.Target)
		}
	}
	for _, rn := range about {
		switch {
		case !slices.Contains(r.o.Runners, rn) || len(r.hostsOf(rn)) > 0:
		case len(r.assigned(rn)) == 0:
			add(r.noHost(rn))
		default:
			for _, h := range r.assigned(rn) {
				add(wrongHost(h, r.notIts(h, rn)))
			}
		}
	}
}

func wrongHost(h target.Ref, why string) Guard {
	return Guard{WrongHost + h.ID, GuardBlock, why + ": is the host right?"}
}

// noHost names the hosts that may be meant.
func (r *Run) noHost(runner target.Ref) Guard {
	g := Guard{HostUnknown, GuardBlock, "no host is known for this runner: what is on it stays uncollected"}
	if len(r.o.Runners) > 1 {
		g.ID = HostUnknown + ":" + runner.String()
		g.Text = fmt.Sprintf("no host is known for %s: what is on it stays uncollected", runner.Short())
	}
	if r.o.LikeHosts == nil {
		return g
	}
	if like := r.o.LikeHosts(r.lastRead(runner)); len(like) > 0 {
		for i, h := range like {
			like[i] = "--host " + h
			if len(r.o.Runners) > 1 {
				like[i] = "--host " + runner.ID + "=" + h
			}
		}
		g.Text += "; is it one of the configured ones (" + strings.Join(like, ", ") + ")?"
	}
	return g
}
