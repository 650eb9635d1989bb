package host

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"slices"
	"strings"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"

	"cordon/internal/host/snapshot"
	"cordon/internal/untrusted"
)

// HostKeyError says why a host's key was not taken. It wraps ErrUnknownHostKey,
// ErrHostKeyChanged or ErrHostKeyRevoked.
type HostKeyError struct {
	Key  snapshot.HostKey
	kind error
	says string
}

func (e *HostKeyError) Error() string { return e.kind.Error() + ": " + e.says }

// Unwrap returns the kind.
func (e *HostKeyError) Unwrap() error { return e.kind }

// trust is what known_hosts files say about one address. The usual file of an account that
// never used ssh(1) may be missing, as for ssh itself: the key is then unknown, and nobody
// logs in. One that was named has to be there, or the mistake would not be seen.
type trust struct {
	host    string // what a person calls it
	address string // HOST:PORT
	files   []string
	own     string // the file of accepted keys; empty: none
	db      ssh.HostKeyCallback
	plain   []knownhosts.KnownKey // keys of the address itself
	cas     []knownhosts.KnownKey // authorities that may sign for it
}

// trustOf reads what files say of a host under its address, and own where it is there.
func trustOf(host, address string, files []string, own string) (*trust, error) {
	t := &trust{host: host, address: address, files: files, own: own}
	accepted := there(own) // then the person's own file need not be
	all := slices.DeleteFunc(slices.Clone(files), func(p string) bool {
		return !there(p) && (accepted || strings.HasSuffix(p, "/.ssh/known_hosts"))
	})
	if accepted {
		all = append(all, own)
	}
	var err error
	if t.db, err = knownhosts.New(all...); err != nil {
		return nil, err
	}
	var ke *knownhosts.KeyError
	if !errors.As(t.db(address, nowhere, noKey{}), &ke) {
		return t, nil
	}
	for _, k := range ke.Want { // the library does not tell keys from authorities
		if authority(k) {
			t.cas = append(t.cas, k)
		} else {
			t.plain = append(t.plain, k)
		}
	}
	return t, nil
}

// there is false only where nothing of that name is: one that cannot be seen is an error to be told.
func there(path string) bool {
	_, err := os.Stat(path)
	return path != "" && !errors.Is(err, fs.ErrNotExist)
}

// nowhere stands for the address of the other end, which may be a pipe.
var nowhere = &net.TCPAddr{IP: net.IPv4zero}

// noKey is nobody's: it is asked about to learn which keys are known.
type noKey struct{}

func (noKey) Type() string                        { return "none" }
func (noKey) Marshal() []byte                     { return []byte("none") }
func (noKey) Verify([]byte, *ssh.Signature) error { return errors.New("no key") }

// authority reports whether the line of k is marked @cert-authority.
func authority(k knownhosts.KnownKey) bool {
	return strings.HasPrefix(strings.TrimSpace(lineOf(k.Filename, k.Line)), "@cert-authority")
}

// lineOf is line n of a file, counted from 1, "" where it cannot be had.
func lineOf(file string, n int) string {
	f, err := os.Open(file)
	if err != nil {
		return ""
	}
	defer f.Close()
	sc := bufio.NewScanner(f)
	for i := 1; sc.Scan(); i++ {
		if i == n {
			return sc.Text()
		}
	}
	return ""
}

// algorithms lists those of the keys that are known, so that the server shows one of
// them: x/crypto offers all and takes what the server likes, which then looks like a
// changed key (golang/go#29286). nil: any, nothing is known.
func (t *trust) algorithms() []string {
	var out []string
	add := func(names ...string) {
		for _, a := range names {
			if !slices.Contains(out, a) {
				out = append(out, a)
			}
		}
	}
	if len(t.cas) > 0 { // the kind of the certified key is not known
		add(ssh.CertAlgoED25519v01, ssh.CertAlgoECDSA256v01, ssh.CertAlgoECDSA384v01, ssh.CertAlgoECDSA521v01,
			ssh.CertAlgoRSASHA512v01, ssh.CertAlgoRSASHA256v01)
	}
	for _, k := range t.plain {
		if k.Key.Type() == ssh.KeyAlgoRSA {
			add(ssh.KeyAlgoRSASHA512, ssh.KeyAlgoRSASHA256)
			continue
		}
		add(k.Key.Type())
	}
	return out
}

// known are the fingerprints that are known, with where.
func (t *trust) known() []string {
	var out []string
	for _, w := range t.plain {
		out = append(out, fmt.Sprintf("%s (%s line %d)", ssh.FingerprintSHA256(w.Key), w.Filename, w.Line))
	}
	return out
}

// judge says what a shown key is worth. The error is a *HostKeyError.
func (t *trust) judge(key ssh.PublicKey) (snapshot.HostKey, error) {
	k := snapshot.HostKey{Shown: ssh.FingerprintSHA256(key), Type: key.Type(), Known: t.known()}
	cert, signed := key.(*ssh.Certificate)
	if signed {
		k.Shown = ssh.FingerprintSHA256(cert.Key)
	}
	err := t.db(t.address, nowhere, key)
	var re *knownhosts.RevokedError
	switch i := slices.IndexFunc(t.plain, func(w knownhosts.KnownKey) bool { return string(w.Key.Marshal()) == string(key.Marshal()) }); {
	case errors.As(err, &re):
		return t.refuse(k, ErrHostKeyRevoked, fmt.Sprintf("it shows %s, which %s revokes (line %d)", k.Shown, re.Revoked.Filename, re.Revoked.Line))
	case signed && err == nil:
		k.State, k.Why = snapshot.KeyCertified, "authority "+ssh.FingerprintSHA256(cert.SignatureKey)
		return k, nil
	case signed:
		return t.refuse(k, ErrUnknownHostKey, fmt.Sprintf("its host certificate (key %s, authority %s) does not count: %s",
			k.Shown, ssh.FingerprintSHA256(cert.SignatureKey), untrusted.Clean(err.Error(), 200)))
	case i >= 0 && t.plain[i].Filename == t.own:
		k.State, k.Why = snapshot.KeyAccepted, strings.TrimPrefix(untrusted.Clean(lineOf(t.own, t.plain[i].Line-1), 300), "# accepted ")
		return k, nil
	case i >= 0:
		k.State = snapshot.KeyKnown
		return k, nil
	case len(t.plain) > 0:
		return t.refuse(k, ErrHostKeyChanged, fmt.Sprintf("it shows %s %s, known is %s; rebuilt, or somebody in between: find out which before you edit %s",
			k.Type, k.Shown, strings.Join(k.Known, ", "), t.plain[0].Filename))
	}
	into := "your known_hosts"
	if len(t.files) > 0 {
		into = t.files[0]
	}
	return t.refuse(k, ErrUnknownHostKey, fmt.Sprintf("it shows %s %s; compare it with a trusted source (cloud console, inventory), then run: cordon host accept %s --fingerprint %s --source WHERE, or add this line to %s: %s",
		k.Type, k.Shown, t.host, k.Shown, into, knownhosts.Line([]string{t.address}, key)))
}

func (t *trust) refuse(k snapshot.HostKey, kind error, says string) (snapshot.HostKey, error) {
	k.State = map[error]string{ErrHostKeyChanged: snapshot.KeyChanged, ErrHostKeyRevoked: snapshot.KeyRevoked, ErrUnknownHostKey: snapshot.KeyUnknown}[kind]
	return k, &HostKeyError{Key: k, kind: kind, says: says}
}
