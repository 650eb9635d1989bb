package github

import (
	"context"
	"strings"
	"testing"
	"time"

	"cordon/internal/witness"
	"cordon/providers"
)

func TestTheSameMachineIsKnownAgainInEveryConfiguredScope(t *testing.T) {
	t.Parallel()
	traits := providers.Traits{Names: []string{"build-07"}, Labels: []string{"deploy", "gpu"}, Hosts: []string{"host-07"}}
	for _, c := range []struct {
		name  string
		edit  func(*fake, *past, time.Time)
		want  witness.Tri
		says  string
		blind string
	}{
		{"nothing like it", func(*fake, *past, time.Time) {}, witness.No, "none of", ""},
		{"the same name in the same scope", func(f *fake, _ *past, _ time.Time) {
			f.runners["orgs/acme"][99] = &fakeRunner{ID: 99, Name: "BUILD-07", Status: "online"}
		}, witness.Yes, "names are unique there", ""},
		{"the same name elsewhere", func(f *fake, _ *past, _ time.Time) {
			f.runners["repos/acme/web"][8] = &fakeRunner{ID: 8, Name: "build-07", Status: "online"}
		}, "", "", "does not say since when"},
		{"the host's own name", func(f *fake, _ *past, _ time.Time) {
			f.runners["orgs/acme"][99] = &fakeRunner{ID: 99, Name: "host-07", Status: "offline"}
		}, "", "host-07", "does not say since when"}, // two runners on one host: it may have been there before
		{"its labels alone", func(f *fake, _ *past, _ time.Time) {
			f.runners["orgs/acme"][99] = &fakeRunner{ID: 99, Name: "pool-3", Status: "online", Labels: []fakeLabel{{0, "deploy", "custom"}, {0, "GPU", "custom"}}}
		}, witness.No, "1 have its custom labels", ""},
		{"a job under its name since", func(_ *fake, p *past, since time.Time) {
			j := on(1, "build", since.Add(time.Hour))
			j.runner = 77
			p.runs["acme/web"] = append(p.runs["acme/web"], &pastRun{id: 900, created: since.Add(time.Hour), updated: since.Add(2 * time.Hour), status: "completed", attempt: 1, jobs: []pastJob{j}})
		}, witness.Yes, "another registration with its name", ""},
		{"a list that cannot be read", func(f *fake, _ *past, _ time.Time) { f.deny["repos/acme/web/actions/runners"] = 403 }, "", "", "not every list"},
	} {
		t.Run(c.name, func(t *testing.T) {
			l, p, since := openPast(t)
			p.repos("acme/web")
			if _, _, err := l.runnerOf(context.Background(), l.act, scope{organization, "acme"}, 23); err != nil {
				t.Fatal(err) // what was known before it went
			}
			l.fake.change(func(f *fake) { delete(f.runners["orgs/acme"], 23) })
			p.change(func(p *past) { c.edit(p.behind, p, since) })
			o, err := l.Returned(context.Background(), build07, traits, since)
			if err != nil || o.Returned != c.want || !strings.Contains(o.Says, c.says) || !strings.Contains(o.CouldNot, c.blind) || (o.CouldNot != "") != (c.blind != "") {
				t.Errorf("%+v %v", o, err)
			}
			if o.Subject != build07 || o.Source != witness.ProviderAPI || strings.Contains(o.Says, l.fake.secrets.note) {
				t.Errorf("%+v", o)
			}
		})
	}
}

func TestALateJobUnderItsOwnRegistrationIsSaidBesideTheSearch(t *testing.T) {
	l, p, since := openPast(t)
	p.repos("acme/web")
	at := since.Add(time.Hour)
	p.run("acme/web", 900, at, nil, on(1, "build", at))
	o, err := l.Returned(context.Background(), build07, providers.Traits{Names: []string{"build-07"}}, since)
	if err != nil || o.Returned != witness.No || o.Polling != witness.Yes || !o.LastContact.Equal(at) || !strings.Contains(o.Says, "under its own registration") {
		t.Errorf("%+v %v", o, err)
	}
	l.fake.change(func(f *fake) { f.deny["repos/acme/web/actions/runners"] = 403 })
	o, err = l.Returned(context.Background(), build07, providers.Traits{Names: []string{"build-07"}}, since)
	if err != nil || o.CouldNot != "" || o.Returned != witness.Unknown || o.Polling != witness.Yes || !strings.Contains(o.Says, "is not known") {
		t.Errorf("what was seen was lost to what was not: %+v %v", o, err)
	}
	l.fake.change(func(f *fake) { delete(f.deny, "repos/acme/web/actions/runners") })
	o, err = l.Returned(context.Background(), build07, providers.Traits{Names: []string{"build-07"}}, at.Add(time.Minute))
	if err != nil || o.Polling == witness.Yes || !strings.Contains(o.Says, "no job of it began since") {
		t.Errorf("control: %+v %v", o, err)
	}
}

func TestWithoutATraitNothingIsRecognised(t *testing.T) {
	l, p, since := openPast(t)
	o, err := l.Returned(context.Background(), build07, providers.Traits{Labels: []string{"deploy"}}, since)
	if err != nil || o.CouldNot == "" || o.Returned != witness.Unknown || p.count("") != 0 {
		t.Errorf("%+v %v", o, err)
	}
}

func TestTheSearchAtEveryLookIsSmall(t *testing.T) {
	t.Parallel()
	l, p, since := openPast(t)
	p.repos("acme/web")
	for i := range 200 {
		at := since.Add(time.Duration(i+1) * time.Minute)
		p.run("acme/web", int64(900+i), at, nil, pastJob{id: int64(i + 1), attempt: 1, name: "x", runner: 24, runnerName: "build-08", status: "completed", began: at, ended: at})
	}
	o, err := l.Returned(context.Background(), build07, providers.Traits{Names: []string{"build-07"}}, since)
	if err != nil || o.Returned != witness.No || !strings.Contains(o.Says, "not all were looked at") || p.count("") > lateCalls+2 {
		t.Errorf("%d requests: %+v %v", p.count(""), o, err)
	}
}

// GitHub tells of no runner since when it is registered. What was listed while ours was
// there tells it.
func TestARunnerThatWasThereBeforeIsNoReturn(t *testing.T) {
	t.Parallel()
	traits := providers.Traits{Names: []string{"build-07"}, Hosts: []string{"host-07"}}
	add := func(at string, id int64, name string) func(*fake) {
		return func(f *fake) { f.runners[at][id] = &fakeRunner{ID: id, Name: name, Status: "online"} }
	}
	none := func(*fake) {}
	for name, c := range map[string]struct {
		first, later func(*fake)
		edit         func(*providers.Known)
		want         witness.Tri
		says         string
	}{
		"before, elsewhere":              {add("repos/acme/web", 8, "build-07"), none, nil, witness.No, "1 with such a name were there already"},
		"before, named as the host":      {add("orgs/acme", 99, "host-07"), none, nil, witness.No, "were there already"},
		"after, elsewhere":               {none, add("repos/acme/web", 8, "Build-07"), nil, witness.Yes, "was not there when every list was read"},
		"one before and one after":       {add("repos/acme/web", 8, "build-07"), add("repos/acme/web", 9, "build-07"), nil, witness.Yes, "runner 9 of"},
		"the id of one in another scope": {add("repos/acme/web", 8, "build-07"), add("orgs/acme", 8, "build-07"), nil, witness.Yes, "names are unique there"},
		"after, a list was not read": {func(f *fake) { f.deny["repos/acme/web/actions/runners"] = 403 }, func(f *fake) {
			delete(f.deny, "repos/acme/web/actions/runners")
			add("repos/acme/web", 8, "build-07")(f)
		}, nil, witness.Unknown, "does not say since when"},
		"a name that was not asked for": {none, add("repos/acme/web", 8, "host-07"), func(k *providers.Known) { k.Names = k.Names[:1] }, witness.Unknown, "does not say since when"},
	} {
		t.Run(name, func(t *testing.T) {
			l, p, since := openPast(t)
			p.repos("acme/web")
			p.change(func(p *past) { c.first(p.behind) })
			known, err := l.Namesakes(context.Background(), build07, traits)
			if err != nil || known.At.IsZero() {
				t.Fatalf("%+v %v", known, err)
			}
			if c.edit != nil {
				c.edit(&known)
			}
			p.change(func(p *past) { delete(p.behind.runners["orgs/acme"], 23); c.later(p.behind) })
			with := traits
			with.Known = &known
			o, err := l.Returned(context.Background(), build07, with, since)
			if err != nil || o.Returned != c.want || !strings.Contains(o.Says, c.says) || (o.CouldNot != "") != (c.want == witness.Unknown) {
				t.Errorf("known %+v: %+v %v", known, o, err)
			}
			if o, err := l.Returned(context.Background(), build07, traits, since); c.says == "runner 9 of" && (err != nil || o.CouldNot == "") {
				t.Errorf("nothing was kept, and yet it is told: %+v %v", o, err)
			}
		})
	}
}

func TestAJobOfOneThatWasThereBeforeIsNoReturn(t *testing.T) {
	l, p, since := openPast(t)
	p.repos("acme/web")
	l.fake.change(func(f *fake) { f.runners["repos/acme/web"][8] = &fakeRunner{ID: 8, Name: "build-07", Status: "online"} })
	traits := providers.Traits{Names: []string{"build-07"}}
	known, err := l.Namesakes(context.Background(), build07, traits)
	if err != nil {
		t.Fatal(err)
	}
	at := since.Add(time.Hour)
	j := on(1, "build", at)
	j.runner = 8
	p.run("acme/web", 900, at, nil, j)
	o, err := l.Returned(context.Background(), build07, traits, since)
	if err != nil || o.Returned != witness.Unknown || o.CouldNot == "" {
		t.Errorf("nothing was kept: %+v %v", o, err)
	}
	traits.Known = &known
	o, err = l.Returned(context.Background(), build07, traits, since)
	if err != nil || o.Returned != witness.No || !strings.Contains(o.Says, "those of runner 8") {
		t.Errorf("%+v %v", o, err)
	}
}
