package snapshot

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"cordon/internal/untrusted"
)

// Errors of reading a stream. Callers test with errors.Is.
var (
	ErrForged   = errors.New("frames are not what our script writes")
	ErrCut      = errors.New("stream ended before its end frame")
	ErrTooLarge = errors.New("stream is larger than its cap")
)

// Limits bounds what is read, in bytes of the stream and in frames. A zero field
// means its default.
type Limits struct {
	Frame  int   // one body, with its mark; default 3 MiB
	Total  int64 // the whole stream; default 32 MiB
	Frames int   // default 100000
}

func (l Limits) filled() Limits {
	if l.Frame <= 0 {
		l.Frame = 3 << 20
	}
	if l.Total <= 0 {
		l.Total = 32 << 20
	}
	if l.Frames <= 0 {
		l.Frames = 100_000
	}
	return l
}

// Most is how much of a stream is read at most, in bytes: the budget of one host.
func (l Limits) Most() int64 { return l.filled().Total }

// maxHeader is longer than the header of any path Linux allows (4096 bytes, encoded).
const maxHeader = 8 << 10

// maxNoise is how much may come before the first frame: what the start-up files of
// the account's shell write (bash reads .bashrc for commands from sshd).
const maxNoise = 16 << 10

// Frame is one record of the stream; FORMAT.md describes it. Name and Body are
// foreign bytes.
type Frame struct {
	Seq        int
	Kind, Name string
	Body       []byte
}

// Frames reads frames one at a time and holds no more than one in memory. It is not
// safe for concurrent use.
type Frames struct {
	r     *bufio.Reader
	nonce string
	lim   Limits
	seq   int
	read  int64
	noise int
}

// NewFrames returns a reader of the frames that carry nonce.
func NewFrames(r io.Reader, nonce string, lim Limits) *Frames {
	return &Frames{r: bufio.NewReaderSize(r, maxHeader), nonce: nonce, lim: lim.filled()}
}

// Read is how many bytes of the stream were used so far.
func (f *Frames) Read() int64 { return f.read }

// Noise is how many bytes came before the first frame.
func (f *Frames) Noise() int { return f.noise }

// Next returns the next frame, io.EOF where the stream ends between two frames, and
// an error that wraps ErrForged, ErrCut, ErrTooLarge or the reader's own.
func (f *Frames) Next() (Frame, error) {
	line, err := f.r.ReadSlice('\n')
	f.read += int64(len(line))
	for f.seq == 0 && err == nil && !bytes.HasPrefix(line, []byte("C1 ")) {
		if f.noise += len(line); f.noise > maxNoise {
			return Frame{}, f.forged("no frame in the first %d bytes", maxNoise)
		}
		line, err = f.r.ReadSlice('\n')
		f.read += int64(len(line))
	}
	switch {
	case errors.Is(err, io.EOF) && len(line) == 0:
		return Frame{}, io.EOF
	case errors.Is(err, io.EOF):
		return Frame{}, fmt.Errorf("frame %d: %w inside a header", f.seq+1, ErrCut)
	case errors.Is(err, bufio.ErrBufferFull):
		return Frame{}, f.forged("header longer than %d bytes", maxHeader)
	case err != nil:
		return Frame{}, fmt.Errorf("read frame %d: %w", f.seq+1, err)
	}
	part := strings.Split(string(line[:len(line)-1]), " ")
	if len(part) != 6 || part[0] != "C1" {
		return Frame{}, f.forged("not a header: %s", untrusted.Clean(string(line), 60))
	}
	if part[1] != f.nonce {
		return Frame{}, f.forged("another nonce")
	}
	if seq, err := decimal(part[2]); err != nil || seq != f.seq+1 {
		return Frame{}, f.forged("sequence number %s", untrusted.Clean(part[2], 20))
	}
	kind := part[3]
	if !kinds[kind] {
		return Frame{}, f.forged("kind %s", untrusted.Clean(kind, 20))
	}
	name, err := unmark([]byte(part[4]), 0x21)
	if err != nil {
		return Frame{}, f.forged("name: %v", err)
	}
	n, err := decimal(part[5])
	if err != nil || n < 1 {
		return Frame{}, f.forged("length %s", untrusted.Clean(part[5], 20))
	}
	if n > f.lim.Frame {
		return Frame{}, fmt.Errorf("frame %d: %w: a body of %d bytes, cap %d", f.seq+1, ErrTooLarge, n, f.lim.Frame)
	}
	if f.read+int64(n)+1 > f.lim.Total || f.seq+1 > f.lim.Frames {
		return Frame{}, fmt.Errorf("frame %d: %w: cap %d bytes, %d frames", f.seq+1, ErrTooLarge, f.lim.Total, f.lim.Frames)
	}
	body := make([]byte, n+1)
	k, err := io.ReadFull(f.r, body)
	f.read += int64(k)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return Frame{}, fmt.Errorf("frame %d: %w inside a body", f.seq+1, ErrCut)
	} else if err != nil {
		return Frame{}, fmt.Errorf("read frame %d: %w", f.seq+1, err)
	}
	if body[n] != '\n' {
		return Frame{}, f.forged("body longer than its length")
	}
	text, err := unmark(body[:n], 0x20)
	if err != nil {
		return Frame{}, f.forged("body: %v", err)
	}
	f.seq++
	return Frame{Seq: f.seq, Kind: kind, Name: string(name), Body: text}, nil
}

func (f *Frames) forged(format string, args ...any) error {
	return fmt.Errorf("frame %d: %w: %s", f.seq+1, ErrForged, fmt.Sprintf(format, args...))
}

// kinds are the frames our scripts write.
var kinds = map[string]bool{
	"begin": true, "enter": true, "value": true, "pstat": true, "pstatus": true, "pcgroup": true, "pargs": true,
	"penv": true, "plinks": true, "table": true, "lstat": true, "link": true, "data": true, "nodata": true,
	"log": true, "job": true, "gap": true, "fact": true, "section": true, "end": true,
	"sum": true, "asked": true,
}

// unmark decodes marked text; literal text starts at the byte low.
func unmark(b []byte, low byte) ([]byte, error) {
	if len(b) == 0 {
		return nil, errors.New("no mark")
	}
	switch b[0] {
	case '=':
		if i := bytes.IndexFunc(b[1:], func(r rune) bool { return r < rune(low) || r > 0x7e }); i >= 0 {
			return nil, errors.New("an unprintable byte in literal text")
		}
		return b[1:], nil
	case '~':
		out := make([]byte, base64.StdEncoding.DecodedLen(len(b)-1))
		if bytes.ContainsAny(b, "\r\n") { // the decoder would skip them
			return nil, errors.New("a line break in base64")
		}
		n, err := base64.StdEncoding.Strict().Decode(out, b[1:])
		if err != nil {
			return nil, errors.New("not base64")
		}
		return out[:n], nil
	}
	return nil, errors.New("no mark")
}

// decimal reads a number without sign, leading zero or more than nine digits.
func decimal(s string) (int, error) {
	if len(s) == 0 || len(s) > 9 || (s[0] == '0' && len(s) > 1) || strings.Trim(s, "0123456789") != "" {
		return 0, fmt.Errorf("not a number")
	}
	return strconv.Atoi(s)
}
