package casefile

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Blob opens a blob by its digest. Reading to the end compares the digest: ErrBroken
// comes in place of io.EOF. ErrNoBlob where it is missing.
func (v *View) Blob(sum string) (io.ReadCloser, error) {
	if !isDigest(sum) {
		return nil, fmt.Errorf("%w: %q is not a SHA-256", ErrNoBlob, clean1(sum))
	}
	f, err := v.fs.OpenFile(filepath.Join(v.dir, blobPath(sum)), os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: %w: %s", ErrNoBlob, ErrBroken, sum)
	}
	if err != nil {
		return nil, fmt.Errorf("open blob %s: %w", sum, err)
	}
	return &blobReader{f: f, in: io.NewSectionReader(f, 0, MaxItem+1), sum: sum, hash: sha256.New()}, nil
}

// Holds reads the blob of that digest to its end, and is nil where all of it is there and
// unchanged. Errors: ErrNoBlob, ErrBroken, and those of the disk.
func (v *View) Holds(sum string) error {
	b, err := v.Blob(sum)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, b)
	return errors.Join(err, b.Close())
}

type blobReader struct {
	f    File
	in   io.Reader
	sum  string
	hash hash.Hash
}

func (b *blobReader) Read(p []byte) (int, error) {
	n, err := b.in.Read(p)
	b.hash.Write(p[:n])
	if errors.Is(err, io.EOF) && hex.EncodeToString(b.hash.Sum(nil)) != b.sum {
		err = broken(0, "blob %s was changed", b.sum)
	}
	return n, err
}

func (b *blobReader) Close() error { return b.f.Close() }
