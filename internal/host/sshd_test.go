package host

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"

	"cordon/internal/host/snapshot"
	"cordon/internal/testenv"
)

// sshd is a real OpenSSH server on loopback that lets the test's own user in.
type sshd struct {
	host Host
	keys map[string]ssh.PublicKey // host keys by type
	dir  string
}

// startSSHD starts one with further lines of configuration; {dir} in them is its directory.
func startSSHD(t *testing.T, more ...string) *sshd {
	t.Helper()
	bin := testenv.Need(t, "sshd")
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	if os.Getuid() == 0 {
		if err := os.MkdirAll("/run/sshd", 0o755); err != nil { // where it gives up its rights
			t.Fatal(err)
		}
	}
	d := &sshd{dir: t.TempDir(), keys: map[string]ssh.PublicKey{}}
	write := func(name string, b []byte) string {
		p := filepath.Join(d.dir, name)
		if err := os.WriteFile(p, b, 0o600); err != nil {
			t.Fatal(err)
		}
		return p
	}
	private := func(name string, key any) (string, ssh.PublicKey) {
		block, err := ssh.MarshalPrivateKey(key, "")
		if err != nil {
			t.Fatal(err)
		}
		s, err := ssh.NewSignerFromKey(key)
		if err != nil {
			t.Fatal(err)
		}
		return write(name, pem.EncodeToMemory(block)), s.PublicKey()
	}
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	ecKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	_, edKey := newKey(t)
	conf := "UsePAM no\nStrictModes no\nPidFile none\nPermitRootLogin yes\nPasswordAuthentication no\nLogLevel QUIET\n"
	for name, key := range map[string]any{"rsa": rsaKey, "ecdsa": ecKey, "ed25519": &edKey} {
		p, pub := private("host_"+name, key)
		d.keys[name] = pub
		conf += "HostKey " + p + "\n"
	}
	_, userKey := newKey(t)
	id, pub := private("id", &userKey)
	conf += "AuthorizedKeysFile " + write("authorized_keys", ssh.MarshalAuthorizedKey(pub)) + "\n"
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	l.Close()
	_, port, _ := net.SplitHostPort(addr)
	conf += "ListenAddress 127.0.0.1\nPort " + port + "\n"

	for _, l := range more {
		conf += strings.ReplaceAll(l, "{dir}", d.dir) + "\n"
	}
	cmd := exec.Command(bin, "-D", "-e", "-f", write("sshd_config", []byte(conf)))
	var said bytes.Buffer
	cmd.Stderr = &said
	cmd.WaitDelay = time.Second // a session that is left over holds its error stream
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	for range 200 {
		c, err := net.Dial("tcp", addr)
		if err == nil {
			c.Close()
			d.host = Host{Address: addr, User: me.Username, Key: id, KnownHosts: filepath.Join(d.dir, "known_hosts")}
			return d
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatalf("sshd does not listen: %s", said.String())
	return nil
}

func (d *sshd) trust(t *testing.T, keys ...ssh.PublicKey) {
	t.Helper()
	var b strings.Builder
	for _, k := range keys {
		b.WriteString(knownhosts.Line([]string{d.host.Address}, k) + "\n")
	}
	if err := os.WriteFile(d.host.KnownHosts, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
}

func (d *sshd) hosts() *Hosts { return New(map[string]Host{"here": d.host}, Options{}) }

func TestARealOpenSSHIsReadInOneSession(t *testing.T) {
	t.Parallel()
	d := startSSHD(t)
	for name, key := range d.keys { // whichever one is known, that one is asked for
		d.trust(t, key)
		s, err := d.hosts().Read(t.Context(), "here", snapshot.ProfileWatch)
		if err != nil || !s.Complete {
			t.Fatalf("with the %s key: %v", name, err)
		}
	}
	if testing.Short() {
		return // a triage walks the disks of this machine
	}
	s, err := d.hosts().Read(t.Context(), "here", snapshot.ProfileTriage)
	if err != nil || !s.Complete {
		t.Fatal(err)
	}
	found := false
	for _, p := range s.Processes {
		found = found || p.PID == os.Getpid()
	}
	if !found || !s.Seen(snapshot.SectionIdent) || s.Ident.UID != os.Getuid() || !s.Offset.Known {
		t.Errorf("own process seen %v, ident %+v, offset %+v", found, s.Ident, s.Offset)
	}
	if at(s, "/etc/passwd") == nil {
		t.Error("no /etc/passwd")
	}
}

func TestARealOpenSSHWithAnotherKeyIsRefused(t *testing.T) {
	t.Parallel()
	d := startSSHD(t)
	other, _ := newKey(t)
	for want, known := range map[error][]ssh.PublicKey{ErrUnknownHostKey: nil, ErrHostKeyChanged: {other.PublicKey()}} {
		d.trust(t, known...)
		if _, err := d.hosts().Read(t.Context(), "here", snapshot.ProfileWatch); !errors.Is(err, want) {
			t.Errorf("%v, want %v", err, want)
		}
	}
}

// A unit that does not exist: the act runs to its end and changes nothing here.
func TestARealActAnswersThroughOpenSSH(t *testing.T) {
	t.Parallel()
	d := startSSHD(t)
	d.trust(t, d.keys["ed25519"])
	d.host.Unit = fmt.Sprintf("cordon-test-%d.service", os.Getpid())
	h := d.hosts()
	plans, err := h.Plan(t.Context(), "stop", ref("here"), nil)
	if err != nil {
		t.Fatal(err)
	}
	c := plans[0].Changes[0]
	out, err := NewApplier(h).Apply(permitted(t, c), c)
	if err == nil || out.State != "refused" || !strings.Contains(out.Why, "no such unit") {
		t.Errorf("%+v %v", out, err)
	}
}
