package github

import (
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v4"
)

func decode(t *testing.T, b []byte, v any) {
	t.Helper()
	if err := json.Unmarshal(b, v); err != nil {
		t.Fatalf("%v in %.200q", err, b)
	}
}

// Pages are cut at a hundred, say how many there are, and name the next in Link alone.
func TestPages(t *testing.T) {
	w := newWorld(t)
	if err := w.api.Crowd("organization:acme", 250); err != nil {
		t.Fatal(err)
	}
	seen := map[int]bool{}
	path := "/orgs/acme/actions/runners?per_page=500"
	for n := 0; path != ""; n++ {
		var l struct {
			Total   int `json:"total_count"`
			Runners []struct{ ID int }
		}
		if c := w.ask("look", "GET", path, nil, &l); c != 200 || l.Total != 252 || len(l.Runners) > 100 {
			t.Fatalf("page %d: %d, %d of %d", n, c, len(l.Runners), l.Total)
		}
		for _, r := range l.Runners {
			seen[r.ID] = true
		}
		path = ""
		for link := range strings.SplitSeq(w.header.Get("Link"), ", ") {
			if at, ok := strings.CutSuffix(link, `>; rel="next"`); ok {
				_, path, _ = strings.Cut(at, "/api/v3")
			}
		}
	}
	if len(seen) != 252 {
		t.Errorf("%d runners on all pages", len(seen))
	}
}

// The audit log has cursors: no event comes twice, and none is left out.
func TestAuditCursors(t *testing.T) {
	w := newWorld(t)
	for i := range 7 {
		w.ask("act", "PUT", "/orgs/acme/actions/runners/23/labels", map[string]any{"labels": []string{strconv.Itoa(i)}}, nil)
		w.ask("act", "PUT", "/orgs/acme/actions/permissions/self-hosted-runners", map[string]string{"enabled_repositories": []string{"none", "all"}[i%2]}, nil)
	}
	seen := map[string]bool{}
	path := "/orgs/acme/audit-log?per_page=2&phrase=action:org.update_repo_self_hosted_runners_policy"
	for path != "" {
		var l []struct {
			ID     string `json:"_document_id"`
			Action string
			Actor  string
		}
		if c := w.ask("look", "GET", path, nil, &l); c != 200 {
			t.Fatalf("%s: %d", path, c)
		}
		for _, e := range l {
			if seen[e.ID] || e.Action != "org.update_repo_self_hosted_runners_policy" || e.Actor != "act" {
				t.Errorf("%+v (again: %t)", e, seen[e.ID])
			}
			seen[e.ID] = true
		}
		at, ok := strings.CutSuffix(w.header.Get("Link"), `>; rel="next"`)
		if path = ""; ok {
			_, path, _ = strings.Cut(at, "/api/v3")
		}
	}
	if len(seen) != 7 {
		t.Errorf("%d events", len(seen))
	}
	w.clock.pass(time.Hour)
	var l []any
	if w.ask("look", "GET", "/orgs/acme/audit-log?phrase=created:%3E%3D"+w.clock.Now().Format(time.RFC3339), nil, &l); len(l) != 0 {
		t.Errorf("%d events of the future", len(l))
	}
}

// Limits come as GitHub says them: primary and secondary, 403 and 429, for whom it was
// asked and as often; the budget of an hour ends by itself.
func TestLimits(t *testing.T) {
	w := newWorld(t)
	const path = "/orgs/acme/actions/runners"
	for _, x := range []struct {
		t         Trouble
		remaining string
		says      string
	}{
		{Trouble{Who: "look", Kind: "primary", Status: 403, Times: 2}, "0", "API rate limit exceeded"},
		{Trouble{Who: "look", Kind: "primary", Status: 429, Times: 2}, "0", "API rate limit exceeded"},
		{Trouble{Who: "look", Kind: "secondary", Status: 403, Times: 2, RetryAfter: 7}, "", "secondary rate limit"},
		{Trouble{Who: "look", Kind: "secondary", Status: 429, Times: 2}, "", "secondary rate limit"},
		{Trouble{Who: "look", Status: 502, Times: 2}, "", "Bad Gateway"},
	} {
		w.api.Make(Trouble{})
		w.api.Make(x.t)
		for range 2 {
			var said struct{ Message string }
			if c := w.ask("look", "GET", path, nil, &said); c != x.t.Status || !strings.Contains(said.Message, x.says) || x.remaining != "" && w.header.Get("X-Ratelimit-Remaining") != x.remaining {
				t.Errorf("%+v: %d %q", x.t, c, said.Message)
			}
			if got := w.header.Get("Retry-After"); (got != "") != (x.t.RetryAfter > 0) {
				t.Errorf("%+v: Retry-After %q", x.t, got)
			}
		}
		if c := w.ask("look", "GET", path, nil, nil); c != 200 {
			t.Errorf("%+v, the third: %d", x.t, c)
		}
		if c := w.ask("act", "GET", path, nil, nil); c != 200 {
			t.Errorf("%+v hits another credential: %d", x.t, c)
		}
	}
	w.api.Make(Trouble{})
	w.api.Make(Trouble{Status: 503, Every: 4})
	refused := 0
	for range 12 {
		if w.ask("look", "GET", path, nil, nil) == 503 {
			refused++
		}
	}
	w.api.Make(Trouble{})
	if refused != 3 {
		t.Errorf("every fourth of twelve: %d", refused)
	}
	w.api.Spend("look", 1)
	for i, want := range []int{200, 403, 403} {
		if c := w.ask("look", "GET", path, nil, nil); c != want {
			t.Errorf("request %d of a spent budget: %d", i, c)
		}
	}
	if c := w.ask("look", "GET", "/rate_limit", nil, nil); c != 200 {
		t.Errorf("rate_limit of a spent budget: %d", c)
	}
	w.clock.pass(time.Hour)
	if c := w.ask("look", "GET", path, nil, nil); c != 200 || w.header.Get("X-Ratelimit-Remaining") != "4999" {
		t.Errorf("an hour later: %d, %s left", c, w.header.Get("X-Ratelimit-Remaining"))
	}
}

// An App gets tokens with its signature alone, never with more than it was granted;
// suspended, they do nothing.
func TestApps(t *testing.T) {
	w := newWorld(t)
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	other, err := rsa.GenerateKey(rand.Reader, 1024)
	if err != nil {
		t.Fatal(err)
	}
	w.api.TrustApp(501, &key.PublicKey)
	sign := func(k *rsa.PrivateKey, id string, life time.Duration) string {
		now := w.clock.Now()
		s, err := jwt.NewWithClaims(jwt.SigningMethodRS256, jwt.RegisteredClaims{Issuer: id, IssuedAt: jwt.NewNumericDate(now), ExpiresAt: jwt.NewNumericDate(now.Add(life))}).SignedString(k)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	const mint = "/api/v3/app/installations/7001/access_tokens"
	for name, bad := range map[string]string{
		"another key": sign(other, "501", time.Minute), "another App": sign(key, "502", time.Minute), "an hour": sign(key, "501", time.Hour), "no JWT": "x",
	} {
		if c, _ := w.do(bad, "POST", mint, nil); c != 401 {
			t.Errorf("%s: %d", name, c)
		}
	}
	good := sign(key, "501", 9*time.Minute)
	if c, _ := w.do(good, "POST", mint, map[string]any{"permissions": map[string]string{"actions": "write"}}); c != 422 {
		t.Errorf("more than granted: %d", c)
	}
	var a struct{ Token string }
	c, b := w.do(good, "POST", mint, map[string]any{"permissions": map[string]string{"organization_self_hosted_runners": "read"}})
	decode(t, b, &a)
	if why := fits("POST", "/app/installations/7001/access_tokens", c, w.header, b); c != 201 || why != "" {
		t.Fatalf("mint: %d %s", c, why)
	}
	if c, _ := w.do(a.Token, "GET", "/api/v3/orgs/acme/actions/runners", nil); c != 200 {
		t.Errorf("the token reads: %d", c)
	}
	if c, b := w.do(a.Token, "DELETE", "/api/v3/orgs/acme/actions/runners/24", nil); c != 403 || !strings.Contains(string(b), "by integration") {
		t.Errorf("the read token deletes: %d", c)
	}
	if c, _ := w.do(good, "PUT", "/api/v3/app/installations/7001/suspended", nil); c != 204 || !w.did("app.suspend") {
		t.Errorf("suspend: %d", c)
	}
	if c, _ := w.do(a.Token, "GET", "/api/v3/orgs/acme/actions/runners", nil); c != 403 {
		t.Errorf("suspended: %d", c)
	}
	w.clock.pass(2 * time.Hour)
	if c, _ := w.do(a.Token, "GET", "/api/v3/orgs/acme/actions/runners", nil); c != 401 {
		t.Errorf("two hours later: %d", c)
	}
}
