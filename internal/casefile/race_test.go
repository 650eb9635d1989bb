package casefile_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"cordon/internal/casefile"
	"cordon/internal/casefile/faultfs"
	"cordon/internal/evidence"
)

func TestManyMayWriteOneCaseThroughOneHandle(t *testing.T) {
	s, _ := diskStore(t)
	c := create(t, s, "INC-1")
	const each = 8
	jobs := []func(i int) error{
		func(i int) error { return second(c.Append(casefile.Event{Kind: "note", Msg: fmt.Sprint(i)})) },
		func(i int) error { return second(c.Append(casefile.Event{Kind: "intent"})) },
		func(i int) error {
			return second(c.Put(t.Context(), evidence.Item{Name: "a"}, strings.NewReader(fmt.Sprint("same ", i%2))))
		},
		func(i int) error { return c.Miss(t.Context(), evidence.Gap{Name: "b", Why: fmt.Sprint(i)}) },
		func(int) error { return c.SignHead(fakeSigner{}) },
		func(int) error { return second(c.View()) },
		func(int) error { return second(s.List()) },
		func(int) error { c.Head(); return c.Reserve() },
	}
	var wg sync.WaitGroup
	for _, job := range jobs {
		wg.Go(func() {
			for i := range each {
				if err := job(i); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	v := read(t, s, "INC-1")
	if len(v.Lines) != 2+5*each || len(v.Items) != each || len(v.Gaps) != each {
		t.Errorf("%d lines, %d items, %d gaps", len(v.Lines), len(v.Items), len(v.Gaps))
	}
	for _, it := range v.Items {
		blob(t, v, it.Digest)
	}
}

// Readers look while writers come, tear their last line, and go.
func TestReadersNeverMistakeAWriterForDamage(t *testing.T) {
	s, dir := diskStore(t)
	ok(t, create(t, s, "INC-1").Close())
	done := make(chan struct{})
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				if _, err := s.Read("INC-1"); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for i := range 30 {
		c := take(t, s, "INC-1", bob)
		note(t, c, strings.Repeat("x", 100*i))
		ok(t, c.SignHead(fakeSigner{}))
		ok(t, c.Close())
		tear(t, filepath.Join(dir, "INC-1"))
	}
	close(done)
	wg.Wait()
}

// mixed gives, at the first look, what a reader sees whose first bytes are from before
// a torn line was cut off and whose others are from after.
type mixed struct {
	casefile.FS
	first []byte
	looks int
}

type mixedFile struct {
	casefile.File
	m *mixed
}

func (m *mixed) OpenFile(name string, flag int, perm fs.FileMode) (casefile.File, error) {
	f, err := m.FS.OpenFile(name, flag, perm)
	if err == nil && strings.HasSuffix(name, "journal.jsonl") {
		m.looks++
		f = mixedFile{f, m}
	}
	return f, err
}

func (f mixedFile) ReadAt(p []byte, off int64) (int, error) {
	if f.m.looks > 1 {
		return f.File.ReadAt(p, off)
	}
	return copy(p, f.m.first[off:]), nil
}

func TestAReaderThatMetAWriterLooksAgain(t *testing.T) {
	m := &mixed{FS: faultfs.New(1), looks: 1}
	s, err := casefile.OpenStore(casefile.Opener{Dir: "/state", FS: m})
	ok(t, err)
	c := create(t, s, "INC-1")
	note(t, c, "after the torn line was cut off")
	note(t, c, "last")
	v := read(t, s, "INC-1")
	m.first, m.looks = bytes.Replace(v.Raw, []byte(`{"v":1,"seq":3,"prev":"`), []byte(`{"v":1,"seq":3,torn....`), 1), 0
	if again := read(t, s, "INC-1"); again.Head != v.Head || m.looks != 2 {
		t.Errorf("%d looks, head %s", m.looks, again.Head)
	}
}
