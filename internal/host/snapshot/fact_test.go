package snapshot

import (
	"errors"
	"strings"
	"testing"
)

// facts of one section, in a whole triage stream.
func told(section string, frames func(*stream)) string {
	return whole(ProfileTriage, map[string]func(*stream){section: frames})
}

func TestAFactIsKeptOnceInItsSection(t *testing.T) {
	s, err := parse(ProfileTriage, told(SectionKernel, func(s *stream) { s.frame("fact", "tainted", "4096\n") }))
	if got, ok := s.Fact("tainted"); err != nil || !ok || got != "4096\n" || !s.Seen(SectionKernel) {
		t.Errorf("%q, %v, %v", got, ok, err)
	}
	for name, stream := range map[string]string{
		"another section":  told(SectionSystem, func(s *stream) { s.frame("fact", "tainted", "0") }),
		"an unknown name":  told(SectionKernel, func(s *stream) { s.frame("fact", "anything", "0") }),
		"the second time":  told(SectionKernel, func(s *stream) { s.frame("fact", "tainted", "0").frame("fact", "tainted", "4096") }),
		"before the files": told(SectionKernel, func(s *stream) { s.frame("lstat", "no/root", "81a4 0 0 1 1 1") }),
	} {
		if s, err := parse(ProfileTriage, stream); !errors.Is(err, ErrForged) || s.Complete {
			t.Errorf("%s: complete %v, %v", name, s.Complete, err)
		}
	}
}

// What does not fit is said: a table that was cut must not read as a whole one.
func TestALongFactMakesItsSectionCut(t *testing.T) {
	s, err := parse(ProfileTriage, told(SectionKernel, func(s *stream) { s.frame("fact", "tainted", strings.Repeat("1", 100)) }))
	if err != nil || s.Section(SectionKernel).End != EndCut || len(s.Facts) != 1 || len(s.Facts[0].Text) > 64 {
		t.Errorf("%v, %v, %v", s.Section(SectionKernel), s.Facts, err)
	}
}

func TestNoSecretInFactsAndSettings(t *testing.T) {
	const secret = "planted-0123456789-not-a-real-one"
	stream := whole(ProfileTriage, map[string]func(*stream){
		SectionKernel: func(s *stream) { s.frame("fact", "cmdline", "quiet ds.token="+secret+"\n") },
		SectionHomes: func(s *stream) {
			body := "registry=https://registry.npmjs.org/\n//registry.npmjs.org/:_authToken=" + secret + "\nother = " + secret + "\nscript-shell=/bin/sh\n"
			s.frame("lstat", "/home/x/.npmrc", "81a4 0 0 1 1 1").frame("data", "/home/x/.npmrc", body)
			body = `{"auths":{"r":{"auth":"` + secret + `"}},"credsStore":"pass"}`
			s.frame("lstat", "/home/x/.docker/config.json", "81a4 0 0 1 1 1").frame("data", "/home/x/.docker/config.json", body)
		},
	})
	s, err := parse(ProfileTriage, stream)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := s.Encode(&b); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(b.String(), secret) {
		t.Errorf("the secret is in the snapshot: %.3000s", b.String())
	}
	for _, want := range []string{"registry=https://registry.npmjs.org/", "script-shell=/bin/sh", "credsStore"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%s was taken out too", want)
		}
	}
}

func TestWhoReadsTheMemoryOfOthers(t *testing.T) {
	links := "7/fd/3\x00/proc/9/mem\x007/fd/4\x00/proc/7/mem\x007/fd/5\x00/proc/9/mem\x007/fd/6\x00/proc/x/mem\x00"
	stream := whole(ProfileTriage, map[string]func(*stream){
		SectionProc:   func(s *stream) { s.frame("pstat", "7", stat(7, 1, "x", 1)) },
		SectionDetail: func(s *stream) { s.frame("plinks", "fd", links) },
	})
	s, err := parse(ProfileTriage, stream)
	if err != nil || len(s.Processes) != 1 || len(s.Processes[0].Memory) != 1 || s.Processes[0].Memory[0] != 9 {
		t.Errorf("%+v, %v: want the memory of 9, once, and not its own", s.Processes, err)
	}
}
