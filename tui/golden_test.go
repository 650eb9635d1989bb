package tui

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/muesli/termenv"

	"cordon/tui/shot"
)

var update = flag.Bool("update", false, "write the golden screens and the pictures anew")

// screens are pages in a state that matters, made without a lab and without time.
var screens = map[string]func(e env) page{
	"start":          startFresh,
	"start-cases":    startCases,
	"triage":         triaged,
	"triage-several": triagedSeveral,
	"case-pause":     casePause,
	"case-confirm":   caseConfirm,
	"case-guarded":   caseGuarded,
	"case-plans":     casePlans,
	"case-working":   caseWorking,
	"case-doubt":     caseDoubt,
	"case-watching":  caseWatching,
	"case-ended":     caseEnded,
	"case-stuck":     caseStuck,
	"case-unchanged": caseReadOnly,
	"keys":           func(e env) page { return newHelp(e, nil) },
}

// shown is how each of them is looked at.
var shown = []struct {
	name    string
	w, h    int
	profile termenv.Profile
	ascii   bool
}{
	{"80x24", 80, 24, termenv.Ascii, false},
	{"120x40", 120, 40, termenv.Ascii, false},
	{"60x15", 60, 15, termenv.Ascii, false},
	{"80x24-ascii", 80, 24, termenv.Ascii, true},
	{"80x24-colour", 80, 24, termenv.ANSI, false},
}

// pictures are the screens that the README shows.
var pictures = []string{"triage", "case-pause", "case-guarded", "case-ended"}

func TestScreens(t *testing.T) {
	for name, make := range screens {
		for _, s := range shown {
			t.Run(name+"/"+s.name, func(t *testing.T) {
				e, _ := quietEnv(t, s.profile, s.ascii)
				e.simulated = true
				m := newModel(e, make(e), nil)
				m.w, m.h = s.w, s.h
				v := m.View()
				sound(t, v, s.w, s.h, true)
				if s.ascii && strings.ContainsFunc(v, func(r rune) bool { return r > 0x7e }) {
					t.Errorf("not ASCII:\n%s", v)
				}
				if s.profile == termenv.Ascii && strings.Contains(v, "\x1b") {
					t.Errorf("an escape without colour:\n%q", v)
				}
				golden(t, filepath.Join("testdata", name+"."+s.name+".golden"), v+"\n")
			})
		}
	}
}

// Colour adds to the words and never replaces them: without it the text is the same.
func TestColourIsOnlyAnAddition(t *testing.T) {
	for name, make := range screens {
		plain, _ := quietEnv(t, termenv.Ascii, false)
		full, _ := quietEnv(t, termenv.TrueColor, false)
		a, b := newModel(plain, make(plain), nil), newModel(full, make(full), nil)
		a.w, a.h, b.w, b.h = 80, 24, 80, 24
		if ansi.Strip(b.View()) != a.View() {
			t.Errorf("%s reads differently without colour:\n%s\n%s", name, a.View(), ansi.Strip(b.View()))
		}
	}
}

// The row that the next key works on is seen without colour.
func TestTheCursorIsSeenWithoutColour(t *testing.T) {
	for name, want := range map[string]string{
		"start": "> _", "start-cases": " > step 3/6", "triage-several": " > gitlab-lab", "case-pause": "> ▸ 2 pause", "case-plans": "> registration", "case-guarded": "_", "case-confirm": "> ▸ 2 pause",
	} {
		e, _ := quietEnv(t, termenv.Ascii, false)
		m := newModel(e, screens[name](e), nil)
		m.w, m.h = 80, 24
		if v := m.View(); !strings.Contains(v, want) {
			t.Errorf("%s has no %q:\n%s", name, want, v)
		}
	}
}

func TestBelowTheSmallestSizeItSaysSo(t *testing.T) {
	e, _ := quietEnv(t, termenv.Ascii, false)
	e.simulated = true
	m := newModel(e, casePause(e), nil)
	for _, size := range [][2]int{{59, 24}, {80, 14}, {20, 5}, {10, 2}, {1, 1}} {
		m.w, m.h = size[0], size[1]
		v := m.View()
		for _, l := range strings.Split(v, "\n") {
			if ansi.StringWidth(l) > m.w {
				t.Errorf("%v: %q is too wide", size, l)
			}
		}
		if strings.Count(v, "\n") >= m.h {
			t.Errorf("%v: too high:\n%s", size, v)
		}
		if m.w >= 20 && m.h >= 5 && (!strings.Contains(v, "SIMULATED") || !strings.Contains(v, "too small")) {
			t.Errorf("%v:\n%s", size, v)
		}
	}
	if m.w, m.h = 0, 0; m.View() != "" {
		t.Error("the first view comes before any size is known")
	}
}

// A hostile name cannot move the cursor, colour the screen or pretend to be a row.
func TestForeignTextStaysText(t *testing.T) {
	e, _ := quietEnv(t, termenv.ANSI, false)
	e.simulated = true
	p := casePause(e).(*stepper)
	evil := "x\x1b]52;c;AAAA\x07\x1b[2J\r\n> y\u202e\t漢字"
	p.cur.Title, p.cur.Text, p.cur.Plans[0].Title, p.last = evil, evil, evil, clean(evil)
	p.err, p.about.Hosts, p.about.Window.Why = fmt.Errorf("%s", evil), []string{evil}, evil
	m := newModel(e, p, nil)
	m.w, m.h, m.said = 80, 24, clean(evil)
	sound(t, m.View(), 80, 24, true)
	p.confirm()
	sound(t, m.View(), 80, 24, true)
}

func TestPictures(t *testing.T) {
	for _, name := range pictures {
		b, err := os.ReadFile(filepath.Join("testdata", name+".80x24-colour.golden"))
		if err != nil {
			t.Fatal(err)
		}
		golden(t, filepath.Join("..", ".github", "screens", name+".svg"), shot.SVG("cordon: "+name, strings.TrimSuffix(string(b), "\n"), 80))
	}
}

// golden compares with a file, or writes it with -update.
func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v; write it with: go test ./tui -run %s -update", err, t.Name())
	}
	if string(want) != got {
		t.Errorf("%s differs; if that is meant: go test ./tui -update\n%s", path, got)
	}
}
