package host

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"

	"cordon/internal/redact"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func newKey(t *testing.T) (ssh.Signer, ed25519.PrivateKey) {
	t.Helper()
	_, priv, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	s, err := ssh.NewSignerFromKey(priv)
	if err != nil {
		t.Fatal(err)
	}
	return s, priv
}

// server is one machine on loopback. serve gets each accepted connection.
type server struct {
	t        *testing.T
	addr     string
	hostKey  ssh.Signer
	accepted atomic.Int64
	received atomic.Int64 // bytes that the client took
	command  atomic.Value // what the last session asked for
	config   *ssh.ServerConfig
	dir      string

	files func(ch ssh.Channel) // serves the subsystem sftp; nil: there is none

	mu      sync.Mutex
	user    ssh.Signer
	offered []string // fingerprints of the keys that were shown to it
}

func serve(t *testing.T, handle func(s *server, c net.Conn)) *server {
	t.Helper()
	s := &server{t: t, dir: t.TempDir()}
	s.hostKey, _ = newKey(t)
	var priv ed25519.PrivateKey
	s.user, priv = newKey(t) // nobody connects yet
	block, err := ssh.MarshalPrivateKey(priv, "")
	if err != nil {
		t.Fatal(err)
	}
	s.write("id", string(pem.EncodeToMemory(block)))
	s.config = &ssh.ServerConfig{PublicKeyCallback: func(_ ssh.ConnMetadata, k ssh.PublicKey) (*ssh.Permissions, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.offered = append(s.offered, ssh.FingerprintSHA256(k))
		if !bytes.Equal(k.Marshal(), s.user.PublicKey().Marshal()) {
			return nil, fmt.Errorf("not that key")
		}
		return nil, nil
	}}
	s.config.AddHostKey(s.hostKey)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.addr = l.Addr().String()
	s.trust(s.hostKey.PublicKey())
	done := make(chan struct{})
	var open []net.Conn
	ended := make(chan struct{}, 64)
	n := 0
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			s.accepted.Add(1)
			open = append(open, c)
			n++
			go func() {
				defer func() { c.Close(); ended <- struct{}{} }()
				handle(s, c)
			}()
		}
	}()
	t.Cleanup(func() {
		l.Close()
		<-done
		for _, c := range open {
			c.Close()
		}
		for range n {
			<-ended
		}
	})
	return s
}

func (s *server) write(name, content string) string {
	s.t.Helper()
	p := filepath.Join(s.dir, name)
	if err := os.WriteFile(p, []byte(content), 0o600); err != nil {
		s.t.Fatal(err)
	}
	return p
}

// trust makes known_hosts hold the given keys and no others.
func (s *server) trust(keys ...ssh.PublicKey) {
	var b strings.Builder
	for _, k := range keys {
		b.WriteString(knownhosts.Line([]string{s.addr}, k) + "\n")
	}
	s.write("known_hosts", b.String())
}

// change edits the configuration before anybody connects.
func (s *server) change(edit func(*ssh.ServerConfig)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	edit(s.config)
}

// login is the server's half of a handshake. What the client asks for outside of
// sessions is refused.
func (s *server) login(c net.Conn) (*ssh.ServerConn, <-chan ssh.NewChannel, bool) {
	s.mu.Lock() // with what a test changed before it connected
	config := s.config
	s.mu.Unlock()
	conn, chans, reqs, err := ssh.NewServerConn(c, config)
	if err != nil {
		return nil, nil, false
	}
	go ssh.DiscardRequests(reqs)
	return conn, chans, true
}

// sessions serves every exec with answer, which gets the standard input as it was
// sent. It returns when the connection ends.
func (s *server) sessions(c net.Conn, answer func(conn *ssh.ServerConn, ch ssh.Channel, stdin string)) {
	conn, chans, ok := s.login(c)
	if !ok {
		return
	}
	for nc := range chans {
		ch, reqs, err := nc.Accept()
		if err != nil {
			return
		}
		sub := false
		for r := range reqs {
			if sub = r.Type == "subsystem" && s.files != nil; sub {
				_ = r.Reply(true, nil)
				break
			}
			ok := r.Type == "exec" && strings.HasSuffix(string(r.Payload), " /bin/sh -s")
			s.command.Store(string(r.Payload[4:]))
			_ = r.Reply(ok, nil)
			if ok {
				break
			}
		}
		go ssh.DiscardRequests(reqs)
		if sub {
			s.files(ch)
			ch.Close()
			continue
		}
		in, _ := io.ReadAll(ch)
		answer(conn, ch, string(in))
		ch.Close()
	}
}

func exit(ch ssh.Channel, status uint32) {
	_, _ = ch.SendRequest("exit-status", false, ssh.Marshal(struct{ Status uint32 }{status}))
}

// honest runs what it is sent in a shell, with the root set to dir and, for acts,
// systemctl taken from bin.
func honest(dir, bin string) func(s *server, c net.Conn) {
	return func(s *server, c net.Conn) {
		s.sessions(c, func(_ *ssh.ServerConn, ch ssh.Channel, stdin string) {
			if strings.Contains(stdin, "\nP=") {
				stdin = strings.Replace(stdin, "\nR=\n", "\nR="+dir+"\n", 1)
			} else {
				stdin = strings.Replace(stdin, "PATH=/usr/sbin:", "PATH="+bin+":/usr/sbin:", 1)
			}
			cmd := exec.Command("/bin/sh", "-s")
			cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), ch, ch.Stderr()
			cmd.Env = []string{}
			cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
			err := cmd.Run()
			if err != nil {
				exit(ch, 1)
				return
			}
			exit(ch, 0)
		})
	}
}

// counting counts the bytes that the client takes from the wire.
type counting struct {
	net.Conn
	n *atomic.Int64
}

func (c counting) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.n.Add(int64(n))
	return n, err
}

// fast are limits that let a test of silence end; nothing is asserted about time.
var fast = Timeouts{Connect: 5 * time.Second, Handshake: 2 * time.Second, Idle: time.Second, Total: 8 * time.Second, Act: 3 * time.Second}

// patient is for a host that answers: the whole collector under a real shell, on whatever
// machine the tests run, and then the limits are not what is tested.
var patient = Timeouts{Connect: 30 * time.Second, Handshake: 30 * time.Second, Idle: time.Minute, Total: 2 * time.Minute, Act: time.Minute}

// host is the configured side of s.
func (s *server) host() Host {
	return Host{Address: s.addr, User: "ir", Key: filepath.Join(s.dir, "id"), KnownHosts: filepath.Join(s.dir, "known_hosts"), Unit: "gitlab-runner.service"}
}

// hosts is the System with s as "build-07".
func (s *server) hosts(o Options) *Hosts {
	if o.Timeouts == (Timeouts{}) {
		o.Timeouts = fast
	}
	o.Marker = redact.NewMarker([]byte("test key test key test key test!"))
	o.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := (&net.Dialer{}).DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return counting{c, &s.received}, nil
	}
	return New(map[string]Host{"build-07": s.host()}, o)
}
