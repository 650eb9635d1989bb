package host

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"

	"cordon/internal/change"
	"cordon/internal/host/snapshot"
	"cordon/providers"
)

// systemctl is a unit as two files, and a log of what was asked of it.
const systemctl = `#!/bin/sh
d=${0%/*}
echo "$*" >>"$d/asked"
[ -f "$d/enabled" ] || { echo "Failed to get unit file state: No such file or directory" >&2; exit 1; }
case "$1" in
is-active) cat "$d/active" ;;
is-enabled) cat "$d/enabled" ;;
show) echo 812 ;;
disable)
  [ ! -f "$d/denied" ] || { printf 'Failed to disable unit: Access denied \033[2J\n' >&2; exit 4; }
  [ -f "$d/stubborn" ] || { echo inactive >"$d/active"; echo disabled >"$d/enabled"; }
  ;;
enable) echo active >"$d/active"; echo enabled >"$d/enabled" ;;
esac
`

// unit makes such a directory in the given state.
func unit(t *testing.T, active, enabled string) string {
	t.Helper()
	d := t.TempDir()
	for name, content := range map[string]string{"active": active + "\n", "enabled": enabled + "\n"} {
		if enabled == "" && name == "enabled" {
			continue
		}
		if err := os.WriteFile(filepath.Join(d, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(d, "systemctl"), []byte(systemctl), 0o755); err != nil {
		t.Fatal(err)
	}
	return d
}

func asked(t *testing.T, bin string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(bin, "asked"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return string(b)
}

// stopPlan is the one change of stopping build-07's unit.
func stopPlan(t *testing.T, h *Hosts) change.Change {
	t.Helper()
	plans, err := h.Plan(t.Context(), providers.Stop, ref("build-07"), nil)
	if err != nil || len(plans) != 1 || len(plans[0].Changes) != 1 {
		t.Fatalf("%+v %v", plans, err)
	}
	c := plans[0].Changes[0]
	c.ID = "stop/1"
	return c
}

func permitted(t *testing.T, c change.Change) context.Context {
	t.Helper()
	p, err := change.NewIssuer().Permit(c, c.Digest())
	if err != nil {
		t.Fatal(err)
	}
	return change.WithPermit(t.Context(), p)
}

func TestStoppingAndItsUndo(t *testing.T) {
	bin := unit(t, "active", "enabled")
	s := serve(t, honest("", bin))
	h := s.hosts(Options{})
	a := NewApplier(h)
	c := stopPlan(t, h)
	out, err := a.Apply(permitted(t, c), c)
	if err != nil || out.State != change.Applied || out.Made["before"] != "active enabled" || out.Made["after"] != "inactive disabled" {
		t.Fatalf("%+v %v", out, err)
	}
	if !strings.Contains(asked(t, bin), "disable --now -- gitlab-runner.service\n") {
		t.Errorf("asked:\n%s", asked(t, bin))
	}
	out, err = a.Apply(permitted(t, c), c)
	if err != nil || out.State != change.Already {
		t.Errorf("again: %+v %v", out, err)
	}
	if n := strings.Count(asked(t, bin), "disable"); n != 1 {
		t.Errorf("disabled %d times", n)
	}
	undo := *c.Undo
	out, err = a.Apply(permitted(t, undo), undo)
	if err != nil || out.State != change.Applied || out.Made["after"] != "active enabled" {
		t.Errorf("undo: %+v %v", out, err)
	}
}

func TestWhatTheHostSaysBecomesTheRightWord(t *testing.T) {
	for name, c := range map[string]struct {
		active, enabled, mark string
		state                 string
		asks                  bool
	}{
		"stopped, still enabled": {"inactive", "enabled", "", change.Applied, true},
		"running, not enabled":   {"active", "static", "", change.Applied, true},
		"so already":             {"failed", "masked", "", change.Already, false},
		"no such unit":           {"inactive", "", "", change.Refused, false},
		"no rights":              {"active", "enabled", "denied", change.Refused, true},
		"does not stop":          {"active", "enabled", "stubborn", change.Unknown, true},
	} {
		t.Run(name, func(t *testing.T) {
			bin := unit(t, c.active, c.enabled)
			if c.mark != "" {
				if err := os.WriteFile(filepath.Join(bin, c.mark), nil, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			s := serve(t, honest("", bin))
			h := s.hosts(Options{})
			ch := stopPlan(t, h)
			out, err := NewApplier(h).Apply(permitted(t, ch), ch)
			if out.State != c.state || (err != nil) != (c.state == change.Refused || c.state == change.Unknown) {
				t.Errorf("%+v %v", out, err)
			}
			if strings.Contains(out.Why, "\x1b") || err != nil && strings.Contains(err.Error(), "\x1b") {
				t.Errorf("escapes: %q %v", out.Why, err)
			}
			if got := strings.Contains(asked(t, bin), "disable --now"); got != c.asks {
				t.Errorf("asked to disable: %v", got)
			}
		})
	}
}

// acting counts the acts that reached it.
func acting(n *int, after func(ch ssh.Channel, stdin string)) func(*server, net.Conn) {
	return func(s *server, c net.Conn) {
		s.sessions(c, func(_ *ssh.ServerConn, ch ssh.Channel, stdin string) {
			*n++
			after(ch, stdin)
		})
	}
}

func TestWithoutAPermitNoConnectionIsOpened(t *testing.T) {
	bin := unit(t, "active", "enabled")
	s := serve(t, honest("", bin))
	h := s.hosts(Options{})
	a := NewApplier(h)
	c := stopPlan(t, h)
	other := c
	other.Args = json.RawMessage(`{"unit":"ssh.service"}`)
	spent := permitted(t, c)
	if out, err := a.Apply(spent, c); err != nil || out.State != change.Applied { // the write-mode twin
		t.Fatalf("%+v %v", out, err)
	}
	before, log := s.accepted.Load(), asked(t, bin)
	capture, got := change.WithCapture(t.Context())
	for name, try := range map[string]struct {
		ctx  context.Context
		c    change.Change
		want error
	}{
		"no permit":        {t.Context(), c, change.ErrNoPermit},
		"read-only issuer": {readOnly(t, c), c, change.ErrNoPermit},
		"another unit":     {permitted(t, c), other, change.ErrMismatch},
		"a spent permit":   {spent, c, change.ErrSpent},
		"planning":         {capture, c, change.ErrCaptured},
	} {
		out, err := a.Apply(try.ctx, try.c)
		if !errors.Is(err, try.want) || out.State != change.Refused {
			t.Errorf("%s: %+v %v", name, out, err)
		}
	}
	if n := s.accepted.Load(); n != before || asked(t, bin) != log {
		t.Errorf("%d connections more", n-before)
	}
	if call, err := got.Call(); err != nil || call != c.Call {
		t.Errorf("captured %v, planned %v: %v", call, c.Call, err)
	}
}

func readOnly(t *testing.T, c change.Change) context.Context {
	t.Helper()
	var none *change.Issuer
	if _, err := none.Permit(c, c.Digest()); !errors.Is(err, change.ErrNoPermit) {
		t.Fatal(err)
	}
	return t.Context()
}

// What left and was not answered is unknown, and is not sent again.
func TestALostAnswerIsUnknown(t *testing.T) {
	whole := func(stdin string) string {
		n := nonceOf.FindStringSubmatch(stdin)[1]
		var b strings.Builder
		seq := 0
		frame := func(kind, name, body string) {
			seq++
			b.WriteString("C1 " + n + " " + itoa(seq) + " " + kind + " =" + name + " " + itoa(len(body)+1) + "\n=" + body + "\n")
		}
		frame("begin", "stop", "cordon-act 1")
		for i, v := range []string{"gitlab-runner.service", "active", "enabled", "ran", "0", "", "inactive", "disabled", "0"} {
			frame("value", actKeys[i], v)
		}
		frame("end", "stop", itoa(seq))
		return b.String()
	}
	for name, c := range map[string]struct {
		after func(ch ssh.Channel, stdin string)
		state string
	}{
		"whole":   {func(ch ssh.Channel, in string) { _, _ = io.WriteString(ch, whole(in)) }, change.Applied},
		"nothing": {func(ssh.Channel, string) {}, change.Unknown},
		"half":    {func(ch ssh.Channel, in string) { _, _ = io.WriteString(ch, whole(in)[:300]) }, change.Unknown},
		"another unit": {func(ch ssh.Channel, in string) {
			_, _ = io.WriteString(ch, strings.Replace(whole(in), "=gitlab-", "=gitlob-", 1))
		}, change.Unknown},
		"forged": {func(ch ssh.Channel, in string) {
			_, _ = io.WriteString(ch, strings.Replace(whole(in), " 4 value", " 5 value", 1))
		}, change.Unknown},
		"values reversed": {func(ch ssh.Channel, in string) {
			_, _ = io.WriteString(ch, strings.Replace(whole(in), "before.enabled", "before.enablex", 1))
		}, change.Unknown},
		"silent":  {func(ch ssh.Channel, _ string) { _, _ = io.Copy(io.Discard, neverEnds{ch}) }, change.Unknown},
		"escapes": {func(ch ssh.Channel, _ string) { _, _ = io.WriteString(ch.Stderr(), escapes) }, change.Unknown},
	} {
		t.Run(name, func(t *testing.T) {
			n := 0
			s := serve(t, acting(&n, c.after))
			limits := fast
			limits.Act = fast.Idle
			h := s.hosts(Options{Timeouts: limits})
			ch := stopPlan(t, h)
			out, err := NewApplier(h).Apply(permitted(t, ch), ch)
			if out.State != c.state || (err == nil) != (c.state == change.Applied) {
				t.Errorf("%+v %v", out, err)
			}
			if s.accepted.Load() != 1 {
				t.Errorf("%d connections", s.accepted.Load())
			}
		})
	}
}

// neverEnds reads again and again from a channel whose input has ended, until it is closed.
type neverEnds struct{ ch ssh.Channel }

func (e neverEnds) Read(p []byte) (int, error) {
	if _, err := e.ch.SendRequest("keepalive", true, nil); err != nil {
		return 0, err
	}
	return 0, nil
}

func TestAHostThatIsGoneRefusesAndSaysThatNothingWasSent(t *testing.T) {
	s := serve(t, honest("", ""))
	h := s.hosts(Options{})
	h.o.Dial = func(context.Context, string, string) (net.Conn, error) { return nil, errors.New("no route to host") }
	c := stopPlan(t, h)
	out, err := NewApplier(h).Apply(permitted(t, c), c)
	if out.State != change.Refused || !errors.Is(err, ErrUnreachable) || !strings.Contains(out.Why, "nothing was sent") {
		t.Errorf("%+v %v", out, err)
	}
}

func TestAnUnknownOperationOrUnitIsRefused(t *testing.T) {
	s := serve(t, honest("", ""))
	h := s.hosts(Options{})
	c := stopPlan(t, h)
	for name, edit := range map[string]func(*change.Change){
		"another operation": func(c *change.Change) { c.Op = "host.unit.stop@2" },
		"a unit with a dot": func(c *change.Change) { c.Args = json.RawMessage(`{"unit":"x; reboot"}`) },
		"an option":         func(c *change.Change) { c.Args = json.RawMessage(`{"unit":"--root=x.service"}`) },
		"no unit":           func(c *change.Change) { c.Args = nil },
		"more arguments":    func(c *change.Change) { c.Args = json.RawMessage(`{"unit":"a.service","x":1}`) },
		"another host":      func(c *change.Change) { c.Target = ref("build-08") },
	} {
		x := c
		edit(&x)
		out, err := NewApplier(h).Apply(permitted(t, x), x)
		if err == nil || out.State != change.Refused {
			t.Errorf("%s: %+v %v", name, out, err)
		}
	}
	if s.accepted.Load() != 0 {
		t.Error("a connection was opened")
	}
}

// Three shells answer an act as FORMAT.md says; the values are checked by the reader.
func TestTheActSpeaksTheFormatUnderEveryShell(t *testing.T) {
	for _, sh := range shells(t) {
		bin := unit(t, "active", "enabled")
		text := strings.Replace(actStop().Text, "PATH=/usr/sbin:", "PATH="+bin+":/usr/sbin:", 1)
		out := pipe(t, sh, "N="+testNonce+"\nR=\nU=gitlab-runner.service\n"+text)
		st, err := readAct(snapshot.NewFrames(strings.NewReader(out), testNonce, snapshot.Limits{}), "stop", "gitlab-runner.service")
		if err != nil || st.did != "ran" || st.after.active != "inactive" || st.after.enabled != "disabled" || st.mainPID != "812" {
			t.Errorf("%s: %+v %v\n%s", sh.name, st, err, out)
		}
	}
}

// With a root prefix there is nothing that systemctl could be asked about.
func TestAnActInATreeDoesNothing(t *testing.T) {
	for _, sh := range shells(t) {
		bin := unit(t, "active", "enabled")
		text := strings.Replace(actStop().Text, "PATH=/usr/sbin:", "PATH="+bin+":/usr/sbin:", 1)
		out := pipe(t, sh, "N="+testNonce+"\nR=/tmp/tree\nU=gitlab-runner.service\n"+text)
		st, err := readAct(snapshot.NewFrames(strings.NewReader(out), testNonce, snapshot.Limits{}), "stop", "gitlab-runner.service")
		if err != nil || st.did != "nothing" || asked(t, bin) != "" {
			t.Errorf("%s: %+v %v, asked %q", sh.name, st, err, asked(t, bin))
		}
	}
}

// systemd says nothing of an agent that was started by hand, or that left its unit.
func TestAStoppedUnitIsNotSettledWhileItsAgentRunsOutsideOfIt(t *testing.T) {
	tr := planted(t)
	s := serve(t, honest(tr.root, "/nonexistent"))
	h := s.hosts(Options{})
	c := stopPlan(t, h)
	for _, p := range []string{"/proc/812", "/etc/systemd/system/multi-user.target.wants/gitlab-runner.service"} {
		if err := os.RemoveAll(tr.path(p)); err != nil {
			t.Fatal(err)
		}
	}
	if state, why, err := h.Settle(t.Context(), c); state != change.Applied || err != nil {
		t.Fatalf("control, with another kind's agent beside it: %s: %s %v", state, why, err)
	}
	tr.process(4242, 1, 0, "gitlab-runner", "/usr/bin/gitlab-runner", "/user.slice/session-7.scope", nil, "/usr/bin/gitlab-runner", "run")
	state, why, err := h.Settle(t.Context(), c)
	if state != change.Unknown || err != nil || !strings.Contains(why, "gitlab-runner runs as process 4242, outside of it") {
		t.Errorf("%s: %s %v", state, why, err)
	}
}
