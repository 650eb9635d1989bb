package host

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"

	"cordon/internal/host/snapshot"
	"cordon/internal/testenv"
)

// pair is a jump host and a host behind it, two real sshd, and a configuration for ssh
// that leads through the first. Both are known.
type pair struct {
	jump, inner *sshd
	dir         string
	config      string // with {jump}, {inner} and {dir} to be replaced
}

func newPair(t *testing.T, more ...string) *pair {
	p := &pair{jump: startSSHD(t), inner: startSSHD(t, more...), dir: t.TempDir()}
	p.know(t, p.jump.keys["ed25519"], p.inner.keys["ed25519"])
	p.config = fmt.Sprintf(`
Host gate
  HostName 127.0.0.1
  Port %s
  IdentityFile %s
Host build-07
  HostName 127.0.0.1
  Port %s
  IdentityFile %s
  ProxyJump gate
Host *
  User %s
  IdentitiesOnly yes
  IdentityAgent none
  UserKnownHostsFile {dir}/known_hosts
  GlobalKnownHostsFile none
`, port(p.jump), p.jump.host.Key, port(p.inner), p.inner.host.Key, p.inner.host.User)
	return p
}

func port(d *sshd) string {
	_, p, _ := net.SplitHostPort(d.host.Address)
	return p
}

func (p *pair) know(t *testing.T, jump, inner ssh.PublicKey) {
	t.Helper()
	var b strings.Builder
	for _, x := range []struct {
		at  string
		key ssh.PublicKey
	}{{p.jump.host.Address, jump}, {p.inner.host.Address, inner}} {
		if x.key != nil {
			b.WriteString(knownhosts.Line([]string{x.at}, x.key) + "\n")
		}
	}
	if err := os.WriteFile(filepath.Join(p.dir, "known_hosts"), []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
}

// hosts is the System with the host behind the jump host as "build-07".
func (p *pair) hosts(t *testing.T, o Options) *Hosts {
	t.Helper()
	file := filepath.Join(p.dir, "ssh_config")
	if err := os.WriteFile(file, []byte(strings.ReplaceAll(p.config, "{dir}", p.dir)), 0o600); err != nil {
		t.Fatal(err)
	}
	o.SSH, o.Marker = []string{testenv.Need(t, "ssh"), "-F", file}, marker
	return New(map[string]Host{"build-07": {Ask: []string{"--", "build-07"}, Reread: true}}, o)
}

func TestAHostBehindAJumpHostIsReadEndToEnd(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	var dialled atomic.Int64
	var got Exchange
	h := p.hosts(t, Options{
		Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
			dialled.Add(1)
			if address != p.jump.host.Address {
				t.Errorf("dialled %s", address)
			}
			return (&net.Dialer{}).DialContext(ctx, network, address)
		},
		Recorder: func(_ context.Context, x Exchange) { got = x },
	})
	s, err := h.Read(t.Context(), "build-07", snapshot.ProfileWatch)
	if err != nil || !s.Complete {
		t.Fatal(err)
	}
	want := fmt.Sprintf("%s@%s via %s@%s", p.inner.host.User, p.inner.host.Address, p.jump.host.User, p.jump.host.Address)
	if s.Carried.Carrier != want || dialled.Load() != 1 {
		t.Errorf("carried by %q in %d connections, want %q", s.Carried.Carrier, dialled.Load(), want)
	}
	if got.HostKey != ssh.FingerprintSHA256(p.inner.keys["ed25519"]) || !strings.HasPrefix(got.Server, "SSH-2.0-OpenSSH") {
		t.Errorf("%+v", got)
	}
	l, err := h.Look(t.Context(), "build-07")
	if err != nil || l.Problem != "" || l.Way != want || !strings.Contains(strings.Join(l.Effects, "\n"), "jump host "+p.jump.host.Address) {
		t.Errorf("%+v %v", l, err)
	}
}

// A jump host carries bytes. It cannot answer in the place of the host, and what is
// unknown or changed on the way stops before anything is sent.
func TestEveryHopIsStrict(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	other, _ := newKey(t)
	for name, c := range map[string]struct {
		jump, inner ssh.PublicKey
		want        error
		hop         string
		shown       ssh.PublicKey
	}{
		"the host's key changed":   {p.jump.keys["ed25519"], other.PublicKey(), ErrHostKeyChanged, "", p.inner.keys["ed25519"]},
		"the host is not known":    {p.jump.keys["ed25519"], nil, ErrUnknownHostKey, "", nil},
		"the jump host's changed":  {other.PublicKey(), p.inner.keys["ed25519"], ErrHostKeyChanged, p.jump.host.Address, p.jump.keys["ed25519"]},
		"the jump host not known":  {nil, p.inner.keys["ed25519"], ErrUnknownHostKey, p.jump.host.Address, nil},
		"the jump host's for both": {p.jump.keys["ed25519"], p.jump.keys["ed25519"], ErrHostKeyChanged, "", p.inner.keys["ed25519"]},
	} {
		t.Run(name, func(t *testing.T) {
			p.know(t, c.jump, c.inner)
			var got Exchange
			to := &sink{}
			h := p.hosts(t, Options{Recorder: func(_ context.Context, x Exchange) { got = x }})
			gaps, err := h.Gather(t.Context(), ref("build-07"), snapshot.ProfileTriage, to)
			if err != nil || len(gaps) == 0 || got.Sent {
				t.Fatalf("gaps %v, err %v, sent %v", gaps, err, got.Sent)
			}
			snap := gathered(t, to, RefusedName("build-07"))
			k := snap.Carried.HostKey
			if snap.Complete || k == nil || k.Hop != c.hop {
				t.Fatalf("kept %+v", snap.Carried)
			}
			f := found(snap)
			if c.want == ErrHostKeyChanged && (len(f) != 1 || !strings.Contains(f[0], "high host-key") || !strings.Contains(f[0], ssh.FingerprintSHA256(c.shown))) {
				t.Errorf("findings %v", f)
			}
			if c.want == ErrUnknownHostKey && (len(f) != 0 || k.State != snapshot.KeyUnknown) {
				t.Errorf("findings %v, state %s", f, k.State)
			}
		})
	}
}

func TestAProxyCommandCarriesTheConnection(t *testing.T) {
	p := newPair(t)
	before := descriptors(t)
	nc := filepath.Join(p.dir, "nc")
	if err := os.WriteFile(nc, []byte("#!"+testenv.Need(t, "bash")+"\nexec 3<>/dev/tcp/$1/$2\ncat <&3 &\ncat >&3\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	p.config = strings.Replace(p.config, "ProxyJump gate", "ProxyCommand "+nc+" %h %p", 1)
	s, err := p.hosts(t, Options{}).Read(t.Context(), "build-07", snapshot.ProfileWatch)
	if err != nil || !s.Complete || !strings.HasSuffix(s.Carried.Carrier, "by ProxyCommand") {
		t.Errorf("%v %+v", err, s)
	}
	for command, want := range map[string]error{"sleep 1000 & cat >/dev/null; sleep 1000": ErrSilent, "exit 1": ErrUnreachable} {
		q := *p
		q.config = strings.Replace(p.config, nc+" %h %p", "sh -c '"+command+"'", 1)
		if _, err := q.hosts(t, Options{Timeouts: fast}).Read(t.Context(), "build-07", snapshot.ProfileWatch); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", command, err, want)
		}
	}
	if after := descriptors(t); after > before {
		t.Errorf("%d descriptors before, %d after", before, after)
	}
}

// certify writes a certificate for the public key beside it.
func certify(t *testing.T, ca ssh.Signer, kind uint32, key ssh.PublicKey, path string, from, to time.Time, names ...string) {
	t.Helper()
	c := &ssh.Certificate{
		Key: key, CertType: kind, KeyId: "cordon-test", ValidPrincipals: names,
		ValidAfter: uint64(from.Unix()), ValidBefore: uint64(to.Unix()), Serial: 1,
	}
	if err := c.SignCert(rand.Reader, ca); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, ssh.MarshalAuthorizedKey(c), 0o600); err != nil {
		t.Fatal(err)
	}
}

// A certificate logs in where its plain key does not: IdentityFile's -cert.pub, and CertificateFile.
func TestACertificateLogsIn(t *testing.T) {
	t.Parallel()
	ca, _ := newKey(t)
	dir := t.TempDir()
	if err := os.WriteFile(dir+"/ca.pub", ssh.MarshalAuthorizedKey(ca.PublicKey()), 0o600); err != nil {
		t.Fatal(err)
	}
	p := newPair(t, "TrustedUserCAKeys "+dir+"/ca.pub")
	if err := os.Remove(p.inner.dir + "/authorized_keys"); err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	pub := readKey(t, p.inner.host.Key)
	read := func() (*snapshot.Snapshot, error) {
		return p.hosts(t, Options{}).Read(t.Context(), "build-07", snapshot.ProfileWatch)
	}
	if _, err := read(); !errors.Is(err, ErrLogin) {
		t.Errorf("without a certificate: %v", err)
	}
	certify(t, ca, ssh.UserCert, pub, p.inner.host.Key+"-cert.pub", now.Add(-time.Hour), now.Add(time.Hour), p.inner.host.User)
	s, err := read()
	if err != nil || !strings.Contains(s.Carried.UserKey, "certificate cordon-test") {
		t.Errorf("beside the key: %v", err)
	}
	if err := os.Rename(p.inner.host.Key+"-cert.pub", dir+"/elsewhere.pub"); err != nil {
		t.Fatal(err)
	}
	p.config = strings.Replace(p.config, "  ProxyJump gate\n", "  ProxyJump gate\n  CertificateFile "+dir+"/elsewhere.pub\n", 1)
	if _, err := read(); err != nil {
		t.Errorf("CertificateFile: %v", err)
	}
}

func readKey(t *testing.T, path string) ssh.PublicKey {
	t.Helper()
	s, err := privateKey(path)
	if err != nil {
		t.Fatal(err)
	}
	return s.PublicKey()
}

// A host certificate counts where its authority is known for the host's name, and is in
// time; an authority's own key is nobody's host key.
func TestAHostCertificateIsAccepted(t *testing.T) {
	ca, _ := newKey(t)
	stranger, _ := newKey(t)
	now := time.Now()
	for name, c := range map[string]struct {
		signer   ssh.Signer
		kind     uint32
		from, to time.Time
		name     string
		want     error
	}{
		"good":               {ca, ssh.HostCert, now.Add(-time.Hour), now.Add(time.Hour), "127.0.0.1", nil},
		"out of time":        {ca, ssh.HostCert, now.Add(-2 * time.Hour), now.Add(-time.Hour), "127.0.0.1", ErrUnknownHostKey},
		"another name":       {ca, ssh.HostCert, now.Add(-time.Hour), now.Add(time.Hour), "build-08", ErrUnknownHostKey},
		"another authority":  {stranger, ssh.HostCert, now.Add(-time.Hour), now.Add(time.Hour), "127.0.0.1", ErrUnknownHostKey},
		"a user certificate": {ca, ssh.UserCert, now.Add(-time.Hour), now.Add(time.Hour), "127.0.0.1", ErrUnknownHostKey},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, answering(watchStream))
			cert := &ssh.Certificate{
				Key: s.hostKey.PublicKey(), CertType: c.kind, ValidPrincipals: []string{c.name},
				ValidAfter: uint64(c.from.Unix()), ValidBefore: uint64(c.to.Unix()),
			}
			if err := cert.SignCert(rand.Reader, c.signer); err != nil {
				t.Fatal(err)
			}
			signer, err := ssh.NewCertSigner(cert, s.hostKey)
			if err != nil {
				t.Fatal(err)
			}
			s.change(func(c *ssh.ServerConfig) { c.AddHostKey(signer) })
			s.write("known_hosts", "@cert-authority "+knownhosts.Line([]string{s.addr}, ca.PublicKey())+"\n")
			snap, err := s.hosts(Options{}).Read(t.Context(), "build-07", snapshot.ProfileWatch)
			if !errors.Is(err, c.want) {
				t.Fatalf("%v, want %v", err, c.want)
			}
			if c.want == nil && (snap.Carried.HostKey.State != snapshot.KeyCertified || !strings.Contains(snap.Carried.HostKey.Why, ssh.FingerprintSHA256(ca.PublicKey()))) {
				t.Errorf("%+v", snap.Carried.HostKey)
			}
		})
	}
	t.Run("the authority's own key", func(t *testing.T) {
		s := serve(t, answering(watchStream))
		s.write("known_hosts", "@cert-authority "+knownhosts.Line([]string{s.addr}, s.hostKey.PublicKey())+"\n")
		tr, err := trustOf("b7", s.addr, []string{s.dir + "/known_hosts"}, "")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tr.judge(s.hostKey.PublicKey()); !errors.Is(err, ErrUnknownHostKey) {
			t.Errorf("%v", err)
		}
	})
}

// A jump host may ask a person (a one-time code); a target never gets so far.
func TestOnlyAJumpHostMayAsk(t *testing.T) {
	var asked []string
	jump := serve(t, func(s *server, c net.Conn) { s.login(c) })
	jump.change(func(c *ssh.ServerConfig) {
		c.PublicKeyCallback = nil
		c.KeyboardInteractiveCallback = func(_ ssh.ConnMetadata, ask ssh.KeyboardInteractiveChallenge) (*ssh.Permissions, error) {
			got, err := ask("", "", []string{"Code" + escapes}, []bool{false})
			if err != nil || len(got) != 1 || got[0] != "123456" {
				return nil, errors.New("no")
			}
			return nil, nil
		}
	})
	o := Options{Timeouts: fast, Ask: func(_ context.Context, q string, echo bool) (string, error) {
		asked = append(asked, q)
		return "123456", nil
	}}
	h := New(map[string]Host{"build-07": jump.host()}, o)
	if _, err := h.Read(t.Context(), "build-07", snapshot.ProfileWatch); !errors.Is(err, ErrLogin) || len(asked) != 0 {
		t.Fatalf("a target: %v, asked %q", err, asked)
	}
	as := jump.host()
	r := route{hops: []hop{
		{address: jump.addr, known: jump.addr, user: "ir", trusted: []string{as.KnownHosts}, keys: keys{one: as.Key}, jump: true},
		{address: "127.0.0.1:1", known: "127.0.0.1:1", user: "ir", trusted: []string{as.KnownHosts}, keys: keys{one: as.Key}},
	}}
	logins, err := h.prepare(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	defer closeAll(logins)
	conn, err := net.Dial("tcp", jump.addr)
	if err != nil {
		t.Fatal(err)
	}
	c, chans, reqs, err := ssh.NewClientConn(conn, jump.addr, logins[0].config)
	if err != nil {
		t.Fatal(err)
	}
	go ssh.DiscardRequests(reqs)
	go func() {
		for range chans {
		}
	}()
	c.Close()
	if len(asked) != 1 || !strings.Contains(asked[0], "Code") || strings.ContainsAny(asked[0], "\x1b\r\n\u202e") {
		t.Errorf("asked %q", asked)
	}
}
