package github

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	gh "github.com/google/go-github/v66/github"

	"cordon/internal/transport"
	"cordon/internal/untrusted"
)

// service is one read. The answer comes also with an error where its head was read.
type service interface {
	// get reads path, escaped and without a slash in front: "orgs/acme/actions/runners".
	get(ctx context.Context, path string, q url.Values) (answer, error)
}

// answer is one reply.
type answer struct {
	Request   string // "GET orgs/acme/actions/runners", for sources of evidence
	Status    int    // 0: no answer
	RequestID string
	Date      time.Time // the service's clock
	At        time.Time // ours
	Media     string
	Body      []byte
	Next      int    // the page that Link calls next; of Link only the number is used, never its address. 0: none
	After     string // the cursor that Link calls next, of lists that have cursors. "": none
	Rate      rate
	Needs     string    // X-Accepted-GitHub-Permissions, cleaned: what a fine-grained token or an App needs
	Scopes    string    // X-OAuth-Scopes, cleaned: what a classic token has
	Wants     string    // X-Accepted-OAuth-Scopes, cleaned: any one of these does
	Classic   bool      // X-OAuth-Scopes was there, maybe empty: a classic or an OAuth token
	Expires   time.Time // of the token, zero: not told
	SSO       bool      // X-GitHub-SSO: the organization asks for a sign-on that this token does not have
	Partial   bool      // X-GitHub-SSO: what is of such organizations was left out of this list
	wait      time.Duration
	waits     bool // Retry-After was there
	acting    bool // it was given to the credential for acting, asked who it is
}

// client is the one user of go-github for reads.
type client struct {
	gh     *gh.Client
	limits *limits
}

// connect makes a go-github client. What it would block itself by is kept from it: after
// one exhausted limit v66 refuses every further call until the reset without asking.
func connect(api *url.URL, rt http.RoundTripper) *gh.Client {
	c := gh.NewClient(&http.Client{Transport: unblocking{rt}})
	base := *api
	base.Path = strings.TrimRight(base.Path, "/") + "/"
	c.BaseURL, c.UploadURL, c.UserAgent = &base, &base, "cordon"
	return c
}

// aside is put before the names of the headers that go-github must not see.
const aside = "Cordon-Aside-"

var blocking = []string{"X-Ratelimit-Limit", "X-Ratelimit-Remaining", "X-Ratelimit-Reset", "Retry-After"}

// unblocking renames what go-github would block itself by (github.go,
// checkRateLimitBeforeDo and checkSecondaryRateLimitBeforeDo).
type unblocking struct{ next http.RoundTripper }

func (u unblocking) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := u.next.RoundTrip(r)
	if resp == nil {
		return resp, err
	}
	for _, k := range blocking {
		resp.Header.Del(aside + k)
		if v := resp.Header.Get(k); v != "" {
			resp.Header.Set(aside+k, v)
			resp.Header.Del(k)
		}
	}
	return resp, err
}

func (c *client) get(ctx context.Context, path string, q url.Values) (answer, error) {
	req, err := c.gh.NewRequest(http.MethodGet, path, nil)
	if err != nil {
		return answer{}, fmt.Errorf("build a request: %w", err)
	}
	req.URL.RawQuery = q.Encode()
	at := c.limits.clock.Now()
	a, err := send(ctx, c.gh, req, "GET "+path)
	a.At, a.acting = at, transport.Acting(ctx)
	c.limits.saw(a)
	return a, err
}

// send makes one request and reads its answer, which the transport has capped already.
func send(ctx context.Context, c *gh.Client, req *http.Request, name string) (answer, error) {
	resp, err := c.BareDo(ctx, req)
	var body []byte
	if resp != nil && resp.Response != nil && resp.Body != nil {
		var rerr error
		body, rerr = io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if err == nil {
			err = rerr
		}
	}
	return reply(name, resp, body, err)
}

// reply turns what the library returns into an answer and an error that holds no foreign
// text: the library's own quote bodies and addresses. 202 is an answer like any other:
// the library calls it an error, and for a cancellation it is success.
func reply(request string, resp *gh.Response, body []byte, err error) (answer, error) {
	a := answer{Request: request, Body: body}
	if resp != nil && resp.Response != nil {
		a.head(resp)
	}
	var sent *url.Error
	var accepted *gh.AcceptedError
	switch {
	case errors.As(err, &accepted):
		if len(a.Body) == 0 {
			a.Body = accepted.Raw
		}
		return a, nil
	case errors.As(err, &sent): // its text has the whole address; the cause is the transport's own
		return a, noAnswer(sent.Err)
	case err != nil && a.Status/100 == 2:
		return a, malformed(a, "not the expected JSON")
	case err != nil && a.Status != 0:
		if len(a.Body) == 0 && resp.Body != nil {
			a.Body, _ = io.ReadAll(resp.Body) // put back by the library; a broken one says nothing more
		}
		return a, problem(a)
	case err != nil:
		return a, noAnswer(err)
	case a.html():
		return a, malformed(a, "an HTML page, from a login form or a proxy")
	}
	return a, nil
}

func (a *answer) head(resp *gh.Response) {
	h := resp.Header
	clean := func(k string) string { return untrusted.Clean(h.Get(k), 200) }
	a.Status, a.RequestID, a.Date, a.Media = resp.StatusCode, transport.RequestID(h), transport.Date(h), h.Get("Content-Type")
	a.Next, a.After = max(resp.NextPage, 0), resp.After
	a.Needs, a.Scopes, a.Wants = clean("X-Accepted-Github-Permissions"), clean("X-Oauth-Scopes"), clean("X-Accepted-Oauth-Scopes")
	_, a.Classic = h["X-Oauth-Scopes"]
	a.SSO = strings.HasPrefix(h.Get("X-Github-Sso"), "required")
	a.Partial = strings.HasPrefix(h.Get("X-Github-Sso"), "partial-results")
	if !resp.TokenExpiration.IsZero() {
		a.Expires = resp.TokenExpiration.UTC()
	}
	a.Rate = readRate(h)
	if v := h.Get(aside + "Retry-After"); v != "" {
		n, err := strconv.Atoi(v)
		if a.waits = true; err != nil || n < 0 || n > 1<<20 {
			n = 3600 // a date, or nonsense: long
		}
		a.wait = time.Duration(n) * time.Second
	}
}

func (a answer) html() bool {
	return strings.Contains(strings.ToLower(a.Media), "html") || strings.HasPrefix(strings.TrimSpace(string(a.Body[:min(len(a.Body), 64)])), "<")
}
