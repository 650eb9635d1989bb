// Package app puts the parts together: configuration, providers, hosts, cases, runs.
//
// It is the only place that knows concrete providers and the only one that makes an
// Issuer and Appliers, and in a read-only process it makes neither. Commands and
// screens call it; it prints only through Lines. It may import every level below.
package app

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"syscall"

	"cordon/internal/casefile"
	"cordon/internal/clock"
	"cordon/internal/config"
	"cordon/internal/redact"
	"cordon/internal/secret"
	"cordon/internal/signing"
	"cordon/internal/statedir"
	"cordon/providers/github"
	"cordon/providers/gitlab"
)

// Options say how to open. Ask prompts for a secret without echo and may fail with
// ErrNeeds; FS lets tests put faults under the journal (nil: the real one).
type Options struct {
	Config   string
	State    string
	Lab      string // directory of a running lab; everything is simulated then
	ReadOnly bool
	Offline  bool // read cases alone: nobody is asked, and a lab need not run
	Version  string
	Ask      func(ctx context.Context, what string) (secret.Secret, error)
	FS       casefile.FS
}

// App is an opened configuration. It is safe for concurrent use; a Session made from
// it is not.
type App struct {
	o      Options
	cfg    *config.Config
	sim    *simulation
	life   context.Context // of the process: ends what is asked where no call has one of its own
	clock  clock.Clock
	state  string
	marker redact.Marker
	fleet  *systems // what lists and looks, under the state key
	found  []string // what was configured without a file, for the user to know

	mu      sync.Mutex
	store   *casefile.Store
	signer  signing.Signer
	wires   []*http.Transport
	tokens  map[string]secret.Secret  // fetched in this process, in memory only
	answers map[string]*gitlab.Recent // by provider
	mints   map[string]*github.Mint   // by what their tokens are for

	invMu     sync.Mutex
	inv       *inventory          // nil: not read yet
	keptCases map[string]keptCase // by id, as of their head
	addrOnce  sync.Once
	addrs     map[string][]string
	selfOnce  sync.Once
	self      string // digest of the running binary; empty: not known
}

// Open reads the configuration and builds the systems. It contacts nothing (a lab is
// asked whether it is one) and fetches no token.
func Open(ctx context.Context, o Options) (*App, error) {
	a := &App{o: o, clock: clock.Real{}, life: ctx}
	path := o.Config
	if o.Lab != "" {
		sim, err := readLab(o.Lab)
		if err != nil {
			return nil, err
		}
		if path != "" {
			return nil, fmt.Errorf("%w: --lab and --config together: a lab brings its own configuration; put what you want to practise (approvers, notify, operator) into %s", ErrUsage, sim.Config)
		}
		a.sim, a.clock, path = sim, sim.clock(), sim.Config
	}
	cfg, err := config.Load(path)
	if err != nil {
		return nil, err
	}
	if cfg.Path == "" && path == "" {
		cfg, a.found = config.Discover()
	}
	if a.sim != nil && !o.Offline {
		if err := a.sim.check(cfg); err != nil {
			return nil, err
		}
	}
	a.cfg = cfg
	if a.state, err = cfg.StateHome(o.State); err != nil {
		return nil, err
	}
	if err := a.key(); err != nil {
		return nil, err
	}
	a.tokens = map[string]secret.Secret{}
	if a.fleet, err = a.build(a.marker, false); err != nil {
		return nil, err
	}
	return a, nil
}

// Close closes the connections that nothing waits on. A call that is under way ends by
// itself. It is safe to call twice.
func (a *App) Close() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, w := range a.wires {
		w.CloseIdleConnections()
	}
}

// Clock is the time by which everything is judged and recorded.
func (a *App) Clock() clock.Clock { return a.clock }

// Simulated reports whether everything here is a lab's.
func (a *App) Simulated() bool { return a.sim != nil }

// StateDir is where cases are kept.
func (a *App) StateDir() string { return a.state }

// ReadOnly reports that no change can be permitted in this process.
func (a *App) ReadOnly() bool { return a.o.ReadOnly }

// key makes or reads the HMAC key under which fingerprints compare across cases.
// A read-only process without one uses a key of its own that dies with it.
func (a *App) key() error {
	path := filepath.Join(a.state, "state.key")
	b, err := os.ReadFile(path)
	switch {
	case err == nil && len(b) == 32:
		a.marker = redact.NewMarker(b)
		return nil
	case err == nil:
		return fmt.Errorf("%s: %d bytes, a key has 32; move it away to get a new one", path, len(b))
	case a.o.ReadOnly && errors.Is(err, fs.ErrNotExist):
		return nil
	}
	if _, serr := a.cases(); serr != nil { // makes the directory, or says why it is not safe
		return serr
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("state key: %w", err)
	}
	b = make([]byte, 32)
	_, _ = rand.Read(b) // never fails (crypto/rand since Go 1.24)
	err = statedir.Make(path, b)
	if errors.Is(err, fs.ErrExist) {
		return a.key() // another process was first
	}
	if err != nil {
		return fmt.Errorf("state key: %w", err)
	}
	a.marker = redact.NewMarker(b)
	return nil
}

// cases opens the store once.
func (a *App) cases() (*casefile.Store, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.store == nil {
		s, err := casefile.OpenStore(casefile.Opener{Dir: a.state, Clock: a.clock, FS: a.o.FS})
		if err != nil {
			return nil, err
		}
		a.store = s
	}
	return a.store, nil
}

// sign returns the signer of this process: the configured key, or one that is made once
// and kept in the state directory, so that a case that was interrupted is gone on with
// by the same hand. A read-only process, which keeps nothing, has one of its own where
// there is none.
func (a *App) sign() (signing.Signer, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.signer != nil {
		return a.signer, nil
	}
	var err error
	switch s := a.cfg.Signing; {
	case s.Agent != "":
		a.signer, err = signing.FromAgent(os.Getenv("SSH_AUTH_SOCK"), s.Agent)
	case s.Key != "":
		a.signer, err = signing.FromFile(s.Key, func() (secret.Secret, error) {
			return a.ask(a.life, "passphrase of "+s.Key)
		})
	default:
		a.signer, err = a.ownKey()
	}
	return a.signer, err
}

// ownKey is the key of the state directory, which was made safe by key. In a team's
// directory each user has one: a key is a person's, and what two people can sign with
// says of neither that it was him. A key that somebody else put there is not used.
func (a *App) ownKey() (signing.Signer, error) {
	path := filepath.Join(a.state, "signing.key")
	if me := os.Geteuid(); statedir.IsTeam(a.state) {
		path = filepath.Join(a.state, fmt.Sprintf("signing-%d.key", me))
		if st, err := os.Lstat(path); err == nil {
			if at, ok := st.Sys().(*syscall.Stat_t); !ok || int(at.Uid) != me || !st.Mode().IsRegular() {
				return nil, fmt.Errorf("%w: %s is not yours: somebody put it there; find out who, and move it away", signing.ErrKey, path)
			}
		}
	}
	if a.o.ReadOnly {
		if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
			return signing.Ephemeral()
		}
	}
	return signing.FromOrMake(path)
}

func (a *App) ask(ctx context.Context, what string) (secret.Secret, error) {
	if a.o.Ask == nil {
		return secret.Secret{}, fmt.Errorf("%s: %w: nobody to ask", what, ErrNeeds)
	}
	return a.o.Ask(ctx, what)
}

// Redact replaces what looks like a secret in s by fingerprints, for traces and logs.
func (a *App) Redact(s string) string {
	out, _ := a.marker.Text(s)
	return out
}
