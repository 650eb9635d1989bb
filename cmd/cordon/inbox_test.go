package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"cordon/internal/app"
	"cordon/internal/engine"
)

// TestAnApprovalReachesARunThatIsOpen holds the case in this process: the signature is
// checked and left for it, and it counts when the run plans next. The state directory is
// a team's, and all of what that makes is for every colleague.
func TestAnApprovalReachesARunThatIsOpen(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	teamState(t, w.state())
	_, own, _ := w.person("responder")
	bobKey, bob, _ := w.person("bob")
	appendTo(t, filepath.Join(w.labDir(), "cordon.yaml"), "approvers:\n"+
		"  responder@lab.invalid: {signers: [\"responder@lab.invalid "+own+"\"]}\n  bob@lab.invalid: {signers: [\"bob@lab.invalid "+bob+"\"]}\n")
	if s := w.cordon("contain", "gitlab-lab/42", "--case", "K", "--playbook", askingPlaybook(t, w.dir), "--yes", "--reason", reason); s.code != 6 {
		t.Fatalf("ends with %d: %s", s.code, s.err)
	}
	a, err := app.Open(t.Context(), app.Options{Lab: w.labDir(), State: w.state(), Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	s, err := a.Resume(t.Context(), "K")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	waits := func() bool {
		for {
			p, err := s.Run.Next(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if p.Kind == engine.Progress {
				continue
			}
			if p.Step != "deregister" || p.Kind != engine.Choose {
				t.Fatalf("it asks something else: %s at %s", p.Kind, p.Step)
			}
			for _, g := range p.Guards[0] {
				if g.Class == engine.GuardApproval {
					return true
				}
			}
			return false
		}
	}
	if !waits() {
		t.Fatal("nothing waits for a second person")
	}
	asked := w.cordon("case", "request-approval", "K")
	path := filepath.Join(w.dir, "request")
	if err := os.WriteFile(path, []byte(asked.out), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("ssh-keygen", "-q", "-Y", "sign", "-n", "cordon-approval@v1", "-f", bobKey, path).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if x := w.cordon("case", "approve", "K", path); x.code != 6 {
		t.Errorf("what is no signature is left for the run: %d %s%s", x.code, x.out, x.err)
	}
	if x := w.cordon("case", "approve", "K", path+".sig"); x.code != 0 || !strings.Contains(x.out, "takes it in when it plans next") {
		t.Fatalf("ends with %d: %s%s", x.code, x.out, x.err)
	}
	if waits() {
		t.Error("the run that is open does not take it in")
	}
	everyColleagueMayUse(t, w.state())
}
