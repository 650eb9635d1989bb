package app

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"cordon/internal/engine"
	"cordon/internal/redact"
)

func manualPrompt() engine.Prompt {
	return engine.Prompt{
		N: 7, Kind: engine.Manual, Step: "disk", Task: "disk/1/x", Text: "wipe it",
		Choices: []string{engine.Did, engine.Wait, engine.Skip, engine.Again, engine.Stop},
		Manual: &engine.ManualTask{
			Text: "wipe it", Now: time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC), Attach: true,
			Fields: []engine.ManualField{
				{ID: "by", Title: "Who\x1b[2J", Kind: "person", Required: true},
				{ID: "on", Title: "Day", Kind: "date", Required: true, Value: "2026-11-29"},
				{ID: "left", Title: "Left", Kind: "text", Value: "old"},
			},
		},
	}
}

func says(t *testing.T, p *Person, pr engine.Prompt, lines ...string) (engine.Decision, string, error) {
	t.Helper()
	var out bytes.Buffer
	p.Ctx, p.In, p.Out, p.in = t.Context(), strings.NewReader(strings.Join(lines, "\n")+"\n"), Lines{W: &out}, nil
	d, err := p.Decide(pr)
	return d, out.String(), err
}

// TestAPersonIsAskedFieldByField: what is wrong is asked again, an empty line keeps
// what is on record, a dash takes it away, and nothing is taken without a y.
func TestAPersonIsAskedFieldByField(t *testing.T) {
	cert := filepath.Join(t.TempDir(), "cert.txt")
	if err := os.WriteFile(cert, []byte("wiped"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := &Person{}
	d, out, err := says(t, p, manualPrompt(), "done", "", "bob", "soon", "", "-", "", "/nowhere", cert, "", "n")
	if err != nil || d.Verb != engine.Again {
		t.Fatalf("without a y: %+v, %v", d, err)
	}
	if strings.Contains(out, "\x1b") || !strings.Contains(out, "it has to be answered") || !strings.Contains(out, "no such file") {
		t.Errorf("it said\n%s", out)
	}
	d, _, err = says(t, p, manualPrompt(), "done", "", "", "", cert, "", "y") // what was typed is still there
	if err != nil || d.Verb != engine.Did || d.N != 7 || d.Fields["by"] != "bob" || d.Fields["on"] != "2026-11-29" || d.Fields["left"] != "" || len(d.Attach) != 1 {
		t.Errorf("got %+v, %v", d, err)
	}
	d, _, err = says(t, &Person{}, manualPrompt(), "wait", "", "", "", "dora", "2026-11-01", "3d", "on leave")
	if err != nil || d.Verb != engine.Wait || d.Owner != "dora" || d.Reason != "on leave" || !d.Due.Equal(time.Date(2026, 12, 3, 12, 0, 0, 0, time.UTC)) {
		t.Errorf("got %+v, %v", d, err)
	}
	if d, _, err = says(t, &Person{}, manualPrompt(), "done", "bob"); !errors.Is(err, ErrNeeds) {
		t.Errorf("a terminal that went away answered %+v, %v", d, err)
	}
}

func TestNobodySignsByAccident(t *testing.T) {
	pr := manualPrompt()
	pr.Choices = []string{engine.Sign, engine.Redo, engine.Stop}
	pr.Manual.Guards = []engine.Guard{{ID: engine.SamePerson, Class: engine.GuardBlock, Text: "same"}}
	if d, _, err := says(t, &Person{}, pr, "sign", ""); err != nil || d.Verb != engine.Again {
		t.Errorf("without a reason: %+v, %v", d, err)
	}
	if d, _, err := says(t, &Person{}, pr, "sign", "alone", "y"); err != nil || d.Verb != engine.Again {
		t.Errorf("with another word: %+v, %v", d, err)
	}
	d, _, err := says(t, &Person{}, pr, "sign", "alone", "sign")
	if err != nil || d.Verb != engine.Sign || d.Reason != "alone" || len(d.Waive) != 1 {
		t.Errorf("got %+v, %v", d, err)
	}
}

func TestAStandingAnswerDoesNoWork(t *testing.T) {
	for _, s := range []Standing{{Reason: "EDR alert 991"}, {}} {
		if d, err := s.Decide(manualPrompt()); !errors.Is(err, ErrNeeds) {
			t.Errorf("got %+v, %v", d, err)
		}
	}
	if d, err := (Standing{Dry: true}).Decide(manualPrompt()); err != nil || d.Verb != engine.Skip {
		t.Errorf("dry: %+v, %v", d, err)
	}
}

func TestOnlyAWholePlainFileIsKept(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	secret := "glpat-" + strings.Repeat("k3Yz", 5)
	for name, body := range map[string]string{"a.txt": "token " + secret + "\n", "b.pdf": "%PDF-1.7\x00" + secret, "empty": ""} {
		if err := os.WriteFile(at(name), []byte(body), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(at("a.txt"), at("link")); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(at("pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	read := personal(redact.NewMarker([]byte("key")))
	for _, bad := range []string{"link", "pipe", "empty", "nowhere", "."} {
		if _, err := read(at(bad)); err == nil || CheckFile(at(bad)) == nil {
			t.Errorf("%s is taken", bad)
		}
	}
	f, err := read(at("a.txt"))
	if err != nil || f.Redacted != 1 || strings.Contains(string(f.Body), secret) || !strings.Contains(f.Source, "sha256 there: ") {
		t.Errorf("text: %+v, %v", f, err)
	}
	if f, err = read(at("b.pdf")); err != nil || f.Name != "b.pdf" || f.Redacted != 0 || f.Media != "application/pdf" {
		t.Errorf("pdf: %+v, %v", f, err)
	}
}

func TestADateLiesAhead(t *testing.T) {
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	for s, want := range map[string]string{
		"2026-11-30": "2026-11-30 23:59", "14d": "2026-12-14 12:00", "12h": "2026-12-01 00:00", "2026-12-01 09:00": "2026-12-01 09:00",
		"2026-11-29": "", "0d": "", "-3d": "", "soon": "", "": "", "99999999d": "",
	} {
		got, err := Until(s, now)
		if (err != nil) != (want == "") || err == nil && got.Format("2006-01-02 15:04") != want {
			t.Errorf("%q: %s, %v", s, got, err)
		}
	}
}
