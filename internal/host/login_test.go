package host

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"sync"
	"testing"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"

	"cordon/internal/host/snapshot"
)

func TestASessionAsksForOneCommandAndNothingElse(t *testing.T) {
	var mu sync.Mutex
	var asked []string
	s := serve(t, func(s *server, c net.Conn) {
		_, chans, ok := s.login(c)
		if !ok {
			return
		}
		for nc := range chans {
			asked = append(asked, "channel "+nc.ChannelType())
			ch, reqs, _ := nc.Accept()
			go func() {
				for r := range reqs {
					mu.Lock()
					asked = append(asked, r.Type)
					mu.Unlock()
					_ = r.Reply(true, nil)
				}
			}()
			in, _ := io.ReadAll(ch)
			_, _ = io.WriteString(ch, watchStream(string(in)))
			ch.Close()
		}
	})
	if _, err := s.hosts(Options{}).Read(t.Context(), "build-07", snapshot.ProfileWatch); err != nil {
		t.Fatal(err)
	}
	mu.Lock()
	defer mu.Unlock()
	if fmt.Sprint(asked) != "[channel session exec]" {
		t.Errorf("%v", asked)
	}
}

func TestSudoRunsTheSameScript(t *testing.T) {
	s := serve(t, answering(watchStream))
	for sudo, want := range map[bool]string{false: "exec /bin/sh -s", true: "exec sudo -n /bin/sh -s"} {
		x := s.host()
		x.Sudo = sudo
		var got Exchange
		h := New(map[string]Host{"build-07": x}, Options{Timeouts: fast, Recorder: func(_ context.Context, e Exchange) { got = e }})
		_, err := h.Read(t.Context(), "build-07", snapshot.ProfileWatch)
		if err != nil || s.command.Load() != want || got.Sudo != sudo || got.SHA256 != collector().SHA256 {
			t.Errorf("%v: %v, %+v, %v", sudo, s.command.Load(), got, err)
		}
	}
}

// serveAgent is a local SSH agent with the given keys.
func serveAgent(t *testing.T, dir string, keys ...any) string {
	t.Helper()
	ring := agent.NewKeyring()
	for _, k := range keys {
		add, ok := k.(agent.AddedKey)
		if !ok {
			add = agent.AddedKey{PrivateKey: k}
		}
		if err := ring.Add(add); err != nil {
			t.Fatal(err)
		}
	}
	sock := dir + "/agent.sock"
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
			wg.Go(func() { _ = agent.ServeAgent(ring, c); c.Close() })
		}
	})
	t.Cleanup(func() { l.Close(); wg.Wait() })
	return sock
}

func TestOneChosenKeyOfTheAgentIsOffered(t *testing.T) {
	s := serve(t, answering(watchStream))
	user, userPriv := newKey(t)
	s.mu.Lock()
	s.user = user
	s.mu.Unlock()
	other, otherPriv := newKey(t)
	x := s.host()
	x.AgentSock = serveAgent(t, s.dir, &otherPriv, &userPriv)
	try := func(key string) error {
		x.Key = key
		_, err := New(map[string]Host{"build-07": x}, Options{Timeouts: fast}).Read(t.Context(), "build-07", snapshot.ProfileWatch)
		return err
	}
	if err := try(ssh.FingerprintSHA256(user.PublicKey())); err != nil {
		t.Error(err)
	}
	if err := try(s.write("id.pub", string(ssh.MarshalAuthorizedKey(user.PublicKey())))); err != nil {
		t.Error(err)
	}
	for _, key := range []string{"", "SHA256:nobody", s.dir + "/known_hosts"} {
		if err := try(key); !errors.Is(err, ErrKey) {
			t.Errorf("key %q: %v", key, err)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.offered) == 0 || slices.Contains(s.offered, ssh.FingerprintSHA256(other.PublicKey())) {
		t.Error("another key of the agent was shown to the host")
	}
}

// An agent's certificate goes with its key: where the key is the chosen one, so is it.
func TestAnAgentsCertificateIsOfferedWithItsKey(t *testing.T) {
	ca, _ := newKey(t)
	user, userPriv := newKey(t)
	_, otherPriv := newKey(t)
	s := serve(t, answering(watchStream))
	checker := &ssh.CertChecker{IsUserAuthority: func(k ssh.PublicKey) bool {
		return ssh.FingerprintSHA256(k) == ssh.FingerprintSHA256(ca.PublicKey())
	}}
	s.change(func(c *ssh.ServerConfig) { c.PublicKeyCallback = checker.Authenticate })
	cert := &ssh.Certificate{
		Key: user.PublicKey(), CertType: ssh.UserCert, KeyId: "ir-2026", ValidPrincipals: []string{"ir"},
		ValidBefore: ssh.CertTimeInfinity,
	}
	if err := cert.SignCert(rand.Reader, ca); err != nil {
		t.Fatal(err)
	}
	x := s.host()
	x.AgentSock = serveAgent(t, s.dir, &otherPriv, &userPriv, agent.AddedKey{PrivateKey: &userPriv, Certificate: cert})
	x.Key = ssh.FingerprintSHA256(user.PublicKey())
	snap, err := New(map[string]Host{"build-07": x}, Options{Timeouts: fast}).Read(t.Context(), "build-07", snapshot.ProfileWatch)
	if err != nil || snap.Carried.UserKey != x.Key+" (certificate ir-2026)" {
		t.Errorf("%v %+v", err, snap)
	}
}
