package engine_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"cordon/internal/casefile"
	"cordon/internal/engine"
	"cordon/internal/engine/enginemodel"
	"cordon/internal/signing"
	"cordon/providers"
)

// people can sign: alice has two keys, bob one, and eve is nobody's approver.
type people struct {
	alice, alice2, bob, eve signing.Signer
	by                      []engine.Approver
}

func newPeople(t *testing.T) *people {
	t.Helper()
	key := func() signing.Signer {
		s, err := signing.Ephemeral()
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	p := &people{key(), key(), key(), key(), nil}
	person := func(name string, keys ...signing.Signer) {
		var text strings.Builder
		for _, k := range keys {
			fmt.Fprintf(&text, "%s %s\n", name, k.PublicKey())
		}
		lines, err := signing.ParseAllowed(strings.NewReader(text.String()))
		if err != nil {
			t.Fatal(err)
		}
		p.by = append(p.by, engine.Approver{Person: name, Lines: lines})
	}
	person("alice", p.alice2)
	person("bob", p.bob)
	return p
}

func (p *people) sign(t *testing.T, by signing.Signer, namespace, text string) []byte {
	t.Helper()
	sig, err := by.Sign(namespace, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return sig
}

// asking is a case whose removal wants a second person, and who those may be.
func asking(t *testing.T) (*rig, *people) {
	p := newPeople(t)
	g := newRig(t, strings.Replace(whole, "verify: gone,", "verify: gone, ask: second-person,", 1))
	g.cfg = func(o *engine.Options) {
		o.Actor = engine.Actor{Name: "alice", Key: p.alice.Fingerprint()}
		o.Approval = engine.Approvals{By: p.by, Valid: time.Hour}
	}
	return g.open(), p
}

// asked are the requests of a case, the newest first.
func (g *rig) asked() []engine.Request {
	g.t.Helper()
	v, err := g.s.Read(rigCase)
	if err != nil {
		g.t.Fatal(err)
	}
	var o engine.Options
	if g.cfg != nil {
		g.cfg(&o)
	}
	all, err := engine.Requests(v, g.pb, o.Approval)
	if err != nil {
		g.t.Fatal(err)
	}
	return all
}

// held reports whether the plan on screen waits for a second person.
func held(p engine.Prompt) bool {
	for _, x := range p.Guards[0] {
		if x.ID == engine.Approval && x.Class == engine.GuardApproval {
			return true
		}
	}
	return false
}

func TestASecondPersonSignsEightLinesAndTheChangeGoesOn(t *testing.T) {
	g, who := asking(t)
	p := g.until(at("remove"))
	if !held(p) {
		t.Fatal("nothing waits for a second person")
	}
	d := willing(p) // waives everything, with a reason
	if err := g.r.Answer(t.Context(), d); !errors.Is(err, engine.ErrApproval) || !errors.Is(err, engine.ErrGuarded) {
		t.Fatalf("a waiver took the place of a person: %v", err)
	}
	text := g.asked()[0].Text()
	if strings.Count(text, "\n") != 8 || engine.ParseRequest([]byte(text)) != nil || !strings.Contains(text, p.Plans[0].Hash()) {
		t.Fatalf("not eight lines about this plan:\n%s", text)
	}
	for range 3 { // the same plan, planned again meanwhile
		g.next()
	}
	if _, person, err := g.r.Approve(who.sign(t, who.bob, engine.NamespaceApproval, text)); err != nil || person != "bob" {
		t.Fatalf("bob agrees: %q %v", person, err)
	}
	g.die() // also in another process, from the journal alone
	if p = g.until(at("remove")); held(p) {
		t.Fatalf("it waits on: %+v", p.Guards[0])
	}
	g.answer(willing(p))
	if e := g.end(); g.happened(providers.Deregister) != 1 || remarked(e, "BREAK GLASS") {
		t.Errorf("ends %s %q", e.Word, e.Notes)
	}
	if n := len(g.lines("approve")); n != 1 {
		t.Errorf("%d approvals on record", n)
	}
	if n := len(g.lines("approval-wanted")); n != 1 {
		t.Errorf("%d times it was said that somebody is waited for", n)
	}
	for _, q := range g.asked() {
		if q.Current {
			t.Errorf("it is done and still asked for: %s", q.What)
		}
	}
}

func TestAnApprovalThatDoesNotCountHasItsOwnWord(t *testing.T) {
	g, who := asking(t)
	g.until(at("remove"))
	q := g.asked()[0]
	other := q
	other.Plan = strings.Repeat("0", 64)
	for _, c := range []struct {
		name string
		sig  []byte
		want error
	}{
		{"another namespace", who.sign(t, who.bob, signing.NamespaceHead, q.Text()), engine.ErrPurpose},
		{"a plan that was never shown", who.sign(t, who.bob, engine.NamespaceApproval, other.Text()), engine.ErrNoRequest},
		{"the second key of who asks", who.sign(t, who.alice2, engine.NamespaceApproval, q.Text()), engine.ErrSelf},
		{"the key of who asks", who.sign(t, who.alice, engine.NamespaceApproval, q.Text()), engine.ErrSelf},
		{"nobody's approver", who.sign(t, who.eve, engine.NamespaceApproval, q.Text()), engine.ErrStranger},
		{"no signature", []byte("yes"), engine.ErrNoRequest},
	} {
		if _, _, err := g.r.Approve(c.sig); !errors.Is(err, c.want) || !errors.Is(err, engine.ErrApproval) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
	}
	late := who.sign(t, who.bob, engine.NamespaceApproval, q.Text())
	g.w.Clock.Jump(2 * time.Hour)
	if _, _, err := g.r.Approve(late); !errors.Is(err, engine.ErrExpired) {
		t.Errorf("two hours later: %v", err)
	}
	if n := len(g.lines("approve")); n != 0 || !held(g.next()) {
		t.Errorf("%d approvals on record", n)
	}
}

func TestAnApprovalIsForOnePlan(t *testing.T) {
	g, who := asking(t)
	g.until(at("remove"))
	first := g.asked()[0]
	if _, _, err := g.r.Approve(who.sign(t, who.bob, engine.NamespaceApproval, first.Text())); err != nil {
		t.Fatal(err)
	}
	g.fault(providers.Deregister, enginemodel.Refuse)
	g.answer(willing(g.until(at("remove"))))
	// Planned again after the refusal: another change.
	if p := g.until(at("remove")); !held(p) {
		t.Error("the approval of one plan set the next one free")
	}
	if _, _, err := g.r.Approve(who.sign(t, who.bob, engine.NamespaceApproval, first.Text())); !errors.Is(err, engine.ErrOtherPlan) {
		t.Errorf("an approval of the plan before: %v", err)
	}
}

func TestWhoApprovedCannotActOnItHimself(t *testing.T) {
	g, who := asking(t)
	g.until(at("remove"))
	if _, _, err := g.r.Approve(who.sign(t, who.bob, engine.NamespaceApproval, g.asked()[0].Text())); err != nil {
		t.Fatal(err)
	}
	g.cfg = func(o *engine.Options) {
		o.Actor, o.Approval = engine.Actor{Name: "bob"}, engine.Approvals{By: who.by, Valid: time.Hour}
	}
	g.die() // bob takes the case over
	if p := g.until(at("remove")); !held(p) || !strings.Contains(p.Guards[0][len(p.Guards[0])-1].Text, "nobody approves himself") {
		t.Errorf("bob acts on his own approval: %+v", p.Guards[0])
	}
}

func TestAnApprovalThatExpiresBeforeItIsUsed(t *testing.T) {
	g, who := asking(t)
	g.until(at("remove"))
	if _, _, err := g.r.Approve(who.sign(t, who.bob, engine.NamespaceApproval, g.asked()[0].Text())); err != nil {
		t.Fatal(err)
	}
	p := g.until(at("remove"))
	g.w.Clock.Jump(2 * time.Hour)
	if err := g.r.Answer(t.Context(), willing(p)); !errors.Is(err, engine.ErrApproval) {
		t.Errorf("two hours later it still counts: %v", err)
	}
}

func TestABrokenGlassIsSaidUntilItIsCountersigned(t *testing.T) {
	g, who := asking(t)
	p := g.until(at("remove"))
	q := g.asked()[0]
	d := willing(p)
	d.BreakGlass = "nobody else is awake"
	g.answer(d)
	e := g.end()
	if g.happened(providers.Deregister) != 1 || !remarked(e, "BREAK GLASS") || !remarked(e, "NOT COUNTERSIGNED") || !remarked(e, "nobody else is awake") {
		t.Fatalf("ends %s %q", e.Word, e.Notes)
	}
	g.w.Clock.Jump(24 * time.Hour)
	if _, _, err := g.r.Approve(who.sign(t, who.alice2, engine.NamespaceApproval, q.Text())); !errors.Is(err, engine.ErrSelf) {
		t.Errorf("alice countersigns herself: %v", err)
	}
	if !g.asked()[0].Current {
		t.Error("nobody is told what to countersign")
	}
	if _, _, err := g.r.Approve(who.sign(t, who.bob, engine.NamespaceApproval, q.Text())); err != nil {
		t.Fatalf("bob countersigns the next day: %v", err)
	}
	if e = g.end(); remarked(e, "NOT COUNTERSIGNED") || !remarked(e, "countersigned by bob") {
		t.Errorf("countersigned: %q", e.Notes)
	}
}

func TestWhatCameWhileTheRunWasOpenIsTakenIn(t *testing.T) {
	g, who := asking(t)
	var in [][]byte
	cfg := g.cfg
	g.cfg = func(o *engine.Options) {
		cfg(o)
		o.Approval.Inbox = func() [][]byte { return in }
	}
	g.open()
	p := g.until(at("remove"))
	text := g.asked()[0].Text()
	in = [][]byte{who.sign(t, who.eve, engine.NamespaceApproval, text), who.sign(t, who.bob, engine.NamespaceApproval, text)}
	for range 3 {
		g.answer(engine.Decision{N: p.N, Verb: engine.Again})
		if p = g.next(); held(p) {
			t.Fatalf("it is not taken in: %+v", p.Guards[0])
		}
	}
	if notes, n := g.lines("note"), len(g.lines("approve")); n != 1 || len(notes) != 1 || !strings.Contains(notes[0].Msg, "nobody who may approve") {
		t.Errorf("%d approvals, notes %+v", n, notes)
	}
}

// Whoever can write the journal can write an approval: it is believed for its signature
// alone, each time.
func TestAnApprovalThatNobodySignedHoldsNothingUp(t *testing.T) {
	g, who := asking(t)
	g.until(at("remove"))
	q := g.asked()[0]
	forge := func(sig []byte, person, key string) {
		t.Helper()
		data, err := json.Marshal(map[string]any{
			"text": q.Text(), "sig": string(sig), "person": person, "key": key, "binds": q.Binds(), "plan": q.Plan, "until": q.Until,
		})
		if err == nil {
			_, err = g.c.Append(casefile.Event{Kind: "approve", Step: q.Step, Target: q.Target, OK: true, Msg: person + " approves it", Data: data})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	forge([]byte("-----BEGIN SSH SIGNATURE-----\nnothing\n-----END SSH SIGNATURE-----\n"), "bob", who.bob.Fingerprint())
	forge(who.sign(t, who.eve, engine.NamespaceApproval, q.Text()), "bob", who.eve.Fingerprint())
	forge(who.sign(t, who.bob, engine.NamespaceApproval, strings.Replace(q.Text(), "counts until 2", "counts until 3", 1)), "bob", who.bob.Fingerprint())
	g.die()
	p := g.until(at("remove"))
	if !held(p) || !strings.Contains(fmt.Sprint(p.Guards[0]), "does not count") {
		t.Fatalf("it is believed: %+v", p.Guards[0])
	}
	if err := g.r.Answer(t.Context(), willing(p)); !errors.Is(err, engine.ErrApproval) || g.happened(providers.Deregister) != 0 {
		t.Fatalf("it is acted on: %v", err)
	}
	d := willing(p)
	d.BreakGlass = "nobody else is awake"
	g.answer(d)
	if e := g.end(); !remarked(e, "NOT COUNTERSIGNED (the approval on record in the name of bob does not count") {
		t.Errorf("it countersigns: %q", e.Notes)
	}
	if !g.asked()[0].Current {
		t.Error("a forged line takes the request for a countersignature away")
	}
	// The control: the same line with a right signature is one.
	forge(who.sign(t, who.bob, engine.NamespaceApproval, q.Text()), "bob", who.bob.Fingerprint())
	g.open()
	if e := g.end(); !remarked(e, "countersigned by bob") {
		t.Errorf("bob's own signature does not count: %q", e.Notes)
	}
}

func TestWhoIsNoApproverAnyMoreHasNotApproved(t *testing.T) {
	g, who := asking(t)
	g.until(at("remove"))
	if _, _, err := g.r.Approve(who.sign(t, who.bob, engine.NamespaceApproval, g.asked()[0].Text())); err != nil {
		t.Fatal(err)
	}
	if l := g.lines("approve"); len(l) != 1 || !strings.Contains(string(l[0].Data), `"signer":"bob `+who.bob.PublicKey()+`"`) {
		t.Errorf("by which line he counted is not on record: %s", l[0].Data)
	}
	cfg := g.cfg
	g.cfg = func(o *engine.Options) { cfg(o); o.Approval.By = who.by[:1] } // bob has left
	g.open()
	if p := g.until(at("remove")); !held(p) {
		t.Error("the approval of somebody who left counts on")
	}
	g.cfg = cfg
	g.open()
	if p := g.until(at("remove")); held(p) {
		t.Errorf("bob is back: %+v", p.Guards[0])
	}
}

// A name that the configuration does not know is nobody, so that a second name does not
// make a second person.
func TestWhoAsksHasToBeSomebodyThatTheConfigurationKnows(t *testing.T) {
	as := func(a engine.Actor) (*rig, *people) {
		g, who := asking(t)
		cfg := g.cfg
		g.cfg = func(o *engine.Options) { cfg(o); o.Actor = a }
		_ = g.c.Close()
		var err error
		if g.c, err = g.s.Take(t.Context(), rigCase, casefile.Actor{Name: a.Name, Key: a.Key, Host: "a", BootID: "b", PID: 3}); err != nil {
			t.Fatal(err)
		}
		return g.open(), who
	}
	who := newPeople(t)
	g, p := as(engine.Actor{Name: "alice@example.org", Key: who.alice.Fingerprint()}) // approvers knows alice, and alice2
	if q := g.until(at("remove")); !strings.Contains(fmt.Sprint(q.Guards[0]), "it has to be known who you are") {
		t.Errorf("nobody says what is missing: %+v", q.Guards[0])
	}
	q := g.asked()[0]
	for name, by := range map[string]signing.Signer{"her own other key": p.alice2, "somebody else": p.bob} {
		if _, _, err := g.r.Approve(p.sign(t, by, engine.NamespaceApproval, q.Text())); !errors.Is(err, engine.ErrWho) || !errors.Is(err, engine.ErrApproval) {
			t.Errorf("%s: %v", name, err)
		}
	}
	d := willing(g.until(at("remove")))
	d.BreakGlass = "nobody else is awake"
	g.answer(d)
	if _, _, err := g.r.Approve(p.sign(t, p.alice2, engine.NamespaceApproval, q.Text())); !errors.Is(err, engine.ErrWho) {
		t.Errorf("she countersigns herself: %v", err)
	}
	g, p = as(engine.Actor{Name: "alice", Key: who.alice.Fingerprint()}) // the control: by name
	g.until(at("remove"))
	if _, _, err := g.r.Approve(p.sign(t, p.bob, engine.NamespaceApproval, g.asked()[0].Text())); err != nil || held(g.until(at("remove"))) {
		t.Errorf("alice asks and bob signs: %v", err)
	}
}

func TestANameOfOneAndAKeyOfAnotherIsNobody(t *testing.T) {
	g, who := asking(t)
	cfg := g.cfg
	g.until(at("remove"))
	if _, _, err := g.r.Approve(who.sign(t, who.bob, engine.NamespaceApproval, g.asked()[0].Text())); err != nil {
		t.Fatal(err)
	}
	for _, a := range []engine.Actor{{Name: "alice", Key: who.bob.Fingerprint()}, {Name: "carol"}} {
		g.cfg = func(o *engine.Options) { cfg(o); o.Actor = a }
		g.open()
		if p := g.until(at("remove")); !held(p) {
			t.Errorf("%s with the key %s acts on it", a.Name, a.Key)
		}
	}
}

// On a bastion that both use the second person takes in his own signature; he does not
// act on it.
func TestTheSignerMayWriteItDownHimself(t *testing.T) {
	g, who := asking(t)
	g.until(at("remove"))
	sig := who.sign(t, who.bob, engine.NamespaceApproval, g.asked()[0].Text())
	cfg := g.cfg
	g.cfg = func(o *engine.Options) { cfg(o); o.Actor = engine.Actor{Name: "bob", Key: who.bob.Fingerprint()} }
	g.open()
	if _, person, err := g.r.Approve(sig); err != nil || person != "bob" {
		t.Fatalf("bob takes in his own signature: %q %v", person, err)
	}
	if p := g.until(at("remove")); !held(p) {
		t.Error("bob acts on it")
	}
	g.cfg = cfg
	g.open()
	if p := g.until(at("remove")); held(p) {
		t.Errorf("alice may not: %+v", p.Guards[0])
	}
}
