package snapshot

import (
	"encoding/base64"
	"fmt"
	"strings"
	"time"

	"cordon/internal/redact"
)

const nonce = "0123456789abcdef0123456789abcdef"

var sent = time.Date(2026, 11, 30, 3, 0, 0, 0, time.UTC)

// stream writes frames as the collector does.
type stream struct {
	b   strings.Builder
	seq int
}

func literal(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r < 0x20 || r > 0x7e }) < 0
}

func marked(s string, name bool) string {
	if literal(s) && !(name && strings.Contains(s, " ")) {
		return "=" + s
	}
	return "~" + base64.StdEncoding.EncodeToString([]byte(s))
}

func (s *stream) frame(kind, name, body string) *stream {
	s.seq++
	m := marked(body, false)
	fmt.Fprintf(&s.b, "C1 %s %d %s %s %d\n%s\n", nonce, s.seq, kind, marked(name, true), len(m), m)
	return s
}

func (s *stream) end(profile string) string {
	return s.frame("end", profile, fmt.Sprint(s.seq)).b.String()
}

// section writes one section that ends ok, with the frames that f adds.
func (s *stream) section(name string, f func()) *stream {
	s.frame("enter", name, "")
	if f != nil {
		f()
	}
	return s.frame("section", name, "ok")
}

// whole writes a stream of the profile with the sections in with filled.
func whole(profile string, with map[string]func(*stream)) string {
	s := &stream{}
	s.frame("begin", profile, "cordon-collector 1")
	for _, name := range SectionsOf(profile) {
		s.section(name, func() {
			if f := with[name]; f != nil {
				f(s)
			}
		})
	}
	return s.end(profile)
}

func expect(profile string) Expect {
	return Expect{
		Host: "build-07", Nonce: nonce, Profile: profile, Sent: sent,
		Now:    func() time.Time { return sent.Add(2 * time.Second) },
		Marker: redact.NewMarker([]byte("0123456789abcdef0123456789abcdef")),
	}
}

func parse(profile, text string) (*Snapshot, error) {
	return Parse(strings.NewReader(text), expect(profile))
}

// stat is a line of /proc/<pid>/stat.
func stat(pid, ppid int, comm string, ticks int) string {
	return fmt.Sprintf("%d (%s) S %d %d %d 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 %d 12582912 2048", pid, comm, ppid, pid, pid, ticks)
}
