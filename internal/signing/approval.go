package signing

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"cordon/internal/untrusted"
)

// NamespaceApproval is the SSHSIG namespace of an approval.
const NamespaceApproval = "cordon-approval@v1"

// maxRequest bounds a request, in bytes.
const maxRequest = 16 << 10

// ErrRequest means that a text is no request for an approval.
var ErrRequest = errors.New("not a request for an approval")

// Approval is what the eight lines of a request say. A second person signs the lines, so
// whoever judges an approval later goes by them and by nothing that stands beside them.
type Approval struct {
	Case      string
	Simulated bool
	Step      string // id
	Task      string
	Plan      string // hash
	By, Key   string // who asks; Key "" where he has none
	Until     time.Time
	Binds     string
}

// begins is how the lines after the first begin, in their order.
var begins = []string{"case ", "step ", "task ", "target ", "plan ", "asked by ", "binds sha256:"}

// askedBy is the seventh line: the name may hold anything, what follows it may not.
var askedBy = regexp.MustCompile(`^(.*) \(key (none|SHA256:[A-Za-z0-9+/=]+)\), counts until (\S+)$`)

// ParseApproval reads the eight lines of a request. Errors wrap ErrRequest.
func ParseApproval(text string) (Approval, error) {
	body, ended := strings.CutSuffix(text, "\n")
	lines := strings.Split(body, "\n")
	if flat := strings.Join(lines, " "); len(text) > maxRequest || len(lines) != 8 || !ended || lines[0] != NamespaceApproval || untrusted.Clean(flat, len(text)) != flat {
		return Approval{}, fmt.Errorf("%w: it has eight lines, the first %s; cordon case request-approval prints one", ErrRequest, NamespaceApproval)
	}
	rest := make([]string, len(begins))
	for i, b := range begins {
		var ok bool
		if rest[i], ok = strings.CutPrefix(lines[i+1], b); !ok {
			return Approval{}, fmt.Errorf("%w: line %d begins with %q", ErrRequest, i+2, b)
		}
	}
	a := Approval{Task: rest[2], Binds: rest[6]}
	a.Case, a.Simulated = strings.CutSuffix(rest[0], " SIMULATED")
	a.Step, _, _ = strings.Cut(rest[1], ":")
	a.Plan, _, _ = strings.Cut(rest[4], " ")
	m := askedBy.FindStringSubmatch(rest[5])
	if m == nil {
		return Approval{}, fmt.Errorf("%w: line 7 does not say who asks and until when it counts", ErrRequest)
	}
	if a.By = m[1]; m[2] != "none" {
		a.Key = m[2]
	}
	var err error
	if a.Until, err = time.Parse(time.RFC3339, m[3]); err != nil {
		return Approval{}, fmt.Errorf("%w: line 7 does not say until when it counts", ErrRequest)
	}
	return a, nil
}

// Bind is the digest that ties an approval to one step of one task, one plan and one
// target: lower-case hex SHA-256 over them, a line each.
func Bind(step, task, plan, target string) string {
	sum := sha256.Sum256([]byte(strings.Join([]string{step, task, plan, target}, "\n")))
	return hex.EncodeToString(sum[:])
}

// Agreed is an approval as a record has it. Whoever can write the record can write one:
// Check is what makes it worth something.
type Agreed struct {
	Text   string `json:"text"` // what was signed
	Sig    string `json:"sig"`  // armored
	Person string `json:"person"`
	Key    string `json:"key"` // fingerprint
	Binds  string `json:"binds"`
	Plan   string `json:"plan"`
	Line   string `json:"signer,omitempty"` // the approver's line as it was configured; empty: an older build's
}

// Check tests that the signature is over the text, by the key that is named, and that the
// text is about this case, step and target and says what the record says. It cannot tell
// whose key that is. Errors wrap ErrBadSignature, or ErrRequest where the text is none.
func (g Agreed) Check(caseID string, simulated bool, step, target string) (Approval, error) {
	a, err := ParseApproval(g.Text)
	if err != nil {
		return a, err
	}
	key, err := Check(NamespaceApproval, []byte(g.Text), []byte(g.Sig))
	if err != nil {
		return a, err
	}
	bad := func(what string) error { return fmt.Errorf("%w: %s", ErrBadSignature, what) }
	switch {
	case key != g.Key:
		return a, bad("it is by " + key + ", and the record says " + untrusted.Clean(g.Key, 80))
	case a.Case != caseID || a.Simulated != simulated:
		return a, bad("what was signed is of another case")
	case a.Step != step || a.Binds != g.Binds || a.Plan != g.Plan || Bind(step, a.Task, a.Plan, target) != a.Binds:
		return a, bad("what was signed is another plan, step or target than the record says")
	}
	if g.Line == "" {
		return a, nil
	}
	lines, err := ParseAllowed(strings.NewReader(g.Line + "\n"))
	if err != nil || len(lines) != 1 || lines[0].Fingerprint() != key {
		return a, bad("the line that is kept with it is of another key")
	}
	return a, nil
}
