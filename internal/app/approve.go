package app

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"cordon/internal/casefile"
	"cordon/internal/engine"
	"cordon/internal/evidence"
	"cordon/internal/plainfile"
	"cordon/internal/signing"
	"cordon/internal/statedir"
	"cordon/playbooks"
)

// maxApproval bounds a request or a signature, in bytes.
const maxApproval = 64 << 10

// ErrNothingAsked means that no plan of a case waits for a second person.
var ErrNothingAsked = errors.New("nothing waits for a second person")

// approvals are the people who may be the second one, and what they left for a case
// while its run was open.
func (a *App) approvals(id string) engine.Approvals {
	x := engine.Approvals{Valid: a.cfg.Approval.For, Inbox: func() [][]byte { return a.inbox(id) }}
	for _, person := range slices.Sorted(maps.Keys(a.cfg.Approvers)) {
		x.By = append(x.By, engine.Approver{Person: person, Lines: a.cfg.Approvers[person].Lines})
	}
	return x
}

func (a *App) inboxDir(id string) string { return filepath.Join(a.state, "approvals", id) }

func (a *App) inbox(id string) [][]byte {
	names, _ := filepath.Glob(filepath.Join(a.inboxDir(id), "*.sig")) // the pattern is good
	var all [][]byte
	for _, n := range names {
		if b, err := plainfile.Read(n, maxApproval); err == nil { // what cannot be read is no approval
			all = append(all, b)
		}
	}
	return all
}

// RequestApproval is what a second person has to sign for the plan that a case stands
// at: exactly eight lines. It needs no lock and writes nothing. option chooses among
// several plans; empty: the first. Errors: ErrNothingAsked; engine.ErrWho where whoever asks
// is nobody of the configuration, since no approval of that would be taken in.
func (a *App) RequestApproval(id, option string) (engine.Request, error) {
	v, err := a.View(id)
	if err != nil {
		return engine.Request{}, err
	}
	all, err := a.requests(v)
	if err != nil {
		return engine.Request{}, err
	}
	var there []string
	for _, q := range all {
		if !q.Current {
			continue
		}
		if option == "" || option == q.Option {
			if err := a.approvals(id).Knows(q.By, q.Key); err != nil {
				return engine.Request{}, fmt.Errorf("case %s: what anybody signed for this would not count: %w; that is in %s, for both of you", id, err, a.configPlace())
			}
			return q, nil
		}
		there = append(there, q.Option)
	}
	if len(there) > 0 {
		return engine.Request{}, fmt.Errorf("%w: no plan %q; there are: %s", ErrUsage, option, strings.Join(there, ", "))
	}
	return engine.Request{}, fmt.Errorf("case %s: %w; the playbook asks for one with ask: second-person, at the step where it is needed", id, ErrNothingAsked)
}

func (a *App) requests(v *casefile.View) ([]engine.Request, error) {
	pb, err := playbooks.Parse(v.Opening.PlaybookName, v.Opening.Playbook)
	if err != nil {
		return nil, fmt.Errorf("case %s: the playbook it was opened with is not understood by this build: %w", v.ID, err)
	}
	return engine.Requests(v, pb, a.approvals(v.ID))
}

// ReadRequest reads the file of a request that somebody else made. Errors: ErrUsage where
// it is none.
func ReadRequest(file string) ([]byte, error) {
	text, err := plainfile.Read(file, maxApproval)
	if err == nil {
		err = engine.ParseRequest(text)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUsage, err)
	}
	return text, nil
}

// SignRequest signs a request that somebody else made, with the configured key. It
// returns the armored signature. Errors: ErrUsage for what is no request, or where no
// key of one's own is configured.
func (a *App) SignRequest(text []byte) ([]byte, error) {
	if err := engine.ParseRequest(text); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUsage, err)
	}
	s, err := a.sign()
	if err != nil {
		return nil, err
	}
	if s.Kind() == signing.KindEphemeral {
		return nil, fmt.Errorf("%w: name a key of your own under signing: in %s; a key that was made just now is nobody's", ErrUsage, a.configPlace())
	}
	return s.Sign(engine.NamespaceApproval, text)
}

// Approved is an approval that was taken in.
type Approved struct {
	Request engine.Request
	Person  string
	Left    string // where it was left for the run that holds the case; empty: it is in the journal
}

// Approve checks a signature over a request of a case and writes it down. Where another
// process holds the case the checked signature is left for that run, which takes it in
// when it plans next. Errors: engine.ErrApproval and those it has words for.
func (a *App) Approve(ctx context.Context, id, file string) (Approved, error) {
	sig, err := plainfile.Read(file, maxApproval)
	if err != nil {
		return Approved{}, fmt.Errorf("%w: %w", ErrUsage, err)
	}
	s, err := a.Resume(ctx, id)
	if errors.Is(err, casefile.ErrHeld) {
		return a.leaveApproval(id, sig)
	}
	if err != nil {
		return Approved{}, err
	}
	defer s.Close()
	q, who, err := s.Run.Approve(sig)
	return Approved{Request: q, Person: who}, err
}

// leaveApproval checks a signature without the lock and puts it where the run looks.
func (a *App) leaveApproval(id string, sig []byte) (Approved, error) {
	v, err := a.View(id)
	if err != nil {
		return Approved{}, err
	}
	pb, err := playbooks.Parse(v.Opening.PlaybookName, v.Opening.Playbook)
	if err != nil {
		return Approved{}, err
	}
	runners, hosts, of := engine.Targets(v.Opening.Targets)
	run, err := engine.Open(engine.Options{
		Journal: looking{v}, Playbook: pb, Runners: runners, Hosts: hosts, HostsOf: of, Systems: a.fleet.all, Clock: a.clock, Approval: a.approvals(id),
	})
	if err != nil {
		return Approved{}, err
	}
	q, who, err := run.Approve(sig)
	if !errors.Is(err, errLooking) {
		return Approved{Request: q, Person: who}, err
	}
	sum := sha256.Sum256(sig)
	path := filepath.Join(a.inboxDir(id), hex.EncodeToString(sum[:8])+".sig")
	if err := statedir.MkdirAll(filepath.Dir(path)); err != nil {
		return Approved{}, fmt.Errorf("leave the approval: %w", err)
	}
	if err := statedir.Make(path, sig); err != nil && !errors.Is(err, fs.ErrExist) { // the same one was left before
		return Approved{}, fmt.Errorf("leave the approval: %w", err)
	}
	return Approved{q, who, path}, nil
}

var errLooking = errors.New("only looked at")

// looking is a journal that is read and never written.
type looking struct{ v *casefile.View }

func (l looking) View() (*casefile.View, error)              { return l.v, nil }
func (looking) Append(casefile.Event) (casefile.Line, error) { return casefile.Line{}, errLooking }
func (looking) SignHead(casefile.Signer) error               { return errLooking }
func (l looking) Holds(digest string) error                  { return l.v.Holds(digest) }

// Put implements evidence.Sink.
func (looking) Put(context.Context, evidence.Item, io.Reader) (evidence.Item, error) {
	return evidence.Item{}, errLooking
}

// Miss implements evidence.Sink.
func (looking) Miss(context.Context, evidence.Gap) error { return errLooking }
