package github

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v4"

	"cordon/internal/change"
	"cordon/internal/secret"
	"cordon/internal/transport"
	"cordon/providers"
)

// appServer is the part of a GitHub that App tokens come from. It checks the signature.
type appServer struct {
	*httptest.Server
	key     *rsa.PrivateKey
	pem     secret.Secret
	mu      sync.Mutex
	granted map[string]string
	gives   map[string]string // what a token really may; nil: what was asked for
	minted  []string
	bodies  []string
	jwts    []string
	status  int // of the minting, 0: 201
	life    time.Duration
}

var rsaKey = sync.OnceValues(func() (*rsa.PrivateKey, error) { return rsa.GenerateKey(rand.Reader, 2048) })

func serveApp(t *testing.T) *appServer {
	t.Helper()
	key, err := rsaKey()
	if err != nil {
		t.Fatal(err)
	}
	s := &appServer{
		key: key, life: time.Hour, granted: map[string]string{"actions": "write", "administration": "write", "metadata": "read", "workflows": "write", "organization_self_hosted_runners": "admin"},
		pem: secret.New(string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}))),
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/v3/app/installations/{id}", func(w http.ResponseWriter, r *http.Request) {
		if s.signed(w, r) {
			_ = json.NewEncoder(w).Encode(map[string]any{"id": 77, "permissions": s.granted})
		}
	})
	mux.HandleFunc("POST /api/v3/app/installations/{id}/access_tokens", func(w http.ResponseWriter, r *http.Request) {
		if !s.signed(w, r) {
			return
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		body, _ := io.ReadAll(r.Body)
		s.bodies = append(s.bodies, string(body))
		if s.status != 0 {
			w.WriteHeader(s.status)
			_, _ = io.WriteString(w, `{"message":"no"}`)
			return
		}
		var in struct{ Permissions map[string]string }
		_ = json.Unmarshal(body, &in)
		gives := s.granted
		if len(body) > 0 {
			gives = in.Permissions
		}
		if s.gives != nil {
			gives = s.gives
		}
		token := random("ghs_")
		s.minted = append(s.minted, token)
		w.WriteHeader(http.StatusCreated)
		_ = json.NewEncoder(w).Encode(map[string]any{"token": token, "expires_at": time.Now().Add(s.life).UTC().Format(time.RFC3339), "permissions": gives})
	})
	s.Server = httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

func (s *appServer) signed(w http.ResponseWriter, r *http.Request) bool {
	raw := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	var claims jwt.RegisteredClaims
	_, err := jwt.ParseWithClaims(raw, &claims, func(*jwt.Token) (any, error) { return &s.key.PublicKey, nil })
	s.mu.Lock()
	s.jwts = append(s.jwts, raw)
	s.mu.Unlock()
	if err != nil || claims.Issuer != "5" || time.Until(claims.ExpiresAt.Time) > 10*time.Minute || r.PathValue("id") != "77" {
		w.WriteHeader(http.StatusUnauthorized)
		return false
	}
	return true
}

func (s *appServer) mint(t *testing.T, edit ...func(*MintOptions)) *Mint {
	t.Helper()
	next := transport.Plain()
	t.Cleanup(next.CloseIdleConnections)
	o := MintOptions{System: "gh", URL: s.URL, App: App{5, 77}, Key: func() (secret.Secret, error) { return s.pem, nil }, Next: next, ReadOnly: true}
	for _, e := range edit {
		e(&o)
	}
	m, err := NewMint(o)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// hands is a clock that stands where it is put.
type hands struct {
	mu sync.Mutex
	at time.Time
}

func (h *hands) Now() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.at
}

func (h *hands) Wait(ctx context.Context, _ time.Duration) error { return ctx.Err() }

func (h *hands) move(d time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.at = h.at.Add(d)
}

func TestATokenForLookingAsksForReadingAlone(t *testing.T) {
	t.Parallel()
	s := serveApp(t)
	m := s.mint(t)
	tok, err := m.Token(context.Background())
	if err != nil || tok.Reveal() != s.minted[0] {
		t.Fatalf("%v", err)
	}
	want := `{"permissions":{"actions":"read","administration":"read","metadata":"read","organization_self_hosted_runners":"read"}}`
	if strings.TrimSpace(s.bodies[0]) != want {
		t.Errorf("asked for %s", s.bodies[0])
	}
	granted, _, ok := m.known(context.Background())
	if !ok || granted["organization_self_hosted_runners"] != "admin" {
		t.Errorf("what the installation has: %v", granted)
	}
	all := s.mint(t, func(o *MintOptions) { o.ReadOnly = false })
	if _, err := all.Token(context.Background()); err != nil || s.bodies[1] != "" {
		t.Errorf("for acting: %q, %v", s.bodies[1], err)
	}
	s.gives = map[string]string{"actions": "write"}
	if _, err := s.mint(t).Token(context.Background()); err == nil || !strings.Contains(err.Error(), "thrown away") {
		t.Errorf("a token that may more than was asked for: %v", err)
	}
	s.granted = map[string]string{"workflows": "write"}
	if _, err := s.mint(t).Token(context.Background()); err == nil || !strings.Contains(err.Error(), "no permission that is of use") {
		t.Errorf("nothing to read with: %v", err)
	}
}

func TestATokenIsKeptAndMadeAgainBeforeItEnds(t *testing.T) {
	s := serveApp(t)
	c := &hands{at: time.Now().Add(-90 * time.Minute)} // this machine's clock is behind
	m := s.mint(t, func(o *MintOptions) { o.Clock = c })
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if _, err := m.Token(context.Background()); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if len(s.minted) != 1 {
		t.Errorf("%d tokens for eight who ask at once", len(s.minted))
	}
	c.move(54 * time.Minute)
	if _, err := m.Token(context.Background()); err != nil || len(s.minted) != 1 {
		t.Errorf("with six minutes left: %d tokens, %v", len(s.minted), err)
	}
	c.move(2 * time.Minute)
	if tok, err := m.Token(context.Background()); err != nil || len(s.minted) != 2 || tok.Reveal() != s.minted[1] {
		t.Errorf("with four minutes left: %d tokens, %v", len(s.minted), err)
	}
}

func TestTheKeyOfAnAppCanMakeItsTokenAndNothingElse(t *testing.T) {
	s := serveApp(t)
	m := s.mint(t)
	if _, err := m.Token(context.Background()); err != nil {
		t.Fatal(err)
	}
	before := len(s.jwts)
	for _, route := range []transport.Route{
		{Method: "DELETE", Pattern: "/app/installations/77"},
		{Method: "PUT", Pattern: "/app/installations/77/suspended"},
		{Method: "POST", Pattern: "/app/installations/77/access_tokens", Body: `{"permissions":{"actions":"write"}}` + "\n"},
	} {
		api, _ := API(s.URL)
		tr := transport.New(transport.Options{System: "gh", Base: api, Reads: []transport.Route{{Method: "POST", Pattern: "/app/installations/77/access_tokens", Body: s.bodies[0]}}, Next: m.o.Next})
		req, _ := http.NewRequest(route.Method, s.URL+"/api/v3"+route.Pattern, strings.NewReader(route.Body))
		if resp, err := tr.RoundTrip(req); !errors.Is(err, change.ErrNoPermit) {
			if err == nil {
				resp.Body.Close()
			}
			t.Errorf("%s %s: %v", route.Method, route.Pattern, err)
		}
	}
	if len(s.jwts) != before {
		t.Error("something was signed for it")
	}
}

func TestNothingShowsAnAppsKeyItsSignatureOrItsToken(t *testing.T) {
	s := serveApp(t)
	var seen []transport.Exchange
	ctx := transport.WithRecorder(context.Background(), func(x transport.Exchange) { seen = append(seen, x) })
	m := s.mint(t)
	tok, err := m.Token(ctx)
	if err != nil {
		t.Fatal(err)
	}
	s.status = 422
	_, failed := s.mint(t).Token(ctx)
	broken := s.mint(t, func(o *MintOptions) {
		o.Key = func() (secret.Secret, error) { return secret.New(s.pem.Reveal()[:200]), nil }
	})
	_, bad := broken.Token(ctx)
	if failed == nil || bad == nil || len(seen) < 4 || seen[1].Method != "POST" || seen[1].Changing {
		t.Fatalf("control: %v, %v, %+v", failed, bad, seen)
	}
	text := fmt.Sprintf("%+v %v %v %v %+v", seen, tok, failed, bad, m)
	for name, planted := range map[string]string{"token": s.minted[0], "signature": s.jwts[0], "key": s.pem.Reveal()[100:140]} {
		if strings.Contains(text, planted) {
			t.Errorf("the %s is shown", name)
		}
	}
}

func TestWhatStandsBetweenAnAppAndItsTokenIsSaid(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		edit func(*appServer, *MintOptions)
		kind error
		says string
	}{
		"another App's key": {func(_ *appServer, o *MintOptions) { o.App.ID = 6 }, providers.ErrUnauthorized, "clock is wrong"},
		"no installation":   {func(s *appServer, _ *MintOptions) { s.status = 404 }, providers.ErrNotFound, "no installation with that number"},
		"not now":           {func(s *appServer, _ *MintOptions) { s.status = 503 }, providers.ErrUnavailable, "trouble"},
		"no key": {func(_ *appServer, o *MintOptions) {
			o.Key = func() (secret.Secret, error) { return secret.Secret{}, errors.New("key.pem: no such file") }
		}, nil, "key.pem: no such file"},
		"no RSA key": {func(_ *appServer, o *MintOptions) {
			o.Key = func() (secret.Secret, error) { return secret.New("ghp_not-a-key"), nil }
		}, nil, "not an RSA key in PEM form"},
	} {
		s := serveApp(t)
		m := s.mint(t, func(o *MintOptions) { c.edit(s, o) })
		_, err := m.Token(context.Background())
		if err == nil || c.kind != nil && !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.says) || m.Held() {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := NewMint(MintOptions{URL: "https://github.com"}); err == nil {
		t.Error("an App without numbers")
	}
}

// Whether a token is held is asked by a screen: it does not wait for one that is being made.
func TestWhetherATokenIsHeldIsSaidWhileOneIsMade(t *testing.T) {
	m := serveApp(t).mint(t)
	if m.Held() {
		t.Error("held before the first")
	}
	if err := m.hold(context.Background()); err != nil {
		t.Fatal(err)
	}
	if m.Held() {
		t.Error("held while the first is made")
	}
	m.free()
	if _, err := m.Token(context.Background()); err != nil || !m.Held() {
		t.Errorf("%v, held %t", err, m.Held())
	}
}
