package github

import (
	"context"
	"crypto/rand"
	"errors"
	"net/http/httptest"
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

// lab is a provider over the fake, which stands where an Enterprise Server would.
type lab struct {
	*Provider
	fake *fake
	wire *providertest.Wire
	base string // address that people open
	tr   *transport.Transport
}

func random(prefix string) string { return prefix + rand.Text() }

func open(t *testing.T, wait time.Duration, edit ...func(*Options)) *lab {
	t.Helper()
	f := newFake(time.Now(), planted{token: random("ghs_"), variable: random("pässwort/"), note: random("note+")})
	l := &lab{fake: f, wire: &providertest.Wire{Service: f}}
	s := httptest.NewServer(l.wire)
	t.Cleanup(s.Close)
	l.base = s.URL
	api, err := API(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	cred := func(context.Context) (secret.Secret, error) { return secret.New(random("github_pat_")), nil }
	l.tr = transport.New(transport.Options{
		System: "gh", Base: api, Reads: Reads(), Look: cred, Act: cred, Auth: Auth,
		Limits: transport.Limits{Body: 256 << 10, Wait: wait, Pause: time.Millisecond},
	})
	t.Cleanup(l.tr.CloseIdleConnections)
	o := Options{Name: "gh", URL: s.URL, Scopes: []string{"organization:acme", "repository:acme/web"}, HTTP: l.tr, Marker: redact.NewMarker([]byte(random("")))}
	for _, e := range edit {
		e(&o)
	}
	if l.Provider, err = New(o); err != nil {
		t.Fatal(err)
	}
	return l
}

// runner is a reference: runner(23, organization, "acme").
func runner(id int64, level, path string) target.Ref {
	return target.Ref{System: "gh", Scope: target.Scope{Level: level, Path: path}, Kind: target.Runner, ID: strconv.FormatInt(id, 10)}
}

func TestAReferenceIsOfThisSystemAndOfAPlaceWhereRunnersAre(t *testing.T) {
	l := open(t, providertest.Wait)
	s, id, err := l.own(runner(23, organization, "Acme"))
	if err != nil || id != 23 || s != (scope{organization, "acme"}) {
		t.Errorf("%v %d %v", s, id, err)
	}
	if s, _, err := l.own(target.Ref{System: "gh", Kind: target.Runner, ID: "23"}); err != nil || s != (scope{}) {
		t.Errorf("without a scope: %v %v", s, err)
	}
	wrong := []target.Ref{
		runner(23, mine, ""), runner(23, repositories, "acme"), runner(23, "group", "acme"), runner(23, repository, "acme"), runner(23, organization, "../x"),
		runner(-1, organization, "acme"),
		{System: "other", Kind: target.Runner, ID: "23"},
		{System: "gh", Kind: target.Host, ID: "23"},
		{System: "gh", Kind: target.Runner, ID: "023"},
		{System: "gh", Kind: target.Runner, ID: "build-07"},
	}
	for _, r := range wrong {
		if _, _, err := l.own(r); !errors.Is(err, providers.ErrNotYours) {
			t.Errorf("%s: %v", r, err)
		}
	}
}

func TestAPIIsWhereEachKindOfGitHubHasIt(t *testing.T) {
	for in, want := range map[string]string{
		"https://github.com": "https://api.github.com", "https://acme.ghe.com/": "https://api.acme.ghe.com", "https://GitHub.com.": "https://api.github.com",
		"https://github.example.org": "https://github.example.org/api/v3", "http://127.0.0.1:81": "http://127.0.0.1:81/api/v3",
	} {
		if u, err := API(in); err != nil || u.String() != want {
			t.Errorf("%s: %v, %v", in, u, err)
		}
	}
	for _, in := range []string{"https://api.github.com", "https://api.acme.ghe.com", "https://github.example.org/api/v3", "github.com", "https://a@github.com", "ssh://github.com", ""} {
		if u, err := API(in); err == nil {
			t.Errorf("%s: %v", in, u)
		}
	}
}
