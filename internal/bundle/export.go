package bundle

import (
	"archive/tar"
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sort"
	"time"

	"cordon/internal/casefile"
	"cordon/internal/signing"
)

// Export writes the case as it was read. Evidence that the case no longer holds
// whole does not stop it: the bundle is then partial and says what is missing. The
// errors callers test for are ErrUnsigned, ErrExists, ErrSpeaks, ErrIntegrity (a
// signed head is gone) and those of the signer.
func Export(v *casefile.View, o Options) (Result, error) {
	r, err := export(v, o)
	if err != nil {
		if errors.Is(err, casefile.ErrBroken) {
			err = fmt.Errorf("%w: %w", ErrIntegrity, err)
		}
		return Result{}, fmt.Errorf("export case %s: %w", v.ID, err)
	}
	return r, nil
}

func export(v *casefile.View, o Options) (Result, error) {
	if o.Signer == nil {
		return Result{}, fmt.Errorf("%w: name a key file or an agent's key, or say that an ephemeral one will do", ErrUnsigned)
	}
	if (o.Out == nil) == (o.Path == "") {
		return Result{}, fmt.Errorf("%w: give a file or a writer", ErrSpeaks)
	}
	line, err := signing.AllowedLine(o.Principal, o.Signer)
	if err != nil {
		return Result{}, fmt.Errorf("%w: %w", ErrSpeaks, err)
	}
	if o.Status == "" {
		o.Status = status(v)
	}
	if o.Status != Open && o.Status != Closed && o.Status != Partial {
		return Result{}, fmt.Errorf("%w: status %q; one of %s, %s, %s", ErrSpeaks, o.Status, Open, Closed, Partial)
	}
	data, lost, err := payload(v, o.Status)
	if err != nil {
		return Result{}, err
	}
	if len(lost) > 0 {
		o.Status = Partial
	}
	all, err := tags(v, o, data)
	if err != nil {
		return Result{}, err
	}
	r := Result{
		Path: o.Path, Files: len(all), Status: o.Status, Head: v.Head, Events: len(v.Lines), Lost: lost,
		Allowed: line, Key: o.Signer.Fingerprint(), Kind: o.Signer.Kind(), Sim: v.Simulated,
	}
	write := func(w io.Writer) (err error) {
		r.SHA256, r.Bytes, err = archive(w, v.ID, stampOf(v), all)
		return err
	}
	if o.Out != nil {
		return r, write(o.Out)
	}
	return r, toFile(o.Path, write)
}

// status is what the journal says: the last thing that happened was a run's end, or not.
func status(v *casefile.View) string {
	for i := len(v.Lines) - 1; i >= 0; i-- {
		switch v.Lines[i].Kind {
		case "close":
			return Closed
		case "head", "take", "resume", "hold", "handover", "import", "identity", "notify", "exchange", "foreign": // written around an end, they begin nothing
		default:
			return Open
		}
	}
	return Open
}

// stampOf is the one time in the archive: that of the last line, in whole seconds. A
// lab's clock runs ahead, and tar warns of every file from the future; there it is
// the beginning of the day of the first line (UTC).
func stampOf(v *casefile.View) time.Time {
	if v.Simulated {
		return v.Lines[0].T.UTC().Truncate(24 * time.Hour)
	}
	return v.Lines[len(v.Lines)-1].T.UTC().Truncate(time.Second)
}

// archive writes the tar: sorted names, one time, no owner, so that the same files
// are the same bytes.
func archive(w io.Writer, root string, at time.Time, files []file) (sum string, size int64, err error) {
	hash := sha256.New()
	count := &counter{w: io.MultiWriter(w, hash)}
	buf := bufio.NewWriterSize(count, 256<<10)
	tw := tar.NewWriter(buf)
	sort.Slice(files, func(i, j int) bool { return files[i].name < files[j].name })
	for _, f := range files {
		if !cleanName(root + "/" + f.name) {
			return "", 0, fmt.Errorf("%w: the name %q", ErrSpeaks, f.name)
		}
		if err := entry(tw, root, at, f); err != nil {
			return "", 0, fmt.Errorf("write %s: %w", f.name, err)
		}
	}
	if err := errors.Join(tw.Close(), buf.Flush()); err != nil {
		return "", 0, err
	}
	return hex.EncodeToString(hash.Sum(nil)), count.n, nil
}

func entry(tw *tar.Writer, root string, at time.Time, f file) error {
	// With no format asked for, archive/tar writes ustar, and pax for long names only.
	h := &tar.Header{Typeflag: tar.TypeReg, Name: root + "/" + f.name, Size: f.size, Mode: 0o644, ModTime: at}
	if err := tw.WriteHeader(h); err != nil {
		return err
	}
	r, err := f.open()
	if err != nil {
		return err
	}
	_, err = io.Copy(tw, r)
	return errors.Join(err, r.Close())
}

type counter struct {
	w io.Writer
	n int64
}

func (c *counter) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	c.n += int64(n)
	return n, err
}

// toFile writes beside the name and moves into place, so that a bundle is there
// whole or not at all.
func toFile(name string, write func(io.Writer) error) error {
	if _, err := os.Lstat(name); err == nil {
		return fmt.Errorf("%w: %s; choose another name", ErrExists, name)
	}
	f, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+".*") // 0600
	if err != nil {
		return err
	}
	err = write(f)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		_ = os.Remove(f.Name()) // the first error is the one to tell
		return err
	}
	d, err := os.Open(filepath.Dir(name))
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
