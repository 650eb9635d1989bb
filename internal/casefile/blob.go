package casefile

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"cordon/internal/evidence"
)

// MaxItem is the most that is kept of one item, in bytes; a longer one is Truncated.
const MaxItem = 64 << 20

const tempPrefix = ".put-"

// Put implements evidence.Sink: the bytes go to a blob named by their SHA-256, then
// an evidence line says what they are. Names may repeat; every line is its own item.
// What is put must hold no secret in clear. If r fails, nothing is recorded and the
// caller has a gap to report. Errors: ErrItemName, ErrNoSpace, and those of Append.
func (c *Case) Put(ctx context.Context, it evidence.Item, r io.Reader) (evidence.Item, error) {
	fail := func(err error) (evidence.Item, error) {
		return evidence.Item{}, fmt.Errorf("case %s: keep %q: %w", c.id, clean1(it.Name), noSpace(err))
	}
	if !ValidItemName(it.Name) {
		return fail(fmt.Errorf("%w: use letters, digits, dot, underscore and dash between single slashes", ErrItemName))
	}
	if err := c.usable(); err != nil {
		return fail(err)
	}
	if it.At.IsZero() {
		it.At = c.s.clock.Now()
	}
	in := &capped{ctx: ctx, r: r, left: MaxItem}
	var err error
	if it.Digest, it.Size, err = c.store(in); err != nil {
		return fail(err)
	}
	it.Truncated = it.Truncated || in.more
	if err := c.record("evidence", it.Source, it); err != nil {
		return evidence.Item{}, err
	}
	return it, nil
}

// Holds is View.Holds of the case as it lies there now.
func (c *Case) Holds(digest string) error {
	return (&View{fs: c.s.fs, dir: c.path()}).Holds(digest)
}

// Miss implements evidence.Sink with a gap line.
func (c *Case) Miss(_ context.Context, g evidence.Gap) error {
	if g.At.IsZero() {
		g.At = c.s.clock.Now()
	}
	return c.record("gap", g.Why, g)
}

func (c *Case) record(kind, msg string, v any) error {
	d, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("case %s: %w: %w", c.id, ErrEvent, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	_, err = c.append(Event{Kind: kind, OK: kind == "evidence", Msg: msg, Data: d})
	return err
}

// usable reports why nothing can be written, before bytes are moved for nothing.
func (c *Case) usable() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return ErrClosed
	}
	return c.j.dead
}

func (c *Case) putBytes(b []byte) (string, error) {
	if len(b) > MaxItem {
		return "", fmt.Errorf("%w: %d bytes, at most %d", ErrEvent, len(b), MaxItem)
	}
	sum, _, err := c.store(bytes.NewReader(b))
	return sum, err
}

// store writes r to a temporary file, syncs it and moves it to its digest's name. A
// blob that is there already is replaced by the same bytes, which heals it.
func (c *Case) store(r io.Reader) (sum string, size int64, err error) {
	temp := c.path(blobsName, fmt.Sprintf("%s%d-%d", tempPrefix, c.epoch, c.puts.Add(1)))
	f, err := c.s.create(temp, os.O_WRONLY|os.O_EXCL)
	if err != nil {
		return "", 0, err
	}
	hash := sha256.New()
	size, err = io.CopyBuffer(io.MultiWriter(f, hash), r, make([]byte, 64<<10))
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		sum = hex.EncodeToString(hash.Sum(nil))
		err = c.place(temp, sum)
	}
	if err != nil {
		_ = c.s.fs.Remove(temp) // the first error is the one to tell; sweep comes again
		return "", 0, err
	}
	return sum, size, nil
}

func (c *Case) place(temp, sum string) error {
	dir := c.path(blobsName, "sha256", sum[:2])
	if _, durable := c.dirs.Load(dir); !durable { // it may be there and not be durable
		if err := c.s.mkdir(dir); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		if err := c.s.fs.SyncDir(filepath.Dir(dir)); err != nil {
			return err
		}
		c.dirs.Store(dir, true)
	}
	if err := c.s.fs.Rename(temp, c.path(blobPath(sum))); err != nil {
		return err
	}
	return c.s.fs.SyncDir(dir)
}

func blobPath(sum string) string { return blobsName + "/sha256/" + sum[:2] + "/" + sum }

// capped reads at most left bytes, ends with ctx, and remembers whether there was more.
type capped struct {
	ctx  context.Context
	r    io.Reader
	left int64
	more bool
}

func (c *capped) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	if c.left == 0 {
		var one [1]byte
		n, err := io.ReadFull(c.r, one[:])
		if n > 0 {
			c.more, err = true, io.EOF
		}
		return 0, err
	}
	n, err := c.r.Read(p[:min(int64(len(p)), c.left)])
	c.left -= int64(n)
	return n, err
}
