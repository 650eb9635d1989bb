package gitlab

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"cordon/internal/change"
	"cordon/internal/secret"
)

func TestWrongOptionsAreRefusedWithAHint(t *testing.T) {
	good := Options{Name: "gl", BaseURL: "https://git.example.org", HTTP: http.DefaultTransport}
	if _, err := New(good); err != nil {
		t.Fatalf("control: %v", err)
	}
	deliver := func(context.Context, change.Change, secret.Secret) (map[string]string, error) { return nil, nil }
	for name, edit := range map[string]func(*Options){
		"no name":                  func(o *Options) { o.Name = "" },
		"a name with a slash":      func(o *Options) { o.Name = "a/b" },
		"no address":               func(o *Options) { o.BaseURL = "" },
		"another scheme":           func(o *Options) { o.BaseURL = "ftp://git.example.org" },
		"a password in it":         func(o *Options) { o.BaseURL = "https://a:b@git.example.org" },
		"the API's address":        func(o *Options) { o.BaseURL = "https://git.example.org/api/v4/" },
		"no transport":             func(o *Options) { o.HTTP = nil },
		"unknown scope":            func(o *Options) { o.Scopes = []string{"everything"} },
		"a group without a path":   func(o *Options) { o.Scopes = []string{"group:"} },
		"instance with a path":     func(o *Options) { o.Scopes = []string{"instance:x"} },
		"a kind that is not there": func(o *Options) { o.Destinations = []Destination{{Name: "x", Kind: "mail"}}; o.Deliver = deliver },
		"nobody delivers":          func(o *Options) { o.Destinations = []Destination{{Name: "x", Kind: Command}} },
		"two of one name": func(o *Options) {
			o.Destinations = []Destination{{Name: "x", Kind: Command}, {Name: "x", Kind: Sealed}}
			o.Deliver = deliver
		},
	} {
		o := good
		edit(&o)
		if _, err := New(o); err == nil || !strings.HasPrefix(err.Error(), "provider ") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestACredentialGoesWhereGitLabExpectsIt(t *testing.T) {
	for token, header := range map[string]string{"glpat-" + strings.Repeat("x", 20): "Private-Token", strings.Repeat("ab", 32): "Authorization"} {
		r, _ := http.NewRequest("GET", "https://git.example.org", nil)
		Auth(r, secret.New(token))
		if len(r.Header) != 1 || !strings.HasSuffix(r.Header.Get(header), token) {
			t.Errorf("a token of %d characters is not in %s alone", len(token), header)
		}
	}
}

func TestSilenceIsLongerThanAnAgentsOwnHour(t *testing.T) {
	l := open(t, 1e10)
	if s := l.Silence(); s.Needs.Minutes() != 65 || s.Why == "" {
		t.Errorf("%+v", s)
	}
}

func mustParse(s string) *url.URL {
	u, err := url.Parse(s)
	if err != nil {
		panic(err)
	}
	return u
}
