package host

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"

	"github.com/pkg/sftp"

	"cordon/internal/host/snapshot"
	"cordon/internal/untrusted"
)

const (
	rereadFiles = 24
	rereadBytes = 256 << 10 // of one file
	rereadAll   = 4 << 20   // of the whole second session
	rereadTime  = time.Minute
)

// alwaysReread are looked for even where the shell showed none: what hides itself hides here.
var alwaysReread = []string{"/etc/passwd", "/etc/ld.so.preload"}

// reread reads a handful of the files in s again over SFTP, which sshd answers itself,
// without the host's shell and coreutils, and notes in s whether both said the same.
// A preload in sshd or a kernel module still lies to both (facts/host.md §4.6).
func (h *Hosts) reread(ctx context.Context, s *snapshot.Snapshot, g *guard, way second) int {
	want := rereadList(s)
	defer func() { s.Sections = append(s.Sections, compared(s.Rereads)) }()
	fail := func(err error) int {
		for _, p := range want {
			s.Rereads = append(s.Rereads, snapshot.Reread{Path: untrusted.Text(p.path), ByShell: p.print, Why: untrusted.Clean(err.Error(), 200)})
		}
		return 0
	}
	if way == nil {
		return fail(errors.New("there is no second way past the shell with this transport"))
	}
	g.watch(h.o.Timeouts.Idle, rereadTime,
		fmt.Errorf("%w during the second reading (nothing for %s)", ErrSilent, h.o.Timeouts.Idle),
		fmt.Errorf("%w during the second reading (%s)", ErrTooSlow, rereadTime))
	defer g.rest()
	w, r, err := way()
	if err != nil {
		return fail(fmt.Errorf("no SFTP there: %w", err))
	}
	c, err := sftp.NewClientPipe(&counted{r: io.LimitReader(r, rereadAll), g: g}, w)
	if err != nil {
		return fail(fmt.Errorf("no SFTP there: %w", err))
	}
	n := 0
	for _, p := range want {
		x := h.secondLook(ctx, c, s, p)
		if x.Why == "" {
			n++
		}
		s.Rereads = append(s.Rereads, x)
	}
	// Nothing more is wanted: closing politely would wait for the host.
	g.end()
	_ = c.Close()
	return n
}

// compared says whether everything that was to be read twice was.
func compared(all []snapshot.Reread) snapshot.Section {
	sec := snapshot.Section{Name: snapshot.SectionReread, End: snapshot.EndOK}
	n := 0
	for _, r := range all {
		if r.Why == "" {
			continue
		}
		if n++; n == 1 {
			sec.End, sec.Why = snapshot.EndDenied, untrusted.Clean(string(r.Path)+": "+r.Why, 200)
		}
	}
	switch {
	case len(all) == 0:
		sec.End, sec.Why = snapshot.EndMissing, "the shell showed nothing to compare"
	case n > 1:
		sec.Why += fmt.Sprintf(", and %d more", n-1)
	}
	return sec
}

// looked is what the shell said of one path.
type looked struct {
	path  string
	print string // empty: it showed no such file
}

func rereadList(s *snapshot.Snapshot) []looked {
	var out []looked
	have := map[string]bool{}
	for _, p := range alwaysReread {
		if f := shellFile(s, p); f != nil && f.Print != "" && !f.Truncated {
			out = append(out, looked{p, f.Print})
		} else if f == nil && s.Seen(sectionOf(p)) {
			out = append(out, looked{p, ""})
		}
		have[p] = true
	}
	for i := range s.Files {
		f := &s.Files[i]
		if f.Section != snapshot.SectionRunners || f.Type != "file" || f.Print == "" || f.Truncated || have[string(f.Path)] || len(out) >= rereadFiles {
			continue
		}
		have[string(f.Path)] = true
		out = append(out, looked{string(f.Path), f.Print})
	}
	return out
}

func sectionOf(path string) string {
	if path == "/etc/passwd" {
		return snapshot.SectionKeys
	}
	return snapshot.SectionProfiles
}

func shellFile(s *snapshot.Snapshot, path string) *snapshot.File {
	for i := range s.Files {
		if string(s.Files[i].Path) == path {
			return &s.Files[i]
		}
	}
	return nil
}

// secondLook compares one file. A file that was written since we logged in, by its own
// times, may differ honestly.
func (h *Hosts) secondLook(ctx context.Context, c *sftp.Client, s *snapshot.Snapshot, p looked) snapshot.Reread {
	x := snapshot.Reread{Path: untrusted.Text(p.path), ByShell: p.print}
	st, err := c.Lstat(p.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		x.Same = p.print == ""
		return x
	case err != nil:
		x.Why = untrusted.Clean(err.Error(), 200)
		return x
	case !st.Mode().IsRegular():
		x.Why = "by SFTP it is no regular file"
		return x
	case st.Size() > rereadBytes:
		x.Why = fmt.Sprintf("%d bytes, more than is read twice", st.Size())
		return x
	}
	f, err := c.Open(p.path)
	if err != nil {
		x.Why = untrusted.Clean(err.Error(), 200)
		return x
	}
	b, err := io.ReadAll(io.LimitReader(f, rereadBytes+1))
	if err != nil || len(b) > rereadBytes {
		x.Why = "could not be read to its end"
		return x
	}
	x.BySFTP = h.marker(ctx).Print(string(b))
	x.Same = x.BySFTP == x.ByShell
	x.Changed = !x.Same && s.Offset.Known && st.ModTime().After(s.Taken.Add(s.Offset.Value-s.Offset.Uncertainty))
	return x
}
