package app

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cordon/internal/casefile"
	"cordon/internal/change"
	"cordon/internal/config"
	"cordon/internal/target"
	"cordon/internal/witness"
)

var toldRunner = target.Ref{System: "gitlab-prod", Kind: target.Runner, ID: "42"}

func notified(t *testing.T) *casefile.Case {
	t.Helper()
	c, _ := notifiedIn(t)
	return c
}

func notifiedIn(t *testing.T) (*casefile.Case, string) {
	t.Helper()
	dir := t.TempDir() + "/state"
	s, err := casefile.OpenStore(casefile.Opener{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	c, err := s.Create(t.Context(), casefile.Opening{ID: "INC-1"}, casefile.Actor{Name: "alice"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c, dir
}

// telling is a program that keeps what it is told, and the file that it goes to.
func telling(t *testing.T, script string) (argv []string, file string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "told")
	return []string{"/bin/sh", "-c", script, file}, file
}

func result(t *testing.T, c *casefile.Case, verb, state string) {
	t.Helper()
	d, err := json.Marshal(map[string]any{"task": "t", "verb": verb, "outcome": change.Outcome{State: state, Why: "a foreign word: glpat-x"}})
	if err == nil {
		_, err = c.Append(casefile.Event{Kind: "result", Step: verb, Target: toldRunner, OK: true, Msg: "foreign \x1b[31m text", Data: d})
	}
	if err != nil {
		t.Fatal(err)
	}
}

func verdict(t *testing.T, c *casefile.Case, final bool, state string) {
	t.Helper()
	d, err := json.Marshal(map[string]any{"final": final, "verdicts": []witness.Verdict{{Question: "can it poll", State: state}}})
	if err == nil {
		_, err = c.Append(casefile.Event{Kind: "verdict", Target: toldRunner, Data: d})
	}
	if err != nil {
		t.Fatal(err)
	}
}

func told(t *testing.T, file string) []notice {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	var out []notice
	for line := range bytes.Lines(b) {
		var n notice
		d := json.NewDecoder(bytes.NewReader(line))
		d.DisallowUnknownFields()
		if err := d.Decode(&n); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		out = append(out, n)
	}
	return out
}

func lastMsg(t *testing.T, c *casefile.Case, kind string) string {
	t.Helper()
	v, err := c.View()
	if err != nil {
		t.Fatal(err)
	}
	for i := len(v.Lines) - 1; i >= 0; i-- {
		if v.Lines[i].Kind == kind {
			return v.Lines[i].Msg
		}
	}
	return ""
}

func TestWhatHappensIsToldInAFewWordsWithTheHead(t *testing.T) {
	c := notified(t)
	argv, file := telling(t, `cat >> "$0"`)
	tl := newTeller(&config.Notify{Command: argv}, c, true)
	result(t, c, "pause", change.Applied)
	result(t, c, "deregister", change.Applied) // not on the list of what is told
	result(t, c, "rotate", change.Unknown)
	verdict(t, c, false, witness.Waiting)
	verdict(t, c, false, witness.Resurrected)
	verdict(t, c, true, witness.Silent)
	v, err := c.View()
	if err != nil {
		t.Fatal(err)
	}
	tl.end()
	var got []string
	for _, n := range told(t, file) {
		got = append(got, n.Kind+" "+n.Word)
		if l := v.Lines[n.Head.Seq-1]; l.Sum()[:16] != n.Head.Sum || !l.T.Equal(n.At) || n.Case != "INC-1" || !n.Simulated || n.Target != toldRunner.String() {
			t.Errorf("%+v", n)
		}
	}
	if s := strings.Join(got, ", "); s != "paused applied, unknown rotate, resurrection resurrected, verdict silent" {
		t.Error(s)
	}
	b, _ := os.ReadFile(file)
	if bytes.Contains(b, []byte("foreign")) || bytes.Contains(b, []byte("glpat")) {
		t.Errorf("it carries foreign text: %s", b)
	}
}

func TestOnlyWhatWasAskedForIsTold(t *testing.T) {
	c := notified(t)
	argv, file := telling(t, `cat >> "$0"`)
	tl := newTeller(&config.Notify{Command: argv, On: []string{"unknown"}}, c, false)
	result(t, c, "pause", change.Applied)
	result(t, c, "pause", change.Unknown)
	tl.end()
	if got := told(t, file); len(got) != 1 || got[0].Kind != "unknown" || got[0].Simulated {
		t.Errorf("%+v", got)
	}
}

func TestAProgramThatFailsOrHangsIsANoteAndStopsNothing(t *testing.T) {
	for name, x := range map[string]struct{ script, note string }{
		"it fails":        {"exit 3", "ended with 3"},
		"it hangs":        {"sleep 600 & sleep 600", "did not end within 100ms"},
		"it is not there": {"", "no such file"},
	} {
		t.Run(name, func(t *testing.T) {
			c := notified(t)
			argv, _ := telling(t, x.script)
			if x.script == "" {
				argv = []string{"/nowhere/tell"}
			}
			limit := "1m"
			if name == "it hangs" {
				limit = "100ms"
			}
			tl := newTeller(&config.Notify{Command: argv, Timeout: limit}, c, false)
			result(t, c, "pause", change.Applied) // returns at once, whatever the program does
			tl.end()
			if got := lastMsg(t, c, "notify"); !strings.Contains(got, x.note) || !strings.HasPrefix(got, "paused of line 3 was not told") {
				t.Errorf("%q", got)
			}
			if _, err := c.Append(casefile.Event{Kind: "note", Msg: "it goes on"}); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestASlowProgramMissesSomeAndTheJournalSaysHowMany(t *testing.T) {
	c := notified(t)
	argv, _ := telling(t, "sleep 600")
	tl := newTeller(&config.Notify{Command: argv, Timeout: "1m"}, c, false)
	for range maxUntold + 10 {
		result(t, c, "pause", change.Applied) // would stand still here if telling could block
	}
	tl.cancel() // as the end of its time does
	tl.end()
	if got := lastMsg(t, c, "notify"); !strings.Contains(got, "events were not told: the program was too slow") {
		t.Errorf("%q", got)
	}
}

func TestTheProgramsEnvironmentHoldsNoToken(t *testing.T) {
	t.Setenv("GITLAB_TOKEN", "planted")
	c := notified(t)
	argv, file := telling(t, `cat > /dev/null; env > "$0"`)
	tl := newTeller(&config.Notify{Command: argv}, c, false)
	result(t, c, "pause", change.Applied)
	tl.end()
	b, err := os.ReadFile(file)
	if err != nil || bytes.Contains(b, []byte("planted")) || !bytes.Contains(b, []byte("PATH=")) {
		t.Errorf("%s %v", b, err)
	}
}

func TestAHolderGivesWayBesideItsRun(t *testing.T) {
	c, dir := notifiedIn(t)
	a := &App{cfg: &config.Config{}}
	s := a.beside(c)
	store, err := casefile.OpenStore(casefile.Opener{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	d, err := store.TakeOver(t.Context(), "INC-1", casefile.Actor{Name: "bob"}, "now")
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if _, err := c.Append(casefile.Event{Kind: "note"}); ExitCode(err) != ExitHeld {
		t.Error(err)
	}
	done := make(chan struct{})
	go func() { s.end(); s.end(); close(done) }()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Fatal("it does not end")
	}
}
