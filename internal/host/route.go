package host

import (
	"context"
	"fmt"
	"net"
	"strings"
	"time"
)

// maxHops is how many SSH servers a way may have.
const maxHops = 8

// hop is one SSH server on the way; the last one is the host itself.
type hop struct {
	host    string   // the configured name of the host itself, or the address of a jump host
	address string   // HOST:PORT, dialled from here or from the hop before
	known   string   // HOST:PORT under which its key is known
	user    string   // who logs in
	trusted []string // known_hosts files; those of the SSH configuration that exist
	keys    keys
	jump    bool          // not the host itself: it may ask a person questions
	connect time.Duration // 0: the default
	allowed allowed
}

// route is how a host is reached over SSH.
type route struct {
	hops    []hop
	command string // ProxyCommand that leads to the first hop; empty: it is dialled
}

// String is the way as it is shown and recorded: user@address and how one gets there.
func (r route) String() string {
	last := r.hops[len(r.hops)-1]
	s := last.user + "@" + last.address
	for i := len(r.hops) - 2; i >= 0; i-- {
		s += " via " + r.hops[i].user + "@" + r.hops[i].address
	}
	if r.command != "" {
		s += " by ProxyCommand"
	}
	return s
}

// route completes what the configuration says of x with what the person's own SSH
// configuration says (ssh -G). It contacts nothing; Match exec may run a command here.
func (h *Hosts) route(ctx context.Context, x Host) (route, error) {
	if len(x.Ask) == 0 {
		return route{hops: []hop{{
			host: x.Name, address: x.dialled(), known: x.dialled(), user: x.User, trusted: []string{x.KnownHosts},
			keys: keys{one: x.Key, sock: x.AgentSock},
		}}}, nil
	}
	fail := func(err error) (route, error) {
		return route{}, fmt.Errorf("%w: %w", ErrBadConfig, err)
	}
	c, err := h.asked(ctx, x.Ask)
	if err != nil {
		return fail(err)
	}
	r, err := h.way(ctx, c, 0)
	if err != nil {
		return fail(err)
	}
	last := &r.hops[len(r.hops)-1]
	last.jump, last.host = false, x.Name
	if x.Key != "" || x.AgentSock != "" { // what our own configuration says counts more
		last.keys = keys{one: x.Key, sock: x.AgentSock}
	}
	if x.KnownHosts != "" {
		last.trusted = []string{x.KnownHosts}
	}
	return r, nil
}

// way turns one answer of ssh -G into hops, its jump hosts first (ssh_config(5), ProxyJump):
// the last jump host named is reached through the one before it, and the first as its
// own configuration says.
func (h *Hosts) way(ctx context.Context, c settings, depth int) (route, error) {
	own, err := c.hop()
	if err != nil {
		return route{}, err
	}
	own.jump = true
	if depth >= maxHops {
		return route{}, fmt.Errorf("more than %d jump hosts; does one lead back to itself?", maxHops)
	}
	var r route
	switch jump := c.one("proxyjump"); {
	case jump != "" && jump != "none":
		for i, spec := range strings.Split(jump, ",") {
			args, err := jumpArgs(spec)
			if err != nil {
				return route{}, err
			}
			next, err := h.asked(ctx, args)
			if err != nil {
				return route{}, fmt.Errorf("jump host %s: %w", spec, err)
			}
			if i > 0 { // reached through the one before, whatever its own configuration says
				next.drop("proxyjump", "proxycommand")
			}
			more, err := h.way(ctx, next, depth+1+i)
			if err != nil {
				return route{}, err
			}
			if i == 0 {
				r.command = more.command
			}
			r.hops = append(r.hops, more.hops...)
		}
	default:
		if r.command, err = c.command(); err != nil {
			return route{}, err
		}
	}
	r.hops = append(r.hops, own)
	if len(r.hops) > maxHops {
		return route{}, fmt.Errorf("more than %d jump hosts", maxHops)
	}
	return r, nil
}

// jumpArgs turns [user@]host[:port] or ssh://[user@]host[:port] into arguments of ssh -G.
func jumpArgs(spec string) ([]string, error) {
	rest := strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(spec), "ssh://"), "/")
	var args []string
	if i := strings.LastIndex(rest, "@"); i >= 0 {
		args, rest = append(args, "-l", rest[:i]), rest[i+1:]
	}
	if host, port, err := net.SplitHostPort(rest); err == nil {
		args, rest = append(args, "-p", port), host
	}
	rest = strings.Trim(rest, "[]")
	if rest == "" || strings.HasPrefix(rest, "-") {
		return nil, fmt.Errorf("ProxyJump %q names no host", spec)
	}
	return append(args, "--", rest), nil
}
