package bundle

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"cordon/internal/casefile"
	"cordon/internal/signing"
)

// told is a case with an event that its author may want to be without.
func told(t *testing.T, all bool) made {
	t.Helper()
	m := newCase(t, nil)
	m.keep(t, "provider/gitlab-prod/runner.json", `{"id":42}`)
	m.say(t, "intent", pauseIntent)
	m.say(t, "result", pauseDone)
	if all {
		m.say(t, "waive", `{}`, func(e *casefile.Event) { e.Msg = "evidence not awaited" })
	}
	m.say(t, "step", `{"task":"pause","end":"done"}`)
	m.sign(t)
	m.say(t, "close", `{"Word":"contained"}`)
	m.sign(t)
	return m
}

// The custodian has the key, the tool and all the time in the world: what he writes anew
// is in itself a perfect bundle. One head that was pasted before is enough all the same.
func TestOnePastedHeadGivesAwayAnAuthorWhoWroteEverythingAnew(t *testing.T) {
	was := told(t, true)
	v := was.view(t)
	var pasted string
	for _, l := range v.Lines {
		if l.Kind == "step" {
			pasted = l.Sum()[:16]
		}
	}
	seen := []SeenHead{{pasted, start.Add(time.Hour)}}
	for name, forge := range map[string]func() (bundle []byte, by signing.Signer){
		"with the same key": func() ([]byte, signing.Signer) { m := told(t, false); return m.export(t), m.key },
		"with another key": func() ([]byte, signing.Signer) {
			m := told(t, false)
			m.key = signer(t)
			var b bytes.Buffer
			_, err := Export(m.view(t), Options{Out: &b, Signer: m.key, Principal: alice})
			if err != nil {
				t.Fatal(err)
			}
			return b.Bytes(), m.key
		},
		"the event itself is reworded": func() ([]byte, signing.Signer) {
			m := newCase(t, nil)
			m.say(t, "waive", `{}`, func(e *casefile.Event) { e.Msg = "evidence awaited" })
			m.sign(t)
			return m.export(t), m.key
		},
	} {
		t.Run(name, func(t *testing.T) {
			forged, by := forge()
			o := VerifyOptions{Allowed: allow(t, alice, by)}
			if name == "with another key" {
				o.Allowed = append(o.Allowed, was.allowed(t)...) // also where the heads of the way would pass
			}
			rep, err := Verify(bytes.NewReader(forged), o)
			if err != nil {
				t.Fatalf("the forgery is not perfect, so this proves nothing: %v\n%+v", err, rep.Checks)
			}
			o.Seen = seen
			rep, err = Verify(bytes.NewReader(forged), o)
			got := row(rep, RowSeen)
			if !errors.Is(err, ErrIntegrity) || got.Word() != "FAILED" || !strings.Contains(got.Why, "written anew") || !strings.Contains(got.Why, pasted) {
				t.Errorf("%v %+v", err, got)
			}
		})
	}
	rep, err := Verify(bytes.NewReader(was.export(t)), VerifyOptions{Allowed: was.allowed(t), Seen: seen})
	if err != nil || row(rep, RowSeen).Word() != "ok" {
		t.Errorf("the true one: %v %+v", err, row(rep, RowSeen))
	}
}

func TestAHeadThatIsYoungerThanItWasSeenIsRefused(t *testing.T) {
	m := told(t, true)
	v := m.view(t)
	last := v.Lines[len(v.Lines)-1]
	good := m.export(t)
	for _, c := range []struct {
		name, word string
		seen       SeenHead
	}{
		{"seen in the same second", "ok", SeenHead{v.Head[:12], last.T.Add(time.Millisecond)}},
		{"seen before it was written", "FAILED", SeenHead{v.Head[:12], last.T.Add(-time.Millisecond)}},
		{"all of it", "ok", SeenHead{v.Head, start.Add(time.Hour)}},
		{"one digit off", "FAILED", SeenHead{v.Head[:63] + string("01"[strings.IndexByte("0123456789abcdef", v.Head[63])&1^1]), start.Add(time.Hour)}},
		{"not hex", "FAILED", SeenHead{"zzzzzzzzzzzz", start.Add(time.Hour)}},
	} {
		rep, err := Verify(bytes.NewReader(good), VerifyOptions{Seen: []SeenHead{{v.Lines[0].Sum()[:12], start.Add(time.Hour)}, c.seen}})
		if got := row(rep, RowSeen); got.Word() != c.word || (c.word == "ok") != (err == nil) {
			t.Errorf("%s: %+v, %v", c.name, got, err)
		}
	}
	rep, _ := Verify(bytes.NewReader(good), VerifyOptions{})
	if got := row(rep, RowSeen); got.Word() != "not checked" {
		t.Errorf("no head given: %+v", got)
	}
}

func TestAHeadIsPastedWithTheTimeThatIsKnown(t *testing.T) {
	for in, want := range map[string]string{
		"0123456789ab@2026-11-30T12:05:00Z":          "2026-11-30T12:05:00.999999999Z",
		"0123456789AB…@2026-11-30T12:05Z":            "2026-11-30T12:05:59.999999999Z",
		"0123456789abcdef@2026-11-30T13:05:00+01:00": "2026-11-30T12:05:00.999999999Z",
		"0123456789ab@2026-11-30T12:05:00.250Z":      "2026-11-30T12:05:00.25Z",
		"0123456789ab@2026-11-30 12:05Z":             "2026-11-30T12:05:59.999999999Z",
	} {
		h, err := ParseSeen(in)
		if err != nil || h.At.Format(time.RFC3339Nano) != want || !strings.HasPrefix(h.Prefix, "0123456789ab") || len(h.Prefix) > 16 {
			t.Errorf("%s: %+v %v", in, h, err)
		}
	}
	for _, in := range []string{"", "0123456789ab", "0123456789a@2026-11-30T12:05Z", "0123456789ab@yesterday", "0123456789ab@2026-11-30T12:05", "g123456789ab@2026-11-30T12:05Z", strings.Repeat("0", 65) + "@2026-11-30T12:05Z"} {
		if h, err := ParseSeen(in); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %+v %v", in, h, err)
		}
	}
}

func TestAParcelGivesWhatWasVerifiedOrNothing(t *testing.T) {
	m := fullCase(t, nil)
	path := t.TempDir() + "/b.tar"
	if _, err := Export(m.view(t), Options{Path: path, Signer: m.key, Principal: alice}); err != nil {
		t.Fatal(err)
	}
	p, rep, err := OpenParcel(path, VerifyOptions{Allowed: m.allowed(t)})
	if err != nil || !rep.Trusted() {
		t.Fatal(err)
	}
	defer p.Close()
	got := map[string]string{}
	if err := p.Each(keepIn(got)); err != nil {
		t.Fatal(err)
	}
	if got["journal.jsonl"] != string(m.view(t).Raw) || !json.Valid([]byte(got["case.json"])) || got["heads/0009.sig"] == "" && len(got) < 8 {
		t.Errorf("%d files", len(got))
	}
	spoiled := bytes.Replace(read1(t, path), []byte("nobody else is awake"), []byte("everybody was asleep"), 1)
	write1(t, path, spoiled) // behind the back of whoever has verified it
	if err := p.Each(keepIn(map[string]string{})); !errors.Is(err, ErrIntegrity) {
		t.Errorf("changed after it was verified: %v", err)
	}
	if _, _, err := OpenParcel(path, VerifyOptions{}); !errors.Is(err, ErrIntegrity) {
		t.Error(err)
	}
	if _, _, err := OpenParcel(t.TempDir(), VerifyOptions{}); err == nil {
		t.Error("a directory was opened")
	}
}

func keepIn(m map[string]string) func(string, io.Reader) error {
	return func(name string, r io.Reader) error {
		b, err := io.ReadAll(r)
		m[name] = string(b)
		return err
	}
}

func read1(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// write1 changes a file in place: whoever has it open sees the new bytes.
func write1(t *testing.T, path string, b []byte) {
	t.Helper()
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}
