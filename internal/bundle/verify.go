package bundle

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"cordon/internal/plainfile"
	"cordon/internal/signing"
)

// VerifyOptions say whom to believe. The zero value checks everything but the signer.
type VerifyOptions struct {
	Allowed   []signing.Allowed // nil: the signer is not checked, and the report says so
	Principal string            // who must have signed; empty: anybody in Allowed
	At        time.Time         // when the signatures must be valid; zero: now
	Seen      []SeenHead        // heads that left the case's machine before the bundle did
	Limits    Limits            // zero fields: the defaults
}

// Limits bound what a hostile archive can cost.
type Limits struct {
	Entries int   // default 65536
	Entry   int64 // bytes of one file, default 256 MiB
	Total   int64 // bytes of all, default 16 GiB
	Held    int64 // bytes of lists and signatures kept in memory, default 192 MiB
}

func (l Limits) filled() Limits {
	if l.Entries <= 0 {
		l.Entries = 1 << 16
	}
	if l.Entry <= 0 {
		l.Entry = 256 << 20
	}
	if l.Total <= 0 {
		l.Total = 16 << 30
	}
	if l.Held <= 0 {
		l.Held = 192 << 20
	}
	return l
}

// Check is one row of a verification. Unchecked rows are neither good nor bad; Why
// says what kept them from being looked at.
type Check struct {
	Name      string `json:"name"`
	OK        bool   `json:"ok"`
	Unchecked bool   `json:"unchecked,omitempty"`
	Partial   bool   `json:"partial,omitempty"` // true as far as it goes, and something is missing
	Why       string `json:"why"`
}

// Word is how a row reads on a screen: ok, PARTIAL, FAILED or not checked.
func (c Check) Word() string {
	switch {
	case c.Partial:
		return "PARTIAL"
	case c.Unchecked:
		return "not checked"
	case c.OK:
		return "ok"
	}
	return "FAILED"
}

// Report is what Verify found. What stands in it beside Checks is what the bundle
// says, true only as far as the rows are good.
type Report struct {
	Schema    string  `json:"schema"` // cordon.verify/1
	Case      string  `json:"case"`
	Head      string  `json:"head"`
	Events    int     `json:"events"`
	Simulated bool    `json:"simulated"`
	Status    string  `json:"status"`
	Lost      []Lost  `json:"lost,omitempty"` // evidence that was not whole any more when the bundle was made: see Whole
	Signer    Signer  `json:"signer"`
	Files     int     `json:"files"`
	Bytes     int64   `json:"bytes"` // of the files
	Checks    []Check `json:"checks"`
}

// Signer is who signed. Key is known as soon as the signature matches; Principal
// only where a list of allowed signers said so.
type Signer struct {
	Key       string   `json:"key,omitempty"`
	Principal string   `json:"principal,omitempty"`
	Others    []string `json:"others,omitempty"` // countersignatures: principal or key
}

// OK reports whether no row failed.
func (r Report) OK() bool {
	for _, c := range r.Checks {
		if !c.OK && !c.Unchecked {
			return false
		}
	}
	return true
}

// Trusted reports whether no row failed, and the signer was checked and whoever signed
// heads or approvals on the way.
func (r Report) Trusted() bool {
	heads := !slices.ContainsFunc(r.Checks, func(c Check) bool { return (c.Name == RowHeads || c.Name == RowApproved) && !c.OK })
	return r.OK() && heads && r.Signer.Principal != ""
}

// Names of the rows, in their order.
const (
	RowArchive   = "archive"   // a plain tar of clean names, within the limits
	RowFormat    = "format"    // a BagIt bag of a version that is understood
	RowListed    = "listed"    // every file is listed and every listed file is here
	RowDigests   = "digests"   // every file has the digest that is listed
	RowChain     = "chain"     // every journal line names the line before
	RowHead      = "head"      // the journal ends where bag-info.txt says
	RowEvents    = "events"    // and has as many lines
	RowEvidence  = "evidence"  // every item of the journal is here, and nothing else
	RowCase      = "case"      // case.json and playbook.yaml belong to this journal
	RowSimulated = "simulated" // everything says the same about being simulated
	RowHeads     = "heads"     // signed heads match the journal
	RowSeen      = "seen"      // heads that others saw are in the journal, and not younger than they were seen
	RowSignature = "signature" // the digests were signed, for this purpose
	RowSigner    = "signer"    // by somebody who is allowed
)

// Verify checks a bundle as it is read. Nothing is extracted, and what is kept in
// memory is the lists, not the files. If a row fails the error wraps ErrIntegrity
// and names the first one; the report is complete all the same. Other errors are
// those of r, and then the report says nothing.
func Verify(r io.Reader, o VerifyOptions) (Report, error) {
	return verify(newIntake(o.Limits.filled()), r, o)
}

func verify(in *intake, r io.Reader, o VerifyOptions) (Report, error) {
	if err := in.read(r); err != nil {
		return Report{Schema: schema}, fmt.Errorf("verify bundle: %w", err)
	}
	rep := judge(in, o)
	var bad []string
	for _, c := range rep.Checks {
		if !c.OK && !c.Unchecked {
			bad = append(bad, c.Name+": "+c.Why)
		}
	}
	if len(bad) == 0 {
		return rep, nil
	}
	more := ""
	if len(bad) > 1 {
		more = fmt.Sprintf(" (and %d more)", len(bad)-1)
	}
	return rep, fmt.Errorf("verify bundle: %w: %s%s", ErrIntegrity, bad[0], more)
}

const schema = "cordon.verify/1"

// open opens a bundle that somebody names.
func open(path string) (*os.File, error) {
	f, err := plainfile.Open(path, math.MaxInt64) // its members are bounded one by one
	hint := ""
	switch {
	case err == nil:
		return f, nil
	case errors.Is(err, os.ErrNotExist):
		hint = "; name the .tar that case export wrote"
	case errors.Is(err, plainfile.ErrNotPlain):
		hint = "; name the .tar itself; what was unpacked has a VERIFY.txt to follow"
	}
	return nil, fmt.Errorf("%w%s", err, hint)
}

// VerifyFile is Verify of a file.
func VerifyFile(path string, o VerifyOptions) (Report, error) {
	f, err := open(path)
	if err != nil {
		return Report{Schema: schema}, fmt.Errorf("verify bundle: %w", err)
	}
	defer f.Close()
	rep, err := Verify(f, o)
	if err != nil {
		return rep, fmt.Errorf("%s: %w", strings.TrimSpace(path), err)
	}
	return rep, nil
}
