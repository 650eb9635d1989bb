package host

import (
	"context"
	"crypto"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"

	"cordon/internal/host/snapshot"
)

// time0 is before anything was read here.
var time0 = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// still is a clock that shows time0.
type still struct{}

func (still) Now() time.Time                            { return time0 }
func (still) Wait(context.Context, time.Duration) error { return nil }

// accepting is a real sshd whose key nobody knows, and where accepted keys are kept.
func accepting(t *testing.T) (*sshd, *Hosts, string) {
	t.Helper()
	d := startSSHD(t)
	d.trust(t)
	own := filepath.Join(t.TempDir(), "known_hosts")
	return d, New(map[string]Host{"here": d.host}, Options{Accepted: own, Clock: still{}}), own
}

// Who never used ssh on this machine has no file of known hosts: that is an empty one.
func TestAnAccountThatNeverUsedSSHCanAcceptAKey(t *testing.T) {
	t.Parallel()
	d, _, own := accepting(t)
	d.host.KnownHosts = filepath.Join(t.TempDir(), ".ssh", "known_hosts")
	h := New(map[string]Host{"here": d.host}, Options{Accepted: own, Clock: still{}})
	if _, err := h.Read(t.Context(), "here", snapshot.ProfileWatch); !errors.Is(err, ErrUnknownHostKey) {
		t.Fatal(err)
	}
	if k, err := h.Accept(t.Context(), "here", ssh.FingerprintSHA256(d.keys["ed25519"]), "cloud console", "kim"); err != nil || k.State != snapshot.KeyAccepted {
		t.Fatal(k, err)
	}
	if _, err := h.Read(t.Context(), "here", snapshot.ProfileWatch); err != nil {
		t.Fatal(err)
	}
}

func TestAnAcceptedKeyIsKeptWithWhoAndWhy(t *testing.T) {
	t.Parallel()
	d, h, own := accepting(t)
	if _, err := h.Read(t.Context(), "here", snapshot.ProfileWatch); !errors.Is(err, ErrUnknownHostKey) || !strings.Contains(err.Error(), "cordon host accept here ") {
		t.Fatal(err)
	}
	for _, kind := range []string{"rsa", "ed25519", "ecdsa"} { // whichever the person has the fingerprint of
		_ = os.Remove(own) // of the kind before
		fp := ssh.FingerprintSHA256(d.keys[kind])
		for range 2 { // the second time it is known already
			k, err := h.Accept(t.Context(), "here", fp, "cloud console"+escapes, "kim")
			if err != nil || k.State != snapshot.KeyAccepted || k.Shown != fp {
				t.Fatalf("%s: %+v %v", kind, k, err)
			}
		}
	}
	s, err := h.Read(t.Context(), "here", snapshot.ProfileWatch)
	if err != nil {
		t.Fatal(err)
	}
	k := s.Carried.HostKey
	if k.State != snapshot.KeyAccepted || !strings.Contains(k.Why, "2026-01-01T00:00:00Z by kim, source: cloud console") || strings.ContainsAny(k.Why, "\x1b\r\n\u202e") {
		t.Errorf("%+v", k)
	}
	if st, err := os.Stat(own); err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", st, err)
	}
}

func TestWhatMayNotBeAccepted(t *testing.T) {
	t.Parallel()
	d, h, own := accepting(t)
	good := ssh.FingerprintSHA256(d.keys["ed25519"])
	other, _ := newKey(t)
	for name, c := range map[string]struct {
		fp, source string
		want       error
	}{
		"another key":  {ssh.FingerprintSHA256(other.PublicKey()), "console", ErrNotThatKey},
		"no source":    {good, " ", ErrBadConfig},
		"no print":     {"", "console", ErrBadConfig},
		"an MD5 print": {"MD5:00:11", "console", ErrBadConfig},
		"half a print": {good[:20], "console", ErrBadConfig},
		"any print":    {"SHA256:*", "console", ErrBadConfig},
	} {
		if _, err := h.Accept(t.Context(), "here", c.fp, c.source, "kim"); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	d.trust(t, other.PublicKey()) // it is known by another key: changed, not unknown
	if _, err := h.Accept(t.Context(), "here", good, "console", "kim"); !errors.Is(err, ErrHostKeyChanged) {
		t.Errorf("in place of another: %v", err)
	}
	if _, err := os.Stat(own); err == nil {
		t.Error("something was written")
	}
}

// token is an agent with one FIDO key made in software: it signs as the real one does
// after a touch (PROTOCOL.u2f), and counts the touches.
type token struct {
	agent.Agent
	key     ed25519.PrivateKey
	mu      sync.Mutex
	touches int
}

const skType = "sk-ssh-ed25519@openssh.com"

func (k *token) public() []byte {
	return ssh.Marshal(struct {
		Type string
		Key  []byte
		App  string
	}{skType, k.key.Public().(ed25519.PublicKey), "ssh:"})
}

func (k *token) List() ([]*agent.Key, error) {
	return []*agent.Key{{Format: skType, Blob: k.public(), Comment: "token"}}, nil
}

func (k *token) Sign(_ ssh.PublicKey, data []byte) (*ssh.Signature, error) {
	k.mu.Lock()
	k.touches++
	k.mu.Unlock()
	app, msg := sha256.Sum256([]byte("ssh:")), sha256.Sum256(data)
	counter := binary.BigEndian.AppendUint32([]byte{1}, 7) // flags: a person was there
	blob := append(append(append([]byte{}, app[:]...), counter...), msg[:]...)
	sig, err := k.key.Sign(rand.Reader, blob, crypto.Hash(0))
	return &ssh.Signature{Format: skType, Blob: sig, Rest: counter}, err
}

func (k *token) SignWithFlags(key ssh.PublicKey, data []byte, _ agent.SignatureFlags) (*ssh.Signature, error) {
	return k.Sign(key, data)
}

func (k *token) Extension(string, []byte) ([]byte, error) { return nil, agent.ErrExtensionUnsupported }

// The person is told of every touch before anything is contacted, and no more are asked for.
func TestTouchesAreAnnouncedAndNoMoreAreNeeded(t *testing.T) {
	_, priv := newKey(t)
	k := &token{Agent: agent.NewKeyring(), key: priv}
	pub, err := ssh.ParsePublicKey(k.public())
	if err != nil {
		t.Fatal(err)
	}
	s := serve(t, answering(watchStream))
	s.change(func(c *ssh.ServerConfig) {
		c.PublicKeyCallback = func(_ ssh.ConnMetadata, got ssh.PublicKey) (*ssh.Permissions, error) {
			if string(got.Marshal()) != string(pub.Marshal()) {
				return nil, errors.New("another")
			}
			return nil, nil
		}
	})
	sock := filepath.Join(s.dir, "agent.sock")
	l, err := net.Listen("unix", sock)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			wg.Go(func() { _ = agent.ServeAgent(k, c); c.Close() })
		}
	})
	t.Cleanup(func() { l.Close(); wg.Wait() })
	x := s.host()
	x.Key, x.AgentSock = "", sock
	var got Exchange
	h := New(map[string]Host{"build-07": x}, Options{Timeouts: fast, Recorder: func(_ context.Context, e Exchange) { got = e }})
	look, err := h.Look(t.Context(), "build-07")
	if err != nil || look.Touches != 1 || look.Keys != ssh.FingerprintSHA256(pub) || k.touches != 0 || s.accepted.Load() != 0 {
		t.Fatalf("%+v %v, %d touches, %d connections", look, err, k.touches, s.accepted.Load())
	}
	if _, err := h.Read(t.Context(), "build-07", snapshot.ProfileWatch); err != nil || k.touches != look.Touches || got.UserKey != look.Keys {
		t.Errorf("%v, %d touches, key %s", err, k.touches, got.UserKey)
	}
}
