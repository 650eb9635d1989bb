package casefile_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"

	"cordon/internal/casefile"
	"cordon/internal/casefile/faultfs"
	"cordon/internal/evidence"
)

func TestEvidenceIsKeptByItsDigestAndNamedInTheJournal(t *testing.T) {
	s, dir := diskStore(t)
	c := create(t, s, "INC-1")
	it, err := c.Put(t.Context(), evidence.Item{Name: "host/build-07/auth.log", Source: "/var/log/\x1b[2Jauth.log", Media: "text/plain"}, strings.NewReader("hello"))
	ok(t, err)
	const sum = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824" // sha256 of "hello"
	if it.Digest != sum || it.Size != 5 || it.Truncated || it.At.IsZero() {
		t.Fatalf("%+v", it)
	}
	b, err := os.ReadFile(filepath.Join(dir, "INC-1", "blobs", "sha256", "2c", sum))
	if err != nil || string(b) != "hello" {
		t.Fatalf("%q %v", b, err)
	}
	put(t, c, "host/build-07/again", "hello") // the same bytes are one blob and two items
	ok(t, c.Miss(t.Context(), evidence.Gap{Name: "host/build-07/btmp", Why: "permission denied"}))
	v := read(t, s, "INC-1")
	if len(v.Items) != 2 || v.Items[0] != it || blob(t, v, sum) != "hello" {
		t.Errorf("%+v", v.Items)
	}
	if len(v.Gaps) != 1 || v.Gaps[0].Why != "permission denied" || v.Gaps[0].At.IsZero() {
		t.Errorf("%+v", v.Gaps)
	}
	if left, err := os.ReadDir(filepath.Join(dir, "INC-1", "blobs")); err != nil || len(left) != 1 {
		t.Errorf("temporary files are left: %v %v", left, err)
	}
}

func TestNamesOfEvidenceCannotLeaveTheCase(t *testing.T) {
	s, dir := diskStore(t)
	c := create(t, s, "INC-1")
	before := files(t, dir)
	for _, name := range []string{
		"", ".", "..", "/etc/passwd", "../x", "a/../b", "a//b", "a/", "a/./b", "a b", "a\nb", "a\\b", "é", "a%2fb",
		"...", "a..b", "C:x", strings.Repeat("a", 256),
	} {
		_, err := c.Put(t.Context(), evidence.Item{Name: name}, strings.NewReader("x"))
		if !errors.Is(err, casefile.ErrItemName) {
			t.Errorf("%q: %v", name, err)
		}
		oneLine(t, err)
	}
	same(t, before, files(t, dir))
	for _, name := range []string{"a", "host/build-07/etc/.bashrc", "A.b_c-d/1", strings.Repeat("a", 255)} {
		put(t, c, name, "x")
	}
}

// endless gives zeros for ever.
type endless struct{}

func (endless) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func TestOneItemIsCutAtItsCap(t *testing.T) {
	s, _ := diskStore(t)
	c := create(t, s, "INC-1")
	it, err := c.Put(t.Context(), evidence.Item{Name: "endless"}, endless{})
	ok(t, err)
	if it.Size != casefile.MaxItem || !it.Truncated {
		t.Errorf("%+v", it)
	}
	it, err = c.Put(t.Context(), evidence.Item{Name: "exact"}, io.LimitReader(endless{}, casefile.MaxItem))
	ok(t, err)
	if it.Size != casefile.MaxItem || it.Truncated {
		t.Errorf("exactly the cap is not cut: %+v", it)
	}
	it, err = c.Put(t.Context(), evidence.Item{Name: "cut-before", Truncated: true}, strings.NewReader("x"))
	ok(t, err)
	if !it.Truncated {
		t.Error("a cut that the caller made was forgotten")
	}
}

func TestEvidenceThatCannotBeReadIsNotRecorded(t *testing.T) {
	s, dir := diskStore(t)
	c := create(t, s, "INC-1")
	before := files(t, dir)
	gone := errors.New("connection lost")
	if _, err := c.Put(t.Context(), evidence.Item{Name: "a"}, io.MultiReader(strings.NewReader("half"), iotest.ErrReader(gone))); !errors.Is(err, gone) {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Put(ctx, evidence.Item{Name: "a"}, endless{}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	same(t, before, files(t, dir))
}

func TestAChangedOrMissingBlobIsBroken(t *testing.T) {
	s, dir := diskStore(t)
	c := create(t, s, "INC-1")
	it := put(t, c, "a", "evidence")
	path := filepath.Join(dir, "INC-1", "blobs", "sha256", it.Digest[:2], it.Digest)
	for _, bad := range []string{"evidencE", "", "evidence and more"} {
		ok(t, os.WriteFile(path, []byte(bad), 0o600))
		r, err := read(t, s, "INC-1").Blob(it.Digest)
		ok(t, err)
		if _, err := io.ReadAll(r); !errors.Is(err, casefile.ErrBroken) {
			t.Errorf("%q: %v", bad, err)
		}
		ok(t, r.Close())
	}
	ok(t, os.Remove(path))
	if _, err := read(t, s, "INC-1").Blob(it.Digest); !errors.Is(err, casefile.ErrNoBlob) || !errors.Is(err, casefile.ErrBroken) {
		t.Error(err)
	}
	for _, sum := range []string{"", "../../journal.jsonl", strings.Repeat("A", 64)} {
		if _, err := read(t, s, "INC-1").Blob(sum); !errors.Is(err, casefile.ErrNoBlob) {
			t.Errorf("%q: %v", sum, err)
		}
	}
	put(t, c, "b", "evidence") // the same evidence again heals the blob
	if blob(t, read(t, s, "INC-1"), it.Digest) != "evidence" {
		t.Error("not healed")
	}
}

func TestWhatAKilledPutLeftIsSweptOnTake(t *testing.T) {
	s, dir := diskStore(t)
	ok(t, create(t, s, "INC-1").Close())
	left := filepath.Join(dir, "INC-1", "blobs", ".put-1-1")
	ok(t, os.WriteFile(left, []byte("half"), 0o600))
	c := take(t, s, "INC-1", bob)
	if _, err := os.Stat(left); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	put(t, c, "a", "x")
}

// The directory of a blob may be there from a Put that failed, and not be durable.
func TestABlobSurvivesThoughItsDirectoryWasNotSyncedTheFirstTime(t *testing.T) {
	for seed := range uint64(30) {
		f := faultfs.New(seed)
		s := memStore(t, f)
		c := create(t, s, "INC-1")
		f.Inject(faultfs.Rule{Op: faultfs.OpSyncDir, Path: "/blobs/sha256", Nth: 1, Err: syscall.EIO})
		if _, err := c.Put(t.Context(), evidence.Item{Name: "a"}, strings.NewReader("x")); !errors.Is(err, syscall.EIO) {
			t.Fatal(err)
		}
		it := put(t, c, "a", "x")
		f.Reboot(true)
		blob(t, read(t, s, "INC-1"), it.Digest)
	}
}
