package transport

//lint:file-ignore SA1019 the rules are shown with the client that providers/gitlab uses, which is archived

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/xanzy/go-gitlab"
	"go.uber.org/goleak"

	"cordon/internal/change"
	"cordon/internal/secret"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const id = 42

// The planted credentials; the tests look for them wherever they must not be.
var (
	lookToken = "glpat-" + "look" + strings.Repeat("a", 16)
	actToken  = "glpat-" + "act" + strings.Repeat("b", 17)
)

var table = []Route{
	{Method: "GET", Pattern: "/api/v4/runners/{id}"},
	{Method: "GET", Pattern: "/api/v4/runners/{id}/jobs", Query: []string{"status", "page"}},
	{Method: "GET", Pattern: "/api/v4/projects/{project}/variables"},
	{Method: "POST", Pattern: "/api/v4/lint"}, // a read by POST
	{Method: "POST", Pattern: "/api/graphql", Body: `{"query":"query { viewer { login } }"}`},
}

// service counts what reaches it.
type service struct {
	*httptest.Server
	mu    sync.Mutex
	seen  []string
	auths []string
}

func serve(t *testing.T, h http.HandlerFunc) *service {
	t.Helper()
	s := &service{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.seen = append(s.seen, r.Method+" "+r.URL.RequestURI())
		s.auths = append(s.auths, r.Header.Get("PRIVATE-TOKEN"))
		s.mu.Unlock()
		h(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *service) requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.seen...)
}

func (s *service) count(method string) (n int) {
	for _, r := range s.requests() {
		if strings.HasPrefix(r, method+" ") {
			n++
		}
	}
	return n
}

func to(t *testing.T, base string, edit ...func(*Options)) *Transport {
	t.Helper()
	u, err := url.Parse(base)
	if err != nil {
		t.Fatal(err)
	}
	give := func(v string) Credential {
		return func(context.Context) (secret.Secret, error) { return secret.New(v), nil }
	}
	o := Options{
		System: "gl", Base: u, Reads: table, Look: give(lookToken), Act: give(actToken),
		Auth:   func(r *http.Request, s secret.Secret) { r.Header.Set("PRIVATE-TOKEN", s.Reveal()) },
		Limits: Limits{Body: 64 << 10, Wait: 5 * time.Second, Pause: time.Millisecond},
	}
	for _, e := range edit {
		e(&o)
	}
	tr := New(o)
	t.Cleanup(tr.CloseIdleConnections)
	return tr
}

// client is the stock library, with no token and its own retries off.
func client(t *testing.T, base string, tr http.RoundTripper) *gitlab.Client {
	t.Helper()
	c, err := gitlab.NewClient("", gitlab.WithBaseURL(base), gitlab.WithHTTPClient(&http.Client{Transport: tr}), gitlab.WithoutRetries())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func reset(c *gitlab.Client, id int) func(context.Context) error {
	return func(ctx context.Context) error {
		_, _, err := c.Runners.ResetRunnerAuthenticationToken(id, gitlab.WithContext(ctx))
		return err
	}
}

func permitted(t *testing.T, op func(context.Context) error) (context.Context, *change.Permit) {
	t.Helper()
	call, err := change.PlanCall(context.Background(), op)
	if err != nil {
		t.Fatal(err)
	}
	c := change.Change{ID: "rotate/1", System: "gl", Op: "gitlab.runner.rotate@1", Call: call}
	p, err := change.NewIssuer().Permit(c, c.Digest())
	if err != nil {
		t.Fatal(err)
	}
	return change.WithPermit(context.Background(), p), p
}

func TestABadGatewayAfterASuccessfulResetReachesTheWireOnceAndStaysUnknown(t *testing.T) {
	resets := 0
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			resets++ // the effect happened; the answer is lost on its way
		}
		http.Error(w, "<html>bad gateway", http.StatusBadGateway)
	})
	op := reset(client(t, s.URL, to(t, s.URL)), id)
	ctx, permit := permitted(t, op)
	err := op(ctx)
	var answered *gitlab.ErrorResponse
	if !errors.As(err, &answered) || answered.Response.StatusCode != http.StatusBadGateway {
		t.Fatalf("got %v", err)
	}
	if resets != 1 {
		t.Errorf("the token was reset %d times", resets)
	}
	if !permit.Used() || !change.Left(ctx) {
		t.Error("a lost answer after sending must read as: it left")
	}
	if err := op(ctx); !errors.Is(err, change.ErrSpent) || s.count("POST") != 1 {
		t.Errorf("again with the same permit: %v, %d on the wire", err, s.count("POST"))
	}

	// Control: the same library as it comes resets again and again.
	stock, err := gitlab.NewClient("x", gitlab.WithBaseURL(s.URL), gitlab.WithCustomRetryMax(1),
		gitlab.WithCustomBackoff(func(_, _ time.Duration, _ int, _ *http.Response) time.Duration { return 0 }),
		gitlab.WithHTTPClient(&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}))
	if err != nil {
		t.Fatal(err)
	}
	resets = 0
	_ = reset(stock, id)(context.Background())
	if resets < 2 {
		t.Errorf("control: the stock client reset %d times; this test proves nothing", resets)
	}
}

func TestACallWithoutAPermitNeverLeaves(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusCreated)
		_, _ = w.Write([]byte(`{"token":"x"}`))
	})
	tr := to(t, s.URL)
	op := reset(client(t, s.URL, tr), id)
	if err := op(context.Background()); !errors.Is(err, change.ErrNoPermit) {
		t.Errorf("got %v", err)
	}
	if n := len(s.requests()); n != 0 {
		t.Fatalf("%d requests left", n)
	}
	ctx, _ := permitted(t, op) // its twin, with a permit, does leave
	if err := op(ctx); err != nil || s.count("POST") != 1 {
		t.Errorf("the permitted twin: %v, %d on the wire", err, s.count("POST"))
	}
	if c := tr.Counts(); c.Changes != 1 || c.Refused != 1 || c.Reads != 0 {
		t.Errorf("counts %+v", c)
	}
}

func TestArgumentsEditedAfterApprovalAreRefusedAtTheTransport(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{}`)) })
	c := client(t, s.URL, to(t, s.URL))
	pause := func(paused bool) func(context.Context) error {
		return func(ctx context.Context) error {
			_, _, err := c.Runners.UpdateRunnerDetails(id, &gitlab.UpdateRunnerDetailsOptions{Paused: &paused}, gitlab.WithContext(ctx))
			return err
		}
	}
	ctx, _ := permitted(t, pause(true))
	for name, op := range map[string]func(context.Context) error{"body": pause(false), "another call": reset(c, id), "another id": reset(c, id+1)} {
		if err := op(ctx); !errors.Is(err, change.ErrMismatch) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if n := len(s.requests()); n != 0 {
		t.Fatalf("%d requests left", n)
	}
	if err := pause(true)(ctx); err != nil || s.count("PUT") != 1 {
		t.Errorf("the approved call: %v, %d on the wire", err, s.count("PUT"))
	}
}

func TestPlanningNeedsNoCredentialForActing(t *testing.T) {
	s := serve(t, func(http.ResponseWriter, *http.Request) {})
	asked := 0
	fails := errors.New("nobody answered the prompt")
	tr := to(t, s.URL, func(o *Options) {
		o.Act = func(context.Context) (secret.Secret, error) { asked++; return secret.Secret{}, fails }
	})
	op := reset(client(t, s.URL, tr), id)
	ctx, permit := permitted(t, op)
	_ = op(context.Background()) // refused: it must not ask either
	if asked != 0 {
		t.Errorf("asked %d times before anything was confirmed", asked)
	}
	if err := op(ctx); !errors.Is(err, ErrNoCredential) || !errors.Is(err, fails) || permit.Used() {
		t.Errorf("no credential: %v, used %v; nothing left, and that must stay known", err, permit.Used())
	}
	if len(s.requests()) != 0 {
		t.Error("a request left without its credential")
	}
}

func TestReadsLookAndChangesActAndTheClientHoldsNeither(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			w.WriteHeader(http.StatusCreated)
		}
		_, _ = w.Write([]byte(`{}`))
	})
	c := client(t, s.URL, to(t, s.URL))
	_, resp, err := c.Runners.GetRunnerDetails(id, gitlab.WithContext(context.Background()))
	if err != nil {
		t.Fatal(err)
	}
	if got := resp.Request.Header.Get("PRIVATE-TOKEN"); got != "" {
		t.Error("the answer hands the credential back to the client")
	}
	ctx, _ := permitted(t, reset(c, id))
	if err := reset(c, id)(ctx); err != nil {
		t.Fatal(err)
	}
	if s.auths[0] != lookToken || s.auths[1] != actToken {
		t.Error("the read was not sent with the credential for looking, or the change not with that for acting")
	}
}
