package app

import (
	"strings"
	"testing"
	"time"

	"cordon/internal/host/snapshot"
	"cordon/internal/untrusted"
)

// seenHost is a read of a host with one installation, read to its end or not.
func seenHost(at time.Time, installed bool, end string) *snapshot.Snapshot {
	s := &snapshot.Snapshot{
		Schema: snapshot.Schema, Host: "build-07", Profile: snapshot.ProfileTriage, Taken: at, Complete: end == snapshot.EndOK,
		Sections: []snapshot.Section{{Name: snapshot.SectionRunners, End: end}},
	}
	if installed {
		s.Files = []snapshot.File{{
			Path: "/home/ir/r/.runner", Section: snapshot.SectionRunners, Type: "file",
			Content: untrusted.Text(`{"agentId":3,"agentName":"box","gitHubUrl":"https://github.com/acme"}`),
		}}
	}
	return s
}

// hostOnCard is what a triage says of build-07 from these reads.
func hostOnCard(t *testing.T, snaps ...*snapshot.Snapshot) (checked, installed string) {
	t.Helper()
	tr := &triage{a: newWorld(t).open()}
	for _, s := range snaps {
		tr.cases = append(tr.cases, keptCase{snaps: []*snapshot.Snapshot{s}})
	}
	tr.addHost("build-07", Fact{})
	for _, a := range tr.card.Hosts[0].Answers {
		switch a.ID {
		case "checked":
			checked = a.Fact.Text
		case "installed":
			installed = a.Fact.Text + " " + strings.Join(a.Fact.Items, " ")
		}
	}
	return checked, installed
}

func TestAFailedReadDoesNotEraseWhatAnOlderOneFound(t *testing.T) {
	now := time.Now()
	checked, installed := hostOnCard(t, seenHost(now, false, snapshot.EndCut), seenHost(now.Add(-time.Hour), true, snapshot.EndOK))
	if !strings.HasPrefix(installed, "1 installations") || !strings.Contains(checked, "a later read, ") {
		t.Errorf("%q, %q", checked, installed)
	}
	_, installed = hostOnCard(t, seenHost(now, false, snapshot.EndCut))
	if !strings.HasPrefix(installed, "could not look to the end") {
		t.Errorf("nothing but a broken read: %q", installed)
	}
	if checked, installed = hostOnCard(t, seenHost(now, false, snapshot.EndOK), seenHost(now.Add(-time.Hour), true, snapshot.EndOK)); !strings.HasPrefix(installed, "0 ") || strings.Contains(checked, "later") {
		t.Errorf("a newer whole read: %q, %q", checked, installed)
	}
}

// "Not asked" and "could not say" are two words here as everywhere.
func TestTheCardTellsNotAskedFromCouldNotSay(t *testing.T) {
	watch := seenHost(time.Now(), false, snapshot.EndOK)
	for _, name := range snapshot.SectionsOf(snapshot.ProfileTriage) {
		if name != snapshot.SectionRunners && name != snapshot.SectionCron && name != snapshot.SectionLog {
			watch.Sections = append(watch.Sections, snapshot.Section{Name: name, End: snapshot.EndOK})
		}
	}
	checked, _ := hostOnCard(t, watch)
	if !strings.Contains(checked, "checks were not asked") || strings.Contains(checked, "could not say") {
		t.Errorf("%q", checked)
	}
}
