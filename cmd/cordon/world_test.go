package main

import (
	"bufio"
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/json"
	"encoding/pem"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/crypto/ssh"

	"cordon/internal/lab"
	"cordon/internal/lab/ledger"
)

// world is one lab as a process, and everything a cordon on it may use: nothing of the
// account that runs the tests.
type world struct {
	t     testing.TB
	dir   string
	ready lab.Ready
	env   []string // of every cordon, beside the base
}

// program is this test binary under the name cordon.
func program(t testing.TB) string {
	t.Helper()
	p, err := exec.LookPath("cordon")
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// account is an environment with empty homes under dir.
func account(dir string) []string {
	return []string{
		"PATH=" + os.Getenv("PATH"), "TMPDIR=" + os.TempDir(), "HOME=" + filepath.Join(dir, "home"), "USER=tester",
		"XDG_CONFIG_HOME=" + filepath.Join(dir, "home", "config"), "XDG_STATE_HOME=" + filepath.Join(dir, "home", "state"),
	}
}

// newWorld starts a lab and waits for its ready line. It ends with the test.
func newWorld(t testing.TB, args ...string) *world {
	t.Helper()
	w := &world{t: t, dir: t.TempDir()}
	cmd := exec.Command(program(t), append([]string{"lab", "serve", "--dir", w.labDir(), "--scale", "200"}, args...)...)
	cmd.Env = account(w.dir)
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM) // it may have ended already, which Wait tells
		if err := cmd.Wait(); err != nil {
			t.Errorf("the lab ended badly: %v\n%s", err, said.String())
		}
	})
	line, err := bufio.NewReaderSize(out, 1<<20).ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &w.ready)
	}
	if err != nil {
		t.Fatalf("the lab is not ready: %v\n%s", err, said.String())
	}
	signWithKey(t, w.labDir())
	return w
}

func (w *world) labDir() string { return filepath.Join(w.dir, "lab") }
func (w *world) state() string  { return filepath.Join(w.dir, "state") }

// said is how a program ended and what it wrote.
type said struct {
	code     int // -1: killed by a signal
	out, err string
}

// command is a cordon on this lab that has not been started.
func (w *world) command(args ...string) *exec.Cmd {
	cmd := exec.Command(program(w.t), append([]string{"--lab", w.labDir(), "--state-dir", w.state()}, args...)...)
	cmd.Env = append(account(w.dir), w.env...)
	cmd.Dir = w.dir
	return cmd
}

// cordon runs one to its end.
func (w *world) cordon(args ...string) said {
	w.t.Helper()
	return finish(w.t, w.command(args...))
}

func finish(t testing.TB, cmd *exec.Cmd) said {
	t.Helper()
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var x *exec.ExitError
	if err != nil && !errors.As(err, &x) {
		t.Fatal(err)
	}
	return said{cmd.ProcessState.ExitCode(), out.String(), errs.String()}
}

// effects are what cordon changed in the lab, by the lab's own ledger: what agents and
// the lab itself did is not in it.
func effects(t testing.TB, file string) []ledger.Entry {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var all []ledger.Entry
	for line := range strings.Lines(string(b)) {
		var e ledger.Entry
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if slices.Contains([]string{"act", "look", "narrow", "maintainer", "ssh"}, e.Actor) {
			all = append(all, e)
		}
	}
	return all
}

func (w *world) effects() []ledger.Entry { return effects(w.t, w.ready.Ledger) }

// counters are the lab's count of requests and logins.
func counters(t testing.TB, control string) ledger.Counters {
	t.Helper()
	resp, err := http.Get(control + "/counters")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var c ledger.Counters
	b, err := io.ReadAll(resp.Body)
	if err == nil {
		err = json.Unmarshal(b, &c)
	}
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// ending is the word and the code of the last ending line of an output; what it says is
// left open comes after them.
func ending(out string) string {
	word := ""
	for line := range strings.Lines(out) {
		if _, after, ok := strings.Cut(line, "ending: "); ok {
			word, _, _ = strings.Cut(strings.TrimSpace(after), ";")
		}
	}
	return word
}

// signWithKey gives the configuration of a lab a signing key: without one every state
// directory has a key of its own.
func signWithKey(t testing.TB, labDir string) {
	t.Helper()
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	block, err := ssh.MarshalPrivateKey(private, "")
	if err != nil {
		t.Fatal(err)
	}
	key := filepath.Join(labDir, "signing_key")
	if err := os.WriteFile(key, pem.EncodeToMemory(block), 0o600); err != nil {
		t.Fatal(err)
	}
	appendTo(t, filepath.Join(labDir, "cordon.yaml"), "signing: {key: "+key+"}\n")
}

func appendTo(t testing.TB, name, text string) {
	t.Helper()
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_APPEND, 0)
	if err == nil {
		_, err = f.WriteString(text)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
}

// cases lists the ids in a state directory.
func cases(t testing.TB, state string) []string {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(state, "cases", "*", "journal.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, p := range all {
		if id := filepath.Base(filepath.Dir(p)); !strings.HasPrefix(id, ".") {
			ids = append(ids, id)
		}
	}
	return ids
}
