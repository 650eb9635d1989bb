package bundle

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/json"
	"encoding/pem"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"cordon/internal/casefile"
	"cordon/internal/evidence"
	"cordon/internal/signing"
	"cordon/internal/target"
)

const alice = "alice@example.org"

var (
	start  = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	runner = target.Ref{System: "gitlab-prod", Kind: target.Runner, ID: "42"}
)

// ticking is a clock that moves a second at each look, so that a case written twice
// has the same times.
type ticking struct{ n *int }

func (c ticking) Now() time.Time {
	*c.n++
	return start.Add(time.Duration(*c.n)*time.Second + 345*time.Millisecond)
}

func (ticking) Wait(context.Context, time.Duration) error { return nil }

func signer(t testing.TB) signing.Signer {
	t.Helper()
	s, err := signing.Ephemeral()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// fixedSigner has the same key in every process, as the workers of a fuzz test are many.
func fixedSigner(t testing.TB) signing.Signer {
	t.Helper()
	block, err := ssh.MarshalPrivateKey(ed25519.NewKeyFromSeed(bytes.Repeat([]byte{7}, 32)), "")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := signing.FromFile(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// made is a case in a store of its own.
type made struct {
	store *casefile.Store
	dir   string
	c     *casefile.Case
	key   signing.Signer
}

func newCase(t testing.TB, change func(*casefile.Opening)) made {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "state")
	store, err := casefile.OpenStore(casefile.Opener{Dir: dir, Clock: ticking{new(int)}})
	if err != nil {
		t.Fatal(err)
	}
	key := fixedSigner(t)
	o := casefile.Opening{
		ID: "INC-2026-0142", Title: "build07 polls at night", Kind: "incident", Targets: []target.Ref{runner},
		Window:   casefile.Window{From: start.Add(-48 * time.Hour), Why: "first strange job"},
		Playbook: []byte("name: contain\nsteps: []\n"), PlaybookName: "contain", Tool: map[string]string{"version": "0.0.1"},
	}
	if change != nil {
		change(&o)
	}
	c, err := store.Create(context.Background(), o, casefile.Actor{Name: alice, Key: key.Fingerprint(), Host: "jump1", Session: "s1", BootID: "b", PID: 7})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return made{store, dir, c, key}
}

func (m made) say(t testing.TB, kind, data string, more ...func(*casefile.Event)) {
	t.Helper()
	e := casefile.Event{Kind: kind, Step: "pause", OK: true, Target: runner, Data: json.RawMessage(data)}
	for _, f := range more {
		f(&e)
	}
	if _, err := m.c.Append(e); err != nil {
		t.Fatal(err)
	}
}

func (m made) keep(t testing.TB, name, body string) {
	t.Helper()
	if _, err := m.c.Put(context.Background(), evidence.Item{Name: name, Source: "GET /api/v4/runners/42", Media: "application/json"}, strings.NewReader(body)); err != nil {
		t.Fatal(err)
	}
}

func (m made) sign(t testing.TB) {
	t.Helper()
	if err := m.c.SignHead(m.key); err != nil {
		t.Fatal(err)
	}
}

func (m made) view(t testing.TB) *casefile.View {
	t.Helper()
	v, err := m.store.Read(m.c.ID())
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func (m made) export(t testing.TB) []byte {
	t.Helper()
	var b bytes.Buffer
	if _, err := Export(m.view(t), Options{Out: &b, Signer: m.key, Principal: alice}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func (m made) allowed(t testing.TB) []signing.Allowed {
	t.Helper()
	return allow(t, alice, m.key)
}

func allow(t testing.TB, who string, s signing.Signer) []signing.Allowed {
	t.Helper()
	line, err := signing.AllowedLine(who, s)
	if err != nil {
		t.Fatal(err)
	}
	list, err := signing.ParseAllowed(strings.NewReader(line))
	if err != nil {
		t.Fatal(err)
	}
	return list
}

const (
	pauseIntent = `{"task":"pause","digest":"d","change":{"id":"pause/1","title":"pause runner 42","call":{"method":"PUT","url":"https://gitlab.example/api/v4/runners/42","body":"paused=true"}}}`
	pauseDone   = `{"task":"pause","verb":"pause","outcome":{"change":"pause/1","state":"applied","why":"read back: paused","status":200}}`
	lostReset   = `{"task":"rotate","digest":"d","change":{"id":"rotate/1","title":"reset the token of runner 42","call":{"method":"POST","url":"https://gitlab.example/api/v4/runners/42/reset_authentication_token"}}}`
	silent      = `{"final":true,"verdicts":[{"question":"can it poll","state":"silent","why":"two witnesses","from":"2026-11-30T12:00:00Z","until":"2026-11-30T13:05:00Z","needs_ns":3900000000000,"for":[{"subject":"gitlab-prod/runner/42","source":"provider-api","at":"2026-11-30T13:05:00Z","says":"404"}],"missing":["egress"]}]}`
	found       = `{"host":"build-07","results":[{"check":"cron","title":"Cron","state":"found","findings":[{"check":"cron","severity":"high","title":"a job that fetches and runs","where":"/etc/cron.d/x","detail":"curl","attack":["T1053.003"]}]},{"check":"keys","title":"Authorized keys","state":"could not look","why":"denied"},{"check":"units","title":"Units","state":"nothing found"}]}`
)

// fullCase has a line of every kind that a bundle treats in its own way.
func fullCase(t testing.TB, change func(*casefile.Opening)) made {
	m := newCase(t, change)
	m.keep(t, "provider/gitlab-prod/runner.json", `{"id":42}`)
	m.keep(t, "provider/gitlab-prod/runner.json", `{"id":42,"paused":true}`) // one name, other bytes
	m.keep(t, "provider/gitlab-prod/runner.json", `{"id":42}`)               // the first once more
	m.say(t, "intent", pauseIntent)
	m.say(t, "result", pauseDone)
	m.say(t, "step", `{"task":"pause","end":"done"}`)
	m.sign(t)
	m.keep(t, "host/build-07/snapshot.json", `{"schema":"cordon.snapshot/1"}`)
	if err := m.c.Miss(context.Background(), evidence.Gap{Name: "host/build-07/memory", Why: "not reachable"}); err != nil {
		t.Fatal(err)
	}
	m.say(t, "finding", found)
	m.say(t, "verdict", silent)
	m.say(t, "waive", `{}`, func(e *casefile.Event) { e.Msg = "nobody else is awake" })
	m.say(t, "close", `{"Word":"contained"}`, func(e *casefile.Event) { e.Msg = "contained" })
	m.sign(t)
	return m
}

// unpacked returns the files of a bundle by their path in the bag.
func unpacked(t testing.TB, bundle []byte) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, e := range entries(t, bundle) {
		_, name, _ := strings.Cut(e.head.Name, "/")
		out[name] = e.body
	}
	return out
}

func blobFile(t testing.TB, m made, body string) string {
	t.Helper()
	var found string
	err := filepath.WalkDir(filepath.Join(m.dir, "cases", m.c.ID(), "blobs"), func(p string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			if b, _ := os.ReadFile(p); string(b) == body {
				found = p
			}
		}
		return err
	})
	if err != nil || found == "" {
		t.Fatalf("no blob holds %q (%v)", body, err)
	}
	return found
}
