package snapshot

import (
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// sample is a watch stream with one agent that is connected and has been refused.
func sample() string {
	return whole(ProfileWatch, map[string]func(*stream){
		SectionIdent: func(s *stream) {
			s.frame("value", "date", "1796007605").frame("value", "uid", "0").frame("value", "hostname", "build-07").frame("value", "btime", "1796000000")
		},
		SectionProc: func(s *stream) {
			s.frame("pstat", "1", stat(1, 0, "systemd", 10))
			s.frame("pstat", "812", stat(812, 1, "gitlab-runner", 4200))
			s.frame("pstatus", "812", "0 0 0 0").frame("pcgroup", "812", "0::/system.slice/gitlab-runner.service")
			s.frame("pargs", "812", "/usr/bin/gitlab-runner\x00run\x00")
		},
		SectionDetail: func(s *stream) {
			s.frame("penv", "812", "PATH=/usr/bin\x00X=\x00")
			s.frame("plinks", "exe", "812/exe\x00/usr/bin/gitlab-runner\x00812/cwd\x00/\x00")
			s.frame("plinks", "fd", "812/fd/7\x00socket:[4711]\x00")
		},
		SectionNet: func(s *stream) {
			s.frame("table", "tcp", "heading\n   0: 0100007F:D431 0A000002:01BB 01 00000000:00000000 00:00000000 00000000     0        0 4711 1\n")
		},
		SectionLog: func(s *stream) {
			s.frame("log", "/var/log/gitlab-runner.log", `{"level":"error","msg":"Checking for jobs... forbidden","runner":"stub00000","status":"POST http://127.0.0.1:4020/api/v4/jobs/request: 403 Forbidden","time":"2026-11-30T12:39:57.451295089Z"}`+"\n")
		},
	})
}

func TestAWholeStreamIsACompleteSnapshot(t *testing.T) {
	s, err := parse(ProfileWatch, sample())
	if err != nil || !s.Complete || len(s.Gaps) != 0 {
		t.Fatalf("complete %v, gaps %v, err %v", s.Complete, s.Gaps, err)
	}
	if len(s.Processes) != 2 {
		t.Fatalf("%d processes", len(s.Processes))
	}
	p := s.Processes[1]
	if p.PID != 812 || p.PPID != 1 || p.UID != 0 || p.Exe != "/usr/bin/gitlab-runner" || p.Cwd != "/" || len(p.Args) != 2 ||
		p.Cgroup != "/system.slice/gitlab-runner.service" || p.Env["PATH"] != "/usr/bin" {
		t.Errorf("process: %+v", p)
	}
	if want := time.Unix(1796000042, 0).UTC(); !p.Started.Equal(want) {
		t.Errorf("started %s, want %s: boot time plus ticks", p.Started, want)
	}
	if len(s.Sockets) != 1 || s.Sockets[0].PID != 812 || s.Sockets[0].Remote != "2.0.0.10:443" || s.Sockets[0].State != "ESTABLISHED" {
		t.Errorf("socket: %+v", s.Sockets)
	}
	if len(s.Log) != 1 || !strings.HasPrefix(string(s.Log[0].Text), "error: Checking for jobs... forbidden runner=stub00000") || s.Log[0].At.IsZero() {
		t.Errorf("log: %+v", s.Log)
	}
	if !s.Seen(SectionNet) || s.Seen(SectionCron) || s.Section(SectionCron).End != EndNotAsked {
		t.Errorf("sections: %v", s.Sections)
	}
	// 1796007605.5 s is 03:00:05.5 + 0.5 s of dropped fraction; ours was 03:00:01 ± 1 s in the middle.
	if !s.Offset.Known || s.Offset.Uncertainty != 1500*time.Millisecond {
		t.Errorf("offset: %+v", s.Offset)
	}
}

func TestAForgedStreamIsNeverComplete(t *testing.T) {
	good := sample()
	insert := func(before, kind, name, body string) string {
		s := &stream{seq: 2}
		s.frame(kind, name, body)
		return strings.Replace(good, before, s.b.String()+before, 1)
	}
	cases := map[string]string{
		"another nonce":          strings.Replace(good, nonce+" 5 ", strings.Repeat("f", 32)+" 5 ", 1),
		"a sequence twice":       strings.Replace(good, nonce+" 5 ", nonce+" 4 ", 1),
		"a sequence ahead":       strings.Replace(good, nonce+" 5 ", nonce+" 6 ", 1),
		"a padded sequence":      strings.Replace(good, nonce+" 5 ", nonce+" 05 ", 1),
		"another version":        strings.Replace(good, "\nC1 ", "\nC2 ", 1),
		"an unknown kind":        strings.Replace(good, " pstat ", " pstatx ", 1),
		"a length too short":     strings.Replace(good, "=uid 2\n", "=uid 1\n", 1),
		"a length too long":      strings.Replace(good, "=uid 2\n", "=uid 3\n", 1),
		"an escape in a body":    strings.Replace(good, "=0\n", "\x1b0\n", 1),
		"an escape in a header":  strings.Replace(good, " pstat ", " \x1b[2J ", 1),
		"no mark":                strings.Replace(good, "=build-07\n", "xbuild-07\n", 1),
		"a line break in base64": strings.Replace(good, "=build-07\n", "~YWJj\nZA=\n", 1),
		"a second begin":         insert("C1 "+nonce+" 3 ", "begin", ProfileWatch, "cordon-collector 1"),
		"a process elsewhere":    insert("C1 "+nonce+" 3 ", "pstat", "7", stat(7, 1, "x", 1)),
		"a file in ident":        insert("C1 "+nonce+" 3 ", "lstat", "/etc/x", "81a4 0 0 1 1 1"),
		"another section inside": insert("C1 "+nonce+" 3 ", "enter", SectionProc, ""),
		"frames after the end":   good + "C1 " + nonce + " 99 value =x 1\n=\n",
		"text after the end":     good + "x",
		"another count":          good[:len(good)-3] + "99\n",
		"another script":         strings.Replace(good, "cordon-collector 1", "cordon-collector 2", 1),
		"another profile":        strings.Replace(good, "begin =watch", "begin =triag", 1),
		"a section left out":     strings.ReplaceAll(good, "="+SectionLog+" ", "=lox "),
		"an end nobody knows":    strings.Replace(good, "3\n=ok\n", "3\n=yo\n", 1),
	}
	for name, text := range cases {
		t.Run(name, func(t *testing.T) {
			if text == good {
				t.Fatal("the case changes nothing")
			}
			s, err := parse(ProfileWatch, text)
			if !errors.Is(err, ErrForged) {
				t.Errorf("err %v, want ErrForged", err)
			}
			if s.Complete {
				t.Error("complete")
			}
			for _, sec := range SectionsOf(ProfileWatch) {
				if s.Seen(sec) {
					t.Errorf("section %s counts as seen", sec)
				}
			}
		})
	}
}

func TestAnEndBeforeTheLastSectionIsForged(t *testing.T) {
	s := &stream{}
	s.frame("begin", ProfileWatch, "cordon-collector 1")
	for _, name := range SectionsOf(ProfileWatch)[:5] {
		s.section(name, nil)
	}
	if got, err := parse(ProfileWatch, s.end(ProfileWatch)); !errors.Is(err, ErrForged) || got.Complete {
		t.Errorf("err %v", err)
	}
}

func TestTheSameProcessTwiceIsForged(t *testing.T) {
	text := whole(ProfileWatch, map[string]func(*stream){SectionProc: func(s *stream) {
		s.frame("pstat", "9", stat(9, 1, "a", 1)).frame("pstat", "9", stat(9, 1, "b", 1))
	}})
	if _, err := parse(ProfileWatch, text); !errors.Is(err, ErrForged) {
		t.Errorf("err %v", err)
	}
}

func TestAStreamThatEndsEarlyIsCutEverywhere(t *testing.T) {
	good := sample()
	var cuts []int
	for i := range len(good) - 1 {
		if i%13 == 0 || good[i] == '\n' { // between frames, and a place in every part of one
			cuts = append(cuts, i, i+1)
		}
	}
	for _, cut := range cuts {
		if cut >= len(good)-1 {
			continue // only the last line feed is missing, or nothing
		}
		s, err := parse(ProfileWatch, good[:cut])
		if s.Complete || err == nil {
			t.Fatalf("cut at %d of %d: complete %v, err %v", cut, len(good), s.Complete, err)
		}
		if !errors.Is(err, ErrCut) && !errors.Is(err, ErrForged) {
			t.Fatalf("cut at %d: %v", cut, err)
		}
		for _, sec := range SectionsOf(ProfileWatch) {
			if s.Section(sec).End == EndNotAsked || s.Seen(sec) {
				t.Fatalf("cut at %d: section %s is %q", cut, sec, s.Section(sec).End)
			}
		}
	}
}

func TestNoiseOfALoginShellIsAGapNotAnEnd(t *testing.T) {
	s, err := parse(ProfileWatch, "Welcome to build-07\nHave a nice day\n"+sample())
	if err != nil || !s.Complete || len(s.Gaps) != 1 || s.Gaps[0].Name != "login" {
		t.Errorf("complete %v, gaps %v, err %v", s.Complete, s.Gaps, err)
	}
	if _, err := parse(ProfileWatch, strings.Repeat("x\n", maxNoise)+sample()); !errors.Is(err, ErrForged) {
		t.Errorf("endless noise: %v", err)
	}
}

// endless repeats one frame for ever and counts what was taken of it.
type endless struct{ n int64 }

func (e *endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'A'
	}
	e.n += int64(len(p))
	return len(p), nil
}

func TestWhatIsTooLargeStopsAtTheCap(t *testing.T) {
	small := expect(ProfileWatch)
	small.Limits = Limits{Frame: 1000, Total: 3000, Frames: 20}
	begin := (&stream{}).frame("begin", ProfileWatch, "cordon-collector 1").frame("enter", SectionIdent, "").b.String()
	many := &stream{}
	many.frame("begin", ProfileWatch, "cordon-collector 1").frame("enter", SectionIdent, "")
	for range 50 {
		many.frame("gap", "x", "y")
	}
	for name, front := range map[string]string{
		"one body":    begin + "C1 " + nonce + " 3 value =x 999999999\n",
		"all of it":   begin + "C1 " + nonce + " 3 value =x 900\n=" + strings.Repeat("a", 899) + "\nC1 " + nonce + " 4 value =x 900\n=" + strings.Repeat("a", 899) + "\nC1 " + nonce + " 5 value =x 900\n=" + strings.Repeat("a", 899) + "\nC1 " + nonce + " 6 value =x 900\n",
		"many frames": many.b.String(),
	} {
		e := &endless{}
		s, err := Parse(io.MultiReader(strings.NewReader(front), e), small)
		if !errors.Is(err, ErrTooLarge) || s.Complete {
			t.Errorf("%s: %v", name, err)
		}
		if e.n > 64<<10 {
			t.Errorf("%s: %d bytes were taken behind the cap", name, e.n)
		}
	}
	large := small
	large.Limits.Total = 1 << 40
	body := begin + "C1 " + nonce + " 3 value =x 1001\n"
	if _, err := Parse(io.MultiReader(strings.NewReader(body), &endless{}), large); !errors.Is(err, ErrTooLarge) {
		t.Errorf("a body over its cap, below the cap of all: %v", err)
	}
	e := &endless{}
	if _, err := Parse(e, small); !errors.Is(err, ErrForged) || e.n > 64<<10 {
		t.Errorf("a header without end: %v after %d bytes", err, e.n)
	}
}

func TestASectionThatWasNotUnderstoodDoesNotEndOK(t *testing.T) {
	cases := map[string]map[string]func(*stream){
		SectionNet:    {SectionNet: func(s *stream) { s.frame("table", "tcp", "heading\nrubbish\n") }},
		SectionProc:   {SectionProc: func(s *stream) { s.frame("pstat", "3", "3 (x S") }},
		SectionDetail: {SectionDetail: func(s *stream) { s.frame("plinks", "fd", "1/fd/3\x00socket:[1]\x001/fd/4\x00sock") }},
		SectionLog:    {SectionLog: func(s *stream) { s.frame("log", "journal", "not json\n") }},
	}
	for sec, with := range cases {
		s, err := parse(ProfileWatch, whole(ProfileWatch, with))
		if err != nil || !s.Complete {
			t.Fatalf("%s: %v", sec, err)
		}
		if s.Seen(sec) || s.Section(sec).End != EndCut || len(s.Gaps) == 0 {
			t.Errorf("%s ended %q, gaps %v", sec, s.Section(sec).End, s.Gaps)
		}
	}
}
