package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"cordon/internal/casefile"
	"cordon/internal/engine"
	"cordon/internal/target"
	"cordon/playbooks"
	"cordon/providers"
)

// CaseSpec says what kind of case to open.
type CaseSpec struct {
	ID        string // empty: made from the runner and the time
	Title     string
	Kind      string   // incident or offboarding; empty: incident
	Hosts     []string // configured hosts, beside those found by address; RUNNER=HOST for one of several runners
	Also      []string // further runners of the same case; the first is tried alone before them
	Playbook  string   // built-in id or a file; empty: contain
	Since     time.Time
	WindowWhy string
	Dry       bool // keep nothing: the case lives in a temporary directory and goes with the session
}

// Session is an open case with its run. It is used by one goroutine at a time and
// holds the case until Close.
type Session struct {
	Run    *engine.Run
	app    *App
	c      *casefile.Case
	runner target.Ref   // the first of all
	all    []target.Ref // runners and behind each its hosts, as the case was opened with
	hosts  []target.Ref
	how    string
	temp   string // directory of a dry run
	aside  *aside // what goes on beside the run; nil in a dry run
}

// defaultWindow is how far back a suspect window reaches when nobody says.
const defaultWindow = 30 * 24 * time.Hour

// recentReads is how old, in real time, an answer may be that a new case is opened on.
const recentReads = time.Minute

// NewCase opens a case for a runner and takes it. With the reference of a configured
// host it is about that host alone: for a runner on it that no account of ours has.
func (a *App) NewCase(ctx context.Context, ref string, spec CaseSpec) (*Session, error) {
	just := providers.WithRecent(ctx, recentReads) // triage may have read all of it a moment ago
	pb, err := playbook(spec.Playbook)
	if err != nil {
		return nil, err
	}
	x, err := a.subject(just, ref, spec, pb)
	if err != nil {
		return nil, err
	}
	if _, err := a.sign(); err != nil { // no case is begun that could not be signed
		return nil, err
	}
	if spec.Kind = cmp.Or(spec.Kind, "incident"); spec.Kind != "incident" && spec.Kind != engine.KindOffboarding {
		return nil, fmt.Errorf("%w: kind %q; there are: incident, %s", ErrUsage, spec.Kind, engine.KindOffboarding)
	}
	now := a.clock.Now()
	if spec.Since.IsZero() {
		spec.Since = now.Add(-defaultWindow)
		if spec.WindowWhy == "" {
			spec.WindowWhy = "not known: the last 30 days"
		}
	}
	if spec.ID == "" {
		spec.ID = fmt.Sprintf("%s-%s-%s", pb.ID, named(x.first.ID, len(spec.Also)), now.Format("20060102T150405"))
	}
	if spec.Title == "" {
		spec.Title = fmt.Sprintf("%s %s (%s)", pb.ID, named(x.first.String(), len(spec.Also)), x.name)
	}
	s := &Session{app: a, all: x.all, how: x.how}
	var store *casefile.Store
	if !spec.Dry {
		store, err = a.cases()
	} else if s.temp, err = os.MkdirTemp("", "cordon-dry-*"); err == nil {
		store, err = casefile.OpenStore(casefile.Opener{Dir: s.temp, Clock: a.clock})
	}
	if err != nil {
		s.Close()
		return nil, err
	}
	s.c, err = store.Create(ctx, casefile.Opening{
		ID: spec.ID, Title: spec.Title, Kind: spec.Kind, Simulated: a.Simulated(),
		Targets:  x.all,
		Window:   casefile.Window{From: spec.Since, Why: spec.WindowWhy},
		Playbook: pb.Source, PlaybookName: pb.ID, Replaces: replaced(pb), Tool: a.opened(), Recipients: a.cfg.Evidence.Recipients,
	}, a.actor())
	if err != nil {
		s.Close()
		return nil, err
	}
	return s, s.open(pb)
}

// Resume takes a case and goes on from its journal.
func (a *App) Resume(ctx context.Context, id string) (*Session, error) {
	return a.resume(ctx, id, "")
}

// resume takes a case; why is the reason of a take-over, empty: it is none.
func (a *App) resume(ctx context.Context, id, why string) (*Session, error) {
	if a.o.ReadOnly {
		return nil, fmt.Errorf("resume %s: %w; look with: cordon case show %s", id, engine.ErrReadOnly, id)
	}
	store, err := a.cases()
	if err != nil {
		return nil, err
	}
	v, err := store.Read(id)
	if err != nil {
		return nil, err
	}
	if v.Opening.Simulated != a.Simulated() {
		return nil, fmt.Errorf("%w: case %s belongs to %s; resume it there", ErrUsage, id, simWord(v.Opening.Simulated))
	}
	if err := a.belongs(v); err != nil {
		return nil, err
	}
	s := &Session{app: a, all: v.Opening.Targets}
	pb, err := playbooks.Parse(v.Opening.PlaybookName, v.Opening.Playbook)
	if err != nil {
		return nil, fmt.Errorf("resume %s: the playbook it was opened with is not understood by this build: %w", id, err)
	}
	if _, err := a.sign(); err != nil {
		return nil, err
	}
	if why == "" {
		s.c, err = store.Take(ctx, id, a.actor())
	} else {
		s.c, err = a.takeOver(ctx, store, id, why)
	}
	if err != nil {
		return nil, err
	}
	return s, s.open(pb)
}

func simWord(sim bool) string {
	if sim {
		return "a lab (--lab DIR)"
	}
	return "real systems"
}

// open builds the run, with fingerprints under the case's own key.
func (s *Session) open(pb *playbooks.Playbook) error {
	marker := s.app.marker.Derive("case:" + s.c.ID())
	set, err := s.app.build(marker, s.temp == "")
	if err != nil {
		return errors.Join(err, s.Close())
	}
	signer, err := s.app.sign()
	if err != nil {
		return errors.Join(err, s.Close())
	}
	runners, hosts, of := engine.Targets(s.all)
	s.hosts = hosts
	v, err := s.c.View()
	if err != nil {
		return errors.Join(err, s.Close())
	}
	s.app.rememberInto(set.all, v, runners)
	if len(runners) > 0 {
		s.runner = runners[0]
	}
	me := s.app.actor()
	o := engine.Options{
		Journal: s.c, Playbook: pb, Runner: s.runner, Runners: runners, Hosts: hosts, HostsOf: of, Systems: set.all,
		Actor: engine.Actor{Name: me.Name, Key: me.Key}, Approval: s.app.approvals(s.c.ID()),
		Budget: engine.Budget(s.app.cfg.Budget), Checks: s.app.checks(),
		Clock: s.app.clock, Signer: signer, Files: personal(marker),
		Secret: func(v string) bool { _, n := marker.Text(v); return n > 0 },
		Strays: s.app.strays, NotOf: s.app.notOf, LikeHosts: s.app.likeHosts,
	}
	o.Appliers, o.Issuer = set.appliers, set.issuer // of a dry run: none
	if s.temp == "" {
		s.aside = s.app.beside(s.c)
	}
	if s.Run, err = engine.Open(o); err != nil {
		return errors.Join(err, s.Close())
	}
	return nil
}

// Walk drives the run to its ending.
func (s *Session) Walk(ctx context.Context, out Lines, decide Decider) (engine.Ending, error) {
	return Walk(ctx, s.Run, out, decide)
}

// ID is the case's id.
func (s *Session) ID() string { return s.c.ID() }

// Runner is what the case is about.
func (s *Session) Runner() target.Ref { return s.runner }

// Runners are all that the case is about.
func (s *Session) Runners() []target.Ref {
	runners, _, _ := engine.Targets(s.all)
	return runners
}

// HostNames are the hosts of the case; How says how they are known.
func (s *Session) HostNames() []string {
	var n []string
	for _, h := range s.hosts {
		n = append(n, h.ID)
	}
	return n
}

// How says how the hosts are known, for a new case.
func (s *Session) How() string { return s.how }

// Kept reports whether the case outlives the session.
func (s *Session) Kept() bool { return s.temp == "" }

// Close gives the case back.
func (s *Session) Close() error {
	var err error
	if s.aside != nil {
		s.aside.end()
	}
	if s.c != nil {
		err = s.c.Close()
	}
	if s.temp != "" {
		err = errors.Join(err, os.RemoveAll(s.temp))
	}
	return err
}
