package main

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"

	"cordon/internal/testenv"
)

// openSSH is a real sshd on loopback that stands in for build-07, behind a link that a
// test cuts. It runs what it is sent, on this machine, with one thing bent: systemctl is
// a script with one unit, and a ledger of what it was told and what came of it.
type openSSH struct {
	t    testing.TB
	dir  string
	pid  int
	link *link
}

// unit is of a kind of agent that no other test starts a process of on this machine.
const unit = "vsts.agent.cordon-test.service"

// systemctl counts every order. With the file "slow" there it has heard it, and carries it
// out only once the file is gone; with "dead", not at all.
const systemctl = `#!/bin/sh
cd "${0%/*}" || exit 1
case $1 in
is-active) if kill -0 "$(cat pid)" 2>/dev/null; then echo active; else echo inactive; fi ;;
is-enabled) if kill -0 "$(cat pid)" 2>/dev/null; then echo enabled; else echo disabled; fi ;;
show) echo 0 ;;
*)
	echo "$1" >>told
	while [ -e slow ]; do sleep 0.05; done
	if [ -e dead ]; then exit 1; fi
	kill -9 "$(cat pid)"
	echo "$1" >>done
	;;
esac
`

// agent starts the agent of the unit: its name is all that is one about it.
func (d *openSSH) agent() {
	d.t.Helper()
	// Copied by a process of its own: a program that we had open for writing while another
	// test starts one cannot be run (ETXTBSY, golang/go#22315).
	if out, err := exec.Command(testenv.Need(d.t, "cp"), testenv.Need(d.t, "sleep"), d.path("Agent.Listener")+".new").CombinedOutput(); err != nil {
		d.t.Fatalf("%v: %s", err, out)
	}
	if err := os.Rename(d.path("Agent.Listener")+".new", d.path("Agent.Listener")); err != nil {
		d.t.Fatal(err)
	}
	cmd := exec.Command(d.path("Agent.Listener"), "--", "600")
	if err := cmd.Start(); err != nil {
		d.t.Fatal(err)
	}
	d.write("pid", fmt.Sprintln(cmd.Process.Pid), 0o600)
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait() // killed by systemctl, or below
		close(ended)
	}()
	d.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-ended
	})
}

// realHost puts an OpenSSH in the place of build-07 in the lab's configuration.
func (w *world) realHost() *openSSH {
	w.t.Helper()
	bin := testenv.Need(w.t, "sshd")
	me, err := user.Current()
	if err != nil {
		w.t.Fatal(err)
	}
	if os.Getuid() == 0 {
		if err := os.MkdirAll("/run/sshd", 0o755); err != nil { // where it gives up its rights
			w.t.Fatal(err)
		}
	}
	d := &openSSH{t: w.t, dir: w.t.TempDir()}
	key := func(name string) ssh.PublicKey {
		_, private, err := ed25519.GenerateKey(rand.Reader)
		if err != nil {
			w.t.Fatal(err)
		}
		block, err := ssh.MarshalPrivateKey(private, "")
		if err != nil {
			w.t.Fatal(err)
		}
		d.write(name, string(pem.EncodeToMemory(block)), 0o600)
		pub, err := ssh.NewPublicKey(private.Public())
		if err != nil {
			w.t.Fatal(err)
		}
		return pub
	}
	host := key("host")
	d.write("authorized_keys", string(ssh.MarshalAuthorizedKey(key("id"))), 0o600)
	d.write("systemctl", systemctl, 0o700)
	d.write("shell", "#!/bin/sh\nsed 's|^PATH=/usr/sbin|PATH="+d.dir+":/usr/sbin|' | exec /bin/sh -s\n", 0o700)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		w.t.Fatal(err)
	}
	to := l.Addr().String()
	l.Close()
	_, port, _ := net.SplitHostPort(to)
	d.write("sshd_config", "UsePAM no\nStrictModes no\nPidFile none\nPermitRootLogin yes\nPasswordAuthentication no\nLogLevel QUIET\n"+
		"HostKey "+d.path("host")+"\nAuthorizedKeysFile "+d.path("authorized_keys")+"\nListenAddress 127.0.0.1\nPort "+port+"\nForceCommand "+d.path("shell")+"\n", 0o600)
	cmd := exec.Command(bin, "-D", "-e", "-f", d.path("sshd_config"))
	if err := cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	d.pid = cmd.Process.Pid
	w.t.Cleanup(func() {
		_ = cmd.Process.Kill() // its sessions end with their links
		_ = cmd.Wait()
	})
	d.link = newLink(w.t, to)
	d.wait("sshd listens", func() bool {
		c, err := net.Dial("tcp", to)
		if err == nil {
			c.Close()
		}
		return err == nil
	})
	d.write("known_hosts", knownhosts.Line([]string{d.link.addr()}, host)+"\n", 0o600)
	conf := filepath.Join(w.labDir(), "cordon.yaml")
	b, err := os.ReadFile(conf)
	if err != nil {
		w.t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(b), "  build-07:\n")
	for ok && strings.HasPrefix(rest, "    ") {
		_, rest, ok = strings.Cut(rest, "\n")
	}
	text := fmt.Sprintf("%s  build-07:\n    address: %s\n    user: %s\n    key: %s\n    known_hosts: %s\n    unit: %s\n%s",
		before, d.link.addr(), me.Username, d.path("id"), d.path("known_hosts"), unit, rest)
	if err := os.WriteFile(conf, []byte(text), 0o600); err != nil || !ok {
		w.t.Fatalf("%v; no build-07 in the configuration", err)
	}
	return d
}

func (d *openSSH) path(name string) string { return filepath.Join(d.dir, name) }

func (d *openSSH) write(name, text string, mode os.FileMode) {
	d.t.Helper()
	if err := os.WriteFile(d.path(name), []byte(text), mode); err != nil {
		d.t.Fatal(err)
	}
}

func (d *openSSH) remove(name string) {
	d.t.Helper()
	if err := os.Remove(d.path(name)); err != nil {
		d.t.Fatal(err)
	}
}

// lines counts those of a file that may not be there.
func (d *openSSH) lines(name string) int {
	b, _ := os.ReadFile(d.path(name))
	return strings.Count(string(b), "\n")
}

func (d *openSSH) wait(what string, until func() bool) {
	d.t.Helper()
	for end := time.Now().Add(time.Minute); !until(); time.Sleep(10 * time.Millisecond) { // for a test that would hang
		if time.Now().After(end) {
			d.t.Fatalf("never: %s", what)
		}
	}
}

// killSessions kills the processes that serve connections now, as an out-of-memory
// killer does; the daemon lives.
func (d *openSSH) killSessions() {
	d.t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		d.t.Fatal(err)
	}
	n := 0
	for _, name := range all {
		b, _ := os.ReadFile(name) // it may be gone by now
		_, rest, _ := strings.Cut(string(b), ") ")
		if f := strings.Fields(rest); len(f) > 1 && f[1] == strconv.Itoa(d.pid) {
			pid, err := strconv.Atoi(filepath.Base(filepath.Dir(name)))
			if err == nil && syscall.Kill(pid, syscall.SIGKILL) == nil {
				n++
			}
		}
	}
	if n == 0 {
		d.t.Fatal("no session to kill")
	}
}

// link carries connections to a server, until it is cut.
type link struct {
	l  net.Listener
	to string

	mu    sync.Mutex
	down  bool
	limit int64 // bytes of answers after which it is cut; 0: none
	open  map[net.Conn]bool
}

func newLink(t testing.TB, to string) *link {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	k := &link{l: l, to: to, open: map[net.Conn]bool{}}
	var all sync.WaitGroup
	all.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() { k.carry(c) })
		}
	})
	t.Cleanup(func() {
		l.Close()
		k.cut()
		all.Wait()
	})
	return k
}

func (k *link) addr() string { return k.l.Addr().String() }

func (k *link) carry(c net.Conn) {
	s, err := net.Dial("tcp", k.to)
	if err != nil || !k.keep(c, s) {
		c.Close()
		return
	}
	go func() {
		_, _ = io.Copy(s, c) // a cut link is what is tested
		s.Close()
	}()
	buf, n := make([]byte, 4<<10), int64(0)
	for {
		got, err := s.Read(buf)
		n += int64(got)
		if k.over(n) {
			k.cut()
			return
		}
		if _, werr := c.Write(buf[:got]); err != nil || werr != nil {
			break
		}
	}
	c.Close()
	s.Close()
}

func (k *link) keep(cs ...net.Conn) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, c := range cs {
		if k.down {
			c.Close()
		}
		k.open[c] = true
	}
	return !k.down
}

func (k *link) over(n int64) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.limit > 0 && n > k.limit
}

// cut ends every connection, and lets none through until mend.
func (k *link) cut() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.down = true
	for c := range k.open {
		c.Close()
	}
	clear(k.open)
}

func (k *link) mend() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.down, k.limit = false, 0
}

const cutPlaybook = `cordon: playbook/1
id: cut
title: Cut
why: A connection is cut.
steps:
  - {id: collect, title: Read it, why: w, acts: [{do: plan, verb: collect, on: hosts, profile: triage}]}
  - {id: stop, title: Stop it, why: w, needs: [collect], acts: [{do: plan, verb: stop, on: hosts, verify: stopped, destroys: [host/*/snapshot.json]}]}
  - {id: confirm, title: Look, why: w, acts: [{do: confirm}]}
`

// TestAConnectionCutUnderARealSSHD cuts the link while a host is read, and while an act
// is under way on it. The first is a gap, and what needs it waits for a reason. The second
// is unknown, whether the act comes about without us or dies with its session. Another
// process goes on once the link is back, and nothing is sent twice unasked.
func TestAConnectionCutUnderARealSSHD(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("short: it reads this machine")
	}
	w := newWorld(t)
	d := w.realHost()
	d.agent()
	book := filepath.Join(w.dir, "cut.yaml")
	if err := os.WriteFile(book, []byte(cutPlaybook), 0o600); err != nil {
		t.Fatal(err)
	}
	begin := func(id string) *seat {
		s := w.seat("contain", "gitlab-lab/42", "--case", id, "--playbook", book, "--host", "build-07", "--plain")
		s.until("| stop]: ")
		return s
	}
	leave := func(s *seat) {
		s.keys("stop\n")
		if code := s.end(); code != 6 {
			t.Errorf("left at a question it ends with %d", code)
		}
	}
	stop := func(s *seat) { // nothing was collected: a reason is asked for
		s.t.Helper()
		s.keys("1\n")
		s.until("why go on all the same")
		s.keys("the link is bad tonight\n")
		s.until("to go on: ")
		s.keys("y\n")
	}
	// Somebody else goes on: without a terminal it tells where it stands and asks nothing.
	again := func(id, says string, orders, effects int) {
		t.Helper()
		s := w.cordon("case", "resume", id)
		if s.code != 6 || !strings.Contains(s.out, says) {
			t.Errorf("%s goes on with %d, without %q\n%s%s", id, s.code, says, s.out, s.err)
		}
		if d.lines("told") != orders || d.lines("done") != effects {
			t.Errorf("%s: systemctl was told %d times, want %d, and did it %d times, want %d", id, d.lines("told"), orders, d.lines("done"), effects)
		}
		if v := w.cordon("case", "show", id); v.code != 0 {
			t.Errorf("the record is not whole: %s", v.err)
		}
	}

	d.link.limit = 24 << 10
	s := begin("READ")
	s.keys("1\n")
	s.until("to go on: ")
	s.keys("y\n")
	s.until("stream ended before its end frame")
	s.until("[gap] needs step collect, which ended: could not be reached")
	s.until("| stop]: ")
	leave(s)
	d.link.mend()
	again("READ", "[gap] needs step collect, which ended: could not be reached", 0, 0)

	d.write("slow", "", 0o600)
	s = begin("ACT")
	s.keys("skip not now\n")
	s.until("| stop]: ")
	stop(s)
	d.wait("the order arrives", func() bool { return d.lines("told") == 1 })
	d.link.cut()
	s.until("UNKNOWN whether it took effect")
	s.until("| stop]: ")
	leave(s)
	d.remove("slow")
	d.wait("it comes about", func() bool { return d.lines("done") == 1 })
	d.link.mend()
	again("ACT", "was unknown, now applied", 1, 1)

	d.agent()
	d.write("slow", "", 0o600)
	d.write("dead", "", 0o600) // what was begun dies with its session
	s = begin("DEAD")
	s.keys("skip not now\n")
	s.until("| stop]: ")
	stop(s)
	d.wait("the order arrives", func() bool { return d.lines("told") == 2 })
	d.killSessions()
	d.remove("slow")
	s.until("UNKNOWN whether it took effect") // it was looked at: the unit is stopped and its agent is not
	s.until("but Agent.Listener runs as process")
	s.until("| stop]: ")
	leave(s)
	d.remove("dead")
	again("DEAD", "but Agent.Listener runs as process", 2, 1)
}
