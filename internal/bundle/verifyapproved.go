package bundle

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"cordon/internal/casefile"
	"cordon/internal/signing"
	"cordon/internal/untrusted"
)

// RowApproved is the row of what second persons agreed to.
const RowApproved = "approvals" // every one is signed, over what the journal says, by somebody else than who asked

// agreed is one approve line, without what makes it long.
type agreed struct {
	at              int // the line
	person, key, by string
	text, sig       string // as long as nobody has said who may sign
	bad             string // why it is worth nothing, in itself
}

// approved keeps an approve line for its row, and judges what the line alone tells.
func (j *journal) approved(l casefile.Line) error {
	var d signing.Agreed
	if err := json.Unmarshal(l.Data, &d); err != nil {
		return err
	}
	a := agreed{at: l.Seq, person: d.Person, key: d.Key, text: d.Text, sig: d.Sig}
	said, err := genuine(d, l, j.caseID, j.simulated)
	if a.by = said.By; err != nil {
		a.bad = untrusted.Clean(err.Error(), 200)
	}
	j.agreed = append(j.agreed, a)
	return nil
}

// genuine checks an approve line by itself.
func genuine(d signing.Agreed, l casefile.Line, caseID string, simulated bool) (signing.Approval, error) {
	said, err := d.Check(caseID, simulated, l.Step, l.Target.String())
	if err == nil && (said.Key == d.Key || said.By == d.Person) {
		err = fmt.Errorf("%s asked, and signed: nobody approves himself", untrusted.Clean(said.By, 80))
	}
	return said, err
}

// approvedRow checks what second persons agreed to. Whose key it is only a list of allowed
// signers can say: a right signature of somebody who is not on it is not checked.
func (in *intake) approvedRow(r *rows, o VerifyOptions) {
	j := in.journal
	if j.broken != "" {
		r.skip(RowApproved, "the journal is broken")
		return
	}
	var names, strangers []string
	for _, a := range j.agreed {
		who := untrusted.Clean(a.person, 80)
		fail := func(why string) {
			r.add(RowApproved, fmt.Sprintf("line %d says that %s approves: %s", a.at, who, why), "")
		}
		if a.bad != "" {
			fail(a.bad)
			return
		}
		name := who + " (" + a.key + ")"
		if o.Allowed != nil {
			listed, _, err := signing.Verify(signing.NamespaceApproval, []byte(a.text), []byte(a.sig), o.Allowed, o.At)
			switch {
			case errors.Is(err, signing.ErrNotAllowed):
				strangers = append(strangers, name+": "+untrusted.Clean(err.Error(), 200))
				continue
			case err != nil:
				fail(untrusted.Clean(err.Error(), 200))
				return
			case same(o.Allowed, a.key, a.by):
				fail("by the list that key is of " + untrusted.Clean(a.by, 80) + ", who asked: nobody approves himself")
				return
			}
			name = untrusted.Clean(listed, 80) + " (" + a.key + ")"
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	switch {
	case len(strangers) > 0:
		r.skip(RowApproved, fmt.Sprintf("%d of %d are not by anybody on the list: %s", len(strangers), len(j.agreed), strangers[0]))
	case len(j.agreed) == 0:
		r.add(RowApproved, "", "none are in the journal")
	case o.Allowed == nil:
		r.add(RowApproved, "", fmt.Sprintf("%d, as the journal names them: %s", len(j.agreed), strings.Join(names, ", ")))
	default:
		r.add(RowApproved, "", fmt.Sprintf("%d: %s", len(j.agreed), strings.Join(names, ", ")))
	}
}

// same reports whether a list has a key under the name of a principal.
func same(list []signing.Allowed, key, principal string) bool {
	return slices.ContainsFunc(list, func(a signing.Allowed) bool { return a.Fingerprint() == key && a.Matches(principal) })
}
