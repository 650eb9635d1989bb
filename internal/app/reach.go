package app

import (
	"context"
	"strings"

	"cordon/internal/change"
	"cordon/internal/engine"
	"cordon/internal/host"
	"cordon/internal/host/snapshot"
	"cordon/internal/untrusted"
)

// Reach says in a person's words how a host is reached and what that leaves there. Only
// SSH is a login: a program that carries a shell, a shell of this machine and a mounted
// disk are told as what they are. All of it is cleaned.
type Reach struct {
	Title string // what is asked: "log in to build-07 and read it once"
	Does  string // and through what
	Seen  string // who can notice
	Final string // why it is confirmed: it cannot be taken back
}

// ReachOf tells a host's way by what Look said of it, or by the transport alone where
// that is all that is known (a plan's Option).
func ReachOf(l host.Looking) Reach {
	name, way := untrusted.Clean(l.Host, 120), untrusted.Clean(l.Way, 300)
	switch l.Transport {
	case snapshot.ByExec:
		return Reach{
			"run a program of this machine that leads to " + name + ", and read it once", strings.TrimSpace("runs here, to reach " + name + ": " + way),
			"a shell is visible there, and what carries it records that where it runs", "what was started there cannot be taken back",
		}
	case snapshot.ByLocal:
		return Reach{
			"read this machine, " + name + ", once", strings.TrimSpace("runs on this machine, as " + name + ": " + way),
			"a shell is visible in this machine's process list; nobody logs in", "what was run cannot be taken back",
		}
	case snapshot.ByImage:
		return Reach{
			"read the mounted disk of " + name + " once", strings.TrimSpace("reads the disk of " + name + " with this machine's shell: " + way),
			"nothing of the image runs, and nobody there can see it", "access times that moved cannot be taken back",
		}
	}
	does := "logs in to " + name
	if way != "" {
		does += ": " + way
	}
	return Reach{
		"log in to " + name + " and read it once", does,
		"a login is visible there: logs, login code, whoever watches", "a login cannot be taken back",
	}
}

// wayOf is the way that a plan's contacts are reached by: its change says so, or the
// option of a plan that only reads.
func wayOf(p change.Plan) string {
	if len(p.Changes) > 0 {
		return map[string]string{"EXEC": snapshot.ByExec, "LOCAL": snapshot.ByLocal, "IMAGE": snapshot.ByImage}[p.Changes[0].Call.Method]
	}
	return strings.ReplaceAll(p.Option, "-", " ")
}

// Reaches tells each contact of a plan; looks says more of those that are in it.
func Reaches(p change.Plan, looks []host.Looking) []Reach {
	var out []Reach
	for _, c := range p.Contacts {
		l := host.Looking{Host: c.ID, Transport: wayOf(p)}
		for _, x := range looks {
			if x.Host == c.ID {
				l = x
			}
		}
		out = append(out, ReachOf(l))
	}
	return out
}

// Looks tells what reaching the hosts of a question would do. It contacts nobody; a host
// of which it cannot be told is left out, and its plan says what is known without.
func (s *Session) Looks(ctx context.Context, p engine.Prompt) []host.Looking {
	var out []host.Looking
	seen := map[string]bool{}
	for _, pl := range p.Plans {
		for _, c := range pl.Contacts {
			if seen[c.ID] {
				continue
			}
			seen[c.ID] = true
			if l, err := s.app.LookAt(ctx, []string{c.ID}); err == nil {
				out = append(out, l...)
			}
		}
	}
	return out
}
