package config

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"cordon/internal/signing"
)

// Approver is a person who may be the second one where a playbook wants that. Every
// key in his lines is his: a second key is not a second person.
type Approver struct {
	Signers []string `yaml:"signers"` // lines of an allowed_signers file: NAME KEYTYPE KEY

	// Lines are the Signers as they were read, set by Load.
	Lines []signing.Allowed `yaml:"-"`
}

// Approval is for how long the agreement of a second person counts.
type Approval struct {
	Valid string `yaml:"valid"` // 4h; absent: 4h

	// For is Valid as a duration, set by Load.
	For time.Duration `yaml:"-"`
}

// Bounds of Approval.For.
const (
	DefaultApproval = 4 * time.Hour
	MaxApproval     = 7 * 24 * time.Hour
)

func (v *validator) approvers(c *Config) {
	c.Approval.For = DefaultApproval
	if c.Approval.Valid != "" {
		d, err := time.ParseDuration(c.Approval.Valid)
		if err != nil || d < time.Minute || d > MaxApproval {
			v.add(at("approval", "valid"), "write 30m or 4h, from 1m to 168h", "not a time for which an approval counts")
		}
		c.Approval.For = d
	}
	owner := map[string]string{} // fingerprint → person
	for _, person := range sorted(c.Approvers) {
		a := c.Approvers[person]
		if !principalForm.MatchString(person) {
			v.add(at("approvers", person), "use a name such as bob@example.org", "not a person's name")
		}
		if len(a.Signers) == 0 {
			v.add(at("approvers", person), "write signers: [\"bob@example.org ssh-ed25519 AAAA…\"]", "no line that says with which key")
		}
		for i, s := range a.Signers {
			here := at("approvers", person, "signers", strconv.Itoa(i))
			lines, err := signing.ParseAllowed(strings.NewReader(s + "\n"))
			if err != nil || len(lines) != 1 || lines[0].CertAuthority {
				v.add(here, "write NAME KEYTYPE KEY, as in an allowed_signers file", "not one line of an allowed_signers file")
				continue
			}
			key := lines[0].Fingerprint()
			if other := owner[key]; other != "" && other != person {
				v.add(here, "a key is one person's", "a key that another person has too")
			}
			owner[key] = person
			a.Lines = append(slices.Clip(a.Lines), lines...)
		}
		c.Approvers[person] = a
	}
}
