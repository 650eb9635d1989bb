package transport

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"cordon/internal/change"
)

func ask(t *testing.T, tr *Transport, method, rawURL string, edit ...func(*http.Request)) error {
	t.Helper()
	req, err := http.NewRequestWithContext(context.Background(), method, rawURL, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range edit {
		e(req)
	}
	resp, err := tr.RoundTrip(req)
	if err == nil {
		resp.Body.Close()
	}
	return err
}

func body(b string) func(*http.Request) {
	return func(q *http.Request) { q.Body = bodyOf([]byte(b)) }
}

// fill writes a request that the route describes.
func fill(r Route) string {
	p := strings.NewReplacer("{id}", "42", "{project}", "acme%2Fweb").Replace(r.Pattern)
	if len(r.Query) > 0 {
		p += "?" + r.Query[0] + "=running"
	}
	return p
}

func TestEveryRouteOfTheTablePassesAndItsMutatedTwinsDoNot(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{}`)) })
	tr := to(t, s.URL)
	for _, r := range table {
		path := fill(r)
		before := len(s.requests())
		own := body(r.Body)
		if err := ask(t, tr, r.Method, s.URL+path, own); err != nil {
			t.Errorf("%s %s: %v", r.Method, path, err)
		}
		if len(s.requests()) != before+1 {
			t.Errorf("%s %s did not arrive", r.Method, path)
		}
		join := "?"
		if strings.Contains(path, "?") {
			join = "&"
		}
		bare, _, _ := strings.Cut(path, "?")
		twins := map[string]func() error{
			"DELETE":         func() error { return ask(t, tr, "DELETE", s.URL+path, own) },
			"HEAD":           func() error { return ask(t, tr, "HEAD", s.URL+path, own) },
			"lower case":     func() error { return ask(t, tr, strings.ToLower(r.Method), s.URL+path, own) },
			"longer":         func() error { return ask(t, tr, r.Method, s.URL+bare+"/more", own) },
			"unknown query":  func() error { return ask(t, tr, r.Method, s.URL+path+join+"private_token=x", own) },
			"method by name": func() error { return ask(t, tr, r.Method, s.URL+path+join+"_method=delete", own) },
			"another body":   func() error { return ask(t, tr, r.Method, s.URL+path, body("{}")) },
			"a longer body":  func() error { return ask(t, tr, r.Method, s.URL+path, body(r.Body+" ")) },
		}
		if r.Body != "" {
			twins["without its body"] = func() error { return ask(t, tr, r.Method, s.URL+path) }
			twins["another document"] = func() error {
				return ask(t, tr, r.Method, s.URL+path, body(strings.Replace(r.Body, "query {", "mutation {", 1)))
			}
		}
		if len(r.Query) > 0 {
			twins["key twice"] = func() error { return ask(t, tr, r.Method, s.URL+path+"&"+r.Query[0]+"=x") }
		}
		if strings.Contains(r.Pattern, "{id}") {
			twins["a word for an id"] = func() error { return ask(t, tr, r.Method, s.URL+strings.Replace(path, "42", "all", 1)) }
		}
		for name, twin := range twins {
			if err := twin(); !errors.Is(err, change.ErrNoPermit) {
				t.Errorf("%s %s, %s: %v", r.Method, path, name, err)
			}
		}
		if len(s.requests()) != before+1 {
			t.Errorf("%s %s: a twin arrived: %v", r.Method, path, s.requests()[before+1:])
		}
	}
}

func TestWithoutATableEvenAGetIsAChange(t *testing.T) {
	s := serve(t, func(http.ResponseWriter, *http.Request) {})
	tr := to(t, s.URL, func(o *Options) { o.Reads = nil })
	if err := ask(t, tr, "GET", s.URL+"/api/v4/runners/42"); !errors.Is(err, change.ErrNoPermit) {
		t.Errorf("got %v", err)
	}
	if len(s.requests()) != 0 {
		t.Error("it left")
	}
}

func TestNothingLeavesForAnywhereElse(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{}`)) })
	other := serve(t, func(http.ResponseWriter, *http.Request) {})
	tr := to(t, s.URL+"/gitlab")
	host := strings.TrimPrefix(s.URL, "http://")
	for name, u := range map[string]string{
		"another host":       other.URL + "/gitlab/api/v4/runners/42",
		"another scheme":     "https://" + host + "/gitlab/api/v4/runners/42",
		"user information":   "http://a:b@" + host + "/gitlab/api/v4/runners/42",
		"beside the base":    s.URL + "/api/v4/runners/42",
		"base as a prefix":   s.URL + "/gitlabx/api/v4/runners/42",
		"climbing":           s.URL + "/gitlab/../api/v4/runners/42",
		"climbing, escaped":  s.URL + "/gitlab/api/v4/projects/..%2F..%2Fx/variables",
		"escaped dot":        s.URL + "/gitlab/api/v4/projects/%2e%2e/variables",
		"escaped twice":      s.URL + "/gitlab/api/v4/projects/a%252Fb/variables",
		"empty segment":      s.URL + "/gitlab//api/v4/runners/42",
		"backslash":          s.URL + "/gitlab/api/v4/projects/a%5Cb/variables",
		"control characters": s.URL + "/gitlab/api/v4/projects/a%0Ab/variables",
	} {
		if err := ask(t, tr, "GET", u); !errors.Is(err, ErrElsewhere) {
			t.Errorf("%s: %v", name, err)
		}
	}
	spoof := func(r *http.Request) { r.Host = "evil.example.org" }
	if err := ask(t, tr, "GET", s.URL+"/gitlab/api/v4/runners/42", spoof); !errors.Is(err, ErrElsewhere) {
		t.Errorf("another Host header: %v", err)
	}
	if n := len(s.requests()) + len(other.requests()); n != 0 {
		t.Fatalf("%d requests left", n)
	}
	if err := ask(t, tr, "GET", s.URL+"/gitlab/api/v4/projects/acme%2Fweb/variables"); err != nil || len(s.requests()) != 1 {
		t.Errorf("control: the right address is refused: %v", err)
	}
}

func TestHeadersThatChangeWhoAsksOrWhatIsAskedAreDropped(t *testing.T) {
	var got http.Header
	s := serve(t, func(_ http.ResponseWriter, r *http.Request) { got = r.Header.Clone() })
	set := func(r *http.Request) {
		for _, k := range []string{"Sudo", "X-HTTP-Method-Override", "Authorization", "Cookie", "Job-Token", "X-Forwarded-Host"} {
			r.Header.Set(k, "x")
		}
		r.Header.Set("PRIVATE-TOKEN", "someone-else")
		r.Header.Set("Accept", "application/json")
	}
	if err := ask(t, to(t, s.URL), "GET", s.URL+"/api/v4/runners/42", set); err != nil {
		t.Fatal(err)
	}
	if got.Get("Accept") != "application/json" {
		t.Error("control: Accept is gone too")
	}
	for k := range got {
		switch k {
		case "Accept", "Accept-Encoding", "User-Agent", "Private-Token":
		default:
			t.Errorf("header %s went along", k)
		}
	}
	if got.Get("Private-Token") != lookToken {
		t.Error("the client chose the credential")
	}
}

func TestAReadByPostIsSentWithItsBodyAlsoWhenItIsRepeated(t *testing.T) {
	var bodies []string
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		if bodies = append(bodies, string(b)); len(bodies) < 3 {
			w.WriteHeader(http.StatusBadGateway)
		}
	})
	want := table[len(table)-1]
	if err := ask(t, to(t, s.URL), want.Method, s.URL+want.Pattern, body(want.Body)); err != nil {
		t.Fatal(err)
	}
	if len(bodies) != 3 || bodies[0] != want.Body || bodies[2] != want.Body {
		t.Errorf("bodies %q", bodies)
	}
}
