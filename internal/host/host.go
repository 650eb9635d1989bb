// Package host reaches runner hosts: one fixed script, one contact, one framed answer,
// whatever carries it (SSH, a configured program, a shell here, a person's hands, a
// mounted disk).
//
// Hosts is the System "ssh". It reads; only an Applier, which is not constructed in
// read-only mode, acts. A host is the attacker's machine: strict host keys, public
// keys only, no pty, no forwarding, nothing interactive, everything capped in size
// and time, every text from there cleaned before it is shown. The package may import
// levels 0 to 2 and no concrete provider.
package host

import (
	"context"
	"errors"
	"fmt"
	"net"
	"regexp"
	"time"

	"cordon/internal/clock"
	"cordon/internal/host/snapshot"
	"cordon/internal/redact"
	"cordon/internal/target"
	"cordon/providers"
)

// Errors that callers test for with errors.Is. All of them come with what to try.
var (
	ErrUnknownHostKey = errors.New("host key not known")
	ErrHostKeyChanged = errors.New("host key changed")
	ErrHostKeyRevoked = errors.New("host key revoked")
	ErrLogin          = errors.New("login refused")
	ErrKey            = errors.New("no key to log in with")
	ErrUnreachable    = errors.New("host not reached")
	ErrSilent         = errors.New("host stopped answering")
	ErrTooSlow        = errors.New("host did not finish in its time")
	ErrIntrusive      = errors.New("host asks for more than an answer")
	ErrNoisy          = errors.New("host writes too much on its error stream")
	ErrBadConfig      = errors.New("host configuration")
)

// Host is one configured machine.
type Host struct {
	Name string // [A-Za-z0-9._-]+; the only way it is selected

	// Over SSH. Ask are arguments of ssh -G, ending in "--" and a host: what is empty here
	// comes from the person's own SSH configuration then, jump hosts too.
	Ask        []string
	Address    string // host or host:port; port 22 where none is given. Not used with Ask.
	User       string // not used with Ask
	Key        string // path of a private key; with AgentSock: of a public key, or a SHA256: fingerprint
	AgentSock  string // path of an SSH agent's socket; its keys sign, it is never forwarded
	KnownHosts string // path of a known_hosts file
	Reread     bool   // read a handful of files again over SFTP, in a second session of the same connection

	Exec  []string // in place of SSH: program and arguments that lead to /bin/sh -s there
	Local bool     // in place of SSH: this machine
	Root  string   // in place of SSH: a mounted disk image; see Image

	Sudo bool   // run the script through sudo -n
	Unit string // the agent's unit, for stop; empty: not known
}

// Timeouts are in real time, also where the run's clock is scaled. A zero field
// means its default.
type Timeouts struct {
	Connect   time.Duration // TCP; 10 s
	Handshake time.Duration // key exchange and login; 20 s
	Idle      time.Duration // without a byte of the answer; 1 min, more than one command of the script may take
	Total     time.Duration // a whole read; 3 min
	Act       time.Duration // a whole act, silence included: systemctl waits for the agent to stop; 6 min
}

func (t Timeouts) filled() Timeouts {
	def := func(d *time.Duration, v time.Duration) {
		if *d <= 0 {
			*d = v
		}
	}
	def(&t.Connect, 10*time.Second)
	def(&t.Handshake, 20*time.Second)
	def(&t.Idle, time.Minute)
	def(&t.Total, 3*time.Minute)
	def(&t.Act, 6*time.Minute)
	return t
}

// Options are what all hosts share. The zero value works.
type Options struct {
	Clock    clock.Clock                                                          // nil: clock.Real
	Marker   redact.Marker                                                        // fingerprints, unless WithMarker gives others
	Dial     func(ctx context.Context, network, address string) (net.Conn, error) // nil: net.Dialer
	Timeouts Timeouts
	Limits   snapshot.Limits
	Recorder func(context.Context, Exchange) // every contact, also the failed ones; may be nil

	SSH      []string // how OpenSSH is asked for the person's configuration; nil: "ssh"
	Shell    []string // a shell on this machine; nil: /bin/sh -s
	Accepted string   // path of the known_hosts file of accepted keys; it need not exist; empty: none
	// Ask puts a question of a jump host (keyboard-interactive) to a person; nil: none is
	// answered. A target is never let ask.
	Ask func(ctx context.Context, question string, echo bool) (string, error)
}

// Hosts is the System of all configured hosts. Safe for concurrent use.
type Hosts struct {
	by map[string]Host
	o  Options
}

var (
	_ providers.System  = (*Hosts)(nil)
	_ providers.Settler = (*Hosts)(nil)
	_ providers.Applier = (*Applier)(nil)
)

var (
	nameRE = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$`)
	unitRE = regexp.MustCompile(`^[A-Za-z0-9@._][A-Za-z0-9@._-]*\.service$`)
)

// New returns the System for hosts, keyed by their names. What is wrong with one of
// them is said when it is used.
func New(hosts map[string]Host, o Options) *Hosts {
	if o.Clock == nil {
		o.Clock = clock.Real{}
	}
	if o.Dial == nil {
		o.Dial = (&net.Dialer{}).DialContext
	}
	if len(o.SSH) == 0 {
		o.SSH = []string{"ssh"}
	}
	if len(o.Shell) == 0 {
		o.Shell = []string{"/bin/sh", "-s"}
	}
	o.Timeouts = o.Timeouts.filled()
	by := make(map[string]Host, len(hosts))
	for name, h := range hosts {
		h.Name = name
		by[name] = h
	}
	return &Hosts{by: by, o: o}
}

// Name implements providers.System.
func (h *Hosts) Name() string { return target.SSH }

// find returns the host that t names.
func (h *Hosts) find(t target.Ref) (Host, error) {
	if t.System != target.SSH || t.Kind != target.Host || t.Scope != (target.Scope{}) {
		return Host{}, fmt.Errorf("%s: %w: write ssh/host/NAME", t, providers.ErrNotYours)
	}
	x, ok := h.by[t.ID]
	if !ok {
		return Host{}, fmt.Errorf("host %s: %w: add it under hosts in the configuration", t, providers.ErrNotFound)
	}
	return x, x.check()
}

// check finds what would make every contact with the host fail.
func (h Host) check() error {
	bad := func(format string, a ...any) error {
		return fmt.Errorf("host %s: %w: %s", h.Name, ErrBadConfig, fmt.Sprintf(format, a...))
	}
	switch {
	case !nameRE.MatchString(h.Name):
		return bad("the name %q may hold letters, digits, . _ and - only", h.Name)
	case h.Unit != "" && !unitRE.MatchString(h.Unit):
		return bad("unit %q is not the name of a service", h.Unit)
	case len(h.Exec) > 0 && h.Local:
		return bad("both exec and local; keep one of them")
	case len(h.Exec) > 0 && h.Sudo:
		return bad("sudo with exec; put it into the arguments: […, sudo, -n, /bin/sh, -s]")
	case h.transport() != snapshot.BySSH || len(h.Ask) > 0:
		return nil
	case h.Address == "":
		return bad("no address; write address: HOST or HOST:PORT")
	case h.User == "":
		return bad("no user; write user: NAME of an account that may log in")
	case h.Key == "" && h.AgentSock == "":
		return bad("no key; write key: PATH or agent: true")
	case h.KnownHosts == "":
		return bad("no known_hosts; write known_hosts: PATH with the host's key in it")
	}
	return nil
}

// dialled is the address with its port.
func (h Host) dialled() string {
	if _, _, err := net.SplitHostPort(h.Address); err == nil {
		return h.Address
	}
	return net.JoinHostPort(h.Address, "22")
}

func ref(name string) target.Ref { return target.Ref{System: target.SSH, Kind: target.Host, ID: name} }

type markerKey struct{}

// WithMarker makes reads below ctx use m for their fingerprints, so that those of a
// case are under the key of the case.
func WithMarker(ctx context.Context, m redact.Marker) context.Context {
	return context.WithValue(ctx, markerKey{}, m)
}

func (h *Hosts) marker(ctx context.Context) redact.Marker {
	if m, ok := ctx.Value(markerKey{}).(redact.Marker); ok {
		return m
	}
	return h.o.Marker
}
