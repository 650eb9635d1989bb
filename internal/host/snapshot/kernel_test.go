package snapshot

import (
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestAProcessNameCannotMoveTheFieldsBehindIt(t *testing.T) {
	for _, comm := range []string{"sh", "a b", ") S 1 (", "99 (x) S 0", "\n7 (y) R 1", "((", ""} {
		p, ticks, err := parseStat([]byte(stat(42, 7, comm, 123)))
		if err != nil || p.PID != 42 || p.PPID != 7 || ticks != 123 || string(p.Comm) != comm {
			t.Errorf("%q: %+v %d %v", comm, p, ticks, err)
		}
	}
	for _, bad := range []string{"", "42", "42 (x)", "42 (x) S", "x (y) S 1" + strings.Repeat(" 0", 30), "-1 (x) S 1" + strings.Repeat(" 0", 30)} {
		if _, _, err := parseStat([]byte(bad)); err == nil {
			t.Errorf("%q was understood", bad)
		}
	}
}

func TestSocketLines(t *testing.T) {
	for line, want := range map[string]Socket{
		"   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000   998        0 1234 1 0 100 0 0 10 0":                        {Proto: "tcp", Local: "127.0.0.1:8080", Remote: "0.0.0.0:0", State: "LISTEN", UID: 998, Inode: 1234},
		"   1: 00000000000000000000000001000000:0016 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000 0 0 9 1":     {Proto: "tcp", Local: "[::1]:22", Remote: "[::]:0", State: "LISTEN", Inode: 9},
		"   2: 0000000000000000FFFF00000200000A:C000 0000000000000000FFFF0000070200C0:01BB 01 00000000:00000000 00:00000000 00000000 1000 0 77 1": {Proto: "tcp", Local: "10.0.0.2:49152", Remote: "192.0.2.7:443", State: "ESTABLISHED", UID: 1000, Inode: 77},
	} {
		got, err := parseSocket("tcp", line)
		if err != nil || got != want {
			t.Errorf("%q: %+v %v", line, got, err)
		}
	}
	for _, bad := range []string{
		"", "0: x y 0A", "0: 0100007F:1F90 00000000:0000 ZZ 0:0 0:0 0 0 0 1 1", "0: 0100007F 00000000:0000 0A 0:0 0:0 0 0 0 1 1",
		"0: 01007F:1F90 00000000:0000 0A 0:0 0:0 0 0 0 1 1", "0: 0100007F:1F90 00000000:0000 0A 0:0 0:0 0 -1 0 1 1", "0: 0100007F:1F90F 00000000:0000 0A 0:0 0:0 0 1 0 1 1",
	} {
		if _, err := parseSocket("tcp", bad); err == nil {
			t.Errorf("%q was understood", bad)
		}
	}
}

func TestALstatIsSixNumbers(t *testing.T) {
	f, err := ParseLstat("89ed 1000 100 12 1796000000 -5")
	if err != nil || f.Type != "file" || f.Mode != 0o4755 || f.UID != 1000 || !f.Ctime.IsZero() || f.Mtime.IsZero() {
		t.Errorf("%+v %v", f, err)
	}
	for mode, typ := range map[string]string{"41ed": "dir", "a1ff": "link", "11a4": "other", "c1a4": "other"} {
		if f, err := ParseLstat(mode + " 0 0 0 0 0"); err != nil || f.Type != typ {
			t.Errorf("%s: %+v %v", mode, f, err)
		}
	}
	for _, bad := range []string{"", "81a4 0 0 1 1", "81a4 0 0 1 1 1 1", "zz 0 0 1 1 1", "81a4 -1 0 1 1 1", "81a4 0 0 -1 1 1", "81a4 0 0 1 x 1", "81a4  0 0 1 1"} {
		if _, err := ParseLstat(bad); err == nil {
			t.Errorf("%q was understood", bad)
		}
	}
}

func FuzzParseStat(f *testing.F) {
	f.Add(stat(1, 0, "init", 5))
	f.Add("1 (a) (b) S 1")
	f.Fuzz(func(t *testing.T, s string) {
		p, _, err := parseStat([]byte(s))
		if err == nil && (p.PID < 0 || p.PPID < 0 || !strings.Contains(s, string(p.Comm))) {
			t.Errorf("%q: %+v", s, p)
		}
	})
}

var marks = regexp.MustCompile(`\[redacted hmac:[0-9a-f]{16} len:[0-9]+\]`)

// The value of --token never stays, whatever stands before it.
func FuzzParseCmdline(f *testing.F) {
	f.Add("curl\x00-u\x00x:y", "open sesame")
	f.Add("\x00\x00--token", "-dashed value")
	f.Fuzz(func(t *testing.T, front, v string) {
		words := parseCmdline([]byte(front + "\x00--token\x00" + v + "\x00end"))
		if len(words) > maxArgs {
			t.Fatalf("%d words", len(words))
		}
		if len(v) < 8 || v[0] == '@' || strings.Contains(v, "\x00") || strings.Contains(front, v) || len(words) == maxArgs {
			return
		}
		p := &parser{x: expect(ProfileWatch), s: &Snapshot{}, spoil: map[string]string{}}
		for _, a := range p.args("x", words, false) {
			if strings.Contains(marks.ReplaceAllString(string(a), ""), v) {
				t.Errorf("%q kept in %q", v, a)
			}
		}
	})
}

func FuzzParseSocket(f *testing.F) {
	f.Add("0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000 998 0 1234 1")
	f.Fuzz(func(t *testing.T, s string) {
		k, err := parseSocket("tcp", s)
		if err == nil && (k.State == "" || k.Local == "" || k.UID < 0) {
			t.Errorf("%q: %+v", s, k)
		}
	})
}

func FuzzParse(f *testing.F) {
	f.Add(sample())
	f.Add(strings.ReplaceAll(sample(), "=ok", "=denied"))
	f.Fuzz(func(t *testing.T, text string) {
		s, err := parse(ProfileWatch, text)
		if s == nil {
			t.Fatal("no snapshot")
		}
		if (err == nil) != s.Complete {
			t.Errorf("complete %v with %v", s.Complete, err)
		}
		if len(s.Sections) != len(SectionsOf(ProfileWatch)) {
			t.Errorf("%d sections", len(s.Sections))
		}
		var b strings.Builder
		if err := s.Encode(&b); err != nil {
			t.Errorf("encode: %v", err)
		}
		if !utf8.ValidString(b.String()) {
			t.Error("not UTF-8")
		}
		if _, err := Decode(strings.NewReader(b.String())); err != nil {
			t.Errorf("decode: %v", err)
		}
	})
}
