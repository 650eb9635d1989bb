package gitlab

//lint:file-ignore SA1019 the library that was asked for is archived; only this file knows it, so that its successor is one file away

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	gl "github.com/xanzy/go-gitlab"

	"cordon/internal/secret"
	"cordon/internal/transport"
)

// service is all that the rest of the package knows of a GitLab client. Methods
// return the answer also with an error where its head was read.
type service interface {
	get(ctx context.Context, path string, q url.Values) (answer, error)
	setPaused(ctx context.Context, runner int64, paused bool) (answer, error)
	// resetToken returns the new token, zero if the answer held none.
	resetToken(ctx context.Context, runner int64) (secret.Secret, time.Time, answer, error)
	remove(ctx context.Context, runner int64) (answer, error)
	cancelJob(ctx context.Context, project, job int64, force bool) (answer, error)
}

// answer is one reply. Body is empty for a reply that carries a secret.
type answer struct {
	Request   string // "GET runners/42", for sources of evidence
	Status    int    // 0: no answer
	RequestID string
	Date      time.Time
	At        time.Time // when it was asked for, on the run's clock; only of what may be reused
	Media     string
	Body      []byte
	Next      int // next page by X-Next-Page or Link; 0: none
	Total     int // X-Total, -1 where GitLab does not say (over 10 000 rows it never does)
}

// client is the one user of xanzy/go-gitlab. Its retries and its limiter are off:
// repeating is the transport's business, and the stock limiter sleeps out of sight.
type client struct{ gl *gl.Client }

type noLimit struct{}

func (noLimit) Wait(ctx context.Context) error { return ctx.Err() }

func connect(base string, rt http.RoundTripper) (service, error) {
	c, err := gl.NewClient("", gl.WithBaseURL(base), gl.WithHTTPClient(&http.Client{Transport: rt}),
		gl.WithoutRetries(), gl.WithCustomLimiter(noLimit{}))
	if err != nil {
		return nil, fmt.Errorf("set up the client: %w", err)
	}
	c.UserAgent = "cordon"
	return &client{c}, nil
}

func (c *client) get(ctx context.Context, path string, q url.Values) (answer, error) {
	req, err := c.gl.NewRequest(http.MethodGet, path, nil, []gl.RequestOptionFunc{gl.WithContext(ctx)})
	if err != nil {
		return answer{}, fmt.Errorf("build a request: %w", err)
	}
	req.URL.RawQuery = q.Encode()
	var body bytes.Buffer
	resp, err := c.gl.Do(req, &body)
	return reply("GET "+path, resp, body.Bytes(), err)
}

func (c *client) setPaused(ctx context.Context, runner int64, paused bool) (answer, error) {
	_, resp, err := c.gl.Runners.UpdateRunnerDetails(int(runner), &gl.UpdateRunnerDetailsOptions{Paused: &paused}, gl.WithContext(ctx))
	return reply(fmt.Sprintf("PUT runners/%d", runner), resp, nil, err)
}

func (c *client) resetToken(ctx context.Context, runner int64) (secret.Secret, time.Time, answer, error) {
	t, resp, err := c.gl.Runners.ResetRunnerAuthenticationToken(int(runner), gl.WithContext(ctx))
	a, err := reply(fmt.Sprintf("POST runners/%d/reset_authentication_token", runner), resp, nil, err)
	if err != nil || t == nil || t.Token == nil {
		return secret.Secret{}, time.Time{}, a, err
	}
	var expires time.Time
	if t.TokenExpiresAt != nil {
		expires = *t.TokenExpiresAt
	}
	return secret.New(*t.Token), expires, a, nil
}

func (c *client) remove(ctx context.Context, runner int64) (answer, error) {
	resp, err := c.gl.Runners.RemoveRunner(int(runner), gl.WithContext(ctx))
	return reply(fmt.Sprintf("DELETE runners/%d", runner), resp, nil, err)
}

// cancelJob writes its own request: the library's CancelJob cannot force.
func (c *client) cancelJob(ctx context.Context, project, job int64, force bool) (answer, error) {
	path := fmt.Sprintf("projects/%d/jobs/%d/cancel", project, job)
	body := struct {
		Force bool `json:"force,omitempty"`
	}{force}
	req, err := c.gl.NewRequest(http.MethodPost, path, body, []gl.RequestOptionFunc{gl.WithContext(ctx)})
	if err != nil {
		return answer{}, fmt.Errorf("build a request: %w", err)
	}
	var out bytes.Buffer
	resp, err := c.gl.Do(req, &out)
	return reply("POST "+path, resp, out.Bytes(), err)
}

// reply turns what the library returns into an answer and an error that holds no
// foreign text: the library's own quote bodies and URLs.
func reply(request string, resp *gl.Response, body []byte, err error) (answer, error) {
	a := answer{Request: request, Total: -1, Body: body}
	if resp != nil && resp.Response != nil {
		h := resp.Header
		a.Status, a.RequestID, a.Date, a.Media = resp.StatusCode, transport.RequestID(h), transport.Date(h), h.Get("Content-Type")
		a.Next = nextPage(resp)
		if n, err := strconv.Atoi(h.Get("X-Total")); err == nil && n >= 0 {
			a.Total = n
		}
	}
	var answered *gl.ErrorResponse
	var sent *url.Error
	switch {
	case errors.As(err, &answered):
		a.Body = answered.Body
		return a, problem(a)
	case errors.Is(err, gl.ErrNotFound):
		return a, problem(a)
	case errors.As(err, &sent): // its text has the whole URL; the cause is the transport's own
		return a, noAnswer(sent.Err)
	case err != nil && a.Status != 0:
		return a, malformed(a, "not the expected JSON")
	case err != nil:
		return a, noAnswer(err)
	case a.html():
		return a, problem(a)
	}
	return a, nil
}

// nextPage trusts X-Next-Page, then the page in Link's rel="next"; never totals,
// which GitLab leaves out of long lists (doc/api/rest: pagination).
func nextPage(resp *gl.Response) int {
	if resp.NextPage > 0 {
		return resp.NextPage
	}
	u, err := url.Parse(resp.NextLink)
	if err != nil || resp.NextLink == "" {
		return 0
	}
	n, err := strconv.Atoi(u.Query().Get("page"))
	if err != nil || n < 0 {
		return 0
	}
	return n
}

func (a answer) html() bool {
	return strings.Contains(strings.ToLower(a.Media), "html") || bytes.HasPrefix(bytes.TrimSpace(a.Body), []byte("<"))
}

// segment escapes a group or project path for the middle of a path.
func segment(path string) string { return gl.PathEscape(path) }
