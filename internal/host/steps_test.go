package host

import (
	"strings"
	"testing"

	"cordon/internal/host/snapshot"
)

// A step that was ended from outside, or that wrote as much as it may, has not told all.
func TestAStepThatDidNotEndByItselfIsCut(t *testing.T) {
	for _, sh := range shells(t) {
		for text, want := range map[string]string{
			"told x 100 sh -c 'echo a; kill -KILL $$'": "did not end in time: x",
			"told x 4 printf abcdefgh":                 "not read whole, first x",
			"told x 100 sh -c 'echo a; exit 1'":        "=ok",
			"told x 100 printf abcdefgh":               "=ok",
			"deny /a; cut /b":                          "1 not readable, first /a; and 1 cut, first /b",
		} {
			out := pipe(t, sh, "N="+testNonce+"\nR=\nP=triage\n"+framesSh+openSh+filesSh+"tools\nenter homes\n"+text+"\nleave homes\n")
			if !strings.Contains(out, want) {
				t.Errorf("%s: %s: no %q in %q", sh.name, text, want, out)
			}
		}
	}
}

// A shell writes a here-document into a file before it reads it.
func TestTheScriptsHaveNoHereDocument(t *testing.T) {
	for _, s := range Scripts() {
		if strings.Contains(s.Text, "<<") {
			t.Errorf("%s writes to the host's temporary directory where sh is bash", s.Name)
		}
	}
}

func TestTheCronOfEveryDistributionIsRead(t *testing.T) {
	tr := newTree(t)
	places := []string{"/var/spool/cron/tabs/runner", "/etc/crontabs/root", "/etc/periodic/15min/sync"}
	for _, p := range places {
		tr.file(p, "* * * * * /tmp/y\n", 0o600)
	}
	for _, sh := range shells(t) {
		out, _ := tr.run(sh, snapshot.ProfileTriage, nil, nil)
		s := read(t, out, snapshot.ProfileTriage)
		for _, p := range places {
			if f := at(s, p); f == nil || f.Section != snapshot.SectionCron || f.Content == "" {
				t.Errorf("%s: %s: %+v", sh.name, p, f)
			}
		}
	}
}

// Homes that are too large to be searched cost thirty seconds together, however many they are.
func TestSearchesForRepositoriesHaveOneBudget(t *testing.T) {
	dir := t.TempDir()
	for _, sh := range shells(t) {
		out := pipe(t, sh, "N="+testNonce+"\nR=\nP=triage\n"+framesSh+openSh+filesSh+workSh+systemSh+
			"tools\nmounts\nTO=late\nn=0\nlate() { return 137; }\nenter homes\nLO=$TO\nfor i in 1 2 3 4 5 6 7 8 9; do repos "+dir+"; done\nvalue late \"$LATE\"\nleave homes\n")
		if !strings.Contains(out, "value =late 2\n=6") || !strings.Contains(out, "9 not read whole, first the search for repositories ran out of time") {
			t.Errorf("%s: %s", sh.name, out)
		}
	}
}
