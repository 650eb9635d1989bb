package github

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"cordon/internal/target"
	"cordon/internal/witness"
	"cordon/providers"
	"cordon/providers/providertest"
)

// pagesOf reads the list and returns runners by reference, and gaps by name.
func pagesOf(t *testing.T, p *Provider) (map[string]providers.Runner, map[string]string) {
	t.Helper()
	runners, gaps := map[string]providers.Runner{}, map[string]string{}
	err := p.Runners(context.Background(), func(pg providers.Page) error {
		for _, r := range pg.Runners {
			if _, twice := runners[r.Ref.String()]; twice {
				t.Errorf("%s comes twice", r.Ref)
			}
			runners[r.Ref.String()] = r
		}
		if pg.Gap != nil {
			gaps[pg.Gap.Name] = pg.Gap.Why
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return runners, gaps
}

func TestARunnerIsToldAsGitHubKnowsIt(t *testing.T) {
	l := open(t, providertest.Wait)
	l.fake.change(func(f *fake) {
		f.handleScoped("GET", "/actions/runners/deprecations/{version}", func(_ string, w http.ResponseWriter, r *http.Request) {
			f.say(w, 200, map[string]any{"runner_version": r.PathValue("version"), "runtime_deprecates_at": "2026-12-20T00:00:00Z"})
		})
	})
	r, err := l.Runner(context.Background(), runner(23, organization, "acme"))
	if err != nil || r.Group != "release" || r.OS != "Linux" || r.Ephemeral != witness.No || r.Busy != witness.Yes || r.Online != witness.Yes ||
		r.Paused != witness.Unknown || !r.LastContact.IsZero() || r.Version != "2.336.0" || r.VersionEnds.Format(time.DateOnly) != "2026-12-20" ||
		!r.Shared || r.Web != l.base+"/organizations/acme/settings/actions/runners/23" {
		t.Errorf("%+v, %v", r, err)
	}
	if len(r.Labels) != 5 || len(r.Fixed) != 3 || r.Labels[4] != "gpu" {
		t.Errorf("labels %v, of which GitHub keeps %v", r.Labels, r.Fixed)
	}
	r, err = l.Runner(context.Background(), runner(7, repository, "acme/web"))
	if err != nil || r.Shared || len(r.Projects) != 1 || r.Group != "" || r.Online != witness.No || r.Web != l.base+"/acme/web/settings/actions/runners/7" {
		t.Errorf("%+v, %v", r, err)
	}
	l.fake.change(func(f *fake) { f.runners["orgs/acme"][23].Status = "online\x1b[2J" })
	if r, _ = l.Runner(context.Background(), runner(23, organization, "acme")); r.Status != "unknown" || r.Online != witness.Unknown {
		t.Errorf("a status that GitHub does not have: %q %q", r.Status, r.Online)
	}
	if m, err := l.Managers(context.Background(), r.Ref); m != nil || err != nil {
		t.Errorf("GitHub has no managers: %v, %v", m, err)
	}
}

func TestGroupsAreNamedByOneRead(t *testing.T) {
	l := open(t, providertest.Wait)
	runners, _ := pagesOf(t, l.Provider)
	if runners["gh/organization:acme/runner/23"].Group != "release" || runners["gh/organization:acme/runner/24"].Group != "Default" || l.fake.asked["GET orgs/acme/actions/runner-groups"] != 1 {
		t.Errorf("%+v, asked %v", runners, l.fake.asked)
	}
	// Where a group serves all, and in a repository, a runner is surely not paused; else it takes a read of its own.
	for ref, want := range map[string]witness.Tri{"gh/organization:acme/runner/23": witness.Unknown, "gh/organization:acme/runner/24": witness.No, "gh/repository:acme%2Fweb/runner/7": witness.No} {
		if got := runners[ref].Paused; got != want {
			t.Errorf("%s is paused: %q", ref, got)
		}
	}
	l.fake.change(func(f *fake) { f.deny["orgs/acme/actions/runner-groups"] = 403 })
	runners, gaps := pagesOf(t, l.Provider)
	if runners["gh/organization:acme/runner/23"].Group != "group 2" || len(gaps) != 0 {
		t.Errorf("without their names: %+v, gaps %v", runners["gh/organization:acme/runner/23"], gaps)
	}
}

func TestARunnerWithoutAScopeIsFoundOrItsPlacesAreNamed(t *testing.T) {
	l := open(t, providertest.Wait, func(o *Options) { o.Scopes = []string{"organization:acme", "repositories:acme", "enterprise:big"} })
	l.fake.change(func(f *fake) { delete(f.repos, "acme/site") }) // whose runners it does not see
	bare := func(id string) target.Ref { return target.Ref{System: "gh", Kind: target.Runner, ID: id} }
	for id, want := range map[string]target.Ref{"23": runner(23, organization, "acme"), "7": runner(7, repository, "acme/web"), "3": runner(3, enterprise, "big")} {
		if r, err := l.Runner(context.Background(), bare(id)); err != nil || r.Ref != want {
			t.Errorf("%s: %s, %v", id, r.Ref, err)
		}
	}
	if _, err := l.Runner(context.Background(), bare("999")); !errors.Is(err, providers.ErrNotFound) {
		t.Errorf("nowhere: %v", err)
	}
	l.fake.change(func(f *fake) {
		f.runners["repos/acme/tools"][23] = &fakeRunner{ID: 23, Name: "other", Labels: []fakeLabel{}}
	})
	_, err := l.Runner(context.Background(), bare("23"))
	if err == nil || !strings.Contains(err.Error(), "gh/organization:acme/runner/23") || !strings.Contains(err.Error(), "gh/repository:acme%2Ftools/runner/23") {
		t.Errorf("in two places: %v", err)
	}
	l.fake.change(func(f *fake) { f.deny["enterprises/big"] = 403 })
	if _, err := l.Runner(context.Background(), bare("999")); !errors.Is(err, providers.ErrNotFound) || !strings.Contains(err.Error(), "not all could be") {
		t.Errorf("a place that cannot be read is not one without it: %v", err)
	}
}

// A runner page of acme/web may have been meant: the organization's runner of the same
// number is not answered in its place.
func TestTheOneThatWasFoundIsNotTakenWhileAPlaceIsUnread(t *testing.T) {
	l := open(t, providertest.Wait)
	bare := target.Ref{System: "gh", Kind: target.Runner, ID: "23"}
	if r, err := l.Runner(context.Background(), bare); err != nil || r.Ref != runner(23, organization, "acme") {
		t.Fatalf("control: %s, %v", r.Ref, err)
	}
	for _, status := range []int{403, 500} {
		l.fake.change(func(f *fake) { f.deny["repos/acme/web"] = status })
		_, err := l.Runner(context.Background(), bare)
		if err == nil || !strings.Contains(err.Error(), "write gh/organization:acme/runner/23") || !errors.Is(err, providers.ErrNotYours) {
			t.Errorf("%d: %v", status, err)
		}
		if _, err := l.Plan(context.Background(), providers.Pause, bare, nil); err == nil {
			t.Errorf("%d: it was planned on", status)
		}
		if r, err := l.Runner(context.Background(), runner(23, organization, "acme")); err != nil || r.Name != "build-07" {
			t.Errorf("%d: with its scope: %v", status, err)
		}
	}
}

func TestEveryRepositoryOfAnOrganizationIsAScope(t *testing.T) {
	l := open(t, providertest.Wait, func(o *Options) { o.Scopes = []string{"repositories:acme"} })
	l.fake.change(func(f *fake) {
		for i := range 230 {
			path := "acme/r" + strconv.Itoa(i)
			f.repos[path] = &fakeRepo{int64(1000 + i), path, true, true}
			f.runners["repos/"+path] = map[int64]*fakeRunner{}
		}
		f.runners["repos/acme/r229"][1] = &fakeRunner{ID: 1, Name: "SHA1HULUD", OS: "linux", Status: "online", Labels: []fakeLabel{}}
	})
	runners, gaps := pagesOf(t, l.Provider)
	if len(runners) != 2 || runners["gh/repository:acme%2Fr229/runner/1"].Name != "SHA1HULUD" || runners["gh/repository:acme%2Fweb/runner/7"].Name != "web-1" {
		t.Errorf("%+v", runners)
	}
	if len(gaps) != 1 || !strings.Contains(gaps["runners of 1 repositories of repositories acme (acme/site)"], "administers") {
		t.Errorf("gaps %v", gaps)
	}
	l.fake.change(func(f *fake) { f.deny["repos/acme/r5/"] = 403; delete(f.repos, "acme/site") })
	if runners, gaps = pagesOf(t, l.Provider); len(runners) != 2 || len(gaps) != 1 || !strings.Contains(gaps["runners of repository acme/r5"], "403") {
		t.Errorf("one that fails: %d, gaps %v", len(runners), gaps)
	}
}

func TestAUsersOwnRepositoriesAreReadWithTheUsersToken(t *testing.T) {
	l := open(t, providertest.Wait, func(o *Options) { o.Scopes = []string{"repositories:ir-look", "repositories:victim"} })
	l.fake.change(func(f *fake) {
		f.types["victim"] = "User"
		for _, path := range []string{"ir-look/own", "victim/public"} {
			f.repos[path] = &fakeRepo{5, path, true, true}
			f.runners["repos/"+path] = map[int64]*fakeRunner{9: {ID: 9, Name: "x", Labels: []fakeLabel{}}}
		}
		delete(f.repos, "acme/site")
	})
	runners, gaps := pagesOf(t, l.Provider)
	if _, own := runners["gh/repository:ir-look%2Fown/runner/9"]; !own || runners["gh/repository:victim%2Fpublic/runner/9"].Name != "x" {
		t.Errorf("%v", runners)
	}
	if !strings.Contains(gaps["private repositories of victim"], "only a token of that user") || len(gaps) != 1 {
		t.Errorf("gaps %v", gaps)
	}
}

func TestMineIsTheOrganizationsAndTheRepositoriesOfTheCredential(t *testing.T) {
	l := open(t, providertest.Wait, func(o *Options) { o.Scopes = nil })
	l.fake.change(func(f *fake) { delete(f.repos, "acme/site"); f.orgs = []string{"acme", "elsewhere"} })
	runners, gaps := pagesOf(t, l.Provider)
	if len(runners) != 4 || len(gaps) != 1 || !strings.Contains(gaps["runners of organization elsewhere"], "404") {
		t.Errorf("%v, gaps %v", runners, gaps)
	}
}

func TestWhatSingleSignOnHidesFromAListIsAGap(t *testing.T) {
	l := open(t, providertest.Wait, func(o *Options) { o.Scopes = nil })
	l.fake.change(func(f *fake) {
		delete(f.repos, "acme/site")
		f.headers["X-GitHub-SSO"] = "partial-results; organizations=21955855"
	})
	runners, gaps := pagesOf(t, l.Provider)
	if len(runners) != 4 || len(gaps) != 2 || !strings.Contains(gaps["repositories of mine, of some organizations"], "single sign-on") {
		t.Errorf("%d, gaps %v", len(runners), gaps)
	}
}

func TestAFailedScopeIsAGapAndTheOthersAreListed(t *testing.T) {
	l := open(t, providertest.Wait, func(o *Options) { o.Scopes = []string{"enterprise:big", "organization:acme", "repository:acme/web"} })
	l.fake.change(func(f *fake) { f.deny["orgs/acme/actions/runners"] = 403 })
	runners, gaps := pagesOf(t, l.Provider)
	if len(runners) != 2 || len(gaps) != 1 || !strings.Contains(gaps["runners of organization acme"], "403") {
		t.Errorf("%v, gaps %v", runners, gaps)
	}
}

func TestAScopeInTheConfigurationIsOneOfFiveForms(t *testing.T) {
	for _, w := range []string{"instance", "organization:", "organization:a/b", "repository:acme", "repository:acme/..", "repository:a/b/c", "enterprise:a b", "mine:x", "repositories:a%2Fb", "organization:-x"} {
		if _, err := parseScopes([]string{w}); err == nil {
			t.Errorf("%s is taken", w)
		}
	}
}

func TestGoneIsSaidOnlyIfTheListOfItsScopeCanBeRead(t *testing.T) {
	l := open(t, providertest.Wait)
	ctx, sc := context.Background(), scope{organization, "acme"}
	_, _, err := l.details(ctx, l.act, sc, 4242)
	if err := l.gone(ctx, sc, err); err != nil {
		t.Errorf("gone: %v", err)
	}
	l.fake.change(func(f *fake) { f.deny["orgs/acme"] = 404 })
	if err := l.gone(ctx, sc, err); !errors.Is(err, providers.ErrNotFound) || !strings.Contains(err.Error(), "cannot be told apart") {
		t.Errorf("hidden: %v", err)
	}
	if err := l.gone(ctx, sc, providers.ErrForbidden); !errors.Is(err, providers.ErrForbidden) {
		t.Errorf("another error: %v", err)
	}
}

// Absent is not covered: GitHub leaves out what an App or a fine-grained token was not given.
func TestWhatTheCredentialWasNotGivenIsAGapAndNotNoRunners(t *testing.T) {
	app := serveApp(t).mint(t)
	for _, scope := range []string{"repositories:acme", "mine"} {
		for name, c := range map[string]struct {
			has  []string
			of   string
			want string
		}{
			"nothing of it": {[]string{"other/x"}, "all", "sees no repository of it"},
			"nothing":       {nil, "all", "sees no repository of it"},
			"selected ones": {[]string{"acme/web"}, "selected", "selected ones alone"},
			"not told":      {[]string{"acme/web"}, "", "selected ones alone"},
			"all":           {[]string{"acme/web"}, "all", ""},
		} {
			if scope == "mine" && name == "nothing of it" {
				continue
			}
			l := open(t, providertest.Wait, func(o *Options) { o.App, o.Scopes = app, []string{scope} })
			l.fake.handle("GET /installation/repositories", func(w http.ResponseWriter, _ *http.Request) {
				rows := []any{}
				for _, path := range c.has {
					rows = append(rows, l.fake.repoRow(&fakeRepo{1, path, true, true}))
				}
				l.fake.say(w, 200, map[string]any{"total_count": len(rows), "repository_selection": c.of, "repositories": rows})
			})
			_, gaps := pagesOf(t, l.Provider)
			said := ""
			for _, why := range gaps {
				said += why
			}
			if (said == "") != (c.want == "") || !strings.Contains(said, c.want) {
				t.Errorf("%s, %s: %v", scope, name, gaps)
			}
		}
	}
}

func TestFewerRepositoriesThanGitHubCountsIsAGap(t *testing.T) {
	for private, want := range map[int]int{2: 0, 5: 1} {
		l := open(t, providertest.Wait, func(o *Options) { o.Scopes = []string{"repositories:acme"} })
		delete(l.fake.repos, "acme/site")
		l.fake.handle("GET /orgs/{org}", func(w http.ResponseWriter, _ *http.Request) {
			l.fake.say(w, 200, map[string]any{"login": "acme", "public_repos": 0, "total_private_repos": private})
		})
		_, gaps := pagesOf(t, l.Provider)
		if len(gaps) != want || want == 1 && !strings.Contains(gaps["runners of 3 repositories of repositories acme that were not listed"], "only those that it was given") {
			t.Errorf("%d: %v", private, gaps)
		}
	}
}
