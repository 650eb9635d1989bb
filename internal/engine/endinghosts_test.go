package engine

import (
	"testing"

	"cordon/internal/check"
	"cordon/internal/exposure"
)

// What was shown as a finding is counted as one in the end, whoever found it.
func TestTheEndingCountsWhatWasShown(t *testing.T) {
	of := func(host string, severity check.Severity) exposure.Difference {
		return exposure.Difference{Host: host, Finding: check.Finding{Severity: severity}}
	}
	r := &Run{st: newState()}
	r.st.findings["gha-01"] = []check.Result{{State: check.Found, Findings: []check.Finding{{Severity: check.High}, {Severity: check.Low}}}}
	if n := r.high("gha-01"); n != 1 {
		t.Errorf("by the checks alone: %d", n)
	}
	r.st.exposed = &exposure.List{Differences: []exposure.Difference{of("gha-01", check.High), of("gha-01", check.Medium), of("gha-02", check.High)}}
	if n := r.high("gha-01"); n != 2 {
		t.Errorf("a job that its provider does not list, and those of other hosts or less: %d", n)
	}
}
