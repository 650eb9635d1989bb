package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"cordon/internal/lab/ledger"
)

// behaviours are what a provider answers instead of what it should. Every one holds
// what must never reach a screen as it is.
var behaviours = map[string]http.HandlerFunc{
	"401": says(401, `{"message":"401 Unauthorized \u001b[2J"}`), "403": says(403, `{"message":"403 Forbidden"}`),
	"404": says(404, `{"message":"404 Not found"}`), "412": says(412, `{"message":"412 Precondition Failed"}`),
	"422": says(422, `{"message":"422 Unprocessable"}`), "429": says(429, `Retry later`), "500": says(500, `{"message":"500 Internal Server Error"}`),
	"html":     says(200, "<html>\x1b]0;owned\x07<body>Log in</body></html>"),
	"not ours": says(200, `{"message":"\u001b[31mhello","id":"x"}`),
	"silence": func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // only then is the end of the connection seen
		<-r.Context().Done()
	},
	"endless": func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, "[")
		for block := bytes.Repeat([]byte(" "), 1<<16); r.Context().Err() == nil; {
			if _, err := w.Write(block); err != nil {
				return
			}
		}
	},
	"cut": func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "1000")
		w.WriteHeader(200)
		panic(http.ErrAbortHandler)
	},
}

func says(status int, text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if strings.HasPrefix(text, "<") {
			w.Header().Set("Content-Type", "text/html")
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, text)
	}
}

// TestAHostileListIsAHoleInTheList lists from a GitLab that answers badly: never an
// empty list and never success, always one reason, in plain characters.
func TestAHostileListIsAHoleInTheList(t *testing.T) {
	t.Parallel()
	reasons := map[string]string{
		"401": "credential refused", "403": "not permitted", "404": "not found", "412": "refused in this state", "422": "refused in this state",
		"429": "rate limited", "500": "did not answer", "html": "not understood", "not ours": "not understood", "silence": "did not answer",
		"endless": "", "cut": "",
	}
	for name, f := range behaviours {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			s := httptest.NewServer(f)
			defer s.Close()
			defer s.CloseClientConnections()
			l := runCordon(t, dir, s.URL, "fleet")
			if l.code != 4 || !strings.Contains(l.out, "NOT LISTED") || !strings.Contains(l.out, "0 runners") || !strings.Contains(l.out, reasons[name]) {
				t.Errorf("fleet ends with %d: %s%s", l.code, l.out, l.err)
			}
			if name == "silence" {
				return // it is the same wait once more
			}
			c := runCordon(t, dir, s.URL, "contain", "gl/7", "--yes", "--reason", reason)
			code := 1
			if name == "404" {
				code = 2 // there is no such runner, which is the caller's mistake
			}
			if c.code != code || strings.Count(c.err, "\n") != 1 || !strings.Contains(c.err, reasons[name]) {
				t.Errorf("contain ends with %d: %s%s", c.code, c.out, c.err)
			}
			if all := l.out + c.out + c.err; strings.ContainsAny(all, "\x1b\x07") {
				t.Errorf("control characters of the provider reach the screen: %q", all)
			}
			if n := cases(t, filepath.Join(dir, "home", "state", "cordon")); len(n) > 0 {
				t.Errorf("a case was opened for what could not be read: %v", n)
			}
		})
	}
}

// runCordon runs one with a configuration of one provider.
func runCordon(t *testing.T, dir, at string, args ...string) said {
	t.Helper()
	file := filepath.Join(dir, "config.yaml")
	text := fmt.Sprintf("providers: {gl: {type: gitlab, url: %q, scopes: [instance], look: {env: LOOK}}}\n", at)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program(t), append([]string{"--config", file}, args...)...)
	cmd.Env, cmd.Dir = append(account(dir), "LOOK=glpat-test"), dir
	return finish(t, cmd)
}

// TestAHostileAnswerToAChange puts something between cordon and the lab that answers one
// kind of change itself, before or after the lab made it. What the ending says is true
// of the lab, nothing happens twice, and the run is bounded.
func TestAHostileAnswerToAChange(t *testing.T) {
	t.Parallel()
	const pause, reset, remove = "PUT /api/v4/runners/42", "POST /api/v4/runners/42/reset_authentication_token", "DELETE /api/v4/runners/42"
	for _, c := range []struct {
		call, answer string
		done         bool // the lab made the change before the answer was replaced
		ending, note string
	}{
		{pause, "401", false, "stopped (exit 6)", "REFUSED, not done: pause/42/1.1"}, // every later step would be refused too
		{pause, "500", false, "stopped (exit 6)", "REFUSED, not done: pause/42/1.1"}, // what cannot be taken back rests on it
		{pause, "html", true, "contained (exit 0)", "settled: pause/42/1.1: applied"},
		{reset, "429", false, "stopped (exit 6)", "REFUSED, not done: rotate/42/1.1"}, // asked to slow down, it sends nothing more
		{reset, "not ours", true, "contained (exit 0)", "settled: rotate/42/1.1: applied (moot"},
		{remove, "403", false, "refused (exit 1)", "deregister gitlab-lab/42: refused: "},
		{remove, "500", false, "refused (exit 1)", "deregister gitlab-lab/42: refused: "},
		{remove, "html", false, "refused (exit 1)", "deregister gitlab-lab/42: refused: "},
		{remove, "404", true, "contained (exit 0)", ""},
		{remove, "cut", true, "contained (exit 0)", "settled: deregister/42/1.1: applied"},
		{remove, "silence", true, "contained (exit 0)", "settled: deregister/42/1.1: applied"},
	} {
		t.Run(strings.Fields(c.call)[0]+" "+c.answer, func(t *testing.T) {
			t.Parallel()
			if testing.Short() && (c.call != remove || c.answer != "500") {
				t.Skip("short: one of them")
			}
			w := newWorld(t)
			w.between(c.call, c.answer, c.done)
			s := w.cordon(contain("H")...)
			got := ending(s.out)
			if got == "" {
				got = fmt.Sprintf("stopped (exit %d)", s.code)
			}
			if got != c.ending || strings.Count(s.err, "\n") != strings.Count(got, "stopped") {
				t.Errorf("ends %q with %d, want %q\n%s%s", got, s.code, c.ending, tail(s.out), s.err)
			}
			if !strings.Contains(strings.ReplaceAll(s.out+s.err, "was unknown, ", ""), c.note) {
				t.Errorf("nothing says %q\n%s", c.note, tail(s.out))
			}
			if strings.ContainsAny(s.out, "\x1b\x07") {
				t.Error("control characters of the provider reach the screen")
			}
			everyEffectOnce(t, w.effects())
			gone := has(w.effects(), "runner.delete")
			if contained := strings.HasPrefix(got, "contained"); contained != gone {
				t.Errorf("it says %q and the registration is gone: %v", got, gone)
			}
		})
	}
}

func has(all []ledger.Entry, effect string) bool {
	for _, e := range all {
		if e.Effect == effect {
			return true
		}
	}
	return false
}

// between puts a proxy before the lab's GitLab that replaces the answers to one call.
func (w *world) between(call, answer string, done bool) {
	w.t.Helper()
	to, err := url.Parse(w.ready.GitLab.URL)
	if err != nil {
		w.t.Fatal(err)
	}
	forward := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to) }}
	s := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.Method+" "+r.URL.Path != call {
			forward.ServeHTTP(rw, r)
			return
		}
		if done {
			forward.ServeHTTP(httptest.NewRecorder(), r)
		}
		behaviours[answer](rw, r)
	}))
	w.t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	config := filepath.Join(w.labDir(), "cordon.yaml")
	b, err := os.ReadFile(config)
	if err == nil {
		err = os.WriteFile(config, bytes.ReplaceAll(b, []byte(w.ready.GitLab.URL), []byte(s.URL)), 0o600)
	}
	if err != nil {
		w.t.Fatal(err)
	}
}
