package check_test

import (
	"strings"
	"testing"

	"cordon/internal/host/snapshot"
	"cordon/internal/untrusted"
)

// The read itself is no intruder: the shell that ran the script, and its children. Any
// other shell beside it is.
func TestTheCollectorDoesNotReportItself(t *testing.T) {
	for _, c := range []struct {
		fact string
		want string
	}{
		{"970", "972"}, {"", "970 971 972"}, {"1", "970 971 972"}, {"x", "970 971 972"}, {"5555", "970 971 972"},
	} {
		s := cleanHost()
		plantProcess(process(970, 1, 0, "/usr/bin/dash", "sh", "s.sh"))(s)
		plantProcess(process(971, 970, 0, "/usr/bin/dash", "sh", "s.sh"))(s)
		plantProcess(process(972, 1, 0, "/usr/bin/dash", "sh"))(s)
		if c.fact != "" {
			s.Facts = append(s.Facts, snapshot.Fact{Section: snapshot.SectionProc, Name: "collector", Text: untrusted.Text(c.fact)})
		}
		var got []string
		for _, f := range resultOf(t, s, "processes").Findings {
			got = append(got, strings.Fields(string(f.Where))[1])
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("with the fact %q: processes %q, want %s", c.fact, got, c.want)
		}
	}
}

// cordon on the machine itself, from wherever it was put, left nothing behind; any other
// program of that place did, and so did what stands above a login from elsewhere.
func TestCordonDoesNotReportItself(t *testing.T) {
	for carried, want := range map[*snapshot.Carried]string{
		{Transport: snapshot.ByLocal}: "983", {Transport: snapshot.BySSH}: "981 983", nil: "981 983",
	} {
		s := cleanHost()
		s.Carried = carried
		for _, p := range []snapshot.Process{
			process(980, 811, 1001, "/usr/bin/bash", "bash"), process(981, 980, 0, "/tmp/cordon", "cordon", "host", "check", "here"),
			process(982, 981, 0, "/usr/bin/dash", "sh", "-s"), process(983, 980, 0, "/tmp/cordon", "cordon"),
		} {
			plantProcess(p)(s)
		}
		s.Facts = append(s.Facts, snapshot.Fact{Section: snapshot.SectionProc, Name: "collector", Text: "982"})
		var got []string
		for _, f := range resultOf(t, s, "orphans").Findings {
			got = append(got, strings.Fields(string(f.Where))[1])
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%+v: processes %q, want %s", carried, got, want)
		}
	}
}

// A server of a directory is told by its command line, whatever program it is.
func TestAServedDirectoryIsAWebServer(t *testing.T) {
	s := cleanHost()
	plantProcess(process(973, 1, 0, "/usr/bin/python3.11", "python3", "-m", "http.server", "--cgi"))(s)
	got := resultOf(t, s, "processes").Findings
	if len(got) != 1 || !strings.HasPrefix(got[0].Title, "a web server of an interpreter") || got[0].Attack[0] != "T1505.003" {
		t.Errorf("%+v", got)
	}
}
