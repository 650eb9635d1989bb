package sshd

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"cordon/internal/clock"
	"cordon/internal/lab/fault"
	"cordon/internal/lab/ledger"
)

// collector is a script that says where it runs and with what around it.
const collector = `
echo "root=$R nonce=$N profile=$P"
echo "env:"
env
if [ -n "$DIRTY" ]; then touch "$DIRTY"; fi
`

// hangs is a script whose child does not end by itself for a long time.
const hangs = "sleep 600 & echo started $!\nwait\n"

const stopper, starter = "touch /tmp/this-must-never-exist-cordon-lab\n", "# start\n"

const nonce = "0123456789abcdef0123456789abcdef"

// units is one unit that remembers.
type units struct {
	mu              sync.Mutex
	active, enabled bool
	calls           []string
}

func (u *units) Status(unit string) (string, string, int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if unit != "gitlab-runner.service" {
		return "inactive", "not-found", 0
	}
	a, e, pid := "inactive", "disabled", 0
	if u.active {
		a, pid = "active", 1204
	}
	if u.enabled {
		e = "enabled"
	}
	return a, e, pid
}

func (u *units) set(what string, on bool) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.calls = append(u.calls, what)
	u.active, u.enabled = on, on
	return nil
}

func (u *units) Stop(unit string) error  { return u.set("stop "+unit, false) }
func (u *units) Start(unit string) error { return u.set("start "+unit, true) }

type server struct {
	t      *testing.T
	addr   string
	root   string
	client ssh.Signer
	host   ssh.Signer
	units  *units
	ledger *ledger.Ledger
	faults *fault.Switch
}

func key(t *testing.T) ssh.Signer {
	t.Helper()
	_, p, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	s, err := ssh.NewSignerFromKey(p)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

func serve(t *testing.T) *server {
	t.Helper()
	dir := t.TempDir()
	s := &server{t: t, root: filepath.Join(dir, "tree"), client: key(t), host: key(t), units: &units{active: true, enabled: true}, faults: &fault.Switch{}}
	if err := os.Mkdir(s.root, 0o755); err != nil {
		t.Fatal(err)
	}
	var err error
	if s.ledger, err = ledger.Open(filepath.Join(dir, "ledger.jsonl"), clock.Real{}); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.addr = l.Addr().String()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		done <- Serve(ctx, l, Options{
			Name: "build-07", Root: s.root, Client: s.client.PublicKey(), HostKey: s.host, Ledger: s.ledger, Faults: s.faults, Unit: s.units,
			Before: func() error { return nil },
			Scripts: []Script{
				{Name: "collector.sh", SHA256: digest(collector), Kind: "collect"},
				{Name: "hangs.sh", SHA256: digest(hangs), Kind: Collect},
				{Name: "act-stop.sh", SHA256: digest(stopper), Kind: "act"},
				{Name: "anything.sh", SHA256: digest(starter), Kind: ActStart},
			},
		})
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Serve: %v", err)
		}
		s.ledger.Close()
	})
	return s
}

func (s *server) dial(user string, k ssh.Signer) (*ssh.Client, error) {
	return ssh.Dial("tcp", s.addr, &ssh.ClientConfig{
		User: user, Auth: []ssh.AuthMethod{ssh.PublicKeys(k)}, HostKeyCallback: ssh.FixedHostKey(s.host.PublicKey()), Timeout: 10 * time.Second,
	})
}

func (s *server) login() *ssh.Client {
	s.t.Helper()
	c, err := s.dial(User, s.client)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { c.Close() })
	return c
}

// run sends text to the one command there is.
func (s *server) run(command, text string) (stdout, stderr string, exit int) {
	s.t.Helper()
	ses, err := s.login().NewSession()
	if err != nil {
		s.t.Fatal(err)
	}
	defer ses.Close()
	var out, errs bytes.Buffer
	ses.Stdin, ses.Stdout, ses.Stderr = strings.NewReader(text), &out, &errs
	err = ses.Run(command)
	var ee *ssh.ExitError
	if errors.As(err, &ee) {
		exit = ee.ExitStatus()
	} else if err != nil {
		s.t.Fatalf("run %q: %v", command, err)
	}
	return out.String(), errs.String(), exit
}

func preamble(root, third string) string { return "N=" + nonce + "\nR=" + root + "\n" + third + "\n" }
