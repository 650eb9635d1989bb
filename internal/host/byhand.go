package host

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"syscall"

	"cordon/internal/evidence"
	"cordon/internal/host/snapshot"
	"cordon/internal/untrusted"
)

// ErrNotOurs means that an answer belongs to no script that was printed here.
var ErrNotOurs = errors.New("not an answer to a script that was printed here")

// Printed is a script for somebody else to run.
type Printed struct {
	Issued
	Text string // all of it: sh FILE > ANSWER
}

// Print makes a self-contained script with a nonce of its own. root is empty on a
// machine, and where an image is mounted with ProfileImage.
func (h *Hosts) Print(name, profile, root string) (Printed, error) {
	bad := func(format string, a ...any) (Printed, error) {
		return Printed{}, fmt.Errorf("print a script: %w: %s", ErrBadConfig, fmt.Sprintf(format, a...))
	}
	switch {
	case name != "" && !nameRE.MatchString(name):
		return bad("the name %q may hold letters, digits, . _ and - only", name)
	case snapshot.SectionsOf(profile) == nil:
		return bad("no profile %q; use %s, %s or %s", profile, snapshot.ProfileTriage, snapshot.ProfileWatch, snapshot.ProfileImage)
	case (root != "") != (profile == snapshot.ProfileImage):
		return bad("a root goes with the profile %s, and that profile with a root", snapshot.ProfileImage)
	case root != "" && !rootRE.MatchString(root):
		return bad("the path %q may hold letters, digits and . _ / + - only", root)
	}
	s := collector()
	p := Printed{Issued: Issued{Nonce: newNonce(), Host: name, Profile: profile, Script: s.SHA256, Made: h.o.Clock.Now().UTC()}}
	p.Text = preamble(p.Nonce, root, "P="+profile) + s.Text
	return p, nil
}

// maxAnswer is how large a file that is brought may be, in bytes.
const maxAnswer = 64 << 20

// OpenAnswer opens a file that somebody brought: a regular one, of a bounded size. It
// never waits for the other end of a pipe.
func OpenAnswer(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	st, err := f.Stat()
	switch {
	case err == nil && !st.Mode().IsRegular():
		err = fmt.Errorf("%s is no regular file", path)
	case err == nil && st.Size() > maxAnswer:
		err = fmt.Errorf("%s has %d bytes; an answer has at most %d", path, st.Size(), maxAnswer)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

var headerRE = regexp.MustCompile(`^C1 ([0-9a-f]{32}) 1 begin =(triage|watch|image) [0-9]+\r?$`)

// NonceOf finds the nonce of an answer in its first frame, before which a shell's
// start-up files may have written. It wraps ErrNotOurs.
func NonceOf(r io.Reader) (string, error) {
	sc := bufio.NewScanner(io.LimitReader(r, 64<<10))
	sc.Buffer(make([]byte, 64<<10), 64<<10)
	for sc.Scan() {
		if m := headerRE.FindStringSubmatch(sc.Text()); m != nil {
			return m[1], nil
		}
	}
	return "", fmt.Errorf("%w: no first frame at its start; was the whole output kept, and nothing but it?", ErrNotOurs)
}

// Ingest reads what somebody brought as the answer of the host name. The frames, their
// nonce and their end are checked as with any other transport; that nobody wrote them
// with an editor is not known, and the snapshot says who brought it. It is kept as
// Gather keeps one; no path in it is ever used as a path here. complete reports whether
// it was whole.
func (h *Hosts) Ingest(ctx context.Context, name, by string, is Issued, r io.Reader, to evidence.Sink) (gaps []evidence.Gap, complete bool, err error) {
	t := ref(name)
	if !nameRE.MatchString(name) {
		return nil, false, fmt.Errorf("ingest: %w: the name %q may hold letters, digits, . _ and - only", ErrBadConfig, untrusted.Clean(name, 80))
	}
	// The host was read some time after the script was made and before now: the earlier
	// time never makes an answer look fresher than it is.
	s, perr := snapshot.Parse(unixLines{bufio.NewReader(r)}, snapshot.Expect{
		Host: name, Nonce: is.Nonce, Profile: is.Profile, Sent: is.Made, Marker: h.marker(ctx), Limits: h.o.Limits,
	})
	s.Carried = &snapshot.Carried{
		Transport: snapshot.ByHand, Carrier: "brought by hand by " + untrusted.Clean(by, 100), Script: is.Script,
		By: untrusted.Clean(by, 100), Brought: h.o.Clock.Now().UTC(),
	}
	item := "host/" + name + "/snapshot.json"
	if perr != nil {
		perr = fmt.Errorf("answer of %s, brought by hand by %s: %w", name, untrusted.Clean(by, 100), perr)
		gaps = append(gaps, evidence.Gap{Name: item, Why: untrusted.Clean(perr.Error(), 500), At: h.o.Clock.Now()})
	}
	if s.Complete || len(s.Sections) > 0 && s.Ident.UID >= 0 {
		if _, err := keep(ctx, to, s, item); err != nil {
			return gaps, false, err
		}
		gaps = append(gaps, named(s, t.ID)...)
	}
	return gaps, s.Complete, miss(ctx, to, gaps, t)
}

// unixLines takes the carriage return out of line ends, which a console may have put in.
// Frames hold none of their own.
type unixLines struct{ r *bufio.Reader }

func (u unixLines) Read(p []byte) (int, error) {
	n, err := u.r.Read(p)
	if bytes.IndexByte(p[:n], '\r') < 0 {
		return n, err
	}
	k := 0
	for i := range n {
		if p[i] == '\r' {
			next := byte(0)
			if i+1 < n {
				next = p[i+1]
			} else if b, perr := u.r.Peek(1); perr == nil {
				next = b[0]
			}
			if next == '\n' {
				continue
			}
		}
		p[k] = p[i]
		k++
	}
	if k == 0 && err == nil {
		return u.Read(p)
	}
	return k, err
}
