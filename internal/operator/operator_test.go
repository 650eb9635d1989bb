package operator

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"cordon/internal/change"
	"cordon/internal/target"
	"cordon/providers"
)

// TestNothingRunsWithoutAPermit is the promise that the rest stands on; the last part
// shows that the same program does run with one.
func TestNothingRunsWithoutAPermit(t *testing.T) {
	w := newWorld(t)
	w.action(Action{Do: []string{w.program(t, "do", ""), "{host}"}, Verify: []string{w.program(t, "verify", "exit 1")}})
	c := w.plan(t)
	if c.Call.Method != "RUN" || c.Call.URL != "operator://isolate/do" || c.Call.Body != `["`+filepath.Join(w.dir, "do")+`","build-07"]` {
		t.Errorf("the plan shows %v", c.Call)
	}
	if _, err := NewApplier(w.sys).Apply(t.Context(), c); !errors.Is(err, change.ErrNoPermit) {
		t.Errorf("without a permit: %v", err)
	}
	other := c
	other.Call.Body = strings.Replace(c.Call.Body, "build-07", "build-08", 1)
	if _, err := NewApplier(w.sys).Apply(w.permitted(t, other), c); !errors.Is(err, change.ErrMismatch) {
		t.Errorf("with a permit for another host: %v", err)
	}
	edited := c
	edited.Args = encode(Args{Name: "isolate", Case: "INC-7", Runner: "x", Host: "build-08"})
	if _, err := NewApplier(w.sys).Apply(w.permitted(t, c), edited); !errors.Is(err, change.ErrMismatch) {
		t.Errorf("with edited arguments: %v", err)
	}
	if got := w.ran(); got != "" {
		t.Fatalf("planning and refusing ran: %s", got)
	}
	ctx := w.permitted(t, c)
	_, _ = NewApplier(w.sys).Apply(ctx, c)
	if got := w.ran(); got != "verify do verify" {
		t.Fatalf("with a permit ran: %q", got)
	}
	if _, err := NewApplier(w.sys).Apply(ctx, c); !errors.Is(err, change.ErrSpent) || w.ran() != "verify do verify" {
		t.Errorf("a second time: %v, ran %q", err, w.ran())
	}
}

// TestReadOnlyStartsNothing is the twin: the same questions in a process that may not act.
func TestReadOnlyStartsNothing(t *testing.T) {
	for _, processes := range []bool{false, true} {
		w := newWorld(t)
		w.o.Processes = processes
		w.action(Action{Do: []string{w.program(t, "do", "")}, Verify: []string{w.program(t, "verify", "")}})
		state, why, err := w.sys.Settle(t.Context(), w.plan(t))
		if err != nil {
			t.Fatal(err)
		}
		if !processes && (state != change.Unknown || w.ran() != "" || !strings.Contains(why, "read-only")) {
			t.Errorf("read-only: %s (%s), ran %q", state, why, w.ran())
		}
		if processes && (state != change.Applied || w.ran() != "verify") {
			t.Errorf("the twin: %s, ran %q", state, w.ran())
		}
	}
}

func TestWhatAnEndMeans(t *testing.T) {
	for _, c := range []struct {
		first, do, then string // verify before, do, verify after; "-": no verify
		want, ran       string
	}{
		{"1", "0", "0", change.Applied, "verify do verify"},
		{"0", "0", "0", change.Already, "verify"},
		{"1", "0", "1", change.Unknown, "verify do verify"}, // it says yes and nothing happened
		{"1", "0", "2", change.Unknown, "verify do verify"},
		{"2", "0", "0", change.Applied, "verify do verify"},
		{"1", "3", "0", change.Applied, "verify do verify"}, // failed after its work
		{"1", "3", "1", change.Refused, "verify do verify"},
		{"1", "3", "2", change.Unknown, "verify do verify"}, // half-way
		{"-", "0", "", change.Applied, "do"},
		{"-", "1", "", change.Unknown, "do"},
		{"1", "signal", "2", change.Unknown, "verify do verify"},
	} {
		w := newWorld(t)
		a := Action{}
		body := "exit " + c.do
		if c.do == "signal" {
			body = "kill -9 $$"
			c.ran = "verify do" // settled later, not at once
		}
		a.Do = []string{w.program(t, "do", "touch "+filepath.Join(w.dir, "done")+"\n"+body)}
		if c.first != "-" {
			a.Verify = []string{w.program(t, "verify", fmt.Sprintf("test -e %s && exit %s\nexit %s", filepath.Join(w.dir, "done"), c.then, c.first))}
		}
		w.action(a)
		out, err := w.apply(t, w.plan(t))
		if out.State != c.want || w.ran() != c.ran {
			t.Errorf("verify %s, do %s, verify %s: %s (%s), ran %q; want %s, %q", c.first, c.do, c.then, out.State, out.Why, w.ran(), c.want, c.ran)
		}
		if bad := out.State == change.Unknown || out.State == change.Refused; bad != (err != nil) || out.Why == "" {
			t.Errorf("%+v: error %v, why %q", c, err, out.Why)
		}
	}
}

// TestTimeIsUp: the command's children end with it, and nobody claims to know.
func TestTimeIsUp(t *testing.T) {
	w := newWorld(t)
	child := filepath.Join(w.dir, "child")
	w.action(Action{Timeout: 700 * time.Millisecond, Do: []string{w.program(t, "do", "sleep 600 &\necho $! >"+child+"\nwait")}})
	out, err := w.apply(t, w.plan(t))
	if out.State != change.Unknown || err == nil || !strings.Contains(out.Why, "did not end within") {
		t.Errorf("got %+v, %v", out, err)
	}
	b, err := os.ReadFile(child)
	if err != nil {
		t.Skipf("the machine is too slow for this: the command did not get as far: %v", err)
	}
	pid, _ := strconv.Atoi(strings.TrimSpace(string(b)))
	st, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err == nil && !strings.Contains(string(st), ") Z ") && !strings.Contains(string(st), ") X ") {
		t.Errorf("the child lives on: %s", st)
	}
}

// TestValuesAreDataAndNeverCode puts what a shell would act on where names go.
func TestValuesAreDataAndNeverCode(t *testing.T) {
	w := newWorld(t)
	trap := filepath.Join(w.dir, "trap")
	w.action(Action{Do: []string{w.program(t, "do", `for a in "$@"; do echo "<$a>"; done`), "--on={host}", "{runner}", "{case}", "a b;*"}})
	evil := "$(touch " + trap + ") {case} ; `touch " + trap + "`"
	on := target.Ref{System: target.SSH, Kind: target.Host, ID: evil}
	ps, err := w.sys.Plan(t.Context(), providers.Operator, on, args07)
	if err != nil || len(ps[0].Changes) != 1 {
		t.Fatal(ps, err)
	}
	if out, err := w.apply(t, ps[0].Changes[0]); out.State != change.Applied {
		t.Fatal(out, err)
	}
	want := "<--on=" + evil + ">\n<gitlab-lab/project/runner/42>\n<INC-7>\n<a b;*>\n"
	if got := w.kept["operator/isolate/do.txt"]; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if _, err := os.Stat(trap); err == nil {
		t.Error("a value was run")
	}
}

func TestTheEnvironmentIsEmptyButForWhatIsNamed(t *testing.T) {
	w := newWorld(t)
	token := "glpat-" + strings.Repeat("k3Yz", 5)
	env := map[string]string{"EDR_TOKEN": "zufall-" + w.dir, "OTHER": "x", "PATH": os.Getenv("PATH")}
	w.o.Getenv = func(n string) (string, bool) { v, ok := env[n]; return v, ok }
	w.action(Action{Env: []string{"EDR_TOKEN"}, Do: []string{w.program(t, "do", "/usr/bin/env; pwd; cat; echo "+token+"; printf '\\033[2J'")}})
	if out, err := w.apply(t, w.plan(t)); out.State != change.Applied {
		t.Fatal(out, err)
	}
	got := w.kept["operator/isolate/do.txt"]
	for _, secret := range []string{env["EDR_TOKEN"], token, "\x1b"} {
		if strings.Contains(got, secret) {
			t.Errorf("%q is in the evidence:\n%s", secret, got)
		}
	}
	if !strings.Contains(got, "EDR_TOKEN=[[redacted hmac:") || strings.Contains(got, "OTHER") || strings.Contains(got, os.Getenv("PATH")) {
		t.Errorf("the environment was\n%s", got)
	}
	delete(env, "EDR_TOKEN")
	ps, err := w.sys.Plan(t.Context(), providers.Operator, host07, args07)
	if err != nil || len(ps[0].Changes) != 0 || !strings.Contains(ps[0].Manual[0], "EDR_TOKEN is not set") {
		t.Errorf("got %+v, %v", ps, err)
	}
}

func TestOutputIsBounded(t *testing.T) {
	w := newWorld(t)
	w.action(Action{Do: []string{w.program(t, "do", "i=0; while [ $i -lt 5000 ]; do echo 0123456789012345678901234567890123456789; i=$((i+1)); done")}})
	if out, err := w.apply(t, w.plan(t)); out.State != change.Applied {
		t.Fatal(out, err)
	}
	if n := len(w.kept["operator/isolate/do.txt"]); n > maxOutput || n < maxOutput/2 {
		t.Errorf("%d bytes kept", n)
	}
}

func TestAnotherProgramIsAnotherPlan(t *testing.T) {
	w := newWorld(t)
	w.action(Action{Do: []string{w.program(t, "do", "")}})
	c := w.plan(t)
	w.program(t, "do", "echo other")
	if out, err := w.apply(t, c); out.State != change.Refused || !errors.Is(err, change.ErrStale) || w.ran() != "" {
		t.Errorf("got %+v, %v, ran %q", out, err, w.ran())
	}
}

func TestUndoIsAChangeOfItsOwn(t *testing.T) {
	w := newWorld(t)
	flag := filepath.Join(w.dir, "flag")
	w.action(Action{
		Do: []string{w.program(t, "do", "touch "+flag)}, Verify: []string{w.program(t, "verify", "test -e "+flag)},
		Undo: []string{w.program(t, "undo", "rm "+flag), "{host}"},
	})
	c := w.plan(t)
	if out, err := w.apply(t, c); out.State != change.Applied {
		t.Fatal(out, err)
	}
	u := *c.Undo
	if u.Op != OpUndo || u.Call.URL != "operator://isolate/undo" {
		t.Fatalf("undo is %+v", u)
	}
	if out, err := w.apply(t, u); out.State != change.Applied {
		t.Fatal(out, err)
	}
	if out, _ := w.apply(t, u); out.State != change.Already {
		t.Errorf("a second undo: %+v", out)
	}
	if w.ran() != "verify do verify verify undo verify verify" {
		t.Errorf("ran %q", w.ran())
	}
	if state, _, err := w.sys.Settle(t.Context(), c); state != change.Refused || err != nil {
		t.Errorf("after the undo the change reads back as %s, %v", state, err)
	}
}

func TestWhatCannotBePlannedIsDoneByHand(t *testing.T) {
	w := newWorld(t)
	do := w.program(t, "do", "")
	for _, c := range []struct {
		a    Action
		on   target.Ref
		args Args
		want string
	}{
		{Action{Do: []string{do}}, host07, Args{Name: "other"}, "an action that this configuration does not have"},
		{Action{Do: []string{do}}, target.Ref{System: "g", Kind: target.Runner, ID: "1"}, Args{Name: "isolate"}, "the playbook asks for g/1"},
		{Action{Do: []string{do + "-gone"}}, host07, Args{Name: "isolate"}, "there is no program"},
		{Action{Do: []string{do, "--token=glpat-" + strings.Repeat("k3Yz", 5)}}, host07, Args{Name: "isolate"}, "looks like a secret"},
		{Action{Do: []string{do, "{case}"}}, host07, Args{Name: "isolate"}, "wants {case}, and there is none here"},
		{Action{Do: []string{do}, Undo: []string{do + "-gone"}}, host07, Args{Name: "isolate"}, "its undo: there is no program"},
	} {
		sys := w.action(c.a)
		ps, err := sys.Plan(t.Context(), providers.Operator, c.on, encode(c.args))
		if err != nil || len(ps) != 1 || len(ps[0].Changes) != 0 || !strings.Contains(strings.Join(ps[0].Manual, "; "), c.want) {
			t.Errorf("want %q: got %+v, %v", c.want, ps, err)
		}
		if strings.Contains(fmt.Sprint(ps), "glpat-") {
			t.Error("the secret is on screen")
		}
	}
	if _, err := w.sys.Plan(t.Context(), "pause", host07, nil); !errors.Is(err, providers.ErrNoVerb) {
		t.Errorf("got %v", err)
	}
}
