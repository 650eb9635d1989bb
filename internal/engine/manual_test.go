package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"cordon/internal/casefile"
	"cordon/internal/change"
	"cordon/internal/clock"
	"cordon/internal/engine"
	"cordon/internal/evidence"
	"cordon/internal/target"
	"cordon/internal/witness"
	"cordon/playbooks"
	"cordon/providers"
)

var old42 = target.Ref{System: "ci", Scope: target.Scope{Level: "project"}, Kind: target.Runner, ID: "42"}

// ci is a provider with runners that are online or not, and jobs that end.
type ci struct {
	providers.Provider // panics for what a manual step has no business with
	online             map[string]witness.Tri
	busy               []witness.Tri // what the next looks see; the last stays
	gathered           int
	looked             int
}

func (*ci) Name() string               { return "ci" }
func (*ci) Silence() providers.Silence { return providers.Silence{Needs: time.Hour} }
func (c *ci) Gather(context.Context, target.Ref, string, evidence.Sink) ([]evidence.Gap, error) {
	c.gathered++
	return nil, nil
}

func (c *ci) Runner(_ context.Context, t target.Ref) (providers.Runner, error) {
	on, ok := c.online[t.ID]
	if !ok {
		return providers.Runner{}, providers.ErrNotFound
	}
	return providers.Runner{Ref: t, Online: on, Status: "online? " + string(on)}, nil
}

func (c *ci) Observe(_ context.Context, t target.Ref) ([]witness.Observation, error) {
	c.looked++
	b := c.busy[0]
	if len(c.busy) > 1 {
		c.busy = c.busy[1:]
	}
	o := witness.Observation{Subject: t, Source: witness.ProviderAPI, Busy: b, Exists: witness.Yes, Says: "busy: " + string(b)}
	if b == witness.Unknown {
		o.CouldNot = "jobs are not visible"
	}
	return []witness.Observation{o}, nil
}

// hands is a clock that stands until it is waited on or moved.
type hands struct{ now time.Time }

func (h *hands) Now() time.Time { return h.now }
func (h *hands) Wait(ctx context.Context, d time.Duration) error {
	h.now = h.now.Add(max(0, d))
	return ctx.Err()
}

// desk is a case on disk and whoever sits at it.
type desk struct {
	os    *casefile.Identity // of whoever sits there; nil: not on record
	by    []engine.Approver
	t     *testing.T
	store *casefile.Store
	clock *hands
	ci    *ci
	book  *playbooks.Playbook
	c     *casefile.Case
	run   *engine.Run
	files map[string]engine.File
	dry   bool
}

func newDesk(t *testing.T, acts string) *desk {
	t.Helper()
	src := "cordon: playbook/1\nid: t\ntitle: t\nsteps:\n" + acts + "  - {id: end, title: end, acts: [{do: confirm}]}\n"
	book, err := playbooks.Load("t.yaml", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	d := &desk{
		t: t, clock: &hands{time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)}, book: book,
		ci: &ci{online: map[string]witness.Tri{}, busy: []witness.Tri{witness.No}}, files: map[string]engine.File{},
	}
	if d.store, err = casefile.OpenStore(casefile.Opener{Dir: filepath.Join(t.TempDir(), "state"), Clock: d.clock}); err != nil {
		t.Fatal(err)
	}
	d.c, err = d.store.Create(t.Context(), casefile.Opening{
		ID: "OFF-1", Title: "t", Kind: engine.KindOffboarding, Targets: []target.Ref{old42}, Playbook: book.Source, PlaybookName: "t",
	}, casefile.Actor{Name: "alice"})
	if err != nil {
		t.Fatal(err)
	}
	d.open()
	t.Cleanup(func() { d.c.Close() })
	return d
}

func (d *desk) open() {
	d.t.Helper()
	o := engine.Options{
		Journal: d.c, Playbook: d.book, Runner: old42, Clock: d.clock,
		Systems: map[string]providers.System{"ci": d.ci}, Issuer: change.NewIssuer(), Appliers: map[string]providers.Applier{},
		Approval: engine.Approvals{By: d.by},
		Files: func(p string) (engine.File, error) {
			f, ok := d.files[p]
			if !ok {
				return f, fs.ErrNotExist
			}
			return f, nil
		},
		Secret: func(s string) bool { return strings.Contains(s, "geheim") },
	}
	if d.dry {
		o.Issuer, o.Appliers = nil, nil
	}
	var err error
	if d.run, err = engine.Open(o); err != nil {
		d.t.Fatal(err)
	}
}

// sit lets somebody else take the chair, or the same person come back later.
func (d *desk) sit(name string) { d.t.Helper(); d.sitWith(name, "") }

func (d *desk) sitWith(name, key string) {
	d.t.Helper()
	if err := d.c.Close(); err != nil {
		d.t.Fatal(err)
	}
	var err error
	if d.c, err = d.store.Take(d.t.Context(), "OFF-1", casefile.Actor{Name: name, Key: key, Host: "jump", Identity: d.os}); err != nil {
		d.t.Fatal(err)
	}
	d.open()
}

// next goes on to the next prompt that asks something.
func (d *desk) next() engine.Prompt {
	d.t.Helper()
	for range 100 {
		p, err := d.run.Next(d.t.Context())
		if err != nil {
			d.t.Fatal(err)
		}
		if p.Kind != engine.Progress {
			return p
		}
	}
	d.t.Fatal("progress without an end")
	return engine.Prompt{}
}

func (d *desk) at(step string) engine.Prompt {
	d.t.Helper()
	p := d.next()
	if p.Step != step {
		d.t.Fatalf("the run stands at %q, want %q: %+v", p.Step, step, p)
	}
	return p
}

func (d *desk) answer(p engine.Prompt, a engine.Decision) error {
	a.N = p.N
	return d.run.Answer(d.t.Context(), a)
}

func (d *desk) must(p engine.Prompt, a engine.Decision) {
	d.t.Helper()
	if err := d.answer(p, a); err != nil {
		d.t.Fatal(err)
	}
}

// lines are the data of the journal's lines of a kind.
func (d *desk) lines(kind string) []map[string]any {
	d.t.Helper()
	v, err := d.c.View()
	if err != nil {
		d.t.Fatal(err)
	}
	var out []map[string]any
	for _, l := range v.Lines {
		if l.Kind == kind {
			m := map[string]any{}
			_ = json.Unmarshal(l.Data, &m) // a line without data is an empty map
			out = append(out, m)
		}
	}
	return out
}

const two = `  - id: a
    title: a
    acts:
      - {do: manual, text: do a, due: 2d, fields: [{id: what, title: What, kind: text, required: true}, {id: day, title: Day, kind: date}]}
      - {do: manual, text: then a2}
  - {id: b, title: b, needs: [a], acts: [{do: manual, text: needs a}]}
  - {id: c, title: c, acts: [{do: manual, text: needs nothing}]}
`

func TestWhatIsRequiredIsEnforcedAndWrittenDown(t *testing.T) {
	d := newDesk(t, two)
	p := d.at("a")
	if p.Kind != engine.Manual || p.Text != "do a" || !p.Manual.Due.Equal(d.clock.now.Add(48*time.Hour)) || len(p.Manual.Fields) != 2 {
		t.Fatalf("got %+v %+v", p, p.Manual)
	}
	for _, bad := range []map[string]string{
		nil, {"what": "  "}, {"what": "x", "day": "soon"}, {"what": "x\x1b[2J"}, {"what": "x", "colour": "red"}, {"what": "das ist geheim"},
	} {
		if err := d.answer(p, engine.Decision{Verb: engine.Did, Fields: bad}); !errors.Is(err, engine.ErrField) {
			t.Errorf("%q: got %v", bad, err)
		}
	}
	if n := len(d.lines(engine.Manual)); n != 0 {
		t.Fatalf("a refused answer wrote %d lines", n)
	}
	d.must(p, engine.Decision{Verb: engine.Did, Fields: map[string]string{"what": " wiped it ", "day": "2026-11-29T10:00:00+02:00"}})
	got := d.lines(engine.Manual)[0]
	if f := got["fields"].(map[string]any); got["state"] != "done" || f["what"] != "wiped it" || f["day"] != "2026-11-29 08:00Z" {
		t.Errorf("wrote %v", got)
	}
	if p = d.at("a"); p.Text != "then a2" {
		t.Errorf("next is %q", p.Text)
	}
}

// TestAWaitingStepHoldsUpOnlyWhatNeedsIt walks a run whose first step waits.
func TestAWaitingStepHoldsUpOnlyWhatNeedsIt(t *testing.T) {
	d := newDesk(t, two)
	p := d.at("a")
	due := d.clock.now.Add(72 * time.Hour)
	for _, bad := range []engine.Decision{
		{Verb: engine.Wait, Owner: "bob"},                                // no reason
		{Verb: engine.Wait, Reason: "x"},                                 // for nobody
		{Verb: engine.Wait, Reason: "x", Owner: "bob", Due: d.clock.now}, // until now
	} {
		if d.answer(p, bad) == nil {
			t.Errorf("%+v is taken", bad)
		}
	}
	d.must(p, engine.Decision{Verb: engine.Wait, Owner: "bob", Due: due, Reason: "on leave", Fields: map[string]string{"day": "2026-11-30"}})
	p = d.at("c")
	if s := d.run.Steps(); !strings.HasPrefix(s[0].Waits, "bob until 2026-12-03 12:00Z") || s[0].Now || !s[2].Now {
		t.Errorf("steps %+v", s)
	}
	d.must(p, engine.Decision{Verb: engine.Did})
	if p = d.next(); p.Kind != engine.Watch {
		t.Fatalf("the verdict does not wait for it: %+v", p)
	}
	d.must(p, engine.Decision{Verb: engine.Skip, Reason: "test"})
	// Nothing else is open: it is asked again, with what was written.
	if p = d.at("a"); p.Manual.Owner != "bob" || p.Manual.Fields[1].Value != "2026-11-30" || p.Manual.Waits != "on leave" {
		t.Errorf("got %+v", p.Manual)
	}
	d.must(p, engine.Decision{Verb: engine.Did, Fields: map[string]string{"what": "x"}})
	d.must(d.at("a"), engine.Decision{Verb: engine.Did})
	d.must(d.at("b"), engine.Decision{Verb: engine.Did})
	if p = d.next(); p.Kind != engine.Finished {
		t.Errorf("got %+v", p)
	}
}

// TestADateThatPassedBringsItBack, in another process weeks later.
func TestADateThatPassedBringsItBack(t *testing.T) {
	d := newDesk(t, two)
	d.must(d.at("a"), engine.Decision{Verb: engine.Wait, Owner: "bob", Due: d.clock.now.Add(14 * 24 * time.Hour), Reason: "on leave"})
	d.at("c")
	d.clock.now = d.clock.now.Add(13 * 24 * time.Hour)
	d.sit("alice")
	p := d.at("c")
	d.clock.now = d.clock.now.Add(48 * time.Hour)
	d.must(p, engine.Decision{Verb: engine.Did}) // answers what was on screen, not what is due now
	if p = d.at("a"); !p.Manual.Late {
		t.Errorf("got %+v", p.Manual)
	}
	for _, l := range d.lines("step") {
		if l["task"] != "c/1/ci/project/runner/42" {
			t.Errorf("ended %v", l)
		}
	}
}

const signed = `  - id: disk
    title: disk
    acts:
      - do: manual
        text: wipe it
        fields: [{id: by, title: Who, kind: person, required: true}]
        attach: true
        sign_off: different-person
        due: 30d
  - {id: c, title: c, acts: [{do: manual, text: needs nothing}]}
`

// TestWhoDidItDoesNotSignForIt: not who wrote it down, not who is named, whatever the
// case of the name.
func TestWhoDidItDoesNotSignForIt(t *testing.T) {
	d := newDesk(t, signed)
	d.files["cert.pdf"] = engine.File{Name: "../Cert of destruction.pdf", Source: "test", Body: []byte("wiped")}
	p := d.at("disk")
	done := engine.Decision{Verb: engine.Did, Fields: map[string]string{"by": "Bob"}}
	if err := d.answer(p, done); !errors.Is(err, engine.ErrField) {
		t.Errorf("without a file: %v", err)
	}
	done.Attach = []string{"nowhere.pdf"}
	if err := d.answer(p, done); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("with a file that is not there: %v", err)
	}
	done.Attach = []string{"cert.pdf"}
	d.must(p, done)
	d.at("c") // alice has nothing to do with it any more
	v, err := d.c.View()
	if err != nil || len(v.Items) != 1 || v.Items[0].Name != "manual/disk-1/_Cert_of_destruction.pdf" {
		t.Fatalf("kept %+v, %v", v.Items, err)
	}

	d.sit("bob")
	p = d.at("disk")
	if p.Manual.Worked != "alice" || len(p.Manual.Guards) != 1 || p.Manual.Guards[0].Class != engine.GuardBlock {
		t.Errorf("bob sees %+v", p.Manual)
	}
	if err := d.answer(p, engine.Decision{Verb: engine.Sign}); !errors.Is(err, engine.ErrGuarded) {
		t.Errorf("bob signs: %v", err)
	}
	if err := d.answer(p, engine.Decision{Verb: engine.Sign, Waive: []string{engine.SamePerson}}); !errors.Is(err, engine.ErrReason) {
		t.Errorf("bob signs without a reason: %v", err)
	}
	if err := d.answer(p, engine.Decision{Verb: engine.Did, Fields: map[string]string{"by": "mallory"}}); !errors.Is(err, engine.ErrChoice) {
		t.Errorf("bob rewrites it: %v", err)
	}
	d.must(p, engine.Decision{Verb: engine.Wait, Owner: "carol", Reason: "her turn", Due: d.clock.now.Add(time.Hour)})
	d.at("c") // until then

	d.clock.now = d.clock.now.Add(2 * time.Hour)
	d.sit("ALICE")
	d.at("c")
	d.sit("carol")
	p = d.at("disk")
	if len(p.Manual.Guards) != 0 || p.Manual.Worked != "alice" {
		t.Errorf("carol sees %+v", p.Manual)
	}
	d.must(p, engine.Decision{Verb: engine.Sign})
	d.at("c")
	var end string
	for _, l := range d.lines("step") {
		end = l["why"].(string)
	}
	if !strings.Contains(end, "by: Bob") || !strings.HasSuffix(end, "done by alice, signed off by carol") {
		t.Errorf("it ended: %s", end)
	}
}

// TestWhatIsSentBackIsShownAnew: the file that somebody did not accept is no proof of what
// is done after it.
func TestWhatIsSentBackIsShownAnew(t *testing.T) {
	d := newDesk(t, signed)
	d.files["old"], d.files["new"] = engine.File{Name: "old", Body: []byte("x")}, engine.File{Name: "new", Body: []byte("y")}
	done := engine.Decision{Verb: engine.Did, Fields: map[string]string{"by": "alice"}, Attach: []string{"old"}}
	d.must(d.at("disk"), done)
	d.sit("carol")
	d.must(d.at("disk"), engine.Decision{Verb: engine.Redo, Reason: "another disk"})
	d.sit("alice")
	p := d.at("disk")
	done.Attach = nil
	if err := d.answer(p, done); !errors.Is(err, engine.ErrField) || len(p.Manual.Files) != 0 {
		t.Errorf("with the file that was not accepted: %v, %v", err, p.Manual.Files)
	}
	done.Attach = []string{"new"}
	d.must(p, done)
	if v, err := d.c.View(); err != nil || len(v.Items) != 2 {
		t.Errorf("both stay in the case: %+v, %v", v.Items, err)
	}
}

func TestASignatureByTheSamePersonIsOnRecordAsThat(t *testing.T) {
	d := newDesk(t, signed)
	d.files["f"] = engine.File{Name: "f", Body: []byte("x")}
	d.must(d.at("disk"), engine.Decision{Verb: engine.Did, Fields: map[string]string{"by": "bob"}, Attach: []string{"f"}})
	d.must(d.at("c"), engine.Decision{Verb: engine.Did})
	d.must(d.next(), engine.Decision{Verb: engine.Skip, Reason: "test"})
	p := d.at("disk")
	d.must(p, engine.Decision{Verb: engine.Sign, Waive: []string{engine.SamePerson}, Reason: "nobody else is left"})
	if w := d.lines("waive"); len(w) != 1 || w[0]["guard"] != engine.SamePerson {
		t.Errorf("waived %v", w)
	}
}

// TestAnotherNameUnderTheSameKeyIsNobodyElse, and the twin with a key of his own is.
func TestAnotherNameUnderTheSameKeyIsNobodyElse(t *testing.T) {
	for key, held := range map[string]int{"SHA256:one": 1, "SHA256:two": 0} {
		d := newDesk(t, strings.Replace(signed, "  - {id: c,", "  - {id: last, title: l, needs: [disk], acts: [{do: manual, text: l}]}\n  - {id: c,", 1))
		d.files["f"] = engine.File{Name: "f", Body: []byte("x")}
		d.sitWith("alice", "SHA256:one")
		d.must(d.at("disk"), engine.Decision{Verb: engine.Did, Fields: map[string]string{"by": "bob"}, Attach: []string{"f"}})
		d.must(d.at("c"), engine.Decision{Verb: engine.Did})
		d.must(d.next(), engine.Decision{Verb: engine.Skip, Reason: "test"})
		d.sitWith("carol", key)
		if p := d.at("disk"); len(p.Manual.Guards) != held {
			t.Errorf("carol with %s: %+v", key, p.Manual.Guards)
		}
	}
}

func TestWhatWasSentBackIsDoneAgain(t *testing.T) {
	d := newDesk(t, signed)
	d.files["f"] = engine.File{Name: "f", Body: []byte("x")}
	d.must(d.at("disk"), engine.Decision{Verb: engine.Did, Fields: map[string]string{"by": "bob"}, Attach: []string{"f"}})
	d.sit("carol")
	p := d.at("disk")
	if err := d.answer(p, engine.Decision{Verb: engine.Redo}); !errors.Is(err, engine.ErrReason) {
		t.Errorf("without a reason: %v", err)
	}
	d.must(p, engine.Decision{Verb: engine.Redo, Reason: "the serial number is another"})
	p = d.at("disk")
	if !slices.Contains(p.Choices, engine.Did) || p.Manual.Worked != "" || p.Manual.Fields[0].Value != "bob" || len(p.Manual.Files) != 0 {
		t.Errorf("got %+v %+v", p.Choices, p.Manual)
	}
}

// TestTheSuccessorHasToBeOnline: a name alone is not enough, and what was written is kept.
func TestTheSuccessorHasToBeOnline(t *testing.T) {
	d := newDesk(t, "  - {id: s, title: s, acts: [{do: manual, text: name it, fields: [{id: new, title: New, kind: runner, required: true}]}]}\n")
	d.ci.online = map[string]witness.Tri{"7": witness.No, "8": witness.Yes, "9": witness.Unknown, "42": witness.Yes}
	for _, c := range []struct{ name, want string }{
		{"ci/7", "is not online"},
		{"ci/9", "is not online"},
		{"ci/10", "could not be read: not found"},
		{"other/8", "no provider called"},
		{"ci/42", "is the runner that goes away"},
	} {
		d.must(d.at("s"), engine.Decision{Verb: engine.Did, Fields: map[string]string{"new": c.name}})
		p := d.at("s")
		if len(p.Manual.Guards) != 1 || !strings.Contains(p.Manual.Guards[0].Text, c.want) || !strings.Contains(p.Manual.Fields[0].Value, "runner") {
			t.Errorf("%s: got %+v", c.name, p.Manual)
		}
	}
	p := d.at("s")
	d.must(p, engine.Decision{Verb: engine.Did, Fields: map[string]string{"new": "ci/8"}})
	if p = d.next(); p.Step != "end" {
		t.Errorf("online, and the run stands at %s: %+v", p.Step, p.Manual)
	}
}

// The number of the runner that goes away is another runner's in another scope.
func TestTheSuccessorMayHaveTheSameNumberElsewhere(t *testing.T) {
	before := old42
	t.Cleanup(func() { old42 = before })
	old42.Scope = target.Scope{Level: "organization", Path: "acme"}
	d := newDesk(t, "  - {id: s, title: s, acts: [{do: manual, text: name it, fields: [{id: new, title: New, kind: runner, required: true}]}]}\n")
	d.ci.online["42"] = witness.Yes
	d.must(d.at("s"), engine.Decision{Verb: engine.Did, Fields: map[string]string{"new": "ci/organization:acme/runner/42"}})
	if p := d.at("s"); len(p.Manual.Guards) != 1 || !strings.Contains(p.Manual.Guards[0].Text, "goes away") {
		t.Errorf("the runner itself: %+v", p.Manual)
	}
	d.must(d.at("s"), engine.Decision{Verb: engine.Did, Fields: map[string]string{"new": "ci/repository:acme%2Fshop/runner/42"}})
	if p := d.next(); p.Step != "end" {
		t.Errorf("the other scope's 42 is taken for the one that goes away: %+v", p.Manual)
	}
}

func TestJobsAreWaitedForByLooking(t *testing.T) {
	d := newDesk(t, "  - {id: w, title: w, acts: [{do: wait, until: idle, on: runner}]}\n")
	d.ci.busy = []witness.Tri{witness.Yes, witness.Unknown, witness.Yes, witness.Unknown, witness.No}
	p := d.at("w")
	if p.Kind != engine.Watch || !strings.Contains(p.Text, "busy: yes") {
		t.Fatalf("got %+v", p)
	}
	d.must(p, engine.Decision{Verb: engine.Begin})
	before := d.clock.now
	if p = d.next(); p.Step != "end" || d.ci.looked != 5 {
		t.Errorf("after %d looks the run stands at %s", d.ci.looked, p.Step)
	}
	if waited := d.clock.now.Sub(before); waited != 4*30*time.Second {
		t.Errorf("waited %s", waited)
	}
}

// TestWhatCannotBeSeenIsNotIdle: a person is asked again and goes on with a reason.
func TestWhatCannotBeSeenIsNotIdle(t *testing.T) {
	d := newDesk(t, "  - {id: w, title: w, acts: [{do: wait, until: idle, on: runner}]}\n")
	d.ci.busy = []witness.Tri{witness.Unknown}
	d.must(d.at("w"), engine.Decision{Verb: engine.Begin})
	begun := d.clock.now
	var p engine.Prompt
	for range 600 {
		var err error
		if p, err = d.run.Next(t.Context()); err != nil {
			t.Fatal(err)
		}
		if p.Kind != engine.Progress {
			break
		}
	}
	if p.Step != "w" || p.Kind != engine.Watch || d.clock.now.Sub(begun) < 4*time.Hour {
		t.Errorf("after %s: %+v", d.clock.now.Sub(begun), p)
	}
}

// TestARunThatMayNotWriteTakesNoWord, and the twin that may does.
func TestARunThatMayNotWriteTakesNoWord(t *testing.T) {
	for _, dry := range []bool{true, false} {
		d := newDesk(t, two)
		d.dry = dry
		d.open()
		p := d.at("a")
		err := d.answer(p, engine.Decision{Verb: engine.Did, Fields: map[string]string{"what": "x"}})
		if dry != (err != nil) || dry != (p.CannotDo != "") {
			t.Errorf("dry %v: %v, cannot %q", dry, err, p.CannotDo)
		}
	}
}

func TestLeavingOutWhatPeopleHadToDoIsNotOffboarded(t *testing.T) {
	for _, optional := range []bool{false, true} {
		step := "  - {id: a, title: a, acts: [{do: manual, text: a}]}\n"
		if optional {
			step = strings.Replace(step, "text: a", "text: a, optional: true", 1)
		}
		d := newDesk(t, step)
		d.must(d.at("a"), engine.Decision{Verb: engine.Skip, Reason: "no time"})
		d.must(d.next(), engine.Decision{Verb: engine.Skip, Reason: "test"})
		p := d.next()
		if open := strings.Contains(strings.Join(p.Ending.Notes, "; "), "people had to do"); open == optional && p.Ending.Word != "cannot tell" {
			t.Errorf("optional %v: %+v", optional, p.Ending)
		}
		if p.Ending.Word == engine.Offboarded {
			t.Error("a run without a verdict ended well")
		}
	}
}

var _ clock.Clock = (*hands)(nil)

func FuzzCheckField(f *testing.F) {
	for _, k := range []string{"text", "date", "person", "url", "number", "runner"} {
		f.Add(k, "2026-11-30")
		f.Add(k, "https://a:b@c/ \u202e\x1b")
		f.Add(k, "ci/project/runner/42")
	}
	f.Fuzz(func(t *testing.T, kind, s string) {
		v, err := engine.CheckField(engine.ManualField{Title: "x", Kind: kind, Required: true}, s)
		if err != nil {
			if !errors.Is(err, engine.ErrField) || v != "" {
				t.Fatalf("%q, %v", v, err)
			}
			return
		}
		if v == "" || strings.ContainsAny(v, "\x1b\n\r") {
			t.Fatalf("took %q", v)
		}
		if again, err := engine.CheckField(engine.ManualField{Title: "x", Kind: kind, Required: true}, v); err != nil || again != v {
			t.Fatalf("%q became %q, then %q (%v)", s, v, again, err)
		}
	})
}

// A name is quickly changed: one account of one machine is one person, unless a key of
// their own says otherwise; and where people are configured nobody else signs.
func TestAnotherNameAtTheSameAccountIsNobodyElse(t *testing.T) {
	who := newPeople(t)
	uid := func(n int) *casefile.Identity { return &casefile.Identity{UID: n, User: "ops"} }
	for _, c := range []struct {
		name, key string
		os        *casefile.Identity
		by        []engine.Approver
		held      string
	}{
		{"eve", "", uid(7), nil, "sits at the account"},
		{"eve", "", uid(8), nil, ""},
		{"eve", "", nil, nil, ""},
		{"eve", "", uid(8), who.by, "a person under approvers"},
		{"bob", "", uid(7), who.by, "sits at the account"},
		{"bob", "", uid(8), who.by, ""},
		{"bob", who.bob.Fingerprint(), uid(7), who.by, ""},
		{"bob", who.alice2.Fingerprint(), uid(8), who.by, "did this work"},
	} {
		d := newDesk(t, signed)
		d.os, d.by = uid(7), c.by
		d.sit("alice")
		d.files["f"] = engine.File{Name: "f", Body: []byte("x")}
		d.must(d.at("disk"), engine.Decision{Verb: engine.Did, Fields: map[string]string{"by": "carol"}, Attach: []string{"f"}})
		d.os = c.os
		d.sitWith(c.name, c.key)
		p := d.at("disk")
		if got := fmt.Sprint(p.Manual.Guards); (c.held != "") != (len(p.Manual.Guards) == 1) || !strings.Contains(got, c.held) {
			t.Errorf("%+v: %s", c, got)
		}
	}
}
