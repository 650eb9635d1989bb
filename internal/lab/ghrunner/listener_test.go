package ghrunner

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"cordon/internal/clock"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// jumping is a clock on which waiting takes no time but is bounded: after so many waits
// the test is over.
type jumping struct {
	mu    sync.Mutex
	now   time.Time
	waits int
	end   context.CancelFunc
	most  int
}

func (j *jumping) Now() time.Time {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.now
}

func (j *jumping) Wait(ctx context.Context, d time.Duration) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.now = j.now.Add(d)
	if j.waits++; j.waits >= j.most {
		j.end()
	}
	return ctx.Err()
}

var _ clock.Clock = (*jumping)(nil)

// page remembers what a listener says and what it holds.
type page struct {
	mu    sync.Mutex
	log   []string
	term  []string
	conns int
	jobs  []string
}

func (p *page) Log(l string)                  { p.add(&p.log, l) }
func (p *page) Say(l string)                  { p.add(&p.term, l) }
func (p *page) JobStarted(j Job)              { p.add(&p.jobs, "started "+j.Name) }
func (p *page) JobEnded(j Job)                { p.add(&p.jobs, "ended "+j.Name) }
func (p *page) JobLog(_ Job, l string)        { p.add(&p.log, l) }
func (p *page) Connected(_, _ netip.AddrPort) { p.count(1) }
func (p *page) Disconnected(_ netip.AddrPort) { p.count(-1) }
func (p *page) count(n int)                   { p.mu.Lock(); defer p.mu.Unlock(); p.conns += n }
func (p *page) add(list *[]string, line string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	*list = append(*list, line)
}

// broker answers what a test says, by method and last part of the path, in turn; the
// last answer stays.
type broker struct {
	mu      sync.Mutex
	answers map[string][]string // "CODE BODY"; "hold": nothing until a job is complete
	asked   []string
	done    chan struct{}
}

func (b *broker) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b.mu.Lock()
	defer b.mu.Unlock()
	key := r.Method + " " + filepath.Base(r.URL.Path)
	b.asked = append(b.asked, key)
	list := b.answers[key]
	if key == "POST completejob" {
		defer close(b.done)
	}
	if len(list) > 0 && list[0] == "hold" {
		b.mu.Unlock()
		select {
		case <-b.done:
		case <-r.Context().Done():
		}
		b.mu.Lock()
		list, b.answers[key] = list[1:], list[1:]
	}
	if len(list) == 0 {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	if len(list) > 1 {
		b.answers[key] = list[1:]
	}
	var code int
	_, _ = fmt.Sscan(list[0], &code) // the test wrote it
	_, body, _ := strings.Cut(list[0], " ")
	w.WriteHeader(code)
	_, _ = w.Write([]byte(strings.ReplaceAll(body, "HOST", r.Host)))
}

func (b *broker) count(key string) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := 0
	for _, k := range b.asked {
		if k == key {
			n++
		}
	}
	return n
}

const (
	tokenOK   = `200 {"access_token":"t","expires_in":3000}`
	sessionOK = `200 {"sessionId":"s"}`
	nothing   = `202 `
	notFound  = `404 {"source":"actions-broker-listener","errorKind":"RunnerNotFound","message":"Registration was not found or is not medium trust. ClientType: ServiceIdentity"}`
	invalid   = `400 {"error":"invalid_client","error_description":"no client"}`
)

// play runs a listener of a version against a broker until it ends or has waited often.
func play(t *testing.T, version string, waits int, answers map[string][]string) (code int, p *page, b *broker, dir string) {
	t.Helper()
	b = &broker{answers: answers, done: make(chan struct{})}
	srv := httptest.NewServer(b)
	defer srv.Close()
	dir = t.TempDir()
	files, err := Identity{ID: 23, Name: "gha-01", Pool: 1, Base: srv.URL, Web: srv.URL + "/acme", ClientID: "c", Key: Key{D: "secret"}}.Files()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if err := os.WriteFile(filepath.Join(dir, f.Name), []byte(f.Text), f.Mode); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	p = &page{}
	l := New(Config{Dir: dir, Version: version, Machine: "gha-01", PID: 9, Clock: &jumping{now: time.Date(2026, 11, 30, 17, 0, 0, 0, time.UTC), end: cancel, most: waits}}, p)
	code = l.Run(ctx)
	if p.conns != 0 {
		t.Errorf("%d connections are left", p.conns)
	}
	return code, p, b, dir
}

func left(t *testing.T, dir string) string {
	t.Helper()
	var out []string
	for _, n := range []string{settingsFile, credFile, keyFile} {
		if _, err := os.Stat(filepath.Join(dir, n)); err == nil {
			out = append(out, n)
		}
	}
	return strings.Join(out, " ")
}

func has(lines []string, part string) int {
	n := 0
	for _, l := range lines {
		if strings.Contains(l, part) {
			n++
		}
	}
	return n
}

const whole = ".runner .credentials .credentials_rsaparams"

// A current listener that learns of its deletion says so, wipes what made it a runner,
// and ends well: its traces are gone.
func TestNewOneWipesItself(t *testing.T) {
	code, p, b, dir := play(t, "2.336.0", 50, map[string][]string{
		"POST token": {tokenOK}, "POST session": {sessionOK}, "GET message": {nothing, nothing, notFound}, "DELETE session": {"204 "},
	})
	if code != ExitOK || left(t, dir) != "" {
		t.Errorf("code %d, left: %q", code, left(t, dir))
	}
	if has(p.log, "Terminal] WRITE ERROR: The runner no longer exists on the server. Cleaning up local configuration.") != 1 || has(p.term, "√ Removed .credentials") != 1 || has(p.term, "√ Removed .runner") != 1 {
		t.Errorf("said:\n%s\n%s", strings.Join(p.log, "\n"), strings.Join(p.term, "\n"))
	}
	if has(p.log, "√") != 0 {
		t.Error("a success message is in _diag, where the terminal's are not")
	}
	if n := b.count("DELETE session"); n != 0 {
		t.Errorf("it deleted the session of a runner that is gone %d times", n)
	}
}

// One of the middle ends with an error and leaves its files.
func TestMiddleOneEnds(t *testing.T) {
	code, p, _, dir := play(t, "2.330.0", 50, map[string][]string{"POST token": {tokenOK}, "POST session": {sessionOK}, "GET message": {nothing, notFound}})
	if code != ExitTerminated || left(t, dir) != whole || has(p.log, "WRITE ERROR: An error occurred: Registration was not found") != 1 {
		t.Errorf("code %d, left %q\n%s", code, left(t, dir), strings.Join(p.log, "\n"))
	}
}

// An old one retries for ever, and says each time that it is connected: that is said
// before there is a session and proves nothing.
func TestOldOneKnocksForEver(t *testing.T) {
	code, p, b, dir := play(t, "2.317.0", 40, map[string][]string{
		"POST token": {tokenOK, invalid}, "POST session": {sessionOK, notFound}, "GET message": {nothing, notFound}, "DELETE session": {"204 "},
	})
	if code != ExitOK || left(t, dir) != whole {
		t.Errorf("code %d, left %q", code, left(t, dir))
	}
	if n := has(p.term, "√ Connected to GitHub"); n != 41 {
		t.Errorf("connected %d times", n)
	}
	if n := has(p.term, "Retrying until reconnected."); n != 40 {
		t.Errorf("complained %d times", n)
	}
	if n := b.count("POST session"); n != 41 {
		t.Errorf("%d sessions asked for", n)
	}
}

// Started after the deletion, none but an old one goes on.
func TestStartedTooLate(t *testing.T) {
	late := map[string][]string{"POST token": {invalid}}
	code, p, _, dir := play(t, "2.336.0", 50, late)
	if code != ExitTerminated || left(t, dir) != whole || has(p.term, "The runner registration has been deleted from the server, please re-configure.") != 1 {
		t.Errorf("code %d, left %q\n%s", code, left(t, dir), strings.Join(p.term, "\n"))
	}
	if _, _, b, _ := play(t, "2.317.0", 5, late); b.count("POST token") != 5 {
		t.Errorf("an old one asked %d times", b.count("POST token"))
	}
}

// A place that is taken is asked for four minutes, then given up.
func TestConflict(t *testing.T) {
	code, p, b, _ := play(t, "2.336.0", 50, map[string][]string{"POST token": {tokenOK}, "POST session": {`409 {"message":"A session for this runner already exists."}`}})
	if code != ExitConflict || has(p.log, "Stop retry on SessionConflictException after retried for 240 seconds.") != 1 || b.count("POST session") != 10 {
		t.Errorf("code %d after %d attempts\n%s", code, b.count("POST session"), strings.Join(p.log, "\n"))
	}
}

// A directory without the files is no runner.
func TestNotConfigured(t *testing.T) {
	p := &page{}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	code := New(Config{Dir: t.TempDir(), Version: "2.336.0", Clock: &jumping{end: cancel, most: 9}}, p).Run(ctx)
	if code != ExitTerminated || has(p.term, "Runner is not configured.") != 1 {
		t.Errorf("code %d: %v", code, p.term)
	}
}

// A job is acquired, renewed and completed with its own token; where the server
// does not want it any more it ends.
func TestJob(t *testing.T) {
	for name, x := range map[string]struct{ renew, result string }{
		"to its end":            {"200 {}", "Succeeded"},
		"refused by the server": {"404 {}", "Canceled"},
	} {
		t.Run(name, func(t *testing.T) {
			job := `200 {"jobId":"g","jobDisplayName":"build","token":"jt","seconds":150,"github":{"repository":"acme/web","run_id":"7"},"secrets":{"S":"v"}}`
			_, p, b, _ := play(t, "2.336.0", 30, map[string][]string{
				"POST token": {tokenOK}, "POST session": {sessionOK}, "DELETE session": {"204 "}, "POST acquirejob": {job}, "POST renewjob": {x.renew}, "POST completejob": {"200 "},
				"GET message": {`200 {"messageId":1,"messageType":"RunnerJobRequest","body":"{\"id\":\"1\",\"run_service_url\":\"http://HOST/run/1/\"}"}`, "hold", `500 {}`},
			})
			if strings.Join(p.jobs, ", ") != "started build, ended build" || b.count("POST completejob") != 1 {
				t.Errorf("%v, completed %d times", p.jobs, b.count("POST completejob"))
			}
			if has(p.log, "Job build completed with result: "+x.result) != 1 {
				t.Errorf("\n%s", strings.Join(p.log, "\n"))
			}
		})
	}
}

// The files are written as .NET writes them: a byte order mark, then indented JSON.
func TestFiles(t *testing.T) {
	files, err := Identity{ID: 1, Name: "n", Base: "http://h", Web: "http://h/acme", ClientID: "c"}.Files()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !strings.HasPrefix(f.Text, "\ufeff{\n  \"") {
			t.Errorf("%s begins %q", f.Name, f.Text[:8])
		}
	}
	if files[2].Name != keyFile || files[2].Mode != 0o600 {
		t.Errorf("%+v", files[2])
	}
}
