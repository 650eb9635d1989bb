package github

import (
	"encoding/json"
	"testing"
	"time"

	"cordon/internal/target"
	"cordon/providers"
	"cordon/providers/providertest"
)

// acting is a lab with its applier.
type acting struct {
	*lab
	apply *Applier
}

func openActing(t *testing.T, wait time.Duration, edit ...func(*Options)) *acting {
	t.Helper()
	l := open(t, wait, edit...)
	return &acting{l, NewApplier(l.Provider)}
}

// suite is the harness for one runner of the fake.
func suite(at string, ref target.Ref, missing target.Ref) providertest.Harness {
	return providertest.Harness{New: func(t *testing.T, wait time.Duration) (providers.Provider, providers.Applier, providertest.Fixture) {
		l := openActing(t, wait)
		s := l.fake.secrets
		id := int64(23)
		l.fake.change(func(f *fake) {
			f.acts().removesBusy = true
			if at != "orgs/acme" { // the same runner, job and all, registered elsewhere
				x := *f.runners["orgs/acme"][23]
				x.GroupID = 0
				f.runners[at][23] = &x
				delete(f.runners["orgs/acme"], 23)
			}
		})
		wrong := []target.Ref{ref, ref, ref, ref, ref, ref, ref}
		wrong[0].System = "other"
		wrong[1].Kind = target.Host
		wrong[2].ID = "023"
		wrong[3].ID = "build-07" // never by name
		wrong[4].Scope.Level = "group"
		wrong[5].Scope = target.Scope{Level: organization, Path: "../acme"}
		wrong[6].ID = "-1"
		denied, _ := json.Marshal(map[string]string{"message": "Forbidden: " + s.token + " " + s.note})
		return l.Provider, l.apply, providertest.Fixture{
			Wire: l.wire, Base: l.base, Runner: ref, Missing: missing, Wrong: wrong,
			Verbs:   []string{providers.Pause, providers.Cancel, providers.Deregister},
			Effects: l.fake.count,
			Drift: func() {
				l.fake.change(func(f *fake) {
					f.runners[at][id].Labels = append(f.runners[at][id].Labels, fakeLabel{0, "other", "custom"})
				})
			},
			Secrets: []string{s.token, s.variable, s.note}, Denied: denied, Unmanaged: true, Alone: ref.Scope.Level == organization,
		}
	}}
}

func TestGitHubPassesTheSuiteForAnOrganizationsRunner(t *testing.T) {
	t.Parallel() // most of it is waiting for silence
	providertest.Suite(t, suite("orgs/acme", runner(23, organization, "acme"), runner(4242, organization, "acme")))
}

func TestGitHubPassesTheSuiteForARepositorysRunner(t *testing.T) {
	t.Parallel()
	providertest.Suite(t, suite("repos/acme/web", runner(23, repository, "acme/web"), runner(4242, repository, "acme/web")))
}
