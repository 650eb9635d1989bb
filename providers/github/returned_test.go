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
		}, witness.Yes, "host-07", ""},
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
