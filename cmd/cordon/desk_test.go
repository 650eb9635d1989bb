package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// TestTwoPeopleAtTwoScreens has one of them open a case, write a note and keep a file. The
// other is told who has it, watches it grow, and takes it over with a reason and the end of
// its id: the first can write nothing any more, and nothing was sent by any of it.
func TestTwoPeopleAtTwoScreens(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	alice := w.seat("contain", "gitlab-lab/42", "--case", "NIGHT-7731")
	alice.until("opens the confirmation")
	alice.press("n", "A note, kept in the case")
	alice.keys("asked the owner")
	alice.until("asked the owner")
	alice.keys("\r")
	alice.until("noted: asked the owner")
	if err := os.WriteFile(filepath.Join(w.dir, "alert.txt"), []byte("miner on build-07\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	alice.press("f", "A file, kept in the case")
	alice.keys("alert.txt\t")
	alice.keys("what the EDR said\r")
	alice.until("kept: attachments/alert.txt")

	bob := w.seat()
	bob.until("open cases (1)")
	bob.keys("\t\r")
	bob.until("held by another")
	bob.until("v watches it, t takes it over")
	bob.keys("v")
	bob.untilBoth("asked the owner", "you only look")
	alice.press("n", "A note, kept in the case")
	alice.keys("he is in")
	alice.until("he is in")
	alice.keys("\r")
	bob.until("he is in")
	bob.keys("t")
	bob.until("it is written by responder@lab.invalid")
	bob.until("Why do it all the same?")
	bob.awake()
	bob.keys("alice has to go")
	bob.until("alice has to go")
	bob.keys("\r")
	bob.until("type 7731 to do it")
	bob.awake()
	bob.keys("7731")
	bob.until("opens the confirmation")
	alice.until("alice has to go; nothing") // told without a key of hers
	for _, s := range []*seat{alice, bob} {
		s.keys("\x03")
		s.end()
	}
	show := w.cordon("case", "show", "NIGHT-7731")
	for _, want := range []string{"asked the owner", "he is in", "taken over: alice has to go"} {
		if show.code != 0 || !strings.Contains(show.out, want) {
			t.Errorf("%q is not on record: %d %s%s", want, show.code, show.out, show.err)
		}
	}
	if got := w.effects(); len(got) != 0 {
		t.Errorf("this happened: %v", got)
	}
}

// press presses a key until something follows: while cordon is at work it has none.
func (s *seat) press(key, then string) {
	s.t.Helper()
	for range 30 {
		s.keys(key)
		for range 20 {
			if strings.Contains(s.rest(), then) {
				s.until(then)
				return
			}
			select {
			case <-s.new:
			case <-time.After(100 * time.Millisecond):
			}
		}
	}
	s.t.Fatalf("%q leads to no %q; seen was\n%s", key, then, s.rest())
}

// TestOffboardingSeveralIsAMatrix lets a step of two runners wait, and asks for one of
// them again from the matrix.
func TestOffboardingSeveralIsAMatrix(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.seat("offboard", "gitlab-lab/42", "gitlab-lab/45", "--case", "OFF-2")
	answer := func(first string, fields ...string) {
		s.t.Helper()
		s.press("\r", "done | wait")
		s.keys(first + "\r")
		for _, f := range fields {
			s.keys(f + "\r")
		}
	}
	s.until("Open a ticket")
	answer("done", "https://tickets.invalid/9", "bob", "old hardware", "")
	s.until("Ask the owner")
	answer("wait", "carol", "7d", "on leave")
	s.until("Name the runner that takes over")
	answer("wait", "dave", "7d", "in a meeting")
	s.until("gitlab-lab/project/runner/45")
	s.press("m", "2 runners, 14 steps")
	s.until("gitlab-lab/45")
	s.keys("\x1b[D\x1b[D") // from the successor to the owner
	s.until("waits for carol until")
	s.keys("\r")
	s.until("Ask the owner")
	answer("done", "carol", "", "2026-11-30", "")
	s.until("Name the runner that takes over")
	s.keys("\x03")
	s.end()
	m := w.cordon("case", "show", "OFF-2", "--matrix")
	for _, want := range []string{"gitlab-lab/45 +owner +done", "gitlab-lab/42 +successor +waits: dave until ", "gitlab-lab/42 +ticket +done"} {
		if !regexp.MustCompile(want).MatchString(m.out) {
			t.Errorf("no %q in\n%s%s", want, m.out, m.err)
		}
	}
	show := w.cordon("case", "show", "OFF-2", "--json")
	if show.code != 0 || !strings.Contains(show.out, `"state":"done","fields":{"agreed":"2026-11-30","owner":"carol"}`) {
		t.Errorf("what carol said is not on record: %d %.3000s", show.code, show.out)
	}
	if got := w.effects(); len(got) != 0 {
		t.Errorf("this happened: %v", got)
	}
}
