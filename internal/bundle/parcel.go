package bundle

import (
	"archive/tar"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// Parcel is a verified bundle of which the files can be read. It is used by one
// goroutine.
type Parcel struct {
	Report Report
	SHA256 string // of the archive

	f  *os.File
	in *intake
}

// OpenParcel verifies a bundle and keeps it open. The errors are those of VerifyFile;
// with one there is no Parcel, but its Report is returned.
func OpenParcel(path string, o VerifyOptions) (*Parcel, Report, error) {
	f, err := open(path)
	if err != nil {
		return nil, Report{Schema: schema}, fmt.Errorf("open bundle: %w", err)
	}
	p := &Parcel{f: f}
	hash := sha256.New()
	p.in = newIntake(o.Limits.filled())
	p.Report, err = verify(p.in, io.TeeReader(f, hash), o)
	if err != nil {
		return nil, p.Report, errors.Join(fmt.Errorf("%s: %w", path, err), f.Close())
	}
	p.SHA256 = hex.EncodeToString(hash.Sum(nil))
	return p, p.Report, nil
}

// Each hands every file under data/ to take, by its path below data/. What take reads is
// compared with what was verified: ErrIntegrity if the file has changed since. Names are
// foreign; they are clean as FORMAT.md says, and nothing is written here.
func (p *Parcel) Each(take func(name string, r io.Reader) error) error {
	if _, err := p.f.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("read bundle again: %w", err)
	}
	tr := tar.NewReader(p.f)
	for seen := 0; ; {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) && seen == p.in.files {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read bundle again: %w: it changed while it was read: %w", ErrIntegrity, err)
		}
		_, name, _ := strings.Cut(h.Name, "/")
		rest, data := strings.CutPrefix(name, dataDir)
		if h.Typeflag != tar.TypeReg || !data {
			continue
		}
		seen++
		hash := sha256.New()
		in := io.TeeReader(tr, hash)
		if err := take(rest, in); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if _, err := io.Copy(io.Discard, in); err != nil {
			return fmt.Errorf("read bundle again: %w", err)
		}
		if hex.EncodeToString(hash.Sum(nil)) != p.in.sums[name] {
			return fmt.Errorf("read bundle again: %w: %s changed while it was read", ErrIntegrity, name)
		}
	}
}

// Close closes the file.
func (p *Parcel) Close() error { return p.f.Close() }
