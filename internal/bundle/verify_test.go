package bundle

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"cordon/internal/casefile"
	"cordon/internal/signing"
)

func row(r Report, name string) Check {
	for _, c := range r.Checks {
		if c.Name == name {
			return c
		}
	}
	return Check{Name: name, Why: "no such row"}
}

func TestAWholeBundleIsGoodInEveryRow(t *testing.T) {
	for _, simulated := range []bool{false, true} {
		m := fullCase(t, func(o *casefile.Opening) { o.Simulated = simulated })
		v := m.view(t)
		rep, err := Verify(bytes.NewReader(m.export(t)), VerifyOptions{
			Allowed: m.allowed(t), Principal: alice, Seen: []SeenHead{{v.Head[:16], start.Add(time.Hour)}},
		})
		if err != nil {
			t.Fatal(err)
		}
		if !rep.Trusted() || rep.Case != v.ID || rep.Head != v.Head || rep.Events != len(v.Lines) || rep.Simulated != simulated ||
			rep.Signer.Principal != alice || rep.Signer.Key != m.key.Fingerprint() || rep.Status != Closed {
			t.Errorf("%+v", rep)
		}
		if len(rep.Checks) != 15 {
			t.Errorf("%d rows", len(rep.Checks))
		}
		for _, c := range rep.Checks {
			if c.Word() != "ok" {
				t.Errorf("%+v", c)
			}
		}
	}
}

func TestWithoutAListTheSignerIsNotCheckedAndItSaysSo(t *testing.T) {
	m := fullCase(t, nil)
	rep, err := Verify(bytes.NewReader(m.export(t)), VerifyOptions{})
	c := row(rep, RowSigner)
	if err != nil || !rep.OK() || rep.Trusted() || c.Word() != "not checked" || c.Why != "signer not checked: give --allowed-signers" || rep.Signer.Principal != "" {
		t.Errorf("%v %+v %+v", err, c, rep.Signer)
	}
	if rep.Signer.Key != m.key.Fingerprint() || row(rep, RowSignature).Word() != "ok" {
		t.Errorf("%+v", rep)
	}
}

// The author writes a history of his own, whole in itself. What gives him away is
// what he signed on the way, as long as the old signatures are wanted.
func TestAHistoryThatIsWrittenAgainDoesNotFitItsSignedHeads(t *testing.T) {
	m := fullCase(t, nil)
	good := m.export(t)
	lie := func(l string) string { return strings.Replace(l, "read back: paused", "it was paused before", 1) }
	b := rewritten(t, m, good, lie, m.key)
	rep, err := Verify(bytes.NewReader(b), VerifyOptions{Allowed: m.allowed(t)})
	if !errors.Is(err, ErrIntegrity) || row(rep, RowHeads).OK || !strings.Contains(row(rep, RowHeads).Why, "signs another line") {
		t.Errorf("%v\n%+v", err, rep.Checks)
	}
	for _, name := range []string{RowChain, RowHead, RowEvents, RowDigests, RowSignature, RowSigner, RowCase} {
		if !row(rep, name).OK {
			t.Errorf("the case is not the one meant: %+v", row(rep, name))
		}
	}
}

func TestSignedHeadsAreByTheKeyTheJournalNamesAndBySomebodyAllowed(t *testing.T) {
	m := fullCase(t, nil)
	other := signer(t)
	// bob is handed the case and signs its next head; then he exports.
	if err := m.c.SignHead(other); err != nil {
		t.Fatal(err)
	}
	good := m.export(t)
	rep, err := Verify(bytes.NewReader(good), VerifyOptions{Allowed: m.allowed(t)})
	if !errors.Is(err, ErrIntegrity) || !strings.Contains(row(rep, RowHeads).Why, "someone not allowed") {
		t.Errorf("%v %+v", err, row(rep, RowHeads))
	}
	if _, err := Verify(bytes.NewReader(good), VerifyOptions{Allowed: append(m.allowed(t), allow(t, "bob@example.org", other)...), Principal: alice}); err != nil {
		t.Error(err)
	}
	// A right signature by another key than the journal says.
	list := entries(t, good)
	v := m.view(t)
	heads, err := v.Heads()
	if err != nil {
		t.Fatal(err)
	}
	for i := range list {
		if strings.HasSuffix(list[i].head.Name, heads[0].Name) {
			sig, err := other.Sign(signing.NamespaceHead, casefile.HeadMessage(v.ID, heads[0].Seq, heads[0].Sum))
			if err != nil {
				t.Fatal(err)
			}
			list[i].body = string(sig)
		}
	}
	rep, err = Verify(bytes.NewReader(resealed(t, list, m.key, signing.NamespaceBundle)), VerifyOptions{})
	if !errors.Is(err, ErrIntegrity) || !strings.Contains(row(rep, RowHeads).Why, "and the journal says "+m.key.Fingerprint()) {
		t.Errorf("%v %+v", err, row(rep, RowHeads))
	}
}

// A case that went through two hands, with the list of one of them: nothing was tampered
// with, and who signed before is not known to whoever checks.
func TestAHeadOfAWriterWhoIsNotOnTheListIsNotCheckedAndNoTampering(t *testing.T) {
	m := fullCase(t, nil)
	id := m.c.ID()
	if err := m.c.Close(); err != nil {
		t.Fatal(err)
	}
	bob := signer(t)
	c, err := m.store.Take(t.Context(), id, casefile.Actor{Name: "bob@example.org", Key: bob.Fingerprint(), Host: "jump2", Session: "s2", BootID: "b", PID: 8})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(c.SignHead(bob), c.Close()); err != nil {
		t.Fatal(err)
	}
	good := m.export(t)
	rep, err := Verify(bytes.NewReader(good), VerifyOptions{Allowed: m.allowed(t)})
	got := row(rep, RowHeads)
	if err != nil || got.Word() != "not checked" || !strings.Contains(got.Why, "signed by "+bob.Fingerprint()+", which is not on the list") {
		t.Errorf("%v %+v", err, got)
	}
	if rep.Trusted() {
		t.Error("it is trusted, and nobody has said that bob may sign")
	}
	both := append(m.allowed(t), allow(t, "bob@example.org", bob)...)
	if rep, err = Verify(bytes.NewReader(good), VerifyOptions{Allowed: both}); err != nil || !rep.Trusted() {
		t.Errorf("control: with both on the list: %v %+v", err, row(rep, RowHeads))
	}
	both[1].Before = time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	if rep, err = Verify(bytes.NewReader(good), VerifyOptions{Allowed: both}); !errors.Is(err, ErrIntegrity) {
		t.Errorf("a key that the list no longer allows passes: %v %+v", err, row(rep, RowHeads))
	}
}

func TestALossMustBeOnTheLabel(t *testing.T) {
	m := fullCase(t, nil)
	if err := os.Remove(blobFile(t, m, `{"schema":"cordon.snapshot/1"}`)); err != nil {
		t.Fatal(err)
	}
	b := edited(t, m.export(t), infoName, func(s string) string {
		return strings.Replace(s, "Bundle-Status: partial", "Bundle-Status: closed", 1)
	})
	rep, err := Verify(bytes.NewReader(resealed(t, entries(t, b), m.key, signing.NamespaceBundle)), VerifyOptions{})
	if !errors.Is(err, ErrIntegrity) || !strings.Contains(row(rep, RowEvidence).Why, "does not say it is partial") {
		t.Errorf("%v %+v", err, row(rep, RowEvidence))
	}
}

func TestSimulatedCannotBeTakenOffOrPutOn(t *testing.T) {
	sim := fullCase(t, func(o *casefile.Opening) { o.Simulated = true })
	off := edited(t, sim.export(t), infoName, func(s string) string { return strings.Replace(s, "Cordon-Simulated", "Cordon-Note", 1) })
	off = resealed(t, entries(t, off), sim.key, signing.NamespaceBundle)
	rep, err := Verify(bytes.NewReader(off), VerifyOptions{})
	if !errors.Is(err, ErrIntegrity) || row(rep, RowSimulated).OK || !rep.Simulated {
		t.Error(err, rep)
	}
	real := fullCase(t, nil)
	on := edited(t, real.export(t), caseName, func(s string) string {
		return strings.Replace(s, `"case"`, `"simulated": "yes", "case"`, 1)
	})
	on = resealed(t, entries(t, on), real.key, signing.NamespaceBundle)
	if rep, err := Verify(bytes.NewReader(on), VerifyOptions{}); !errors.Is(err, ErrIntegrity) || row(rep, RowSimulated).OK {
		t.Error(err, rep)
	}
}

func TestTheWordsForABadSignatureAndABadSignerDiffer(t *testing.T) {
	m := fullCase(t, nil)
	good := m.export(t)
	forger := signer(t)
	list := entries(t, good)
	verify := func(b []byte, o VerifyOptions) (Check, Check, error) {
		rep, err := Verify(bytes.NewReader(b), o)
		return row(rep, RowSignature), row(rep, RowSigner), err
	}
	// Re-signed by another key: right, but by the wrong one.
	sig, who, err := verify(resealed(t, list, forger, signing.NamespaceBundle), VerifyOptions{Allowed: m.allowed(t)})
	if !sig.OK || who.OK || who.Unchecked || !strings.Contains(who.Why, "signed by someone not allowed") || !errors.Is(err, ErrIntegrity) {
		t.Errorf("%+v %+v %v", sig, who, err)
	}
	// The tag manifest changed after signing: no signature at all, whoever is allowed.
	b := edited(t, good, tagName, func(s string) string { return strings.ToUpper(s[:1]) + "0" + s[2:] })
	sig, who, err = verify(b, VerifyOptions{Allowed: m.allowed(t)})
	if sig.OK || !strings.Contains(sig.Why, "signature does not match") || !who.Unchecked || !errors.Is(err, ErrIntegrity) {
		t.Errorf("%+v %+v %v", sig, who, err)
	}
	// Made for another purpose.
	sig, who, _ = verify(resealed(t, list, m.key, signing.NamespaceHead), VerifyOptions{Allowed: m.allowed(t)})
	if sig.OK || !strings.Contains(sig.Why, "another namespace") || !who.Unchecked {
		t.Errorf("%+v %+v", sig, who)
	}
	// Allowed, but somebody else than was asked for; nobody allowed; no longer allowed.
	for why, o := range map[string]VerifyOptions{
		"for bob@example.org": {Allowed: m.allowed(t), Principal: "bob@example.org"},
		"not in the list":     {Allowed: []signing.Allowed{}},
		"only until":          {Allowed: []signing.Allowed{{Line: 1, Principals: alice, Key: m.allowed(t)[0].Key, Before: start}}, At: start.Add(time.Hour)},
	} {
		if sig, who, err = verify(good, o); !sig.OK || who.OK || who.Unchecked || !strings.Contains(who.Why, why) || !errors.Is(err, ErrIntegrity) {
			t.Errorf("%s: %+v %+v %v", why, sig, who, err)
		}
	}
}

func TestCountersignaturesAreCheckedAndNamed(t *testing.T) {
	m := fullCase(t, nil)
	list := entries(t, m.export(t))
	bob, stranger := signer(t), signer(t)
	tag := unpacked(t, packed(t, list))[tagName]
	for who, s := range map[string]signing.Signer{"bob": bob, "stranger": stranger} {
		sig, err := s.Sign(signing.NamespaceBundle, []byte(tag))
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, file1(tagName+"."+who+".sig", string(sig)))
	}
	both := append(m.allowed(t), allow(t, "bob@example.org", bob)...)
	rep, err := Verify(bytes.NewReader(packed(t, list)), VerifyOptions{Allowed: both, Principal: alice})
	if err != nil || rep.Signer.Principal != alice || strings.Join(rep.Signer.Others, ",") != "bob@example.org,"+stranger.Fingerprint()+" (not allowed)" {
		t.Errorf("%v %+v", err, rep.Signer)
	}
	list[len(list)-1].body = list[len(list)-1].body[:100]
	if rep, err := Verify(bytes.NewReader(packed(t, list)), VerifyOptions{Allowed: both}); !errors.Is(err, ErrIntegrity) || row(rep, RowSignature).OK {
		t.Error(err)
	}
}

func TestLimitsEndTheReading(t *testing.T) {
	m := fullCase(t, nil)
	good := m.export(t)
	for why, l := range map[string]Limits{"more than 3 entries": {Entries: 3}, "larger than 100 bytes": {Entry: 100}, "more than 2000 bytes": {Total: 2000}, "signatures of more than 900 bytes": {Held: 900}} {
		rep, err := Verify(bytes.NewReader(good), VerifyOptions{Limits: l})
		if !errors.Is(err, ErrIntegrity) || !strings.Contains(row(rep, RowArchive).Why, why) || row(rep, RowSignature).Word() != "not checked" {
			t.Errorf("%s: %v", why, err)
		}
	}
	// A header that promises more than comes, and a file with holes, cost nothing.
	huge := packed(t, []one{file1("data/x", "")})
	copy(huge[124:], "77777777777\x00")
	sum := 0
	copy(huge[148:], "        ")
	for _, b := range huge[:512] {
		sum += int(b)
	}
	copy(huge[148:], []byte{byte('0' + sum>>12&7), byte('0' + sum>>9&7), byte('0' + sum>>6&7), byte('0' + sum>>3&7), byte('0' + sum&7), 0, ' '})
	if rep, err := Verify(bytes.NewReader(huge), VerifyOptions{}); !errors.Is(err, ErrIntegrity) || row(rep, RowArchive).OK {
		t.Error(err)
	}
}

func TestAFailingReaderIsNotABrokenBundle(t *testing.T) {
	m := fullCase(t, nil)
	boom := errors.New("disk on fire")
	good := m.export(t)
	for _, n := range []int{0, 100, 3000, len(good)} {
		_, err := Verify(io.MultiReader(bytes.NewReader(good[:n]), iotest.ErrReader(boom)), VerifyOptions{})
		if !errors.Is(err, boom) || errors.Is(err, ErrIntegrity) {
			t.Errorf("after %d bytes: %v", n, err)
		}
	}
	if _, err := Verify(iotest.OneByteReader(bytes.NewReader(good)), VerifyOptions{}); err != nil {
		t.Error(err)
	}
}

func TestVerifyFileSaysWhatToName(t *testing.T) {
	dir := t.TempDir()
	if _, err := VerifyFile(filepath.Join(dir, "absent.tar"), VerifyOptions{}); !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), "case export") {
		t.Error(err)
	}
	if _, err := VerifyFile(dir, VerifyOptions{}); err == nil || !strings.Contains(err.Error(), "is a directory") {
		t.Error(err)
	}
}
