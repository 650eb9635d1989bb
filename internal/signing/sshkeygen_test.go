package signing

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"cordon/internal/secret"
	"cordon/internal/testenv"
)

var message = []byte("the bytes that are signed\n")

// sshKeygen runs the real one and returns its output and whether it said yes.
func sshKeygen(t *testing.T, stdin []byte, args ...string) (string, bool) {
	t.Helper()
	cmd := exec.Command(testenv.Need(t, "ssh-keygen"), args...)
	cmd.Stdin = bytes.NewReader(stdin)
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("ssh-keygen %v: %v", args, err)
	}
	return string(out), err == nil
}

func write(t *testing.T, dir, name string, b []byte) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func newKey(t *testing.T, dir, name, passphrase string, args ...string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if out, ok := sshKeygen(t, nil, append([]string{"-q", "-N", passphrase, "-C", "x", "-f", path}, args...)...); !ok {
		t.Fatal(out)
	}
	return path
}

var keyTypes = map[string][]string{
	"ed25519": {"-t", "ed25519"}, "rsa": {"-t", "rsa", "-b", "2048"}, "rsa-pem": {"-t", "rsa", "-b", "2048", "-m", "PEM"},
	"p256": {"-t", "ecdsa", "-b", "256"}, "p384": {"-t", "ecdsa", "-b", "384"}, "p521": {"-t", "ecdsa", "-b", "521"},
}

func TestSSHKeygenAcceptsWhatWeSign(t *testing.T) {
	dir := t.TempDir()
	for name, args := range keyTypes {
		s, err := FromFile(newKey(t, dir, name, "", args...), nil)
		if err != nil {
			t.Fatal(err)
		}
		accepted(t, s)
		if pub, _ := os.ReadFile(filepath.Join(dir, name+".pub")); strings.TrimSuffix(string(pub), " x\n") != s.PublicKey() {
			t.Errorf("%s: public key %s", name, s.PublicKey())
		}
	}
	s, err := Ephemeral()
	if err != nil {
		t.Fatal(err)
	}
	accepted(t, s)
}

// accepted has ssh-keygen check a signature of s, and refuse it for other bytes,
// another namespace and another principal.
func accepted(t *testing.T, s Signer) {
	t.Helper()
	dir := t.TempDir()
	armored, err := s.Sign(NamespaceBundle, message)
	if err != nil {
		t.Fatal(err)
	}
	sig := write(t, dir, "m.sig", armored)
	line, err := AllowedLine("alice@example.org", s)
	if err != nil {
		t.Fatal(err)
	}
	list := write(t, dir, "allowed", []byte("# who\n"+line+"\n"))
	verify := func(msg []byte, who, ns string) bool {
		_, ok := sshKeygen(t, msg, "-Y", "verify", "-f", list, "-I", who, "-n", ns, "-s", sig)
		return ok
	}
	if !verify(message, "alice@example.org", NamespaceBundle) {
		t.Errorf("%s %s: ssh-keygen refuses it", s.Kind(), s.PublicKey())
	}
	if verify([]byte("other"), "alice@example.org", NamespaceBundle) || verify(message, "alice@example.org", "file") || verify(message, "bob@example.org", NamespaceBundle) {
		t.Errorf("%s: ssh-keygen accepts anything", s.Kind())
	}
	if out, ok := sshKeygen(t, nil, "-Y", "find-principals", "-f", list, "-s", sig); !ok || !strings.HasPrefix(out, "alice@example.org") {
		t.Errorf("find-principals: %q", out)
	}
	if strings.HasPrefix(s.PublicKey(), "ssh-rsa") && !bytes.Contains(mustUnarmor(t, armored), []byte("rsa-sha2-512")) {
		t.Error("an RSA signature that is not rsa-sha2-512")
	}
}

func mustUnarmor(t *testing.T, armored []byte) []byte {
	t.Helper()
	sig, err := unarmor(armored)
	if err != nil {
		t.Fatal(err)
	}
	return sig.Marshal()
}

func TestWeAcceptWhatSSHKeygenSigns(t *testing.T) {
	dir := t.TempDir()
	for name, args := range keyTypes {
		key := newKey(t, dir, name, "", args...)
		for _, hash := range []string{"sha512", "sha256"} {
			msg := write(t, dir, name+hash, message)
			if out, ok := sshKeygen(t, nil, "-Y", "sign", "-f", key, "-n", NamespaceBundle, "-O", "hashalg="+hash, msg); !ok {
				t.Fatal(out)
			}
			armored, _ := os.ReadFile(msg + ".sig")
			pub, _ := os.ReadFile(key + ".pub")
			allowed, err := ParseAllowed(strings.NewReader("alice@example.org " + string(pub)))
			if err != nil {
				t.Fatal(err)
			}
			who, fp, err := Verify(NamespaceBundle, message, armored, allowed, time.Time{})
			if err != nil || who != "alice@example.org" || fp != allowed[0].Fingerprint() {
				t.Errorf("%s %s: %q %q %v", name, hash, who, fp, err)
			}
			if _, _, err := Verify(NamespaceBundle, []byte("other"), armored, allowed, time.Time{}); !errors.Is(err, ErrBadSignature) || errors.Is(err, ErrNotAllowed) {
				t.Errorf("%s other bytes: %v", name, err)
			}
			if _, _, err := Verify(NamespaceHead, message, armored, allowed, time.Time{}); !errors.Is(err, ErrNamespace) || !errors.Is(err, ErrBadSignature) {
				t.Errorf("%s other namespace: %v", name, err)
			}
			if _, fp, err := Verify(NamespaceBundle, message, armored, nil, time.Time{}); !errors.Is(err, ErrNotAllowed) || fp == "" {
				t.Errorf("%s nobody allowed: %v", name, err)
			}
		}
	}
}

// Every line is put to ssh-keygen and to us; the two must say the same.
func TestAllowedSignersMeanTheSameToSSHKeygenAndUs(t *testing.T) {
	t.Setenv("TZ", "UTC")
	dir := t.TempDir()
	key := newKey(t, dir, "k", "", "-t", "ed25519")
	other := newKey(t, dir, "o", "", "-t", "ed25519")
	s, err := FromFile(key, nil)
	if err != nil {
		t.Fatal(err)
	}
	o, _ := FromFile(other, nil)
	armored, _ := s.Sign(NamespaceBundle, message)
	sig := write(t, dir, "sig", armored)
	yes, no := 0, 0
	for i, line := range []string{
		"alice@example.org KEY", "alice@example.org KEY a comment", "\"alice@example.org\" KEY", "alice@example.org\tKEY",
		"bob@example.org KEY", "*@example.org KEY", "a?ice@example.org KEY", "*,!alice@example.org KEY", "bob@x,alice@example.org KEY", "!bob@x KEY",
		"ALICE@example.org KEY", "al*/x KEY", "[a]lice@example.org KEY",
		`alice@example.org namespaces="cordon-bundle@v1" KEY`, `alice@example.org NAMESPACES="cordon-*" KEY`, `alice@example.org namespaces="file,git" KEY`,
		`alice@example.org namespaces="*,!cordon-bundle@v1" KEY`, `alice@example.org namespaces=cordon-bundle@v1 KEY`, `alice@example.org namespaces="" KEY`,
		`alice@example.org valid-after="20200101" KEY`, `alice@example.org valid-after="20990101Z" KEY`, `alice@example.org valid-before="20200101Z" KEY`,
		`alice@example.org valid-before="20990101" KEY`, `alice@example.org valid-after="202001010000",valid-before="20990101000000Z" KEY`,
		`alice@example.org valid-after="20990101",valid-before="20200101" KEY`, `alice@example.org valid-after="2020" KEY`,
		`alice@example.org valid-after="20261130120000Z" KEY`, `alice@example.org valid-before="20261130120000Z" KEY`, // exactly then
		`alice@example.org valid-after="20261130120001Z" KEY`, `alice@example.org valid-before="20261130115959Z" KEY`,
		`alice@example.org cert-authority KEY`, `alice@example.org cert-authority,namespaces="cordon-bundle@v1" KEY`,
		`alice@example.org unknown KEY`, `alice@example.org namespaces="cordon-*",namespaces="*" KEY`, `alice@example.org namespaces="cordon-*", KEY`,
		"alice@example.org OTHER", "# alice@example.org KEY", "", "KEY", "alice@example.org ssh-rsa AAAA",
	} {
		text := strings.NewReplacer("KEY", s.PublicKey(), "OTHER", o.PublicKey()).Replace(line) + "\n"
		list := write(t, dir, fmt.Sprintf("allowed%d", i), []byte(text))
		out, theirs := sshKeygen(t, message, "-Y", "verify", "-f", list, "-I", "alice@example.org", "-n", NamespaceBundle, "-s", sig, "-O", "verify-time=20261130120000Z")
		if theirs {
			yes++
		} else {
			no++
		}
		allowed, err := ParseAllowed(strings.NewReader(text))
		ours := err == nil
		if ours {
			_, _, err = Verify(NamespaceBundle, message, armored, allowed, time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC))
			ours = err == nil && allowed[0].Matches("alice@example.org")
		}
		if ours != theirs {
			t.Errorf("%q: ssh-keygen %v (%s), we %v (%v)", line, theirs, strings.TrimSpace(out), ours, err)
		}
	}
	if yes < 10 || no < 10 {
		t.Errorf("%d accepted, %d refused: ssh-keygen did not really judge", yes, no)
	}
}

func TestCertificatesAreRefusedByName(t *testing.T) {
	dir := t.TempDir()
	ca, key := newKey(t, dir, "ca", "", "-t", "ed25519"), newKey(t, dir, "k", "", "-t", "ed25519")
	if out, ok := sshKeygen(t, nil, "-q", "-s", ca, "-I", "id", "-n", "alice@example.org", key+".pub"); !ok {
		t.Fatal(out)
	}
	msg := write(t, dir, "m", message)
	caPub, _ := os.ReadFile(ca + ".pub")
	cert, _ := os.ReadFile(key + "-cert.pub")
	list := write(t, dir, "allowed", []byte("alice@example.org cert-authority "+string(caPub)))

	// A signature that names the certificate, as ssh-keygen makes through an agent.
	priv, _ := os.ReadFile(key)
	plain, err := ssh.ParsePrivateKey(priv)
	if err != nil {
		t.Fatal(err)
	}
	pub, _, _, _, err := ssh.ParseAuthorizedKey(cert)
	if err != nil {
		t.Fatal(err)
	}
	withCert, err := ssh.NewCertSigner(pub.(*ssh.Certificate), plain)
	if err != nil {
		t.Fatal(err)
	}
	armored, err := sign(withCert, NamespaceBundle, message)
	if err != nil {
		t.Fatal(err)
	}
	sig := write(t, dir, "m.sig", armored)
	if out, ok := sshKeygen(t, message, "-Y", "verify", "-f", list, "-I", "alice@example.org", "-n", NamespaceBundle, "-s", sig); !ok {
		t.Fatalf("the case is not the one meant, ssh-keygen refuses too: %s (%s)", out, msg)
	}
	raw, _ := os.ReadFile(list)
	allowed, err := ParseAllowed(bytes.NewReader(raw))
	if err != nil || !allowed[0].CertAuthority {
		t.Fatal(allowed, err)
	}
	_, _, err = Verify(NamespaceBundle, message, armored, allowed, time.Time{})
	if !errors.Is(err, ErrNotAllowed) || !strings.Contains(err.Error(), "cert-authority lines are not supported") {
		t.Error(err)
	}
}

func TestAnEncryptedKeyAsksForItsPassphrase(t *testing.T) {
	dir := t.TempDir()
	pass := strings.Repeat("q", 5) + t.Name()
	key := newKey(t, dir, "k", pass, "-t", "ed25519", "-a", "1")
	if _, err := FromFile(key, nil); !errors.Is(err, ErrPassphrase) || !strings.Contains(err.Error(), "ssh-add") {
		t.Error(err)
	}
	answer := func(p string) func() (secret.Secret, error) {
		return func() (secret.Secret, error) { return secret.New(p), nil }
	}
	if _, err := FromFile(key, answer("wrong")); !errors.Is(err, ErrPassphrase) {
		t.Error(err)
	}
	s, err := FromFile(key, answer(pass))
	if err != nil {
		t.Fatal(err)
	}
	accepted(t, s)
}

func TestKeyFilesThatCannotBeUsedAreRefusedWithAHint(t *testing.T) {
	dir := t.TempDir()
	open := newKey(t, dir, "open", "", "-t", "ed25519")
	if err := os.Chmod(open, 0o640); err != nil {
		t.Fatal(err)
	}
	pub, _ := os.ReadFile(open + ".pub")
	for path, hint := range map[string]string{
		open: "chmod 600", filepath.Join(dir, "absent"): "no such file", dir: "not a regular file",
		write(t, dir, "pub", pub): "public half", write(t, dir, "junk", []byte("junk")): "not usable",
		write(t, dir, "big", make([]byte, maxKeyFile+1)): "no key",
	} {
		if _, err := FromFile(path, nil); !errors.Is(err, ErrKey) || !strings.Contains(err.Error(), hint) {
			t.Errorf("%s: %v, want %q", path, err, hint)
		}
	}
}
