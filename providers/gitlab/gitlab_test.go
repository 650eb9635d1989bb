package gitlab

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"net/http/httptest"
	"net/url"
	"strconv"
	"testing"
	"time"

	"go.uber.org/goleak"

	"cordon/internal/redact"
	"cordon/internal/secret"
	"cordon/internal/target"
	"cordon/internal/transport"
	"cordon/providers"
	"cordon/providers/providertest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// lab is a provider over the fake.
type lab struct {
	*Provider
	apply *Applier
	fake  *fake
	wire  *providertest.Wire
	base  string
	tr    *transport.Transport
}

func random(prefix string) string { return prefix + rand.Text() }

func open(t *testing.T, wait time.Duration, edit ...func(*Options)) *lab {
	t.Helper()
	now := time.Now()
	f := newFake(now, planted{token: random("glrt-"), variable: random("pässwort/"), note: random("note+"), reset: random("glrt-t3_")})
	l := &lab{fake: f, wire: &providertest.Wire{Service: f}}
	s := httptest.NewServer(l.wire)
	t.Cleanup(s.Close)
	l.base = s.URL
	u, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	cred := func(context.Context) (secret.Secret, error) { return secret.New(random("glpat-")), nil }
	l.tr = transport.New(transport.Options{
		System: "gl", Base: u, Reads: Reads(), Look: cred, Act: cred, Auth: Auth,
		Limits: transport.Limits{Body: 256 << 10, Wait: wait, Pause: time.Millisecond},
	})
	t.Cleanup(l.tr.CloseIdleConnections)
	o := Options{Name: "gl", BaseURL: s.URL, Scopes: []string{"instance", "group:acme"}, HTTP: l.tr, Marker: redact.NewMarker([]byte(random("")))}
	for _, e := range edit {
		e(&o)
	}
	if l.Provider, err = New(o); err != nil {
		t.Fatal(err)
	}
	l.apply = NewApplier(l.Provider)
	return l
}

func runner(id int64, level string) target.Ref {
	return target.Ref{System: "gl", Scope: target.Scope{Level: level}, Kind: target.Runner, ID: strconv.FormatInt(id, 10)}
}

func TestGitLabPassesTheSuite(t *testing.T) {
	providertest.Suite(t, providertest.Harness{New: func(t *testing.T, wait time.Duration) (providers.Provider, providers.Applier, providertest.Fixture) {
		l := open(t, wait)
		s := l.fake.secrets
		ref := runner(42, Project)
		wrong := []target.Ref{ref, ref, ref, ref, ref, ref, ref}
		wrong[0].System = "other"
		wrong[1].Kind = target.Host
		wrong[2].ID = "042"
		wrong[3].ID = "build-07 shell" // never by name
		wrong[4].Scope.Level = Group
		wrong[5].Scope.Path = "acme/web"
		wrong[6].ID = "-1"
		denied, _ := json.Marshal(map[string]string{"message": "403 Forbidden: " + s.token + " " + s.note})
		return l.Provider, l.apply, providertest.Fixture{
			Wire: l.wire, Base: l.base, Runner: ref, Missing: runner(4242, Project), Wrong: wrong,
			Verbs:   []string{providers.Pause, providers.Cancel, providers.Rotate, providers.Deregister},
			Effects: l.fake.count,
			Drift:   func() { l.fake.change(func(f *fake) { f.runners[42].tags = []string{"other"} }) },
			Secrets: []string{s.token, s.variable, s.note, s.reset}, Denied: denied,
		}
	}})
}
