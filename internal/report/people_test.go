package report

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hiddeco/sshsig"
	"golang.org/x/crypto/ssh"

	"cordon/internal/signing"
	"cordon/internal/target"
	"cordon/playbooks"
)

// retire is a case that retires runner 42, at the step of its dependents.
func retire(t *testing.T) story {
	s := begin(t, false)
	p, err := playbooks.Find("offboard")
	if err != nil {
		t.Fatal(err)
	}
	s.Opening.Kind, s.Opening.Playbook, s.Opening.PlaybookName = "offboarding", p.Source, p.ID
	return s.step("ticket", "1").step("owner", "1").step("snapshot", "1/r").step("successor", "1/r")
}

func (s story) waits(step, owner, state string, due time.Time) story {
	d, err := json.Marshal(map[string]any{"task": step + "/m", "state": state, "owner": owner, "due": due})
	if err != nil {
		s.t.Fatal(err)
	}
	return s.add("manual", step, "", string(d))
}

// TestABriefSaysWhoOwesWhatByWhen: and that a day is over, and what can be done meanwhile.
func TestABriefSaysWhoOwesWhatByWhen(t *testing.T) {
	due := began.Add(48 * time.Hour)
	s := retire(t).waits("dependents", "carol@example.org", "waiting", due)
	for name, x := range map[string]struct {
		now        time.Time
		want, lack []string
	}{
		"before":     {began, []string{"OPEN      1 owed by people;", "carol@example.org owes dependents by 2026-12-02 03:04Z", "STANDS    step 7/14, Read the hosts", "NEXT      Read the hosts"}, []string{"OVERDUE"}},
		"on the day": {due, []string{"1 owed by people, 1 OVERDUE", "OVERDUE since 2026-12-02 03:04Z: carol@example.org owes dependents", "STANDS    step 5/14"}, []string{"by 2026"}},
	} {
		got := strings.Join(Brief(s.View, x.now), "\n")
		for _, w := range x.want {
			if !strings.Contains(got, w) {
				t.Errorf("%s: no %q in\n%s", name, w, got)
			}
		}
		for _, w := range append(x.lack, "CONTAINED") {
			if strings.Contains(got, w) {
				t.Errorf("%s: %q in\n%s", name, w, got)
			}
		}
		if !strings.Contains(got, "NOT RETIRED YET") {
			t.Errorf("%s: not told as a retirement\n%s", name, got)
		}
		if r := strings.Join(Remarks(s.View, x.now), "\n"); !strings.Contains(r, "carol@example.org owes dependents") || strings.Contains(r, "OVERDUE") != (name == "on the day") {
			t.Errorf("%s: in a list: %q", name, r)
		}
	}
	if got := strings.Join(Brief(s.step("dependents", "m").View, due), "\n"); strings.Contains(got, "owe") || strings.Contains(got, "OVERDUE") {
		t.Errorf("what is done is owed:\n%s", got)
	}
}

// TestATimeOfThePlaybookThatIsOverIsTold: also where nobody was named for the step, and
// not once it is done.
func TestATimeOfThePlaybookThatIsOverIsTold(t *testing.T) {
	s := retire(t)
	late := began.Add(15 * 24 * time.Hour) // dependents: due in 14d
	if got := Brief(s.View, began.Add(13*24*time.Hour))[4]; strings.Contains(got, "OVERDUE") {
		t.Errorf("before: %s", got)
	}
	if got := strings.Join(Remarks(s.View, late), "\n"); !strings.Contains(got, "OVERDUE since 2026-12-14 03:05Z: somebody owes dependents") {
		t.Errorf("after: %q", got)
	}
	s.waits("dependents", "carol", "waiting", late.Add(time.Hour))
	if got := strings.Join(Remarks(s.View, late), "\n"); !strings.Contains(got, "carol owes dependents by ") || strings.Contains(got, "somebody owes dependents") {
		t.Errorf("carol has it: %q", got)
	}
	if got := strings.Join(Remarks(s.step("dependents", "m").View, late), "\n"); strings.Contains(got, "dependents") {
		t.Errorf("done: %q", got)
	}
}

// TestABriefSaysThatAllThatIsLeftWaits: nobody is sent to a step that cannot go on.
func TestABriefSaysThatAllThatIsLeftWaits(t *testing.T) {
	s := retire(t)
	p, err := playbooks.Find("offboard")
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range p.Steps[4:] {
		if x.ID != "dependents" {
			var all []string
			for i := range 9 {
				all = append(all, fmt.Sprint(i))
			}
			s.step(x.ID, all...)
		}
	}
	s.waits("dependents", "", "worked", time.Time{})
	got := strings.Join(Brief(s.View, began), "\n")
	for _, w := range []string{"it waits for somebody, and so does the rest", "NEXT      somebody else than alice@example.org owes the signature under dependents"} {
		if !strings.Contains(got, w) {
			t.Errorf("no %q in\n%s", w, got)
		}
	}
}

// TestABriefNamesAllRunnersAndHowManyTheyAre: the last one alone is not the case.
func TestABriefNamesAllRunnersAndHowManyTheyAre(t *testing.T) {
	s := begin(t, false)
	runners := func(n int) string {
		s.Opening.Targets = nil
		for i := range n {
			s.Opening.Targets = append(s.Opening.Targets, target.Ref{System: "gitlab-prod", Scope: target.Scope{Level: "project"}, Kind: target.Runner, ID: fmt.Sprint(4000 + i)})
		}
		return Brief(s.View, asOf)[0]
	}
	if got := runners(3); !strings.Contains(got, "3 runners: gitlab-prod/project/runner/4000, 4001, 4002, no host known") {
		t.Error(got)
	}
	if got := runners(500); !strings.Contains(got, "500 runners: gitlab-prod/project/runner/4000, 4001") || !strings.Contains(got, " more, no host known") {
		t.Error(got)
	}
}

// TestABriefSaysThatTheGlassWasBroken: until somebody else agreed, by a signature.
func TestABriefSaysThatTheGlassWasBroken(t *testing.T) {
	agree := func(forge func(*signing.Agreed)) story {
		s := begin(t, false)
		on := s.Opening.Targets[0]
		plan := strings.Repeat("ab", 32)
		binds := signing.Bind("rotate", "rotate/42", plan, on.String())
		s.add("break-glass", "rotate", "nobody is awake", `{"task":"rotate/42","binds":"`+binds+`"}`)
		if forge == nil {
			return s
		}
		d := sealed(t, s.ID, binds, plan, on.String())
		forge(&d)
		b, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		s.add("approve", "rotate", "", string(b))
		s.Lines[len(s.Lines)-1].Target = on
		return s
	}
	for name, x := range map[string]struct {
		forge func(*signing.Agreed)
		want  string
	}{
		"nobody":         {nil, "OPEN      BREAK GLASS at rotate by alice@example.org alone: NOT COUNTERSIGNED; "},
		"bob":            {func(*signing.Agreed) {}, "OPEN      BREAK GLASS at rotate, countersigned by bob@example.org as the record says; "},
		"no signature":   {func(d *signing.Agreed) { d.Sig = "nothing" }, "NOT COUNTERSIGNED"},
		"another plan":   {func(d *signing.Agreed) { d.Binds = strings.Repeat("0", 64) }, "NOT COUNTERSIGNED"},
		"alice herself":  {func(d *signing.Agreed) { d.Person = "alice@example.org" }, "NOT COUNTERSIGNED"},
		"whoever asks":   {func(d *signing.Agreed) { d.Person = "asker@example.org" }, "NOT COUNTERSIGNED"},
		"unknown reader": {func(d *signing.Agreed) { d.Text = "" }, "NOT COUNTERSIGNED"},
	} {
		s := agree(x.forge)
		if got := Brief(s.View, asOf)[4]; !strings.Contains(got, x.want) {
			t.Errorf("%s: %s", name, got)
		}
		if r := Remarks(s.View, asOf); len(r) != 1 || strings.Contains(r[0], "NOT COUNTERSIGNED") != (name != "bob") {
			t.Errorf("%s: in a list: %q", name, r)
		}
	}
}

// sealed is bob's good signature over a request of the case.
func sealed(t *testing.T, id, binds, plan, on string) signing.Agreed {
	t.Helper()
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	key, err := ssh.NewSignerFromKey(private)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Join([]string{
		signing.NamespaceApproval, "case " + id, "step rotate: Make copies of its token worthless", "task rotate/42", "target " + on,
		"plan " + plan + " rotate", "asked by asker@example.org (key none), counts until 2026-12-01T03:04:05Z", "binds sha256:" + binds,
	}, "\n") + "\n"
	sig, err := sshsig.Sign(strings.NewReader(text), key, sshsig.HashSHA512, signing.NamespaceApproval)
	if err != nil {
		t.Fatal(err)
	}
	return signing.Agreed{Text: text, Sig: string(sshsig.Armor(sig)), Person: "bob@example.org", Key: ssh.FingerprintSHA256(key.PublicKey()), Binds: binds, Plan: plan}
}
