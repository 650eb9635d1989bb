package testenv

import (
	"strings"
	"testing"
)

// spy records how a test would have ended.
type spy struct {
	testing.TB
	skipped, failed string
}

func (s *spy) Helper()           {}
func (s *spy) Skip(args ...any)  { s.skipped = args[0].(string) }
func (s *spy) Fatal(args ...any) { s.failed = args[0].(string) }

func TestAMissingToolSkipsHereAndFailsInCI(t *testing.T) {
	var here, ci spy
	missing(&here, false, "ssh-keygen")
	missing(&ci, true, "ssh-keygen")
	if here.failed != "" || !strings.Contains(here.skipped, "openssh-client") {
		t.Errorf("here: %+v", here)
	}
	if ci.skipped != "" || !strings.Contains(ci.failed, "openssh-client") {
		t.Errorf("CI: %+v", ci)
	}
	t.Setenv("CORDON_CI", "1")
	var need spy
	Need(&need, "no-such-tool-anywhere")
	if need.failed == "" {
		t.Error("Need does not fail under CORDON_CI=1")
	}
	t.Setenv("CORDON_CI", "")
	need = spy{}
	if Need(&need, "no-such-tool-anywhere"); need.skipped == "" {
		t.Error("Need does not skip without CORDON_CI")
	}
}

func TestAToolIsFoundOutsideThePath(t *testing.T) {
	t.Setenv("PATH", "")
	if p, err := look("sh", "/usr/bin", "/bin"); err != nil || !strings.HasSuffix(p, "/sh") {
		t.Errorf("look: %q, %v", p, err)
	}
	if p, err := look("sh"); err == nil {
		t.Errorf("found %q in an empty PATH", p)
	}
}
