package bundle

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"

	"cordon/internal/untrusted"
)

// Most bytes that are held of the files that are read as a whole.
const (
	maxTag  = 1 << 20  // bagit.txt, bag-info.txt
	maxSig  = 64 << 10 // signatures, as internal/signing reads them
	maxList = 32 << 20 // manifests
	maxDoc  = 64 << 20 // case.json, gaps.json
)

// intake reads an archive once, in whatever order it comes, and keeps the digest of
// everything and the bytes of what has to be understood.
type intake struct {
	lim     Limits
	root    string
	sums    map[string]string // path in the bag → digest
	names   names
	dirs    map[string]bool
	keep    map[string][]byte
	cut     map[string]bool // kept files that were longer than is read
	journal *journal        // nil: there was none
	entries int
	octets  int64 // under data/
	files   int   // under data/
	total   int64
	held    int64  // bytes in keep
	refused string // why the archive is not read further; empty: it was read to its end
}

func newIntake(l Limits) *intake {
	return &intake{lim: l, sums: map[string]string{}, names: newNames(), dirs: map[string]bool{}, keep: map[string][]byte{}, cut: map[string]bool{}}
}

// errRefused ends the reading; why is in intake.refused.
var errRefused = errors.New("refused")

func (in *intake) refuse(format string, args ...any) error {
	in.refused = fmt.Sprintf(format, args...)
	return errRefused
}

// read returns an error only if r itself fails.
func (in *intake) read(r io.Reader) error {
	src := &source{r: r}
	tr := tar.NewReader(src)
	err := in.entriesOf(tr)
	if err == nil {
		err = in.rest(src)
	}
	switch {
	case src.err != nil:
		return src.err
	case errors.Is(err, errRefused) || err == nil:
		return nil
	}
	in.refused = "not a whole tar archive: " + untrusted.Clean(err.Error(), 120)
	return nil
}

func (in *intake) entriesOf(tr *tar.Reader) error {
	for {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			if in.entries == 0 {
				return in.refuse("there is nothing in it, or it is no tar archive")
			}
			return nil
		}
		if err != nil {
			return err
		}
		if in.entries++; in.entries > in.lim.Entries {
			return in.refuse("more than %d entries", in.lim.Entries)
		}
		name, err := in.admit(h)
		if err != nil {
			return err
		}
		if name == "" {
			continue
		}
		if err := in.take(name, h.Size, tr); err != nil {
			return err
		}
	}
}

// admit judges a header and returns the path in the bag, empty for a directory.
func (in *intake) admit(h *tar.Header) (string, error) {
	shown := untrusted.Clean(h.Name, 120)
	full := h.Name
	if h.Typeflag == tar.TypeDir {
		full = strings.TrimSuffix(full, "/")
	} else if h.Typeflag != tar.TypeReg {
		return "", in.refuse("%s is not a plain file (type %q): links and devices have no place in a bundle", shown, h.Typeflag)
	}
	for k := range h.PAXRecords {
		if strings.HasPrefix(k, "GNU.sparse") {
			return "", in.refuse("%s is stored with holes", shown)
		}
	}
	if !cleanName(full) {
		return "", in.refuse("the name %q: names are relative, without .., of letters, digits, dot, underscore and dash", shown)
	}
	root, name, deep := strings.Cut(full, "/")
	if in.root == "" {
		in.root = root
	}
	switch {
	case root != in.root:
		return "", in.refuse("%s is beside the directory %s: a bundle is one directory", shown, in.root)
	case h.Typeflag == tar.TypeDir:
		if in.dirs[strings.ToLower(full)] {
			return "", in.refuse("the directory %s is there twice", shown)
		}
		if deep && in.names.files[strings.ToLower(name)] {
			return "", in.refuse("%s is a file and a directory", shown)
		}
		in.dirs[strings.ToLower(full)] = true
		return "", nil
	case !deep:
		return "", in.refuse("%s is a file where the directory should be", shown)
	case in.sums[name] != "":
		return "", in.refuse("%s is there twice", shown)
	case in.names.collides(name) || in.dirs[strings.ToLower(full)]:
		return "", in.refuse("%s cannot lie beside the others: the same name but for case, or a file where a directory is", shown)
	case h.Size < 0 || h.Size > in.lim.Entry:
		return "", in.refuse("%s is larger than %d bytes", shown, in.lim.Entry)
	}
	if in.total += h.Size; in.total > in.lim.Total {
		return "", in.refuse("more than %d bytes", in.lim.Total)
	}
	in.names.add(name)
	return name, nil
}

// take reads one file to its end.
func (in *intake) take(name string, size int64, r io.Reader) error {
	hash := sha256.New()
	var w io.Writer = hash
	var held *bytes.Buffer
	switch limit := heldOf(name); {
	case name == journalName:
		in.journal = &journal{}
		w = io.MultiWriter(hash, in.journal)
	case limit > 0:
		if in.held += min(size, limit); in.held > in.lim.Held {
			return in.refuse("lists and signatures of more than %d bytes", in.lim.Held)
		}
		held = &bytes.Buffer{}
		w = io.MultiWriter(hash, &capped{held, limit})
		in.cut[name] = size > limit
	}
	if _, err := io.Copy(w, r); err != nil {
		return err
	}
	if in.journal != nil && name == journalName {
		in.journal.finish()
	}
	in.sums[name] = hex.EncodeToString(hash.Sum(nil))
	if held != nil {
		in.keep[name] = held.Bytes()
	}
	if strings.HasPrefix(name, dataDir) {
		in.octets += size
		in.files++
	}
	return nil
}

// heldOf is how many bytes are held of a file; 0: none.
func heldOf(name string) int64 {
	switch {
	case name == bagitName, name == infoName:
		return maxTag
	case isSignature(name), strings.HasPrefix(name, headsDir):
		return maxSig
	case name == manifestName, name == tagName:
		return maxList
	case name == caseName, name == gapsName:
		return maxDoc
	}
	return 0
}

// isSignature: the signer's, or tagmanifest-sha256.txt.WHO.sig of another.
func isSignature(name string) bool {
	return strings.HasPrefix(name, tagName+".") && strings.HasSuffix(name, ".sig") && !strings.Contains(name, "/")
}

// rest reads what follows the end mark: tar pads with zeros, and nobody else has
// business there.
func (in *intake) rest(r io.Reader) error {
	buf := make([]byte, 32<<10)
	for n := int64(0); ; {
		k, err := r.Read(buf)
		if n += int64(k); n > maxTag || len(bytes.Trim(buf[:k], "\x00")) > 0 {
			return in.refuse("something follows the end of the archive")
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// source remembers an error of the reader itself, which is not the bundle's fault.
type source struct {
	r   io.Reader
	err error
}

func (s *source) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		s.err = err
	}
	return n, err
}

// capped keeps the first bytes and swallows the others.
type capped struct {
	w    *bytes.Buffer
	left int64
}

func (c *capped) Write(p []byte) (int, error) {
	n := min(int64(len(p)), c.left)
	c.left -= n
	c.w.Write(p[:n])
	return len(p), nil
}
