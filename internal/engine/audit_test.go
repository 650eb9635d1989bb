package engine_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"cordon/internal/engine"
	"cordon/internal/engine/enginemodel"
	"cordon/internal/evidence"
	"cordon/internal/importer"
	"cordon/internal/target"
	"cordon/internal/witness"
	"cordon/providers"
)

// logged is a provider with an audit log, with a search for jobs that costs, and with
// what was published.
type logged struct {
	*enginemodel.Provider
	w     *enginemodel.World
	blind string
	came  bool
	n     int
	since []time.Time
}

func (l *logged) Audit(_ context.Context, t target.Ref, _ providers.Traits, since time.Time) (providers.Trail, error) {
	l.n++
	l.since = append(l.since, since)
	o := witness.Observation{Subject: t, Source: witness.ProviderAudit, At: l.w.Clock.Now(), CouldNot: l.blind, Says: l.blind}
	trail := providers.Trail{Format: importer.GitHubAudit}
	if l.blind == "" {
		o.Says = "the audit log has nothing"
		old := importer.Entry{At: since.Add(time.Minute).Truncate(time.Hour), Action: "org.register_self_hosted_runner", Actor: "mallory", Subject: "build-07"}
		trail.Entries = append(trail.Entries, importer.Entry{At: l.w.Clock.Now().UTC(), Action: "org.self_hosted_runner_online", Subject: "x", Line: l.n}, old, old)
	}
	if l.came {
		o.Returned, o.Says = witness.Yes, "registered again"
	}
	trail.Seen = []witness.Observation{o}
	return trail, nil
}

func (l *logged) JobsCost(context.Context, target.Ref, time.Time) (providers.Cost, error) {
	return providers.Cost{Requests: 900, Left: -1, Why: "40 repositories may use it"}, nil
}

func (l *logged) Published(_ context.Context, _ target.Ref, since time.Time) ([]providers.Publication, []evidence.Gap, error) {
	return []providers.Publication{{Kind: providers.Release, Name: "v2", Where: "acme/web", At: since.Add(time.Hour)}}, []evidence.Gap{{Name: "packages", Why: "not asked"}}, nil
}

func loggedRig(t *testing.T, edit func(*logged)) (*rig, *logged) {
	g := newRig(t, whole)
	l := &logged{Provider: g.w.Systems()[runner.System].(*enginemodel.Provider), w: g.w}
	if edit != nil {
		edit(l)
	}
	g.cfg = func(o *engine.Options) { o.Systems[runner.System] = l }
	return g.open(), l
}

// foreign are the entries of audit logs in a journal, by action.
func foreign(t *testing.T, g *rig) map[string]int {
	t.Helper()
	v, err := g.c.View()
	if err != nil {
		t.Fatal(err)
	}
	n := map[string]int{}
	for _, l := range v.Lines {
		var d struct {
			From    string           `json:"from"`
			Entries []importer.Entry `json:"entries"`
		}
		if l.Kind != "foreign" {
			continue
		}
		if err := json.Unmarshal(l.Data, &d); err != nil || d.From != runner.System {
			t.Fatalf("%s %v", l.Data, err)
		}
		for _, e := range d.Entries {
			n[e.Action]++
		}
	}
	return n
}

func TestAnAuditLogIsAWitnessAndItsEntriesAreInTheTimelineOnce(t *testing.T) {
	g, l := loggedRig(t, nil)
	g.until(func(p engine.Prompt) bool { return p.Kind == engine.Watch })
	if n := foreign(t, g)["org.register_self_hosted_runner"]; n != 1 {
		t.Errorf("%d times in the timeline", n)
	}
	g.die() // another process hears what is on record
	e := g.end()
	n := foreign(t, g)
	if n["org.register_self_hosted_runner"] > 2 { // by the window, and by the case's opening
		t.Errorf("%v after %d readings", n, l.n)
	}
	if l.n < 3 || !l.since[0].Before(l.since[len(l.since)-1]) {
		t.Errorf("the timeline begins with the window, the watch with the case: %v", l.since)
	}
	if e.Word == witness.Resurrected {
		t.Errorf("ends %s %q", e.Word, e.Notes)
	}
}

func TestAReturnInTheAuditLogIsSeen(t *testing.T) {
	g, _ := loggedRig(t, func(l *logged) { l.came = true })
	g.until(func(p engine.Prompt) bool { return p.Kind == engine.Watch })
	if e := g.end(); e.Word != witness.Resurrected {
		t.Errorf("ends %s %q", e.Word, e.Notes)
	}
}

func TestAnAuditLogThatCannotBeReadIsANoteAndStopsNothing(t *testing.T) {
	g, _ := loggedRig(t, func(l *logged) { l.blind = "not on this plan or not permitted" })
	g.until(func(p engine.Prompt) bool { return p.Kind == engine.Watch })
	v, err := g.c.View()
	if err != nil {
		t.Fatal(err)
	}
	noted := false
	for _, l := range v.Lines {
		noted = noted || l.Kind == "note" && strings.Contains(l.Msg, "not in the timeline: not on this plan")
	}
	if !noted || len(foreign(t, g)) != 0 {
		t.Error("it is not said, or entries were made up")
	}
}

func TestTheCostIsToldBeforeTheSearchAndWhatCameOutIsOnTheList(t *testing.T) {
	g, _ := loggedRig(t, nil)
	told, listed := false, false
	g.until(func(p engine.Prompt) bool {
		if strings.Contains(p.Text, "takes about 900 requests: 40 repositories") {
			told = !listed
		}
		if p.Exposed != nil {
			listed = true
			if len(p.Exposed.Outputs) != 1 || len(p.Exposed.OutputGaps) != 1 || len(p.Exposed.Gaps) != 0 {
				t.Errorf("%+v", p.Exposed)
			}
		}
		return listed
	})
	if !told {
		t.Error("the cost was not told first")
	}
}
