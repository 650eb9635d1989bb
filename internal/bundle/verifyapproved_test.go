package bundle

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"cordon/internal/casefile"
	"cordon/internal/signing"
)

const (
	bob      = "bob@example.org"
	pausing  = "pause/1/gitlab-prod/runner/42"
	planHash = "00aa"
)

// agreement is a right approval of the pause, and what is to be changed about it.
func (m made) agreement(t *testing.T, by signing.Signer, change func(*signing.Agreed)) string {
	t.Helper()
	v := m.view(t)
	binds := signing.Bind("pause", pausing, planHash, runner.String())
	sim := ""
	if v.Simulated {
		sim = " SIMULATED"
	}
	g := signing.Agreed{
		Person: bob, Key: by.Fingerprint(), Binds: binds, Plan: planHash, Line: bob + " " + by.PublicKey(),
		Text: fmt.Sprintf("%s\ncase %s%s\nstep pause: Pause\ntask %s\ntarget %s\nplan %s pause/only: pause it\nasked by %s (key %s), counts until 2026-11-30T16:00:00Z\nbinds sha256:%s\n",
			signing.NamespaceApproval, v.ID, sim, pausing, runner, planHash, alice, m.key.Fingerprint(), binds),
	}
	sig, err := by.Sign(signing.NamespaceApproval, []byte(g.Text))
	if err != nil {
		t.Fatal(err)
	}
	g.Sig = string(sig)
	if change != nil {
		change(&g)
	}
	b, err := json.Marshal(g)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func breakGlass(t *testing.T, m made) {
	t.Helper()
	b, err := json.Marshal(map[string]string{"task": pausing, "plan": planHash, "binds": signing.Bind("pause", pausing, planHash, runner.String())})
	if err != nil {
		t.Fatal(err)
	}
	m.say(t, "break-glass", string(b), func(e *casefile.Event) { e.Msg = "nobody is awake" })
}

// A history is whole in itself and its approval is signed by nobody: it does not pass,
// and the report does not say that somebody agreed.
func TestAnApprovalThatIsNotSignedSoDoesNotPass(t *testing.T) {
	for name, c := range map[string]struct {
		why    string
		change func(*signing.Agreed)
	}{
		"no signature":       {"signature does not match", func(g *signing.Agreed) { g.Sig = "nothing" }},
		"another text":       {"signature does not match", func(g *signing.Agreed) { g.Text = strings.Replace(g.Text, "T16:", "T17:", 1) }},
		"another plan":       {"another plan", func(g *signing.Agreed) { g.Plan = "11bb" }},
		"another key's name": {"the record says", func(g *signing.Agreed) { g.Key = "SHA256:other" }},
		"another key's line": {"of another key", func(g *signing.Agreed) { g.Line = bob + " " + signer(t).PublicKey() }},
		"who asked himself":  {"nobody approves himself", func(g *signing.Agreed) { g.Person = alice }},
	} {
		m := fullCase(t, nil)
		breakGlass(t, m)
		m.say(t, "approve", m.agreement(t, signer(t), c.change))
		b := m.export(t)
		rep, err := Verify(bytes.NewReader(b), VerifyOptions{Allowed: m.allowed(t)})
		if !errors.Is(err, ErrIntegrity) || row(rep, RowApproved).Word() != "FAILED" || !strings.Contains(row(rep, RowApproved).Why, c.why) {
			t.Errorf("%s: %v %+v", name, err, row(rep, RowApproved))
		}
		text := string(content(t, b, reportName))
		if !strings.Contains(text, "NO APPROVAL") || !strings.Contains(text, "nobody has countersigned it") {
			t.Errorf("%s: the report believes it", name)
		}
	}
}

func TestARightApprovalPassesAndItsSignerIsNamed(t *testing.T) {
	m, second := fullCase(t, nil), signer(t)
	breakGlass(t, m)
	m.say(t, "approve", m.agreement(t, second, nil))
	b := m.export(t)
	if text := string(content(t, b, reportName)); strings.Contains(text, "NO APPROVAL") || strings.Contains(text, "nobody has countersigned") {
		t.Error("the report does not believe it")
	}
	verify := func(list []signing.Allowed) (Check, Report, error) {
		rep, err := Verify(bytes.NewReader(b), VerifyOptions{Allowed: list})
		return row(rep, RowApproved), rep, err
	}
	if c, _, err := verify(nil); err != nil || c.Word() != "ok" || !strings.Contains(c.Why, "as the journal names them: "+bob) {
		t.Errorf("without a list: %v %+v", err, c)
	}
	if c, rep, err := verify(append(m.allowed(t), allow(t, bob, second)...)); err != nil || c.Word() != "ok" || !strings.Contains(c.Why, second.Fingerprint()) || !rep.Trusted() {
		t.Errorf("with a list that has him: %v %+v", err, c)
	}
	if c, rep, err := verify(m.allowed(t)); err != nil || c.Word() != "not checked" || rep.Trusted() {
		t.Errorf("with a list that has him not: %v %+v", err, c)
	}
	if c, _, err := verify(append(m.allowed(t), allow(t, alice, second)...)); !errors.Is(err, ErrIntegrity) || !strings.Contains(c.Why, "nobody approves himself") {
		t.Errorf("the list says that it is a key of who asked: %v %+v", err, c)
	}
}

func content(t *testing.T, bundle []byte, name string) []byte {
	t.Helper()
	for _, e := range entries(t, bundle) {
		if strings.HasSuffix(e.head.Name, "/"+name) {
			return []byte(e.body)
		}
	}
	t.Fatalf("no %s", name)
	return nil
}
