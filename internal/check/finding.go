package check

import (
	"fmt"
	"slices"
	"strings"

	"cordon/internal/untrusted"
)

// Severity says how much a finding matters; the zero value is below Info.
type Severity string

// Severities. Medium and above are what a clean host does not have.
const (
	Info     Severity = "info"     // worth knowing, expected
	Low      Severity = "low"      // unusual, often made by an administrator
	Medium   Severity = "medium"   // must be explained by somebody
	High     Severity = "high"     // what attackers do and administrators rarely do
	Critical Severity = "critical" // no honest explanation is likely
)

var order = []Severity{Info, Low, Medium, High, Critical}

// Severities lists them from least to worst.
func Severities() []Severity { return slices.Clone(order) }

// AtLeast reports whether s is as bad as min or worse. An unknown severity is below all.
func (s Severity) AtLeast(min Severity) bool {
	return slices.Index(order, s) >= slices.Index(order, min) && s.Known()
}

// Known reports whether s is one of the five.
func (s Severity) Known() bool { return slices.Contains(order, s) }

// ParseSeverity reads what a person typed after --fail-on.
func ParseSeverity(text string) (Severity, error) {
	if s := Severity(strings.ToLower(strings.TrimSpace(text))); s.Known() {
		return s, nil
	}
	return "", fmt.Errorf("severity %q: write info, low, medium, high or critical", text)
}

// IsSeverity reports whether text is one of the five words.
func IsSeverity(text string) bool { return Severity(text).Known() }

// Finding is one observation that matters. Title is ours; Where and Detail hold what
// the host said, cleaned whenever they are shown.
type Finding struct {
	Check    string         `json:"check"`
	Severity Severity       `json:"severity"`
	Title    string         `json:"title"`
	Where    untrusted.Text `json:"where,omitempty"`
	Detail   untrusted.Text `json:"detail,omitempty"` // what was seen and why it matters
	Attack   []string       `json:"attack,omitempty"` // ATT&CK technique ids
	NIST     []string       `json:"nist,omitempty"`   // NIST SP 800-53 controls
	Evidence []string       `json:"evidence,omitempty"`
}

// Worst returns the highest severity among the findings, or "" where there is none.
func Worst(results []Result) Severity {
	var worst Severity
	for _, r := range results {
		for _, f := range r.Findings {
			if slices.Index(order, f.Severity) > slices.Index(order, worst) {
				worst = f.Severity
			}
		}
	}
	return worst
}

// AtLeast returns the findings of min or worse, worst first.
func AtLeast(results []Result, min Severity) []Finding {
	var out []Finding
	for _, r := range results {
		for _, f := range r.Findings {
			if f.Severity.AtLeast(min) {
				out = append(out, f)
			}
		}
	}
	sortFindings(out)
	return out
}

// Unknown returns the results that do not say whether anything is there: blind, not
// asked, or found with a partial look. Unknown is never clean.
func Unknown(results []Result) []Result {
	var out []Result
	for _, r := range results {
		if r.State == Blind || r.State == Unasked || r.Why != "" {
			out = append(out, r)
		}
	}
	return out
}

func sortFindings(fs []Finding) {
	slices.SortStableFunc(fs, func(a, b Finding) int {
		if d := slices.Index(order, b.Severity) - slices.Index(order, a.Severity); d != 0 {
			return d
		}
		if d := strings.Compare(string(a.Where), string(b.Where)); d != 0 {
			return d
		}
		if d := strings.Compare(a.Title, b.Title); d != 0 {
			return d
		}
		return strings.Compare(string(a.Detail), string(b.Detail))
	})
}

// reasons collects why one thing is suspect, so that one artefact is one finding.
type reasons struct {
	worst Severity
	list  []string
	more  int
}

// maxReasons keeps a table of a million lines from becoming a detail of a million.
const maxReasons = 20

func (r *reasons) add(s Severity, format string, args ...any) {
	if !r.worst.AtLeast(s) {
		r.worst = s
	}
	line := fmt.Sprintf(format, args...)
	switch {
	case slices.Contains(r.list, line):
	case len(r.list) < maxReasons:
		r.list = append(r.list, line)
	default:
		if r.worst == s { // the worst must stay readable
			r.list[maxReasons-1] = line
		}
		r.more++
	}
}

func (r *reasons) text() string {
	all := strings.Join(r.list, "; ")
	if r.more > 0 {
		all += fmt.Sprintf("; and %d more", r.more)
	}
	return all
}

// quote makes foreign text one short line for a detail.
func quote(s string) string { return untrusted.Clean(strings.TrimSpace(s), 200) }
