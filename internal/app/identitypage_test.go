package app

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"cordon/internal/casefile"
	"cordon/internal/clock"
	"cordon/internal/config"
	"cordon/internal/redact"
	"cordon/internal/transport"
)

func TestAnotherClockIsWhatAllAnswersAgreeOn(t *testing.T) {
	at := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	// A service that is 90 s ahead: every answer took 40 ms, and its Date has whole seconds.
	ahead := func(ms int) sample {
		sent := at.Add(time.Duration(ms) * time.Millisecond)
		return sampleOf(transport.Exchange{At: sent, Date: sent.Add(90*time.Second + 20*time.Millisecond).Truncate(time.Second)}, sent.Add(40*time.Millisecond))
	}
	one := offsetOf("provider x", []sample{ahead(0)})
	if one.OffsetMS-one.UncertaintyMS > 90000 || one.OffsetMS+one.UncertaintyMS < 90000 || one.UncertaintyMS > 525 {
		t.Errorf("one answer: %+v", one)
	}
	many := offsetOf("provider x", []sample{ahead(0), ahead(300), ahead(700), ahead(950)})
	if many.OffsetMS-many.UncertaintyMS > 90000 || many.OffsetMS+many.UncertaintyMS < 90000 || many.UncertaintyMS >= one.UncertaintyMS || many.Why != "" || many.Samples != 4 {
		t.Errorf("many answers: %+v", many)
	}
	set := ahead(0)
	set.lo, set.hi = set.lo-time.Hour, set.hi-time.Hour
	if o := offsetOf("provider x", []sample{ahead(0), set}); !strings.Contains(o.Why, "a clock was set") {
		t.Errorf("answers that do not agree: %+v", o)
	}
}

func TestAnEventForAForwarderHasTheHashAndNoSecretAndNoData(t *testing.T) {
	c := notified(t)
	secret := "glpat-" + strings.Repeat("aB3dE5", 4)[:20]
	if _, err := c.Append(casefile.Event{Kind: "note", OK: true, Msg: "found " + secret + " \x1b[31m", Data: json.RawMessage(`{"x":"` + secret + `"}`)}); err != nil {
		t.Fatal(err)
	}
	v, err := c.View()
	if err != nil {
		t.Fatal(err)
	}
	l := v.Lines[len(v.Lines)-1]
	b, err := json.Marshal(event(redact.NewMarker([]byte("k")), true, l))
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(b, []byte(secret)) || bytes.Contains(b, []byte(`"data"`)) || bytes.Contains(b, []byte("\x1b")) {
		t.Errorf("%s", b)
	}
	for _, want := range []string{`"schema":"cordon.event/1"`, `"hash":"` + l.Sum() + `"`, `"simulated":true`, `redacted`} {
		if !bytes.Contains(b, []byte(want)) {
			t.Errorf("no %s in %s", want, b)
		}
	}
}

func TestAnAttachmentIsAPlainFileUnderAHarmlessName(t *testing.T) {
	for in, want := range map[string]string{
		"/tmp/screen shot.png": "attachments/screen_shot.png", "../../etc/passwd": "attachments/passwd",
		"/tmp/..": "attachments/_", "/tmp/\x1b[31m": "attachments/_31m", ".hidden": "attachments/hidden", "/tmp/a..b": "attachments/a_b",
	} {
		got := attachmentName(in)
		if in != "/tmp/.." && got != want || !casefile.ValidItemName(got) {
			t.Errorf("%q: %q", in, got)
		}
	}
	c, dir := notifiedIn(t)
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	a := &App{cfg: &config.Config{}, state: dir, marker: redact.NewMarker([]byte("k")), clock: clock.Real{}}
	pipe := t.TempDir() + "/pipe"
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	long := t.TempDir() + "/long"
	if err := os.WriteFile(long, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(long, casefile.MaxItem+1); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{pipe, "/dev/zero", t.TempDir(), long, t.TempDir() + "/none"} {
		if _, err := a.Attach(t.Context(), "INC-1", bad, "x"); ExitCode(err) != ExitUsage {
			t.Errorf("%s: %v", bad, err)
		}
	}
	good := t.TempDir() + "/mail.eml"
	if err := os.WriteFile(good, []byte("as it is: password=hunter2"), 0o600); err != nil {
		t.Fatal(err)
	}
	it, err := a.Attach(t.Context(), "INC-1", good, "the mail")
	if err != nil || it.Name != "attachments/mail.eml" || it.Size != 26 {
		t.Errorf("%+v %v", it, err)
	}
	if _, err := a.Note(t.Context(), "INC-1", "  "); ExitCode(err) != ExitUsage {
		t.Error(err)
	}
	secret := "glpat-" + strings.Repeat("aB3dE5", 4)[:20]
	l, err := a.Note(t.Context(), "INC-1", "the token is "+secret)
	if err != nil || strings.Contains(l.Msg, secret) {
		t.Errorf("%q %v", l.Msg, err)
	}
	a.o.ReadOnly = true
	if _, err := a.Note(t.Context(), "INC-1", "x"); ExitCode(err) != ExitNeeds {
		t.Error(err)
	}
}
