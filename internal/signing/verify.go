package signing

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/hiddeco/sshsig"
	"golang.org/x/crypto/ssh"
)

const maxSignature = 64 << 10 // bytes of armor; the largest RSA keys need about 4 KiB

var (
	// ErrBadSignature: these bytes were not signed so, whoever did it.
	ErrBadSignature = errors.New("signature does not match")
	// ErrNamespace: the signature was made for another kind of thing. It comes
	// together with ErrBadSignature.
	ErrNamespace = errors.New("signed for another namespace")
	// ErrNotAllowed: the signature is right, but its key may not sign this.
	ErrNotAllowed = errors.New("signed by someone not allowed")
)

const armorBegin, armorEnd = "-----BEGIN SSH SIGNATURE-----\n", "-----END SSH SIGNATURE-----"

// Verify checks an armored SSHSIG over msg and finds the line of allowed that lets
// its key sign in the namespace at the time given (zero: now). It returns that
// line's principals as written and the key's fingerprint; the fingerprint also comes
// with ErrNotAllowed. Certificates are recognised and refused with ErrNotAllowed:
// cert-authority lines are read but not followed.
func Verify(namespace string, msg, armored []byte, allowed []Allowed, at time.Time) (principal, fingerprint string, err error) {
	key, err := check(namespace, msg, armored)
	if err != nil {
		return "", "", err
	}
	fingerprint = ssh.FingerprintSHA256(key)
	if at.IsZero() {
		at = time.Now()
	}
	if _, cert := key.(*ssh.Certificate); cert {
		return "", fingerprint, fmt.Errorf("%w: %s is a certificate, and cert-authority lines are not supported here; check with ssh-keygen -Y verify", ErrNotAllowed, fingerprint)
	}
	why := "it is not in the list"
	for _, a := range allowed {
		if !bytes.Equal(a.Key.Marshal(), key.Marshal()) {
			continue
		}
		switch {
		case a.CertAuthority:
			why = fmt.Sprintf("line %d lists it only as cert-authority", a.Line)
		case a.Namespaces != "" && !matchList(a.Namespaces, namespace):
			why = fmt.Sprintf("line %d allows it for other namespaces than %s", a.Line, namespace)
		case !a.After.IsZero() && at.Before(a.After):
			why = fmt.Sprintf("line %d allows it only after %s", a.Line, a.After.UTC().Format(time.RFC3339))
		case !a.Before.IsZero() && at.After(a.Before):
			why = fmt.Sprintf("line %d allowed it only until %s", a.Line, a.Before.UTC().Format(time.RFC3339))
		default:
			return a.Principals, fingerprint, nil
		}
	}
	return "", fingerprint, fmt.Errorf("%w: %s: %s", ErrNotAllowed, fingerprint, why)
}

// Check tests that an armored SSHSIG was made over msg for the namespace by the key
// it names, and returns that key's fingerprint. Anybody can make such a signature:
// it says who signed only to somebody who knows the key.
func Check(namespace string, msg, armored []byte) (fingerprint string, err error) {
	key, err := check(namespace, msg, armored)
	if err != nil {
		return "", err
	}
	return ssh.FingerprintSHA256(key), nil
}

func check(namespace string, msg, armored []byte) (ssh.PublicKey, error) {
	sig, err := unarmor(armored)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrBadSignature, err)
	}
	if sig.Namespace != namespace {
		return nil, fmt.Errorf("%w: %w: %.64q, not %q", ErrBadSignature, ErrNamespace, sig.Namespace, namespace)
	}
	//lint:ignore SA1019 the name is needed to refuse such keys
	if sig.PublicKey.Type() == ssh.InsecureKeyAlgoDSA {
		return nil, fmt.Errorf("%w: a DSA key, which OpenSSH no longer takes", ErrBadSignature)
	}
	if err := sshsig.Verify(bytes.NewReader(msg), sig, sig.PublicKey, sig.HashAlgorithm, namespace); err != nil {
		return nil, fmt.Errorf("%w: key %s did not sign these bytes", ErrBadSignature, ssh.FingerprintSHA256(sig.PublicKey))
	}
	return sig.PublicKey, nil
}

// unarmor is as strict as ssh-keygen: one block and nothing around it.
func unarmor(armored []byte) (*sshsig.Signature, error) {
	if len(armored) > maxSignature {
		return nil, fmt.Errorf("over %d bytes, so it is no signature", maxSignature)
	}
	text := string(armored)
	if !strings.HasPrefix(text, armorBegin) || !strings.HasSuffix(strings.TrimRight(text, "\r\n"), armorEnd) ||
		strings.Count(text, "-----BEGIN") != 1 {
		return nil, errors.New("not one armored SSH signature")
	}
	sig, err := sshsig.Unarmor(armored)
	if err != nil {
		return nil, errors.New("the armored SSH signature cannot be read")
	}
	return sig, nil
}
