package engine

import (
	"fmt"
	"slices"
	"time"

	"cordon/internal/signing"
	"cordon/internal/target"
	"cordon/internal/untrusted"
)

// approval is an approve line as it is on record. Whoever can write the journal can write
// one, so that it is worth nothing before sound has looked.
type approval struct {
	approveData
	step string
	on   target.Ref
	at   time.Time // when it was taken in
}

// sound checks an approval on record as if it came in now: the signature, that what was
// signed is what the record says, and that the key is still that person's. Errors are
// ErrApproval.
func (a Approvals) sound(x approval, caseID string, simulated bool) error {
	said, err := x.Check(caseID, simulated, x.step, x.on.String())
	if err != nil {
		return fmt.Errorf("%w: %w", ErrForged, err)
	}
	if !said.Until.Equal(x.Until) {
		return fmt.Errorf("%w: what was signed counts until %s", ErrForged, said.Until.UTC().Format(time.RFC3339))
	}
	who := a.person(x.Person)
	if _, _, err := signing.Verify(NamespaceApproval, []byte(x.Text), []byte(x.Sig), who.Lines, x.at); err != nil {
		return fmt.Errorf("%w: key %s is in no line of %s", ErrStranger, untrusted.Clean(x.Key, 80), untrusted.Clean(x.Person, 80))
	}
	return a.another(x.Person, said.By, said.Key)
}

// Knows is nil where a name and a key are those of one person of the configuration: who
// is none can ask, and whatever another signs for him would then not count. Errors are ErrWho.
func (a Approvals) Knows(name, key string) error {
	_, err := a.whoIs(name, key)
	return err
}

// whoIs is the person of the configuration who goes by a name and holds a key. What the
// configuration does not know is nobody, or a second name would make a second person; a
// name of one and a key of another is nobody too. Errors are ErrWho.
func (a Approvals) whoIs(name, key string) (string, error) {
	who := ""
	for _, x := range a.By {
		if !x.is(name, key) {
			continue
		}
		if who != "" && who != x.Person {
			return "", fmt.Errorf("%w: %s with the key %s may be %s or %s", ErrWho, untrusted.Clean(name, 80), orNone(key), who, x.Person)
		}
		who = x.Person
	}
	if who == "" {
		return "", fmt.Errorf("%w: %s is under no approvers; add the key %s there, under the person's one name", ErrWho, untrusted.Clean(name, 80), orNone(key))
	}
	return who, nil
}

// another is nil where a name and a key are known to be somebody else's than a person's.
func (a Approvals) another(person, name, key string) error {
	who, err := a.whoIs(name, key)
	if err == nil && who == person {
		err = ErrSelf
	}
	return err
}

// person is who is configured under a name, and nobody's keys where nobody is.
func (a Approvals) person(name string) Approver {
	i := slices.IndexFunc(a.By, func(x Approver) bool { return x.Person == name })
	if i < 0 {
		return Approver{Person: name}
	}
	return a.By[i]
}

// line is the line of the configuration that lets a key speak for a person.
func (a Approvals) line(person, key string) string {
	for _, l := range a.person(person).Lines {
		if l.Fingerprint() == key {
			return l.String()
		}
	}
	return ""
}

// countersigned names who agreed to a change that broke the glass; why says what keeps
// the approval that is on record from counting.
func (r *Run) countersigned(b broken) (who, why string) {
	for _, a := range r.st.approvals {
		if a.Binds != b.Binds {
			continue
		}
		if err := r.o.Approval.sound(a, r.caseID, r.simulated); err != nil {
			why = "the approval on record in the name of " + untrusted.Clean(a.Person, 80) + " does not count: " + err.Error()
			continue
		}
		if err := r.o.Approval.another(a.Person, b.by, b.key); err != nil {
			why = fmt.Sprintf("%s broke the glass, and %s signed: %v", b.by, a.Person, err)
			continue
		}
		return a.Person, ""
	}
	return "", why
}
