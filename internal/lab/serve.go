package lab

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"
	"golang.org/x/sync/errgroup"

	"cordon/internal/clock"
	"cordon/internal/lab/fault"
	"cordon/internal/lab/github"
	"cordon/internal/lab/gitlab"
	"cordon/internal/lab/ledger"
	"cordon/internal/lab/sshd"
	"cordon/internal/lab/vault"
)

// Script is one that the hosts' SSH servers know. Kind is "collect", "act-stop" or
// "act-start"; or "act" with the name act-stop.sh or act-start.sh.
type Script = sshd.Script

// Options say what Serve serves. Dir is required and must not hold a lab yet.
type Options struct {
	Dir      string
	Scenario string   // "": DefaultScenario
	Scale    float64  // how many lab seconds pass in one; below 1 means 1
	Fault    string   // one of the fault names; "" means none
	Seed     uint64   // for the planted secrets; 0: a fresh one
	Scripts  []Script // what hosts run; others are refused
	Ready    io.Writer
}

// lab is a served one.
type lab struct {
	id       string
	dir      string
	url      string // of the one or the other
	scenario *scenario
	clock    clock.Scaled
	seed     uint64
	faults   *fault.Switch
	ledger   *ledger.Ledger
	vault    *vault.Vault
	gitlab   *gitlab.Server // nil where the scenario has a GitHub
	github   *github.Server // and the other way round
	hosts    []*host
	scripts  []Script
	client   ssh.PublicKey // the only key that logs in

	ctx   context.Context // ends with the lab
	cause context.CancelCauseFunc
	group *errgroup.Group
}

// words are what paths of a tree may be made of; the collector's preamble is not quoted.
var words = regexp.MustCompile(`^[A-Za-z0-9._/+-]+$`)

// Serve makes a lab in o.Dir, says so on o.Ready and in lab.json, and serves it
// until ctx ends; then it returns nil. Any other end is an error. Nothing of the lab
// runs on after it has returned; its files stay.
func Serve(ctx context.Context, o Options) error {
	l, err := prepare(o)
	if err != nil {
		return err
	}
	defer l.ledger.Close()
	ctx, l.cause = context.WithCancelCause(ctx)
	defer l.cause(nil)
	l.group, l.ctx = errgroup.WithContext(ctx)

	err = l.open(o.Ready)
	if err != nil {
		l.cause(err)
	}
	if e := l.group.Wait(); err == nil {
		err = e
	}
	if err == nil {
		if c := context.Cause(ctx); !errors.Is(c, context.Canceled) && !errors.Is(c, context.DeadlineExceeded) {
			err = c
		}
	}
	return err
}

// prepare does what needs no socket.
func prepare(o Options) (*lab, error) {
	dir, err := filepath.Abs(o.Dir)
	if err != nil || o.Dir == "" {
		return nil, errors.New("serve a lab: no directory given; name an empty one")
	}
	if !words.MatchString(dir) {
		return nil, fmt.Errorf("serve a lab in %q: use a path of letters, digits and ._/+- only", dir)
	}
	l := &lab{dir: dir, seed: o.Seed, scripts: o.Scripts, faults: &fault.Switch{}}
	if l.scenario, err = load(o.Scenario); err != nil {
		return nil, err
	}
	l.faults.Only(slices.Collect(maps.Keys(l.scenario.Faults)))
	if err := l.faults.Set(o.Fault); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the lab's directory: %w", err)
	}
	if _, err := os.Lstat(filepath.Join(dir, "lab.json")); err == nil {
		return nil, fmt.Errorf("%s holds a lab already; name an empty directory", dir)
	}
	var b [24]byte
	if _, err := rand.Read(b[:]); err != nil {
		return nil, err
	}
	l.id = hex.EncodeToString(b[:8])
	if l.seed == 0 {
		l.seed = binary.BigEndian.Uint64(b[8:16])
	}
	l.clock = clock.Scaled{Start: time.Now().UTC(), Factor: max(o.Scale, 1)}
	l.vault = vault.New(l.seed, filepath.Join(dir, "planted.json"))
	if l.ledger, err = ledger.Open(filepath.Join(dir, "ledger.jsonl"), l.clock); err != nil {
		return nil, err
	}
	return l, nil
}

// must ends the lab on an error that would make it lie. What fails because the lab
// is ending is no error.
func (l *lab) must(err error) {
	if err != nil && l.ctx.Err() == nil {
		l.cause(fmt.Errorf("the lab broke: %w", err))
	}
}

// plant notes where secrets have got to.
func (l *lab) plant(where string, texts []string) {
	l.must(l.vault.Note(where, strings.Join(texts, "\n")))
}
