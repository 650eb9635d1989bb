package host

import (
	"context"
	"strings"

	"cordon/internal/host/snapshot"
)

// Looking is what reading a host would do, told before it is done.
type Looking struct {
	Host      string   `json:"host"`
	Transport string   `json:"transport"`
	Way       string   `json:"way"`               // who logs in where, through what
	Keys      string   `json:"keys,omitempty"`    // fingerprints that would be offered there
	Touches   int      `json:"touches,omitempty"` // how often a security key will wait for a finger
	Effects   []string `json:"effects"`           // what looking itself writes, runs and shows there
	Problem   string   `json:"problem,omitempty"` // why it would fail before any contact
}

// Look tells what Read would do. It contacts nobody outside this machine: it asks ssh -G
// and the local SSH agent.
func (h *Hosts) Look(ctx context.Context, name string) (Looking, error) {
	x, err := h.find(ref(name))
	if err != nil {
		return Looking{}, err
	}
	l := Looking{Host: name, Transport: x.transport(), Effects: effects(x)}
	switch l.Transport {
	case snapshot.BySSH:
	case snapshot.ByExec:
		l.Way = strings.Join(x.Exec, " ")
		return l, nil
	default:
		l.Way = strings.Join(elevated(h.o.Shell, x.Sudo), " ")
		return l, nil
	}
	r, err := h.route(ctx, x)
	if err != nil {
		l.Problem = err.Error()
		return l, nil
	}
	l.Way = r.String()
	for _, p := range r.hops[:len(r.hops)-1] {
		l.Effects = append(l.Effects, "a login on the jump host "+p.address+", which writes and runs there as one on a host does")
	}
	if r.command != "" {
		l.Effects = append(l.Effects, "your ProxyCommand runs on this machine")
	}
	logins, err := h.prepare(ctx, r)
	if err != nil {
		l.Problem = err.Error()
		return l, nil
	}
	defer closeAll(logins)
	for _, one := range logins {
		l.Keys = one.userKey
		if one.touch {
			l.Touches++
		}
	}
	return l, nil
}

// effects are what looking itself does there (facts/host.md §3.4, §4.8).
func effects(x Host) []string {
	common := "reading files moves their access times where the mount says relatime or strictatime; an rpm there opens its database to be asked, and may touch the lock files beside it"
	switch x.transport() {
	case snapshot.ByExec:
		return []string{
			"what runs the program records it: the API server's audit log, the runtime's or the cloud's own",
			"one more shell in the container or on the machine while it reads, visible in its process list",
			common,
		}
	case snapshot.ByLocal:
		out := []string{"one more shell on this machine while it reads; nobody logs in", common}
		if x.Sudo {
			out = append(out, "sudo writes to auth.log or the journal")
		}
		return out
	case snapshot.ByImage:
		return []string{"nothing of the image runs, and no rpm is asked; its access times move unless it is mounted read-only"}
	}
	out := []string{
		"a login is written: utmp, wtmp and lastlog, auth.log or the journal; a session scope where systemd is",
		"code of whoever owns the host may run: PAM modules, message of the day, /etc/ssh/sshrc, ~/.ssh/rc, start-up files of the account's shell, a forced command of its key",
		common,
	}
	if x.Sudo {
		out = append(out, "sudo writes to auth.log or the journal")
	}
	if x.Reread {
		out = append(out, "a second session on the same connection, for SFTP")
	}
	return out
}
