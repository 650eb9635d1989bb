package host

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"cordon/internal/testenv"
)

// configured is a Hosts that asks the real OpenSSH about a configuration of its own.
func configured(t *testing.T, config string) (*Hosts, string) {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "ssh_config")
	if err := os.WriteFile(file, []byte(strings.ReplaceAll(config, "{dir}", dir)), 0o600); err != nil {
		t.Fatal(err)
	}
	return New(nil, Options{SSH: []string{testenv.Need(t, "ssh"), "-F", file}, Timeouts: fast}), dir
}

func way(t *testing.T, h *Hosts, name string) route {
	t.Helper()
	r, err := h.route(t.Context(), Host{Name: name, Ask: []string{"--", name}})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// OpenSSH reads its own configuration: what Go libraries misread (Match exec, Match
// final, Include) is as it is for the person who types ssh.
func TestStockFedoraConfigurationIsReadAsOpenSSHReadsIt(t *testing.T) {
	h, dir := configured(t, `
Host build-*
  User ir
  IdentityFile {dir}/id_ir
Host gone.example
  User nobody
Match all
`+fixture(t, "fedora_ssh_config"))
	for name, at := range map[string]string{"fedora_50-redhat.conf": "ssh_config.d/50-redhat.conf", "fedora_openssh.config": "crypto-policies/openssh.config"} {
		p := filepath.Join(dir, at)
		if err := os.MkdirAll(filepath.Dir(p), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(strings.ReplaceAll(fixture(t, name), "{dir}", dir)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r := way(t, h, "build-07")
	if got := r.String(); got != "ir@build-07:22" || len(r.hops) != 1 || !slices.Equal(r.hops[0].keys.files, []string{dir + "/id_ir"}) {
		t.Errorf("%s, keys %v", got, r.hops[0].keys.files)
	}
	var used ssh.ClientConfig
	if err := r.hops[0].allowed.apply(&used); err != nil || used.Ciphers[0] != "aes256-gcm@openssh.com" || slices.Contains(used.KeyExchanges, "mlkem768x25519-sha256") {
		t.Errorf("the crypto policy does not count: %v %v %v", err, used.Ciphers, used.KeyExchanges)
	}
	c, err := h.asked(t.Context(), []string{"--", "build-07"})
	if err != nil || c.one("gssapiauthentication") != "yes" || !strings.HasPrefix(c.one("ciphers"), "aes256-gcm@openssh.com,") {
		t.Errorf("Match final and its Include were not read: %v %q", err, c.one("ciphers"))
	}
}

func fixture(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestMatchExecDecidesAsItDoesForSSH(t *testing.T) {
	h, _ := configured(t, `
Match host build-07 exec "test -n %h"
  User yes
  Port 2207
Match host build-08 exec "false"
  User wrong
Host *
  User no
`)
	if got := way(t, h, "build-07").String(); got != "yes@build-07:2207" {
		t.Error(got)
	}
	if got := way(t, h, "build-08").String(); got != "no@build-08:22" {
		t.Error(got)
	}
}

// A policy that leaves nothing is said, not overruled.
func TestWhatTheConfigurationForbidsIsNotUsed(t *testing.T) {
	known := func() *ssh.ClientConfig {
		return &ssh.ClientConfig{HostKeyAlgorithms: []string{ssh.KeyAlgoED25519, ssh.KeyAlgoECDSA256}}
	}
	c := known()
	if err := (allowed{hostKeys: []string{ssh.KeyAlgoECDSA256, ssh.KeyAlgoRSASHA256}}).apply(c); err != nil || !slices.Equal(c.HostKeyAlgorithms, []string{ssh.KeyAlgoECDSA256}) {
		t.Errorf("%v %v", err, c.HostKeyAlgorithms)
	}
	for what, a := range map[string]allowed{
		"Ciphers": {ciphers: []string{"3des-cbc"}}, "MACs": {macs: []string{"umac-64@openssh.com"}},
		"KexAlgorithms": {exchanges: []string{"diffie-hellman-group1-sha1"}}, "HostKeyAlgorithms": {hostKeys: []string{ssh.KeyAlgoRSASHA512}},
	} {
		if err := a.apply(known()); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%s: %v", what, err)
		}
	}
	c = known()
	if err := (allowed{}).apply(c); err != nil || c.Ciphers != nil || len(c.HostKeyAlgorithms) != 2 {
		t.Errorf("%v %+v", err, c)
	}
}

// What hangs in a person's configuration must not hang a containment.
func TestAMatchExecThatHangsIsGivenUp(t *testing.T) {
	h, _ := configured(t, "Match exec \"sleep 1000\"\n  User x\n")
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	_, err := h.route(ctx, Host{Name: "a", Ask: []string{"--", "a"}})
	if err == nil || !strings.Contains(err.Error(), "Match exec") {
		t.Error(err)
	}
}

func TestWhatTheConfigurationNamesIsHonoured(t *testing.T) {
	h, dir := configured(t, `
Host full
  HostName 192.0.2.7
  Port 2222
  User ir
  HostKeyAlias build-07
  IdentityFile "{dir}/my keys/%r-%h"
  IdentityFile ${CORDON_TEST_DIR}/second
  CertificateFile {dir}/cert.pub
  IdentitiesOnly yes
  IdentityAgent {dir}/agent
  UserKnownHostsFile {dir}/known "{dir}/a b" {dir}/missing
  GlobalKnownHostsFile /dev/null
  ConnectTimeout 7
Host noagent
  IdentityAgent none
  UserKnownHostsFile none
`)
	t.Setenv("CORDON_TEST_DIR", dir)
	for _, f := range []string{"known", "a b"} {
		if err := os.WriteFile(filepath.Join(dir, f), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r := way(t, h, "full")
	o := r.hops[0]
	for _, c := range [][2]string{
		{r.String(), "ir@192.0.2.7:2222"},
		{o.known, "build-07:22"},
		{strings.Join(o.keys.files, "|"), dir + "/my keys/ir-192.0.2.7|" + dir + "/second"},
		{strings.Join(o.keys.certs, "|"), dir + "/cert.pub"},
		{strings.Join(o.trusted, "|"), dir + "/known|" + dir + "/a b"},
		{o.keys.sock, dir + "/agent"},
		{o.connect.String(), "7s"},
	} {
		if c[0] != c[1] {
			t.Errorf("got %q, want %q", c[0], c[1])
		}
	}
	if !o.keys.only || o.jump {
		t.Errorf("%+v", o)
	}
	if o := way(t, h, "noagent").hops[0]; o.keys.sock != "" || len(o.trusted) != 0 && strings.Contains(o.trusted[0], dir) {
		t.Errorf("%+v", o)
	}
}

func TestJumpHostsAreFoundAsOpenSSHFindsThem(t *testing.T) {
	h, _ := configured(t, `
Host inner
  HostName 10.0.0.7
  User root
  ProxyJump ops@gate:2222,second
Host gate
  ProxyJump outer
  HostKeyAlias the-gate
Host outer
  HostName 192.0.2.1
  ProxyCommand nc %h %p
Host second
  User sec
  ProxyCommand never used here
Host ring
  ProxyJump ring
Host v6
  ProxyJump a@[2001:db8::1]:2022
Host broken
  ProxyCommand x %T
`)
	r := way(t, h, "inner")
	me := r.hops[0].user
	if got, want := r.String(), "root@10.0.0.7:22 via sec@second:22 via ops@gate:2222 via "+me+"@192.0.2.1:22 by ProxyCommand"; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	if r.command != "nc 192.0.2.1 22" || r.hops[1].known != "the-gate:22" || !r.hops[0].jump || !r.hops[2].jump || r.hops[3].jump {
		t.Errorf("%+v", r)
	}
	if got := way(t, h, "v6").hops[0]; got.address != "[2001:db8::1]:2022" || got.user != "a" {
		t.Errorf("%+v", got)
	}
	for name, want := range map[string]string{"ring": "loop", "broken": "%T"} {
		if _, err := h.route(t.Context(), Host{Name: name, Ask: []string{"--", name}}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A host name reaches a shell only in a ProxyCommand, and only as a plain word.
func TestNothingThatAShellReadsComesFromAName(t *testing.T) {
	for _, bad := range []string{"$(id)", "a;b", "a b", "-oX", "a`b", "a'b", ""} {
		s := settings{host: bad, values: map[string][]string{"hostname": {bad}, "port": {"22"}, "user": {"u"}, "proxycommand": {"nc %h %p"}}}
		if c, err := s.command(); err == nil {
			t.Errorf("%q became %q", bad, c)
		}
		if _, err := s.hop(); err == nil {
			t.Errorf("%q is an address", bad)
		}
	}
	s := settings{host: "a", values: map[string][]string{"hostname": {"a"}, "port": {"22"}, "user": {"u"}, "proxycommand": {"nc %% %h %p %r %n"}}}
	if c, err := s.command(); err != nil || c != "nc % a 22 u a" {
		t.Errorf("%q %v", c, err)
	}
	if args, err := jumpArgs("ssh://a@b:22/"); err != nil || strings.Join(args, " ") != "-l a -p 22 -- b" {
		t.Errorf("%v %v", args, err)
	}
	for _, bad := range []string{"-x", "@", "a@-b", ""} {
		if args, err := jumpArgs(bad); err == nil {
			t.Errorf("%q became %v", bad, args)
		}
	}
}

func TestWithoutOpenSSHTheMessageSaysWhatToWrite(t *testing.T) {
	h := New(map[string]Host{"a": {Ask: []string{"--", "a"}}}, Options{SSH: []string{"cordon-no-such-ssh"}})
	l, err := h.Look(t.Context(), "a")
	if err != nil || !strings.Contains(l.Problem, "known_hosts under hosts") {
		t.Errorf("%+v %v", l, err)
	}
}
