package github

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"cordon/internal/target"
	"cordon/internal/witness"
	"cordon/providers"
)

var web1 = target.Ref{System: "gh", Scope: target.Scope{Level: "repository", Path: "acme/web"}, Kind: target.Runner, ID: "7"}

// all is how many requests the fake was asked, countAsked how many of one path.
func (f *fake) all() int { return f.countAsked("") }

func (f *fake) countAsked(path string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := 0
	for k, v := range f.asked {
		if strings.HasSuffix(k, path) {
			n += v
		}
	}
	return n
}

// everyScope is a configuration that leaves nothing out: a planted runner may be registered
// to any repository.
func everyScope(o *Options) { o.Scopes = []string{"organization:acme", "repositories:acme"} }

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
		}, "", "was not kept", "does not say since when"},
		{"a job under its name since", func(_ *fake, p *past, since time.Time) {
			j := on(1, "build", since.Add(time.Hour))
			j.runner = 77
			p.runs["acme/web"] = append(p.runs["acme/web"], &pastRun{id: 900, created: since.Add(time.Hour), updated: since.Add(2 * time.Hour), status: "completed", attempt: 1, jobs: []pastJob{j}})
		}, witness.Yes, "another registration with its name", ""},
		{"a list that cannot be read", func(f *fake, _ *past, _ time.Time) { f.deny["repos/acme/web/actions/runners"] = 403 }, "", "", "not every list"},
	} {
		t.Run(c.name, func(t *testing.T) {
			l, p, since := openPast(t, everyScope)
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
	l, p, since := openPast(t, everyScope)
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

// Between the ends of a watch a look takes few requests and says that it was brief; the
// last goes to its end, or says that it did not and is no word for silence.
func TestOnlyAWholeLookSaysThatItDidNotReturn(t *testing.T) {
	t.Parallel()
	traits := providers.Traits{Names: []string{"build-07"}}
	l, p, since := openPast(t, everyScope)
	p.repos("acme/web", "acme/tools")
	l.fake.change(func(f *fake) { delete(f.runners["orgs/acme"], 23) })
	for i := range 200 {
		at := since.Add(time.Duration(i+1) * time.Minute)
		p.run("acme/web", int64(900+i), at, nil, pastJob{id: int64(i + 1), attempt: 1, name: "x", runner: 24, runnerName: "build-08", status: "completed", began: at, ended: at})
	}
	look := func(k providers.Look, calls int) (o witness.Observation, n int) {
		t.Helper()
		before := p.count("") + p.behind.all()
		o, err := l.Returned(providers.WithCalls(providers.WithLook(t.Context(), k), calls), build07, traits, since)
		if err != nil {
			t.Fatal(err)
		}
		return o, p.count("") + p.behind.all() - before
	}
	o, n := look(providers.LookBetween, 0)
	if o.Brief == "" || o.Returned != witness.Unknown || o.CouldNot != "" || n > lateCalls+2 {
		t.Errorf("between, %d requests: %+v", n, o)
	}
	if o, n = look(providers.LookFirst, 10); o.Brief == "" || n > 30 {
		t.Errorf("first, %d requests: %+v", n, o)
	}
	if o, _ = look(providers.LookWhole, 20); o.Returned != witness.Unknown || !strings.Contains(o.CouldNot, "not all were looked at") {
		t.Errorf("a search that was cut short passes: %+v", o)
	}
	if o, _ = look(providers.LookWhole, 0); o.Returned != witness.No || o.Brief != "" || o.CouldNot != "" {
		t.Errorf("whole: %+v", o)
	}
	// What a brief look does see is seen.
	l.fake.change(func(f *fake) { f.runners["orgs/acme"][99] = &fakeRunner{ID: 99, Name: "build-07", Status: "online"} })
	if o, _ = look(providers.LookBetween, 0); o.Returned != witness.Yes {
		t.Errorf("it came back between: %+v", o)
	}
}

// A brief look costs the same however many repositories there are; a whole one reads each.
func TestALookBetweenDoesNotReadEveryRepository(t *testing.T) {
	t.Parallel()
	l, p, since := openPast(t, everyScope)
	var names []string
	for i := range 40 {
		names = append(names, fmt.Sprintf("acme/r%d", i))
	}
	p.repos(names...)
	l.fake.change(func(f *fake) {
		for _, n := range names {
			f.runners["repos/"+n] = map[int64]*fakeRunner{}
		}
		delete(f.runners["orgs/acme"], 23)
	})
	lists := func(k providers.Look) int {
		before := p.behind.countAsked("/actions/runners")
		if _, err := l.Returned(providers.WithLook(t.Context(), k), build07, providers.Traits{Names: []string{"build-07"}}, since); err != nil {
			t.Fatal(err)
		}
		return p.behind.countAsked("/actions/runners") - before
	}
	if n := lists(providers.LookBetween); n > 3 {
		t.Errorf("a look between read %d lists of runners", n)
	}
	if n := lists(providers.LookWhole); n < 40 {
		t.Errorf("a whole look read %d lists of runners", n)
	}
}

// Another process has not read the registration: its name is in the case. Ids are counted in
// each scope anew, so that one alone is nobody's.
func TestAnotherProcessKnowsARegistrationThatIsGoneByTheNameInTheCase(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		traits            providers.Traits
		id                int64
		runner            string
		polling, returned witness.Tri
		blind             string
	}{
		"its id, another's name":        {providers.Traits{Names: []string{"build-07"}}, 23, "GitHub Actions 23", witness.Unknown, witness.No, ""},
		"its name, another id":          {providers.Traits{Names: []string{"build-07"}}, 77, "Build-07", witness.Unknown, witness.Yes, ""},
		"its own":                       {providers.Traits{Names: []string{"build-07"}}, 23, "build-07", witness.Yes, witness.No, ""},
		"its id, and no name is told":   {providers.Traits{Names: []string{"build-07"}}, 23, "", witness.Unknown, witness.Unknown, "has its number"},
		"its id, and no name is known":  {providers.Traits{Hosts: []string{"host-07"}}, 23, "build-07", witness.Unknown, witness.Unknown, "has its number"},
		"nothing, and no name is known": {providers.Traits{Hosts: []string{"host-07"}}, 24, "build-08", witness.Unknown, witness.Unknown, "by its id alone"},
	} {
		t.Run(name, func(t *testing.T) {
			l, p, since := openPast(t, everyScope)
			p.repos("acme/web")
			l.fake.change(func(f *fake) { delete(f.runners["orgs/acme"], 23) })
			j := on(1, "build", since.Add(time.Hour))
			j.runner, j.runnerName = c.id, c.runner
			p.run("acme/web", 900, since.Add(time.Hour), nil, j)
			o, err := l.Returned(t.Context(), build07, c.traits, since)
			if err != nil || o.Polling != c.polling || o.Returned != c.returned || !strings.Contains(o.CouldNot, c.blind) || (o.CouldNot != "") != (c.blind != "") {
				t.Errorf("%+v %v", o, err)
			}
		})
	}
}

// What is answered 404 by its number and is in the list all the same is not gone.
func TestARegistrationThatIsStillListedIsSaid(t *testing.T) {
	l, p, since := openPast(t, everyScope)
	p.repos("acme/web")
	p.handle("/orgs/acme/actions/runners/23", func(w http.ResponseWriter, _ *http.Request) { p.behind.say(w, 404, nil) })
	traits := providers.Traits{Names: []string{"build-07"}}
	seen, err := l.Observe(t.Context(), build07)
	if err != nil || seen[0].Exists != witness.No {
		t.Fatalf("%+v %v", seen, err)
	}
	if o, err := l.Returned(t.Context(), build07, traits, since); err != nil || o.Exists != witness.Yes || !strings.Contains(o.Says, "still in the list") {
		t.Errorf("%+v %v", o, err)
	}
	l.fake.change(func(f *fake) { delete(f.runners["orgs/acme"], 23) })
	if o, err := l.Returned(t.Context(), build07, traits, since); err != nil || o.Exists != witness.Unknown || o.Returned != witness.No {
		t.Errorf("control: %+v %v", o, err)
	}
}

// A level that is not configured was not looked at: a planted runner is a repository's.
func TestALevelWhereNobodyLooksIsNamed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		scopes []string
		ref    target.Ref
		kind   string // of the owner
		blind  string
		except string
	}{
		"the organization alone":                     {[]string{"organization:acme"}, build07, "Organization", "add repositories:acme", "an enterprise above acme"},
		"one of its repositories":                    {[]string{"organization:acme", "repository:acme/web"}, build07, "Organization", "add repositories:acme", "an enterprise above acme"},
		"the repositories of another":                {[]string{"organization:acme", "repositories:ir-look"}, build07, "Organization", "add repositories:acme", "an enterprise above acme"},
		"all of it":                                  {[]string{"organization:acme", "repositories:acme"}, build07, "Organization", "", "an enterprise above acme"},
		"all of it, and an enterprise":               {[]string{"organization:acme", "repositories:acme", "enterprise:big"}, build07, "Organization", "", ""},
		"a repository's, without its organization":   {[]string{"repositories:acme"}, web1, "Organization", "add organization:acme", "an enterprise above acme"},
		"a user's repository, who has none above it": {[]string{"repositories:acme"}, web1, "User", "", "an enterprise above acme"},
	} {
		t.Run(name, func(t *testing.T) {
			l, p, since := openPast(t, func(o *Options) { o.Scopes = c.scopes })
			p.repos("acme/web")
			p.change(func(p *past) {
				p.paged["users/acme/repos"] = p.paged["orgs/acme/repos"]
				p.paged["users/ir-look/repos"] = p.paged["orgs/acme/repos"]
			})
			l.fake.change(func(f *fake) {
				f.types["acme"] = c.kind
				delete(f.runners["orgs/acme"], 23)
				delete(f.runners["repos/acme/web"], 7)
			})
			o, err := l.Returned(t.Context(), c.ref, providers.Traits{Names: []string{"gone-1"}}, since)
			blind := strings.Contains(o.CouldNot, "are not among the scopes") || strings.Contains(o.CouldNot, "is not among the scopes")
			if err != nil || blind != (c.blind != "") || !strings.Contains(o.CouldNot, c.blind) || !strings.Contains(o.Except, c.except) || (o.Except != "") != (c.except != "") {
				t.Errorf("%+v %v", o, err)
			}
		})
	}
}

// A new runner with all the labels that ours had takes its jobs: that is looked at, and
// those of a pool that had them before are not.
func TestANewRunnerWithItsLabelsHasToBeLookedAt(t *testing.T) {
	t.Parallel()
	labels := []fakeLabel{{0, "deploy", "custom"}, {0, "gpu", "custom"}}
	traits := providers.Traits{Names: []string{"build-07"}, Labels: []string{"deploy", "gpu"}}
	for name, c := range map[string]struct {
		before, after string
		want          witness.Tri
		says          string
	}{
		"one that came":                    {"", "pool-3", witness.Unknown, "was not among those that had them"},
		"one that had them":                {"pool-3", "pool-3", witness.No, "as they had before"},
		"another one took the name of one": {"pool-3", "pool-4", witness.No, ""}, // its number says who it is
	} {
		t.Run(name, func(t *testing.T) {
			l, p, since := openPast(t, everyScope)
			p.repos("acme/web")
			put := func(name string) {
				l.fake.change(func(f *fake) {
					if name != "" {
						f.runners["orgs/acme"][99] = &fakeRunner{ID: 99, Name: name, Status: "online", Labels: labels}
					}
				})
			}
			put(c.before)
			known, err := l.Namesakes(t.Context(), build07, traits)
			if err != nil {
				t.Fatal(err)
			}
			l.fake.change(func(f *fake) { delete(f.runners["orgs/acme"], 23) })
			put(c.after)
			with := traits
			with.Known = &known
			o, err := l.Returned(t.Context(), build07, with, since)
			if err != nil || o.Returned != c.want || !strings.Contains(o.Says, c.says) || (o.CouldNot != "") != (c.want == witness.Unknown) {
				t.Errorf("%+v %v", o, err)
			}
		})
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
			l, p, since := openPast(t, everyScope)
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
	l, p, since := openPast(t, everyScope)
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
