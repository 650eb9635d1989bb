package transport

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"cordon/internal/change"
)

const details = "/api/v4/runners/42"

func TestAReadIsRepeatedAndAChangeIsNot(t *testing.T) {
	for name, c := range map[string]struct {
		status int
		after  string
		want   int // on the wire
	}{
		"500":                     {500, "", 3},
		"502":                     {502, "", 3},
		"503 short wait":          {503, "0", 3},
		"503 long wait":           {503, "60", 1},
		"503 until a date":        {503, "Wed, 21 Oct 2026 07:28:00 GMT", 1},
		"429 short wait":          {429, "0", 3},
		"429 long wait":           {429, "60", 1},
		"429 says nothing":        {429, "", 1},
		"403 short wait":          {403, "0", 3},
		"403 long wait":           {403, "60", 1},
		"403 is an answer":        {403, "", 1},
		"501 is an answer":        {501, "", 1},
		"404 is an answer":        {404, "", 1},
		"negative wait, nonsense": {503, "-1", 1},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				if c.after != "" {
					w.Header().Set("Retry-After", c.after)
				}
				w.WriteHeader(c.status)
				_, _ = io.WriteString(w, `{"message":"x"}`)
			})
			tr := to(t, s.URL)
			req, _ := http.NewRequest("GET", s.URL+details, nil)
			resp, err := tr.RoundTrip(req)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			b, _ := io.ReadAll(resp.Body)
			if resp.StatusCode != c.status || string(b) != `{"message":"x"}` || s.count("GET") != c.want {
				t.Errorf("status %d, body %q, %d on the wire, want %d", resp.StatusCode, b, s.count("GET"), c.want)
			}
			if n := tr.Counts(); n.Repeated != int64(c.want-1) {
				t.Errorf("counts %+v", n)
			}
			op := reset(client(t, s.URL, tr), id)
			ctx, _ := permitted(t, op)
			if op(ctx) == nil || s.count("POST") != 1 {
				t.Errorf("the change reached the wire %d times", s.count("POST"))
			}
		})
	}
}

func TestAReadThatRecoversIsOneAnswer(t *testing.T) {
	n := 0
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		switch n++; n {
		case 1:
			w.WriteHeader(http.StatusBadGateway)
		case 2: // the connection breaks inside the body
			w.Header().Set("Content-Length", "100")
			_, _ = io.WriteString(w, "{")
		default:
			_, _ = io.WriteString(w, "{}")
		}
	})
	var seen []Exchange
	ctx := WithRecorder(context.Background(), func(x Exchange) { seen = append(seen, x) })
	req, _ := http.NewRequestWithContext(ctx, "GET", s.URL+details, nil)
	resp, err := to(t, s.URL).RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if n != 3 || len(seen) != 3 || seen[0].Status != 502 || seen[1].Err == "" || seen[2].Status != 200 {
		t.Errorf("%d on the wire, recorded %+v", n, seen)
	}
}

func TestABrokenConnectionDoesNotSendAChangeTwice(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			_, _ = io.WriteString(w, "{}")
			return
		}
		c, _, err := w.(http.Hijacker).Hijack()
		if err == nil {
			c.Close() // after reading the request, before any answer
		}
	})
	tr := to(t, s.URL)
	if err := ask(t, tr, "GET", s.URL+details); err != nil { // leaves a connection to reuse
		t.Fatal(err)
	}
	op := reset(client(t, s.URL, tr), id)
	ctx, permit := permitted(t, op)
	if err := op(ctx); !errors.Is(err, ErrNoAnswer) || !permit.Used() || s.count("POST") != 1 {
		t.Errorf("%v, used %v, %d on the wire", err, permit.Used(), s.count("POST"))
	}
}

func TestALargeAnswerEndsInAnErrorAlsoWhenItComesSmall(t *testing.T) {
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	_, _ = z.Write(make([]byte, 4<<20))
	_ = z.Close()
	if bomb.Len() > 32<<10 {
		t.Fatalf("control: %d bytes are no bomb", bomb.Len())
	}
	for name, h := range map[string]http.HandlerFunc{
		"large": func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, 65<<10)) },
		"bomb": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(bomb.Bytes())
		},
		"endless": func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				if _, err := w.Write(make([]byte, 4096)); err != nil {
					return
				}
			}
		},
	} {
		s := serve(t, h)
		tr := to(t, s.URL)
		if err := ask(t, tr, "GET", s.URL+details); !errors.Is(err, ErrTooLarge) || s.count("GET") != 1 {
			t.Errorf("%s: %v, %d on the wire", name, err, s.count("GET"))
		}
	}
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, 64<<10)) })
	if err := ask(t, to(t, s.URL), "GET", s.URL+details); err != nil {
		t.Errorf("control: exactly the limit is refused: %v", err)
	}
}

func TestSilenceEndsInAnError(t *testing.T) {
	for name, h := range map[string]http.HandlerFunc{
		"no answer": func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
		"half an answer": func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(w, `{"id":`)
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		},
	} {
		s := serve(t, h)
		tr := to(t, s.URL, func(o *Options) { o.Limits.Wait = 50 * time.Millisecond })
		if err := ask(t, tr, "GET", s.URL+details); !errors.Is(err, ErrSilent) {
			t.Errorf("%s, read: %v", name, err)
		}
		op := reset(client(t, s.URL, tr), id)
		ctx, permit := permitted(t, op)
		if err := op(ctx); !errors.Is(err, ErrSilent) || !permit.Used() || s.count("POST") != 1 {
			t.Errorf("%s, change: %v", name, err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		ended := func(r *http.Request) { *r = *r.WithContext(ctx) }
		if err := ask(t, to(t, s.URL), "GET", s.URL+details, ended); !errors.Is(err, context.Canceled) {
			t.Errorf("%s, finished context: %v", name, err)
		}
	}
}

func TestARedirectElsewhereIsRefusedAndLeaksNoCredential(t *testing.T) {
	leaked := ""
	other := serve(t, func(_ http.ResponseWriter, r *http.Request) { leaked = fmt.Sprint(r.Header) })
	where := ""
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == details {
			w.Header().Set("Location", where)
			w.WriteHeader(http.StatusTemporaryRedirect)
		}
	})
	tr := to(t, s.URL)
	get := func() error {
		resp, err := (&http.Client{Transport: tr}).Get(s.URL + details)
		if err == nil {
			resp.Body.Close()
		}
		return err
	}
	for _, where = range []string{other.URL + "/api/v4/runners/43", s.URL + "/users/sign_in", "//evil.example.org/x", "http://[::1", "https:" + strings.TrimPrefix(s.URL, "http:") + "/api/v4/runners/43"} {
		if err := get(); !errors.Is(err, ErrRedirect) {
			t.Errorf("to %s: %v", where, err)
		}
	}
	where = "/api/v4/runners/43"
	if err := get(); err != nil || !strings.HasSuffix(s.requests()[len(s.requests())-1], "/43") {
		t.Errorf("control: a redirect to another read of the same service: %v", err)
	}
	if len(other.requests()) != 0 || leaked != "" {
		t.Errorf("the other host was contacted: %s", leaked)
	}
	c := client(t, s.URL, tr)
	del := func(ctx context.Context) error {
		req, err := c.NewRequest("DELETE", "runners/42", nil, nil)
		if err != nil {
			return err
		}
		_, err = c.Do(req.WithContext(ctx), nil)
		return err
	}
	ctx, permit := permitted(t, del)
	if err := del(ctx); !errors.Is(err, ErrRedirect) || !permit.Used() || s.count("DELETE") != 1 {
		t.Errorf("a change that is sent elsewhere: %v, used %v", err, permit.Used())
	}
}

func TestExchangesSayWhatAReviewerNeedsAndNoSecret(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Request-Id", "01H\u202eRED")
		w.Header().Set("Date", "Mon, 30 Nov 2026 03:00:00 GMT")
		_, _ = io.WriteString(w, `{"token":"`+actToken+`"}`)
	})
	tr := to(t, s.URL)
	var seen []Exchange
	rec := func(x Exchange) { seen = append(seen, x) }
	ctx := WithRecorder(context.Background(), rec)
	with := func(r *http.Request) { *r = *r.WithContext(ctx) }
	if err := ask(t, tr, "GET", s.URL+details+"/jobs?status=running", with); err != nil {
		t.Fatal(err)
	}
	c := client(t, s.URL, tr)
	byToken := func(ctx context.Context) error { // the call that puts a token into the URL
		_, err := c.Runners.DeleteRegisteredRunner(&newToken, withCtx(ctx))
		return err
	}
	pctx, _ := permitted(t, byToken)
	if err := byToken(WithRecorder(pctx, rec)); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(strings.Join(s.requests(), " "), url.QueryEscape(*newToken.Token)) {
		t.Fatal("control: the planted token was not on the wire")
	}
	if len(seen) != 2 {
		t.Fatalf("recorded %d", len(seen))
	}
	get, del := seen[0], seen[1]
	if get.Method != "GET" || get.Path != details+"/jobs?status=running" || get.Status != 200 || get.Changing || get.Bytes == 0 ||
		get.Date.Year() != 2026 || get.System != "gl" || get.At.IsZero() {
		t.Errorf("read: %+v", get)
	}
	if strings.ContainsRune(get.RequestID, 0x202e) || !strings.HasPrefix(get.RequestID, "01H") {
		t.Errorf("request id %q", get.RequestID)
	}
	if !del.Changing || del.Path != "/api/v4/runners" {
		t.Errorf("change: %+v", del)
	}
	_, err := c.Runners.DeleteRegisteredRunner(&newToken, withCtx(context.Background()))
	var ours *Error
	if !errors.As(err, &ours) || !errors.Is(err, change.ErrNoPermit) {
		t.Fatalf("got %v", err)
	}
	for what, text := range map[string]string{"exchanges": fmt.Sprintf("%+v", seen), "error": ours.Error()} {
		for _, planted := range []string{*newToken.Token, lookToken, actToken} {
			if strings.Contains(text, planted) {
				t.Errorf("%s: a secret is shown", what)
			}
		}
	}
}

func TestBrokenAnswersAreToldInOurOwnWords(t *testing.T) {
	planted := "glrt-" + strings.Repeat("p", 20)
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		c, _, err := w.(http.Hijacker).Hijack()
		if err == nil {
			_, _ = io.WriteString(c, "HTTP/1.1 "+planted+"\r\n\r\n")
			c.Close()
		}
	})
	err := ask(t, to(t, s.URL), "GET", s.URL+details)
	if !errors.Is(err, ErrNoAnswer) || strings.Contains(err.Error(), planted) || s.count("GET") != 3 {
		t.Errorf("%v, %d on the wire", err, s.count("GET"))
	}
	req, _ := http.NewRequest("GET", s.URL+details, nil)
	if resp, err := http.DefaultTransport.RoundTrip(req); err == nil || !strings.Contains(err.Error(), planted) {
		if err == nil {
			resp.Body.Close()
		}
		t.Errorf("control: the plain transport does not show it either: %v", err)
	}
	s.Close()
	if err := ask(t, to(t, s.URL), "GET", s.URL+details); !errors.Is(err, ErrNoAnswer) || !strings.Contains(err.Error(), "refused") {
		t.Errorf("nobody listens: %v", err)
	}
}
