package sshd

import (
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/crypto/ssh"

	"cordon/internal/lab/fault"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The collector runs over the tree, whatever root it was sent with, and with nothing
// of this process around it.
func TestCollectorIsForcedIntoTheTree(t *testing.T) {
	t.Setenv("CORDON_LAB_TEST_LEAK", "leak")
	s := serve(t)
	for _, root := range []string{"", "/", "/etc"} {
		out, errs, exit := s.run("exec /bin/sh -s", preamble(root, "P=triage")+collector)
		if exit != 0 || errs != "" {
			t.Fatalf("exit %d, %s", exit, errs)
		}
		if want := "root=" + s.root + " nonce=" + nonce + " profile=triage\n"; !strings.HasPrefix(out, want) {
			t.Errorf("sent with root %q: %s", root, out)
		}
		_, env, _ := strings.Cut(out, "env:\n")
		for _, l := range strings.Fields(env) {
			name, _, _ := strings.Cut(l, "=")
			if name != "PATH" && name != "PWD" && name != "_" && name != "SHLVL" && name != "OLDPWD" {
				t.Errorf("in the environment: %s", l)
			}
		}
	}
	if _, _, exit := s.run("/bin/sh -s", preamble("", "P=watch")+collector); exit != 0 {
		t.Errorf("without exec: %d", exit)
	}
	if c := s.ledger.Counters(); c.Conns["build-07"] != 4 || c.Sessions["build-07"] != 4 {
		t.Errorf("counted %v", c)
	}
}

// Everything but three known lines and a known script ends with 126 and a reason, and
// nothing of it runs.
func TestRefusals(t *testing.T) {
	s := serve(t)
	mark := filepath.Join(t.TempDir(), "ran")
	for name, text := range map[string]string{
		"unknown script":      preamble("", "P=triage") + "touch " + mark + "\n",
		"one byte more":       preamble("", "P=triage") + collector + "\n",
		"no preamble":         collector,
		"nothing":             "",
		"short nonce":         "N=0123\nR=\nP=triage\n" + collector,
		"upper-case nonce":    strings.ToUpper(preamble("", "P=triage")) + collector,
		"order":               "R=\nN=" + nonce + "\nP=triage\n" + collector,
		"root with a command": "N=" + nonce + "\nR=$(touch " + mark + ")\nP=triage\n" + collector,
		"root with a quote":   "N=" + nonce + "\nR=';touch " + mark + ";'\nP=triage\n" + collector,
		"profile and command": preamble("", "P=triage; touch "+mark) + collector,
		"another variable":    preamble("", "DIRTY="+mark) + collector,
		"a fourth line":       preamble("", "P=triage") + "DIRTY=" + mark + "\n" + collector,
		"unit of a collector": preamble("", "U=gitlab-runner.service") + collector,
		"profile of an act":   preamble("", "P=triage") + stopper,
		"unit with a slash":   preamble("", "U=../x.service") + stopper,
		"too long":            preamble("", "P=triage") + strings.Repeat("#", maxScript),
	} {
		t.Run(name, func(t *testing.T) {
			out, errs, exit := s.run("exec /bin/sh -s", text)
			if exit != refusal || out != "" || strings.Count(errs, "\n") != 1 || !strings.HasPrefix(errs, "lab: ") {
				t.Errorf("exit %d, stdout %q, stderr %q", exit, out, errs)
			}
		})
	}
	if _, err := os.Stat(mark); err == nil {
		t.Error("something ran")
	}
	if len(s.units.calls) != 0 {
		t.Errorf("something acted: %v", s.units.calls)
	}
}

func TestOnlyTheKeyAndTheUser(t *testing.T) {
	s := serve(t)
	if c, err := s.dial(User, key(t)); err == nil {
		c.Close()
		t.Error("another key logs in")
	}
	if c, err := s.dial("root", s.client); err == nil {
		c.Close()
		t.Error("another user logs in")
	}
	c, err := ssh.Dial("tcp", s.addr, &ssh.ClientConfig{User: User, Auth: []ssh.AuthMethod{ssh.Password("x")}, HostKeyCallback: ssh.FixedHostKey(s.host.PublicKey())})
	if err == nil {
		c.Close()
		t.Error("a password logs in")
	}
}

// No terminal, no forwarding, no subsystem, no other command, no second command.
func TestNothingElseIsServed(t *testing.T) {
	s := serve(t)
	c := s.login()
	session := func() *ssh.Session {
		ses, err := c.NewSession()
		if err != nil {
			t.Fatal(err)
		}
		return ses
	}
	for name, do := range map[string]func() error{
		"pty":              func() error { return session().RequestPty("xterm", 24, 80, nil) },
		"shell":            func() error { return session().Shell() },
		"subsystem":        func() error { return session().RequestSubsystem("sftp") },
		"environment":      func() error { return session().Setenv("LC_ALL", "C") },
		"other command":    func() error { return session().Start("id") },
		"command and more": func() error { return session().Start("exec /bin/sh -s; id") },
		"agent": func() error {
			ok, err := session().SendRequest("auth-agent-req@openssh.com", true, nil)
			if err == nil && !ok {
				err = errors.New("refused")
			}
			return err
		},
		"second command": func() error {
			ses := session()
			if err := ses.Start("exec /bin/sh -s"); err != nil {
				t.Fatal(err)
			}
			ok, err := ses.SendRequest("exec", true, ssh.Marshal(struct{ C string }{"exec /bin/sh -s"}))
			if err == nil && !ok {
				err = errors.New("refused")
			}
			return err
		},
		"local forward": func() error {
			_, _, err := c.OpenChannel("direct-tcpip", nil)
			return err
		},
		"remote forward": func() error {
			l, err := c.Listen("tcp", "127.0.0.1:0")
			if err == nil {
				l.Close()
			}
			return err
		},
	} {
		if do() == nil {
			t.Errorf("%s is served", name)
		}
	}
}

func TestActIsSimulated(t *testing.T) {
	s := serve(t)
	text := preamble("", "U=gitlab-runner.service") + stopper
	out, errs, exit := s.run("exec /bin/sh -s", text)
	want := "C1 " + nonce + ` 1 begin =stop 13
=cordon-act 1
C1 ` + nonce + ` 2 value =unit 22
=gitlab-runner.service
C1 ` + nonce + ` 3 value =before.active 7
=active
C1 ` + nonce + ` 4 value =before.enabled 8
=enabled
C1 ` + nonce + ` 5 value =did 4
=ran
C1 ` + nonce + ` 6 value =exit 2
=0
C1 ` + nonce + ` 7 value =stderr 1
=
C1 ` + nonce + ` 8 value =after.active 9
=inactive
C1 ` + nonce + ` 9 value =after.enabled 9
=disabled
C1 ` + nonce + ` 10 value =mainpid 2
=0
C1 ` + nonce + ` 11 end =stop 3
=10
`
	if exit != 0 || errs != "" || out != want {
		t.Errorf("exit %d, %s\n%s", exit, errs, out)
	}
	if out, _, _ := s.run("exec /bin/sh -s", text); !strings.Contains(out, "=already\n") {
		t.Errorf("again:\n%s", out)
	}
	if out, _, _ := s.run("exec /bin/sh -s", preamble("", "U=other.service")+stopper); !strings.Contains(out, "=nothing\n") || !strings.Contains(out, "=not-found\n") {
		t.Errorf("no such unit:\n%s", out)
	}
	if out, _, _ := s.run("exec /bin/sh -s", preamble("", "U=gitlab-runner.service")+starter); !strings.Contains(out, "begin =start") || !strings.Contains(out, "=active\n") {
		t.Errorf("start:\n%s", out)
	}
	if got := strings.Join(s.units.calls, ", "); got != "stop gitlab-runner.service, start gitlab-runner.service" {
		t.Errorf("calls: %s", got)
	}
	if _, err := os.Stat("/tmp/this-must-never-exist-cordon-lab"); err == nil {
		t.Error("the act's script was executed")
	}
}

func TestEmptyEvidence(t *testing.T) {
	s := serve(t)
	if err := s.faults.Set(fault.EmptyEvidence); err != nil {
		t.Fatal(err)
	}
	if out, errs, exit := s.run("exec /bin/sh -s", preamble("", "P=triage")+collector); out != "" || errs != "" || exit != 0 {
		t.Errorf("exit %d, %q, %q", exit, out, errs)
	}
	if out, _, _ := s.run("exec /bin/sh -s", preamble("", "U=gitlab-runner.service")+stopper); !strings.Contains(out, "end =stop") {
		t.Error("acts fail too")
	}
}

// Who hangs up takes his script with him.
func TestDisconnectKills(t *testing.T) {
	s := serve(t)
	c := s.login()
	ses, err := c.NewSession()
	if err != nil {
		t.Fatal(err)
	}
	ses.Stdin = strings.NewReader(preamble("", "P=triage") + hangs)
	out, err := ses.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := ses.Start("exec /bin/sh -s"); err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 64)
	n, err := out.Read(buf)
	if err != nil {
		t.Fatal(err)
	}
	pid := strings.TrimSpace(strings.TrimPrefix(string(buf[:n]), "started "))
	if _, err := os.Stat("/proc/" + pid); err != nil {
		t.Fatalf("process %q: %v", pid, err)
	}
	c.Close()
	for deadline := time.Now().Add(20 * time.Second); ; {
		if _, err := os.Stat("/proc/" + pid); err != nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("the script outlives its connection")
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// A peer that says nothing, or not SSH, costs a connection and nothing more.
func TestNoise(t *testing.T) {
	s := serve(t)
	c, err := net.Dial("tcp", s.addr)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(c, "GET / HTTP/1.1\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	if err := c.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, c) // until the server hangs up
	c.Close()
	silent, err := net.Dial("tcp", s.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	if _, _, exit := s.run("exec /bin/sh -s", preamble("", "P=watch")+collector); exit != 0 {
		t.Errorf("beside a silent peer: exit %d", exit)
	}
}
