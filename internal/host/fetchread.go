package host

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"cordon/internal/host/snapshot"
	"cordon/internal/untrusted"
)

// answer is what fetch.sh said, as it came.
type answer struct {
	date, uid     string
	heard         time.Time // our clock, when its date came
	file          *snapshot.File
	link          string
	before, after string // eight numbers of what was read
	data          []byte // at most what was asked for
	whole         bool   // content was to be had, and its end was seen
	no            string // why it was not read; empty: it was
}

// readFetch takes the answer about one file: every frame that names a path has to name
// the one that was asked for.
func readFetch(f *snapshot.Frames, w Wanted, now func() time.Time) (answer, error) {
	var a answer
	for {
		fr, err := f.Next()
		if errors.Is(err, io.EOF) {
			return answer{}, snapshot.ErrCut
		}
		if err == nil && fr.Kind == "end" {
			if fr.Name != "fetch" || string(fr.Body) != strconv.Itoa(fr.Seq-1) || fr.Seq < 3 {
				err = errors.New("an end that does not fit")
			} else if _, next := f.Next(); !errors.Is(next, io.EOF) {
				err = errors.New("something follows the end")
			} else if a.no == "" && a.after == "" {
				err = errors.New("neither content nor why there is none")
			}
			if err == nil {
				a.whole = a.no == ""
				return a, nil
			}
			err = fmt.Errorf("%w: %w", snapshot.ErrForged, err)
		}
		if err == nil {
			err = a.take(fr, w, now)
		}
		if err != nil {
			return answer{}, fmt.Errorf("frame %d: %w", fr.Seq, err)
		}
	}
}

func (a *answer) take(fr snapshot.Frame, w Wanted, now func() time.Time) error {
	forged := func(format string, x ...any) error {
		return fmt.Errorf("%w: %s", snapshot.ErrForged, fmt.Sprintf(format, x...))
	}
	body := string(fr.Body)
	if (fr.Seq == 1) != (fr.Kind == "begin") {
		return forged("%s out of place", fr.Kind)
	}
	switch fr.Kind {
	case "begin":
		if fr.Name != "fetch" || body != "cordon-fetch 1" {
			return forged("another script")
		}
		return nil
	case "value":
		return a.value(fr.Name, body, now, forged)
	case "lstat", "link", "data", "nodata":
	default:
		return forged("%s out of place", fr.Kind)
	}
	if fr.Name != w.Path {
		return forged("it names %s, which was not asked for", untrusted.Clean(fr.Name, 200))
	}
	switch {
	case fr.Kind == "lstat" && a.file == nil && a.no == "":
		x, err := snapshot.ParseLstat(body)
		if err != nil {
			return forged("lstat: %v", err)
		}
		a.file = &x
	case fr.Kind == "link" && a.file != nil && a.file.Type == "link" && a.before == "":
		a.link = body
	case fr.Kind == "nodata" && a.no == "" && len(a.data) == 0:
		a.no = untrusted.Clean(body, 200)
		if a.no == "" {
			return forged("no reason")
		}
	case fr.Kind == "data" && a.before != "" && a.after == "" && a.no == "":
		if len(a.data)+len(fr.Body) > int(w.limit()) {
			return fmt.Errorf("%w: more than the %d bytes that were asked for", snapshot.ErrTooLarge, w.limit())
		}
		a.data = append(a.data, fr.Body...)
		if w.came != nil {
			w.came(int64(len(a.data)))
		}
	default:
		return forged("%s out of place", fr.Kind)
	}
	return nil
}

func (a *answer) value(key, v string, now func() time.Time, forged func(string, ...any) error) error {
	switch {
	case key == "date" && a.date == "":
		a.date, a.heard = v, now()
	case key == "uid" && a.uid == "":
		a.uid = v
	case key == "before" && a.file != nil && a.before == "" && a.no == "":
		x, _, _, err := eight(v)
		if err != nil || x.Type != "file" {
			return forged("what was read is no regular file")
		}
		a.before = v
	case key == "after" && a.before != "" && a.after == "":
		a.after = "gone" // it may be: only what was read counts
		if x, inode, _, err := eight(v); err == nil {
			a.after = v
			if _, was, _, _ := eight(a.before); was != inode || x.Type != "file" {
				a.no, a.data = "another file took its place while it was read", nil
			}
		}
	default:
		return forged("a value out of place")
	}
	return nil
}

// eight reads an lstat with inode and number of names behind it.
func eight(s string) (f snapshot.File, inode, links uint64, err error) {
	part := strings.Split(s, " ")
	if len(part) != 8 {
		return f, 0, 0, fmt.Errorf("%d numbers", len(part))
	}
	f, err1 := snapshot.ParseLstat(strings.Join(part[:6], " "))
	inode, err2 := strconv.ParseUint(part[6], 10, 63)
	links, err3 := strconv.ParseUint(part[7], 10, 32)
	return f, inode, links, errors.Join(err1, err2, err3)
}
