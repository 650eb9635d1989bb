package host

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"cordon/internal/change"
	"cordon/internal/evidence"
	"cordon/internal/host/snapshot"
	"cordon/internal/redact"
	"cordon/internal/target"
	"cordon/internal/transport"
	"cordon/internal/witness"
	"cordon/providers"
)

// sink keeps evidence in memory.
type sink struct {
	mu    sync.Mutex
	items []evidence.Item
	data  map[string][]byte
	gaps  []evidence.Gap
	fail  error
}

func (s *sink) Put(_ context.Context, it evidence.Item, r io.Reader) (evidence.Item, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fail != nil {
		return it, s.fail
	}
	b, err := io.ReadAll(r)
	if err != nil {
		return it, err
	}
	sum := sha256.Sum256(b)
	it.Digest, it.Size = hex.EncodeToString(sum[:]), int64(len(b))
	if s.data == nil {
		s.data = map[string][]byte{}
	}
	s.items, s.data[it.Name] = append(s.items, it), b
	return it, nil
}

func (s *sink) Miss(_ context.Context, g evidence.Gap) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gaps = append(s.gaps, g)
	return s.fail
}

func TestGatherKeepsOneRedactedSnapshot(t *testing.T) {
	tr := planted(t)
	secret := "glrt-" + hex.EncodeToString([]byte(t.Name()))[:20]
	tr.file("/etc/gitlab-runner/config.toml", "[[runners]]\n  token = \""+secret+"\"\n", 0o600)
	tr.file("/etc/cron.d/big", strings.Repeat("# x\n", 40_000), 0o644)
	s := serve(t, honest(tr.root, ""))
	var seen []Exchange
	var told []transport.Exchange
	h := s.hosts(Options{Recorder: func(_ context.Context, x Exchange) { seen = append(seen, x) }})
	ctx := transport.WithRecorder(t.Context(), func(x transport.Exchange) { told = append(told, x) })
	to := &sink{}
	gaps, err := h.Gather(ctx, ref("build-07"), providers.Triage, to)
	if err != nil {
		t.Fatal(err)
	}
	if len(to.items) != 1 || to.items[0].Name != "host/build-07/snapshot.json" || to.items[0].Truncated || to.items[0].Redacted == 0 {
		t.Fatalf("%+v", to.items)
	}
	b := to.data["host/build-07/snapshot.json"]
	if bytes.Contains(b, []byte(secret)) {
		t.Error("the token is in the evidence")
	}
	snap, err := snapshot.Decode(bytes.NewReader(b))
	if err != nil || !snap.Complete || at(snap, "/etc/gitlab-runner/config.toml") == nil {
		t.Errorf("%v", err)
	}
	if len(gaps) == 0 || len(to.gaps) != len(gaps) || !strings.Contains(gaps[0].Name, "host/build-07: ") {
		t.Errorf("gaps %v, recorded %v", gaps, to.gaps)
	}
	if len(seen) != 1 || seen[0].SHA256 != collector().SHA256 || seen[0].Profile != "triage" || len(told) != 1 || told[0].Changing || told[0].System != "ssh" {
		t.Errorf("%+v %+v", seen, told)
	}
	if s.accepted.Load() != 1 {
		t.Errorf("%d connections for one read", s.accepted.Load())
	}
}

func TestAHostThatCannotBeReadIsAGap(t *testing.T) {
	for name, handle := range map[string]func(*server, net.Conn){
		"closed":  func(*server, net.Conn) {},
		"nothing": answering(func(string) string { return "" }),
	} {
		s := serve(t, handle)
		to := &sink{}
		gaps, err := s.hosts(Options{}).Gather(t.Context(), ref("build-07"), providers.Triage, to)
		if err != nil || len(gaps) == 0 || gaps[0].Name != "host/build-07/snapshot.json" || gaps[0].Why == "" || len(to.items) != 0 || len(to.gaps) != len(gaps) {
			t.Errorf("%s: gaps %v, items %v, err %v", name, gaps, to.items, err)
		}
	}
}

func TestHalfAnAnswerIsKeptAsIncomplete(t *testing.T) {
	s := serve(t, answering(func(in string) string { w := watchStream(in); return w[:strings.LastIndex(w, "C1 ")] }))
	to := &sink{}
	gaps, err := s.hosts(Options{}).Gather(t.Context(), ref("build-07"), providers.Watch, to)
	if err != nil || len(to.items) != 1 || !to.items[0].Truncated || len(gaps) == 0 {
		t.Fatalf("items %+v, gaps %v, err %v", to.items, gaps, err)
	}
	if !strings.HasPrefix(to.items[0].Name, "host/build-07/watch-") || strings.Trim(to.items[0].Name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/-") != "" {
		t.Errorf("name %q", to.items[0].Name)
	}
}

func TestASinkThatFailsIsAnErrorNotAGap(t *testing.T) {
	s := serve(t, answering(watchStream))
	full := errors.New("disk full")
	if _, err := s.hosts(Options{}).Gather(t.Context(), ref("build-07"), providers.Watch, &sink{fail: full}); !errors.Is(err, full) {
		t.Errorf("%v", err)
	}
	if _, err := s.hosts(Options{}).Observe(evidence.WithSink(t.Context(), &sink{fail: full}), ref("build-07")); !errors.Is(err, full) {
		t.Errorf("%v", err)
	}
}

func bySource(obs []witness.Observation) map[witness.Source]witness.Observation {
	out := map[witness.Source]witness.Observation{}
	for _, o := range obs {
		out[o.Source] = o
	}
	return out
}

func TestObserveTellsAgentSocketAndLog(t *testing.T) {
	tr := planted(t)
	if err := os.RemoveAll(tr.path("/proc/900")); err != nil {
		t.Fatal(err)
	}
	s := serve(t, honest(tr.root, ""))
	h := s.hosts(Options{})
	to := &sink{}
	look := func() map[witness.Source]witness.Observation {
		t.Helper()
		obs, err := h.Observe(evidence.WithSink(t.Context(), to), ref("build-07"))
		if err != nil || len(obs) != 3 {
			t.Fatalf("%+v %v", obs, err)
		}
		for _, o := range obs {
			if o.Subject != ref("build-07") || o.CouldNot != "" || o.Says == "" || len(o.Evidence) != 1 || o.Evidence[0] != to.items[len(to.items)-1].Digest {
				t.Errorf("%+v", o)
			}
		}
		return bySource(obs)
	}
	got := look()
	if got[witness.HostProcess].Exists != witness.Yes || got[witness.HostSocket].Polling != witness.Yes || got[witness.HostLog].Polling != witness.Yes || got[witness.HostLog].LastContact.IsZero() {
		t.Errorf("running: %+v", got)
	}

	line := `{"level":"error","msg":"Checking for jobs... forbidden","runner":"stub","status":"POST http://127.0.0.1:1/api/v4/jobs/request: 403 Forbidden","time":"2026-11-30T12:51:00Z"}` + "\n" +
		`{"level":"error","msg":"Runner \"x\" is unhealthy and will be disabled for 1h0m0s seconds!","time":"2026-11-30T12:51:01Z"}` + "\n"
	tr.file("/var/log/gitlab-runner.log", `{"level":"info","msg":"Checking for jobs... received","time":"2026-11-30T12:50:11Z"}`+"\n"+line, 0o640)
	// As evidence of silence a last line says nothing without its time.
	if says := got[witness.HostLog].Says; !strings.HasPrefix(says, "no contact in the agent's log after 20") || !strings.Contains(says, got[witness.HostLog].LastContact.UTC().Format("2006-01-02T15:04:05Z")) {
		t.Errorf("the log's word has no time: %q", says)
	}
	if got = look(); got[witness.HostLog].Rejected != witness.Yes || got[witness.HostLog].LastContact.Format("15:04:05") != "12:51:00" {
		t.Errorf("rejected: %+v", got[witness.HostLog])
	}

	if err := os.RemoveAll(tr.path("/proc/812")); err != nil {
		t.Fatal(err)
	}
	tr.file("/proc/net/tcp", "heading\n", 0o444)
	if got = look(); got[witness.HostProcess].Exists != witness.No || got[witness.HostSocket].Polling != witness.No {
		t.Errorf("stopped: %+v", got)
	}
}

func TestWhatWasNotSeenStaysUnknown(t *testing.T) {
	tr := newTree(t)
	if err := os.RemoveAll(tr.path("/proc/1")); err != nil { // hidepid
		t.Fatal(err)
	}
	if err := os.RemoveAll(tr.path("/proc/net")); err != nil {
		t.Fatal(err)
	}
	s := serve(t, honest(tr.root, ""))
	obs, err := s.hosts(Options{}).Observe(t.Context(), ref("build-07"))
	if err != nil || len(obs) != 3 {
		t.Fatalf("%+v %v", obs, err)
	}
	for _, o := range obs {
		if o.CouldNot == "" || o.Exists != witness.Unknown || o.Polling != witness.Unknown || o.Rejected != witness.Unknown {
			t.Errorf("%+v", o)
		}
	}
}

func TestAHostThatIsGoneIsOneObservationThatSaysSo(t *testing.T) {
	s := serve(t, func(*server, net.Conn) {})
	obs, err := s.hosts(Options{}).Observe(t.Context(), ref("build-07"))
	if err != nil || len(obs) != 1 || obs[0].CouldNot == "" || obs[0].Exists != witness.Unknown || obs[0].Source.Independent() != "host" {
		t.Errorf("%+v %v", obs, err)
	}
}

func TestSettleReadsAndNeverActs(t *testing.T) {
	tr := planted(t)
	s := serve(t, honest(tr.root, "/nonexistent"))
	h := s.hosts(Options{})
	c := stopPlan(t, h)
	check := func(want string) {
		t.Helper()
		if state, why, err := h.Settle(t.Context(), c); state != want || err != nil || (why == "") != (want == "") {
			t.Errorf("%s, want %s: %s %v", state, want, why, err)
		}
	}
	check(change.Refused)
	for _, p := range []string{"/proc/812", "/etc/systemd/system/multi-user.target.wants/gitlab-runner.service"} {
		if err := os.RemoveAll(tr.path(p)); err != nil {
			t.Fatal(err)
		}
	}
	check(change.Applied)
	if err := os.RemoveAll(tr.path("/proc/1")); err != nil {
		t.Fatal(err)
	}
	check(change.Unknown)
	s.trust()
	check(change.Unknown)
}

func TestPlansContactNothingAndHashTheSame(t *testing.T) {
	s := serve(t, answering(watchStream))
	h := s.hosts(Options{})
	for _, verb := range []string{providers.Collect, providers.Stop} {
		a, err1 := h.Plan(t.Context(), verb, ref("build-07"), nil)
		b, err2 := h.Plan(t.Context(), verb, ref("build-07"), nil)
		if err1 != nil || err2 != nil || len(a) != 1 || a[0].Hash() != b[0].Hash() {
			t.Fatalf("%s: %v %v", verb, err1, err2)
		}
		p := a[0]
		if p.TipsOff == "" || !slices.Contains(p.Contacts, ref("build-07")) || len(p.Limits) == 0 {
			t.Errorf("%+v", p)
		}
		if verb == providers.Collect && len(p.Changes) != 0 {
			t.Errorf("collecting changes something: %+v", p.Changes)
		}
	}
	p, _ := h.Plan(t.Context(), providers.Stop, ref("build-07"), nil)
	c := p[0].Changes[0]
	want := change.Call{Method: "SSH", URL: "ssh://build-07/act-stop", Body: "sha256:" + actStop().SHA256 + " unit=gitlab-runner.service"}
	if c.Call != want || c.Op != OpStop || !slices.Contains(c.Destroys, "host/build-07/snapshot.json") || c.TipsOff == "" || c.Capacity == "" || !p[0].Reversible() {
		t.Errorf("%+v", c)
	}
	if s.accepted.Load() != 0 {
		t.Error("planning contacted the host")
	}
}

func TestAPlanForWhatIsNotPossibleSaysWhatAPersonDoes(t *testing.T) {
	x := Host{Address: "192.0.2.1", User: "ir", Key: "k", KnownHosts: "h"}
	h := New(map[string]Host{"a": x}, Options{})
	p, err := h.Plan(t.Context(), providers.Stop, ref("a"), nil)
	if err != nil || len(p) != 1 || len(p[0].Changes) != 0 || len(p[0].Manual) == 0 {
		t.Errorf("%+v %v", p, err)
	}
	p, err = h.Plan(t.Context(), providers.Stop, ref("a"), json.RawMessage(`{"unit":"act.service"}`))
	if err != nil || len(p[0].Changes) != 1 || !strings.HasSuffix(p[0].Changes[0].Call.Body, " unit=act.service") {
		t.Errorf("%+v %v", p, err)
	}
	for name, c := range map[string]struct {
		verb string
		ref  target.Ref
		args string
		want error
	}{
		"another verb":    {providers.Pause, ref("a"), "", providers.ErrNoVerb},
		"another host":    {providers.Stop, ref("b"), "", providers.ErrNotFound},
		"another system":  {providers.Stop, target.Ref{System: "gitlab", Kind: target.Host, ID: "a"}, "", providers.ErrNotYours},
		"a runner":        {providers.Stop, target.Ref{System: target.SSH, Kind: target.Runner, ID: "a"}, "", providers.ErrNotYours},
		"unknown args":    {providers.Stop, ref("a"), `{"unti":"x.service"}`, nil},
		"a unit with a ;": {providers.Stop, ref("a"), `{"unit":"x;reboot.service"}`, nil},
		"a unit option":   {providers.Stop, ref("a"), `{"unit":"--now.service"}`, nil},
	} {
		if _, err := h.Plan(t.Context(), c.verb, c.ref, json.RawMessage(c.args)); err == nil || c.want != nil && !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestFingerprintsOfACaseAreUnderItsKey(t *testing.T) {
	tr := newTree(t)
	s := serve(t, honest(tr.root, ""))
	h := s.hosts(Options{})
	a, err1 := h.Read(t.Context(), "build-07", snapshot.ProfileWatch)
	b, err2 := h.Read(WithMarker(t.Context(), redact.NewMarker([]byte("the key of a case"))), "build-07", snapshot.ProfileWatch)
	if err1 != nil || err2 != nil || a.Ident.MachineID == "" || a.Ident.MachineID == b.Ident.MachineID {
		t.Errorf("%v %v", err1, err2)
	}
}

func TestTheScriptsAreListedByTheirDigests(t *testing.T) {
	got := Scripts()
	if len(got) != 4 {
		t.Fatalf("%d", len(got))
	}
	for i, want := range []string{"collector.sh collect", "fetch.sh fetch", "act-stop.sh act", "act-start.sh act"} {
		sum := sha256.Sum256([]byte(got[i].Text))
		if got[i].Name+" "+got[i].Kind != want || got[i].SHA256 != hex.EncodeToString(sum[:]) {
			t.Errorf("%+v", got[i].Name)
		}
	}
}
