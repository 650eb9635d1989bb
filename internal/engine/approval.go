package engine

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"cordon/internal/casefile"
	"cordon/internal/change"
	"cordon/internal/signing"
	"cordon/internal/untrusted"
	"cordon/playbooks"
)

// NamespaceApproval is the SSHSIG namespace of an approval.
const NamespaceApproval = signing.NamespaceApproval

// ApprovalValid is how long an approval counts where nothing else is configured.
const ApprovalValid = 4 * time.Hour

// Errors of an approval. Each is ErrApproval and ErrGuarded to errors.Is.
var (
	ErrApproval  error = unagreed("the playbook wants a second person here")
	ErrExpired   error = unagreed("approval expired")
	ErrOtherPlan error = unagreed("approval is for another plan")
	ErrSelf      error = unagreed("nobody approves himself")
	ErrStranger  error = unagreed("signed by nobody who may approve")
	ErrPurpose   error = unagreed("signed for another purpose")
	ErrWho       error = unagreed("not known who that is")
	ErrForged    error = unagreed("it was not signed so")
	ErrNoRequest error = unagreed("not a signature over any request of this case")
)

// unagreed is why somebody's agreement does not count.
type unagreed string

func (u unagreed) Error() string        { return string(u) }
func (u unagreed) Is(target error) bool { return target == ErrApproval || target == ErrGuarded }

// Actor is who decides: a principal, and the fingerprint of his signing key.
type Actor struct{ Name, Key string }

// Approver is a person who may approve: every name and key in his lines is his.
type Approver struct {
	Person string
	Lines  []signing.Allowed
}

func (a Approver) is(name, key string) bool {
	return a.Person == name || slices.ContainsFunc(a.Lines, func(l signing.Allowed) bool {
		return name != "" && l.Matches(name) || key != "" && l.Fingerprint() == key
	})
}

// Approvals say who may be the second person and for how long that counts. Inbox, where
// it is set, hands over signatures that came in while the run was open.
type Approvals struct {
	By    []Approver
	Valid time.Duration
	Inbox func() [][]byte
}

func (a Approvals) valid() time.Duration {
	if a.Valid <= 0 {
		return ApprovalValid
	}
	return a.Valid
}

// Approve checks a signature over one of the case's requests and writes it down. It
// returns what was approved and by whom. An approval of a change that broke the glass
// countersigns it, whenever it comes.
func (r *Run) Approve(sig []byte) (Request, string, error) {
	v, err := r.o.Journal.View()
	if err != nil {
		return Request{}, "", err
	}
	all, err := Requests(v, r.o.Playbook, r.o.Approval)
	if err != nil {
		return Request{}, "", err
	}
	q, key, err := signed(all, sig)
	if err != nil {
		return q, "", err
	}
	who, err := r.mayApprove(q, sig, key)
	if err != nil {
		return q, who, err
	}
	glass := slices.ContainsFunc(r.st.broken, func(b broken) bool { return b.Binds == q.Binds() })
	switch {
	case glass:
	case !q.Current:
		return q, who, fmt.Errorf("%w: %s was planned again since; ask again", ErrOtherPlan, q.Task)
	case r.o.Clock.Now().After(q.Until):
		return q, who, fmt.Errorf("%w: it counted until %s; ask again", ErrExpired, q.Until.UTC().Format(time.RFC3339))
	}
	msg := who + " approves " + q.What
	if glass {
		msg = who + " countersigns " + q.What
	}
	return q, who, r.append(casefile.Event{
		Kind: "approve", Step: q.Step, Target: q.Target, OK: true, Msg: msg,
		Data: encode(approveData{signing.Agreed{
			Text: q.Text(), Sig: string(sig), Person: who, Key: key, Binds: q.Binds(), Plan: q.Plan, Line: r.o.Approval.line(who, key),
		}, q.Until}),
	})
}

// signed finds the request that a signature is over.
func signed(all []Request, sig []byte) (Request, string, error) {
	for _, q := range all {
		key, err := signing.Check(NamespaceApproval, []byte(q.Text()), sig)
		switch {
		case err == nil:
			return q, key, nil
		case errors.Is(err, signing.ErrNamespace):
			return Request{}, "", fmt.Errorf("%w: %w; sign with: ssh-keygen -Y sign -n %s", ErrPurpose, err, NamespaceApproval)
		}
	}
	return Request{}, "", ErrNoRequest
}

// mayApprove names the person behind a good signature, who must be somebody else than who
// asked: a second key is not a second person. Who writes it down may be anybody, also the
// signer; who acts on it is asked then (unapproved).
func (r *Run) mayApprove(q Request, sig []byte, key string) (string, error) {
	for _, a := range r.o.Approval.By {
		_, _, err := signing.Verify(NamespaceApproval, []byte(q.Text()), sig, a.Lines, r.o.Clock.Now())
		if err != nil {
			continue
		}
		if err := r.o.Approval.another(a.Person, q.By, q.Key); err != nil {
			return a.Person, fmt.Errorf("%w: %s asks, and %s signed", err, q.By, a.Person)
		}
		for _, b := range r.st.broken {
			if b.Binds != q.Binds() {
				continue
			}
			if err := r.o.Approval.another(a.Person, b.by, b.key); err != nil {
				return a.Person, fmt.Errorf("%w: %s broke the glass", err, b.by)
			}
		}
		return a.Person, nil
	}
	if key == r.o.Actor.Key || key == q.Key {
		return "", fmt.Errorf("%w: %s is the key of who asks", ErrSelf, key)
	}
	return "", fmt.Errorf("%w: key %s is in no line of approvers", ErrStranger, key)
}

// unapproved holds a plan back while nobody else has agreed to it.
func (r *Run) unapproved(t task, p change.Plan, add func(Guard)) {
	if t.do().Ask != playbooks.SecondPerson || len(p.Changes)+len(p.Contacts) == 0 {
		return
	}
	why := "another person has to agree first: cordon case request-approval prints what is to be signed"
	if _, err := r.o.Approval.whoIs(r.o.Actor.Name, r.o.Actor.Key); err != nil {
		why = "another person has to agree, and then it has to be known who you are: " + err.Error()
	}
	hash, now := p.Hash(), r.o.Clock.Now()
	want := []string{binds(t.step.ID, t.key(), hash, t.on), binds(t.step.ID, t.key(), p.HashOf(change.HashWhole), t.on)}
	for _, a := range r.st.approvals {
		err := r.o.Approval.sound(a, r.caseID, r.simulated)
		switch {
		case !slices.Contains(want, a.Binds):
			if err == nil && strings.Contains(a.Text, "\ntask "+t.key()+"\n") && a.Plan != hash {
				why = "what " + a.Person + " approved was another plan; ask again"
			}
		case err != nil:
			why = "the approval on record in the name of " + untrusted.Clean(a.Person, 80) + " does not count: " + err.Error()
		case now.After(a.Until):
			why = "the approval of " + a.Person + " counted until " + a.Until.UTC().Format(time.RFC3339) + "; ask again"
		default:
			if err := r.o.Approval.another(a.Person, r.o.Actor.Name, r.o.Actor.Key); err != nil {
				why = fmt.Sprintf("%s approved it and %s acts now: %v", a.Person, r.o.Actor.Name, err)
				continue
			}
			return
		}
	}
	add(Guard{Approval, GuardApproval, why})
}

// takeApprovals takes in what came while the run was open. What is refused is noted, or
// nobody would know why it does not count.
func (r *Run) takeApprovals(t task) error {
	if r.o.Approval.Inbox == nil || t.do().Ask != playbooks.SecondPerson {
		return nil
	}
	for _, sig := range r.o.Approval.Inbox() {
		known := slices.ContainsFunc(r.st.approvals, func(a approval) bool { return a.Sig == string(sig) })
		if known || r.late[string(sig)] {
			continue
		}
		_, _, err := r.Approve(sig)
		if !errors.Is(err, ErrApproval) {
			if err != nil {
				return err
			}
			continue
		}
		// The plan that it is for may be made once more, so that it is asked again; once told
		// is enough.
		r.late[string(sig)] = !errors.Is(err, ErrOtherPlan)
		told := "told " + string(sig)
		if r.late[told] {
			continue
		}
		r.late[told] = true
		if err := r.append(casefile.Event{Kind: "note", Step: t.step.ID, Target: t.on, Msg: "approval not taken: " + err.Error()}); err != nil {
			return err
		}
	}
	return nil
}

// want writes down, once for a plan, that a second person is waited for: whoever is told
// of what happens in the case is told of that too.
func (r *Run) want(t task, p Prompt) error {
	for i, pl := range p.Plans {
		held := slices.ContainsFunc(p.Guards[i], func(g Guard) bool { return g.Class == GuardApproval })
		b := binds(t.step.ID, t.key(), pl.Hash(), t.on)
		if !held || r.o.Issuer == nil || r.st.wanted[b] {
			continue
		}
		err := r.append(casefile.Event{
			Kind: "approval-wanted", Step: t.step.ID, Target: t.on, Msg: pl.Title, Data: encode(glassData{Task: t.key(), Plan: pl.Hash(), Binds: b}),
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// glassNotes say what went on without the second person.
func (r *Run) glassNotes() []string {
	var n []string
	for _, b := range r.st.broken {
		state := "NOT COUNTERSIGNED"
		if who, why := r.countersigned(b); who != "" {
			state = "countersigned by " + who
		} else if why != "" {
			state += " (" + why + ")"
		}
		n = append(n, fmt.Sprintf("BREAK GLASS: %s by %s alone (%s): %s", b.Task, b.by, b.why, state))
	}
	return n
}
