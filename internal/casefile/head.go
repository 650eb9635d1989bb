package casefile

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// HeadNamespace is the SSHSIG namespace of signed heads. What is signed is
// "<case> <seq> <sum>\n".
const HeadNamespace = "cordon-head@v1"

// Signer signs messages; internal/signing has them.
type Signer interface {
	// Sign returns the armored SSHSIG over msg in namespace.
	Sign(namespace string, msg []byte) ([]byte, error)
	// Fingerprint names the key, "SHA256:…".
	Fingerprint() string
}

// Head is one signed head of a case.
type Head struct {
	Seq  int
	Sum  string // of line Seq
	Name string // heads/NNNN.sig
	Sig  []byte // armored SSHSIG over HeadMessage; not checked here
}

// HeadMessage is what is signed for a head.
func HeadMessage(id string, seq int, sum string) []byte {
	return fmt.Appendf(nil, "%s %d %s\n", id, seq, sum)
}

// SignHead signs the last line: heads/NNNN.sig, then a head line that names it.
// Others may append while the signer waits for a person; what is signed is the line
// that was last when SignHead began.
func (c *Case) SignHead(signer Signer) error {
	if err := c.usable(); err != nil {
		return fmt.Errorf("case %s: sign head: %w", c.id, err)
	}
	seq, sum := c.Head()
	sig, err := signer.Sign(HeadNamespace, HeadMessage(c.id, seq, sum))
	if err == nil && len(sig) == 0 {
		err = errors.New("the signer gave no signature")
	}
	if err != nil {
		return fmt.Errorf("case %s: sign head %d: %w", c.id, seq, err)
	}
	name := fmt.Sprintf("%s/%04d.sig", headsName, seq)
	if err := c.writeFile(name, sig); err != nil {
		return fmt.Errorf("case %s: write %s: %w", c.id, name, noSpace(err))
	}
	d, err := json.Marshal(headLine{Seq: seq, Head: sum, Sig: name, Key: signer.Fingerprint()})
	if err != nil {
		return fmt.Errorf("case %s: sign head: %w", c.id, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	_, err = c.append(Event{Kind: "head", OK: true, Data: d})
	return err
}

// writeFile writes a small file of the case so that it is there whole or not at all.
func (c *Case) writeFile(name string, b []byte) error {
	path := c.path(name)
	temp := filepath.Join(filepath.Dir(path), "."+filepath.Base(path))
	f, err := c.s.create(temp, os.O_WRONLY|os.O_TRUNC)
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = c.s.fs.Rename(temp, path)
	}
	if err != nil {
		_ = c.s.fs.Remove(temp) // the first error is the one to tell
		return err
	}
	return c.s.fs.SyncDir(filepath.Dir(path))
}

// signedSeqs lists the numbers of the signed heads that are on the disk.
func signedSeqs(f FS, dir string) ([]int, error) {
	names, err := f.ReadDir(filepath.Join(dir, headsName))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var seqs []int
	for _, n := range names {
		num, isSig := strings.CutSuffix(n, ".sig")
		if seq, err := strconv.Atoi(num); err == nil && isSig && seq > 0 {
			seqs = append(seqs, seq)
		}
	}
	return seqs, nil
}

// Heads reads the signed heads that the journal speaks of, oldest first.
func (v *View) Heads() ([]Head, error) {
	var all []Head
	for _, l := range v.Lines {
		if l.Kind != "head" {
			continue
		}
		var h headLine
		if err := json.Unmarshal(l.Data, &h); err != nil {
			return nil, broken(l.Seq, "head: %v", err)
		}
		name := fmt.Sprintf("%s/%04d.sig", headsName, h.Seq)
		sig, err := readAll(v.fs, filepath.Join(v.dir, name), 64<<10)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, broken(l.Seq, "%s is gone", name)
		}
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", name, err)
		}
		all = append(all, Head{Seq: h.Seq, Sum: h.Head, Name: name, Sig: sig})
	}
	return all, nil
}
