package main

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/crypto/ssh"

	"cordon/internal/app"
	"cordon/internal/lab"
)

// TestScripts runs testdata/script: each file is one promise or one bad input, told
// with the commands that a person would type. Its own commands:
//
//	exit CODE COMMAND...   the command ends with CODE and complains in at most one line
//	ready DIR              wait for the lab that was started in DIR
//	effects DIR none|some  whether anything was changed in that lab, by its own ledger
//	logins DIR HOST N      N commands were run on HOST
//	newkey FILE            every host key in a known_hosts file is replaced by another
//	begun STATE CASE KIND  wait until the journal of CASE has a line of KIND
//	signers FILE           what case export --json said last of its signer goes to FILE
//	sign DIR               whoever works on the lab in DIR signs with a key of their own
//	spoil FILE OLD NEW     the first OLD in FILE becomes NEW, of the same length
//	recipient, opens, clear: see seal_test.go
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: filepath.Join("testdata", "script"),
		Setup: func(e *testscript.Env) error {
			for _, kv := range account(e.WorkDir) {
				if k, v, _ := strings.Cut(kv, "="); k != "PATH" && k != "TMPDIR" {
					e.Setenv(k, v)
				}
			}
			return os.Mkdir(filepath.Join(e.WorkDir, "home"), 0o700)
		},
		Condition: func(name string) (bool, error) {
			if name == "root" {
				return os.Getuid() == 0, nil
			}
			return false, fmt.Errorf("no condition %q", name)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exit": scriptExit, "ready": scriptReady, "effects": scriptEffects, "logins": scriptLogins,
			"newkey": scriptNewKey, "spoil": scriptSpoil, "begun": scriptBegun, "signers": scriptSigners, "sign": scriptSign,
			"recipient": scriptRecipient, "opens": scriptOpens, "clear": scriptClear,
		},
	})
}

// patience bounds the waits of a script. Nothing depends on how long they take.
const patience = 5 * time.Minute

func want(ts *testscript.TestScript, neg, ok bool, use string) {
	if neg || !ok {
		ts.Fatalf("usage: %s", use)
	}
}

func scriptExit(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, len(args) >= 2, "exit CODE COMMAND...")
	code, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var x *exec.ExitError
		if !errors.As(err, &x) {
			ts.Fatalf("%v", err)
		}
		got = x.ExitCode()
	}
	if got != code {
		ts.Fatalf("exit code %d, want %d", got, code)
	}
	if said := ts.ReadFile("stderr"); strings.Count(said, "\n") > 1 {
		ts.Fatalf("more than one line of complaint:\n%s", said)
	}
}

// labIn reads what the lab in a directory says of itself.
func labIn(ts *testscript.TestScript, dir string) (r lab.Ready, ok bool) {
	b, err := os.ReadFile(ts.MkAbs(filepath.Join(dir, "lab.json")))
	if errors.Is(err, os.ErrNotExist) {
		return r, false
	}
	ts.Check(err)
	ts.Check(json.Unmarshal(b, &r))
	return r, true
}

func scriptReady(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, len(args) == 1, "ready DIR")
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if _, ok := labIn(ts, args[0]); ok {
			return
		}
	}
	ts.Fatalf("no lab in %s within %s", args[0], patience)
}

func scriptBegun(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, len(args) == 3, "begun STATE CASE KIND")
	name := ts.MkAbs(filepath.Join(args[0], "cases", args[1], "journal.jsonl"))
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if b, _ := os.ReadFile(name); strings.Contains(string(b), `"kind":"`+args[2]+`"`) {
			return
		}
	}
	ts.Fatalf("no %s in %s within %s", args[2], name, patience)
}

func scriptEffects(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, len(args) == 2, "effects DIR none|some")
	r, ok := labIn(ts, args[0])
	if !ok {
		ts.Fatalf("no lab in %s", args[0])
	}
	var all []string
	for _, e := range effects(scriptTB{ts: ts}, r.Ledger) {
		all = append(all, e.Effect+" "+e.Target)
	}
	if (len(all) > 0) != (args[1] == "some") {
		ts.Fatalf("%d effects in the ledger: %s", len(all), strings.Join(all, ", "))
	}
}

func scriptLogins(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, len(args) == 3, "logins DIR HOST N")
	r, ok := labIn(ts, args[0])
	if !ok {
		ts.Fatalf("no lab in %s", args[0])
	}
	if got := counters(scriptTB{ts: ts}, r.Control).Sessions[args[1]]; strconv.Itoa(got) != args[2] {
		ts.Fatalf("%d sessions on %s, want %s", got, args[1], args[2])
	}
}

func scriptNewKey(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, len(args) == 1, "newkey FILE")
	pub, _, err := ed25519.GenerateKey(rand.Reader)
	ts.Check(err)
	key, err := ssh.NewPublicKey(pub)
	ts.Check(err)
	var out strings.Builder
	for line := range strings.Lines(ts.ReadFile(args[0])) {
		host, _, _ := strings.Cut(line, " ")
		out.WriteString(host + " " + string(ssh.MarshalAuthorizedKey(key)))
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(out.String()), 0o600))
}

func scriptSigners(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, len(args) == 1, "signers FILE")
	var x app.Exported
	ts.Check(json.Unmarshal([]byte(ts.ReadFile("stdout")), &x))
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(x.Allowed+"\n"), 0o600))
}

func scriptSign(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, len(args) == 1, "sign DIR")
	signWithKey(scriptTB{ts: ts}, ts.MkAbs(args[0]))
}

func scriptSpoil(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, len(args) == 3, "spoil FILE OLD NEW")
	before := ts.ReadFile(args[0])
	after := strings.Replace(before, args[1], args[2], 1)
	if after == before || len(after) != len(before) {
		ts.Fatalf("%s: nothing of that length to spoil", args[0])
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(after), 0o600))
}

// scriptTB lets a script command use a helper of Go tests.
type scriptTB struct {
	testing.TB
	ts *testscript.TestScript
}

func (s scriptTB) Helper()                   {}
func (s scriptTB) Fatal(a ...any)            { s.ts.Fatalf("%v", a) }
func (s scriptTB) Fatalf(f string, a ...any) { s.ts.Fatalf(f, a...) }
