package app

import (
	"strings"
	"testing"
	"time"

	"cordon/internal/fleet"
	"cordon/internal/host/snapshot"
	"cordon/internal/target"
	"cordon/internal/untrusted"
	"cordon/providers"
)

// TestAPlantedRunnerLeadsToTheHostWhereItWasRead asks about what an alert names of a
// runner that is in no list: its name, its directory, a file in it.
func TestAPlantedRunnerLeadsToTheHostWhereItWasRead(t *testing.T) {
	h := newFives(t)
	h.config("hosts:\n  gha-01: {address: 127.0.0.9}\n")
	a := h.open()
	runner := func(root, url, name string, id int) snapshot.File {
		text := `{"agentId":` + string(rune('0'+id)) + `,"agentName":"` + name + `","gitHubUrl":"` + url + `"}`
		return snapshot.File{Path: untrusted.Text(root + "/.runner"), Section: snapshot.SectionRunners, Type: "file", Content: untrusted.Text(text)}
	}
	read := &snapshot.Snapshot{
		Schema: snapshot.Schema, Host: "gha-01", Profile: snapshot.ProfileTriage, Taken: time.Now().Add(-time.Hour), Complete: true,
		Sections: []snapshot.Section{{Name: snapshot.SectionRunners, End: snapshot.EndOK}},
		Files: []snapshot.File{
			runner("/home/runner/.dev-env", h.srv.URL+"/mallory/hidden", "SHA1HULUD", 7),
			runner("/home/runner/ours", h.srv.URL+"/acme", "org-five", 5),
		},
	}
	ask := func(what string) Card {
		t.Helper()
		tr, err := a.newTriage(what)
		if err != nil {
			t.Fatal(err)
		}
		tr.cases = []keptCase{{snaps: []*snapshot.Snapshot{read}}}
		tr.card.Kind = AskedName
		if err := tr.name(t.Context(), what); err != nil {
			t.Fatal(err)
		}
		c, err := tr.finish(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	for _, what := range []string{"SHA1HULUD", "sha1hulud", "/home/runner/.dev-env", "/home/runner/.dev-env/", "/home/runner/.dev-env/bin/Runner.Listener"} {
		c := ask(what)
		unknown := strings.Join(c.Unknown, "\n")
		if len(c.Hosts) != 1 || c.Hosts[0].Name != "gha-01" || !strings.Contains(c.Hosts[0].Found.Known, "last check of gha-01") || len(c.Runners) != 0 {
			t.Errorf("%s: hosts %+v, runners %+v", what, c.Hosts, c.Runners)
		}
		if !strings.Contains(unknown, "no list of ours has it") || strings.Contains(unknown, "no runner is known") || len(c.Next) == 0 || !hasStep(c, "cordon contain ssh/host/gha-01") {
			t.Errorf("%s: %s\n%+v", what, unknown, c.Next)
		}
	}
	if c := ask("/home/runner/ours"); len(c.Runners) != 1 || c.Runners[0].Ref.ID != "5" || len(c.Hosts) != 1 || hasStep(c, "cordon contain ssh/host/gha-01") {
		t.Errorf("one of ours: %+v %+v", c.Runners, c.Next)
	}
	if c := ask("/home/runner/.dev-environment"); len(c.Hosts) != 0 || !strings.Contains(strings.Join(c.Unknown, "\n"), "no runner is known") {
		t.Errorf("another directory: %+v", c)
	}
}

func hasStep(c Card, command string) bool {
	for _, n := range c.Next {
		if n.Command == command {
			return true
		}
	}
	return false
}

// A runner that was removed, and that no list ever had, was never read: there is no time
// to count from and nothing to call it.
func TestARunnerThatNobodyEverReadHasNoAge(t *testing.T) {
	h := newFives(t)
	a := h.open()
	ref := target.Ref{System: "gh", Scope: target.Scope{Level: "organization", Path: "acme"}, Kind: target.Runner, ID: "6"}
	tr, err := a.newTriage(ref.String())
	if err != nil {
		t.Fatal(err)
	}
	tr.rows = &fleet.Fleet{Rows: []fleet.Row{{Runner: providers.Runner{Ref: ref}, SeenAt: map[string]time.Time{"provider": {}}}}} // as a case alone makes it
	tr.found(ref, Fact{Known: "as asked"})
	c, err := tr.finish(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Runners) != 1 {
		t.Fatalf("%+v", c)
	}
	for _, x := range c.Runners[0].Answers {
		if strings.Contains(x.Known, "ago") && x.ID != "case" || x.ID == "identity" && (x.Text != "" || x.Known != couldNot) {
			t.Errorf("%s: %+v", x.ID, x.Fact)
		}
	}
}
