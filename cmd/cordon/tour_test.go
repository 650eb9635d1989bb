package main

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"cordon/internal/app"
	"cordon/internal/testenv"
)

// muxed is a program in a tmux of its own, as a responder has it over ssh.
type muxed struct {
	t    testing.TB
	tmux string
	sock string
	w, h int
}

// inTmux starts the program in a terminal of w columns and h rows.
func inTmux(t testing.TB, w, h int, dir string, args ...string) *muxed {
	t.Helper()
	// The shell outlives the program, so that what it prints after the screen is seen.
	line := "env -i TERM=$TERM LC_ALL=C.UTF-8"
	for _, kv := range account(dir) {
		line += " " + quote(kv)
	}
	line += " " + quote(program(t))
	for _, a := range args {
		line += " " + quote(a)
	}
	return newMux(t, w, h, line+"; echo exit=$?; exec sleep 600")
}

// shellInTmux starts a shell with job control instead.
func shellInTmux(t testing.TB, w, h int, bash string) *muxed {
	t.Helper()
	return newMux(t, w, h, "env -i TERM=$TERM LC_ALL=C.UTF-8 PS1='$ ' "+quote(bash)+" --norc -i")
}

func newMux(t testing.TB, w, h int, line string) *muxed {
	t.Helper()
	m := &muxed{t: t, tmux: testenv.Need(t, "tmux"), sock: filepath.Join(t.TempDir(), "s"), w: w, h: h}
	m.run("-u", "-f", "/dev/null", "new-session", "-d", "-x", fmt.Sprint(w), "-y", fmt.Sprint(h), line)
	t.Cleanup(func() { m.run("kill-server") })
	return m
}

func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

func (m *muxed) run(args ...string) string {
	m.t.Helper()
	out, err := exec.Command(m.tmux, append([]string{"-S", m.sock}, args...)...).CombinedOutput()
	if err != nil {
		m.t.Fatalf("tmux %s: %v\n%s", args[0], err, out)
	}
	return string(out)
}

func (m *muxed) screen() string { return m.run("capture-pane", "-p", "-J") }

// until looks until the screen shows one of the texts, and checks every screen on the way.
func (m *muxed) until(texts ...string) string {
	m.t.Helper()
	most := time.After(90 * time.Second) // for a test that would hang, not a measurement
	for {
		s := m.screen()
		if strings.Contains(s, " cordon ") {
			m.sound(s)
		}
		if slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(s, text) }) {
			return s
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case <-most:
			m.t.Fatalf("never saw one of %q; the screen is\n%s", texts, s)
		}
	}
}

// sound is what must hold for every screen of the demo.
func (m *muxed) sound(s string) {
	m.t.Helper()
	lines := strings.Split(strings.TrimRight(s, "\n"), "\n")
	if len(lines) > m.h {
		m.t.Fatalf("%d lines on a screen of %d:\n%s", len(lines), m.h, s)
	}
	for _, l := range lines {
		if ansi.StringWidth(l) > m.w {
			m.t.Fatalf("%q is wider than %d", l, m.w)
		}
	}
	if strings.Contains(s, "\x1b") {
		m.t.Fatalf("an escape on the screen: %q", s)
	}
	if strings.HasPrefix(lines[0], " cordon ") && !strings.Contains(lines[0], "SIMULATED") {
		m.t.Fatalf("a screen of the demo that does not say SIMULATED:\n%s", s)
	}
}

func (m *muxed) keys(keys ...string) { m.run(append([]string{"send-keys"}, keys...)...) }
func (m *muxed) text(s string)       { m.run("send-keys", "-l", s) }

// confirm answers the dialog once it hears, as a person who presses again would.
func (m *muxed) confirm(what, then string) string {
	m.t.Helper()
	m.until("Do it?")
	most := time.After(90 * time.Second)
	for {
		m.text(what)
		select {
		case <-time.After(400 * time.Millisecond):
		case <-most:
			m.t.Fatalf("%q does not confirm; the screen is\n%s", what, m.screen())
		}
		if !strings.Contains(m.screen(), "Do it?") {
			return m.until(then)
		}
	}
}

var typedWord = regexp.MustCompile(`type (\S+) to do it`)

// The way that the README promises, key by key, at the sizes of a phone-lit night and
// of a desk.
func TestTheDemoIsWalkedByAScriptOfKeys(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {120, 40}} {
		t.Run(fmt.Sprintf("%dx%d", size[0], size[1]), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			m := inTmux(t, size[0], size[1], dir, "demo", "--dir", dir)
			m.until("an alert names build-07")
			m.text("build-07")
			m.keys("Enter")
			m.until("2 runners may be meant")
			m.keys("Enter")
			m.until("this is the one")
			m.text("c")
			m.until("2/6 Give it no more jobs")
			m.keys("Enter")
			m.confirm("y", "3/6 Make the stolen")
			m.keys("Enter")
			m.until("Why do it all the same?")
			for !strings.Contains(m.screen(), "the token is in use") { // the dialog is deaf at first
				m.text("the token is in use")
			}
			m.keys("Enter")
			m.confirm("42", "4/6 Read the hosts")
			m.keys("Enter")
			m.confirm("y", "5/6 End its jobs")
			// Jobs to cancel, if any runs now; the unit; the registration.
			for plans := 0; ; plans++ {
				s := m.until("Its plans follow", "the last question")
				if strings.Contains(s, "6/6 See that") {
					break
				} else if plans > 5 {
					t.Fatalf("more plans than the step has:\n%s", s)
				}
				m.keys("Enter")
				what := "y"
				if typed := typedWord.FindStringSubmatch(m.until("Do it?")); typed != nil {
					what = typed[1]
				}
				m.confirm(what, "/6 ")
			}
			m.keys("Enter")
			m.confirm("y", "quiet for")
			m.text("b")
			m.until("HEAD")
			m.keys("Escape")
			m.until("ending: contained (exit 0)")
			m.text("e")
			s := m.until("bundle verified")
			tar := regexp.MustCompile(`contain-42-[0-9T]+\.tar`).FindString(strings.NewReplacer("\n", "", " ", "", "│", "").Replace(s))
			if tar == "" {
				t.Errorf("the bundle's path is not on the screen:\n%s", s)
			}
			m.text("q")
			after := m.until("exit=0")
			if !strings.Contains(strings.ReplaceAll(after, "\n", ""), filepath.Join(dir, tar)) || !strings.Contains(after, "ended: contained") {
				t.Errorf("what is left after the screen:\n%s", after)
			}
			if _, err := app.Verify(filepath.Join(dir, tar), filepath.Join(dir, strings.TrimSuffix(tar, ".tar")+".allowed_signers")); err != nil {
				t.Error(err)
			}
		})
	}
}
