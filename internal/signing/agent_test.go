package signing

import (
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"

	"cordon/internal/testenv"
)

func TestTheRealAgentSigns(t *testing.T) {
	dir := t.TempDir()
	sock := filepath.Join(dir, "s")
	cmd := exec.Command(testenv.Need(t, "ssh-agent"), "-D", "-a", sock)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	if _, err := out.Read(make([]byte, 1)); err != nil { // it prints the socket's name once it listens
		t.Fatal(err)
	}
	if _, err := FromAgent(sock, ""); !errors.Is(err, ErrKey) || !strings.Contains(err.Error(), "holds no key") {
		t.Error(err)
	}
	want := map[string]string{}
	for name, args := range keyTypes {
		key := newKey(t, dir, name, "", args...)
		add := exec.Command(testenv.Need(t, "ssh-add"), "-q", key)
		add.Env = append(os.Environ(), "SSH_AUTH_SOCK="+sock)
		if b, err := add.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, b)
		}
		s, err := FromFile(key, nil)
		if err != nil {
			t.Fatal(err)
		}
		want[name] = s.Fingerprint()
	}
	for name, fp := range want {
		s, err := FromAgent(sock, fp)
		if err != nil {
			t.Fatal(name, err)
		}
		if s.Fingerprint() != fp || s.Kind() != KindAgent {
			t.Errorf("%s: %s %s", name, s.Kind(), s.Fingerprint())
		}
		accepted(t, s)
	}
	if _, err := FromAgent(sock, ""); !errors.Is(err, ErrKey) || !strings.Contains(err.Error(), "name one of SHA256:") {
		t.Error(err)
	}
	if _, err := FromAgent(sock, "SHA256:absent"); !errors.Is(err, ErrKey) {
		t.Error(err)
	}
}

// listen serves every connection to a socket with serve.
func listen(t *testing.T, serve func(net.Conn)) (sock string, closeAll func()) {
	t.Helper()
	sock = filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", sock)
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go serve(c)
		}
	}()
	t.Cleanup(func() { _ = l.Close() })
	return sock, func() { _ = l.Close() }
}

func TestAnAgentThatGoesAwayIsToldFromOneThatRefuses(t *testing.T) {
	ring := agent.NewKeyring()
	e, _ := Ephemeral()
	if _, err := FromAgent("", e.Fingerprint()); !errors.Is(err, ErrAgentGone) {
		t.Error(err)
	}
	if _, err := FromAgent(filepath.Join(t.TempDir(), "none"), e.Fingerprint()); !errors.Is(err, ErrAgentGone) {
		t.Error(err)
	}
	key := rawKey(t)
	if err := ring.Add(agent.AddedKey{PrivateKey: key}); err != nil {
		t.Fatal(err)
	}
	sock, gone := listen(t, func(c net.Conn) { _ = agent.ServeAgent(ring, c); _ = c.Close() })
	s, err := FromAgent(sock, "")
	if err != nil {
		t.Fatal(err)
	}
	accepted(t, s)
	if err := ring.Lock([]byte("x")); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Sign(NamespaceHead, message); !errors.Is(err, ErrKey) || errors.Is(err, ErrAgentGone) {
		t.Errorf("a locked agent: %v", err)
	}
	gone()
	if _, err := s.Sign(NamespaceHead, message); !errors.Is(err, ErrAgentGone) {
		t.Errorf("a closed agent: %v", err)
	}
}

func TestASilentOrBabblingAgentIsGoneWithinItsTime(t *testing.T) {
	silent, _ := listen(t, func(net.Conn) {})
	if _, err := fromAgent(silent, "", 50*time.Millisecond, time.Minute); !errors.Is(err, ErrAgentGone) {
		t.Error(err)
	}
	hangsUp, _ := listen(t, func(c net.Conn) { _ = c.Close() })
	if _, err := fromAgent(hangsUp, "", time.Minute, time.Minute); !errors.Is(err, ErrAgentGone) {
		t.Error(err)
	}
	babbles, _ := listen(t, func(c net.Conn) { _, _ = c.Write([]byte("HTTP/1.1 400 Bad Request\r\n\r\n")) })
	if _, err := fromAgent(babbles, "", 50*time.Millisecond, time.Minute); err == nil {
		t.Error("accepted")
	}
}

// An agent may sign something else than it was asked to.
type liar struct {
	agent.Agent
	key ssh.Signer
}

func (l liar) Sign(ssh.PublicKey, []byte) (*ssh.Signature, error) {
	return l.key.Sign(nil, []byte("other bytes"))
}

func TestASignatureThatDoesNotMatchIsNeverHandedOn(t *testing.T) {
	key := rawKey(t)
	ring := agent.NewKeyring()
	if err := ring.Add(agent.AddedKey{PrivateKey: key}); err != nil {
		t.Fatal(err)
	}
	signer, err := ssh.NewSignerFromKey(key)
	if err != nil {
		t.Fatal(err)
	}
	sock, _ := listen(t, func(c net.Conn) { _ = agent.ServeAgent(liar{ring, signer}, c); _ = c.Close() })
	s, err := FromAgent(sock, "")
	if err != nil {
		t.Fatal(err)
	}
	if b, err := s.Sign(NamespaceHead, message); !errors.Is(err, ErrKey) || b != nil {
		t.Errorf("%s %v", b, err)
	}
}
