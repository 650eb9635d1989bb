package runner_test

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"cordon/internal/lab/runner"
)

var recordedRequest = regexp.MustCompile(`^([0-9.]+) \S+ ((?:POST|PUT|PATCH) \S+ -> \d+) `)

// The order of requests of a registered, idle, then working runner is the recorded
// one: every three seconds a poll, and for a job running, trace, success.
func TestRequestsInOrder(t *testing.T) {
	c, ctx := newJumping(33 * time.Second)
	w := newWorld(t, c)
	a := w.agent(0, false)
	if status, err := a.Verify(ctx); err != nil || status != 200 {
		t.Fatalf("verify: %d, %v", status, err)
	}
	c.after(10*time.Second, func() { w.queue(3) })
	a.Run(ctx)

	job := regexp.MustCompile(`jobs/\d+`)
	var want, got []string
	b, err := os.ReadFile("testdata/gitlab-runner.stub-requests.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range strings.Split(string(b), "\n") {
		if strings.Contains(l, "CTL mode=forbidden") {
			break
		}
		if m := recordedRequest.FindStringSubmatch(l); m != nil {
			want = append(want, job.ReplaceAllString(m[2], "jobs/N"))
		}
	}
	for _, r := range w.requests() {
		got = append(got, job.ReplaceAllString(r.what, "jobs/N"))
	}
	if n := min(len(want), len(got)); n < 12 || !slices.Equal(got[:n], want[:n]) {
		t.Errorf("requests\n got %s\nwant %s", strings.Join(got, "\n     "), strings.Join(want, "\n     "))
	}
}

func TestPollsEveryThreeSecondsWithTheCursor(t *testing.T) {
	c, ctx := newJumping(30 * time.Second)
	w := newWorld(t, c)
	w.agent(0, false).Run(ctx)
	list := w.requests()
	if len(list) < 10 {
		t.Fatalf("%d polls in 30 s", len(list))
	}
	for i, r := range list {
		var body struct {
			Token      string
			SystemID   string `json:"system_id"`
			LastUpdate string `json:"last_update"`
		}
		if err := json.Unmarshal([]byte(r.body), &body); err != nil {
			t.Fatal(err)
		}
		if body.SystemID != "s_1746f8786189" || body.Token != w.token {
			t.Errorf("poll %d says it is %q", i, body.SystemID)
		}
		if (i > 0) != (body.LastUpdate != "") {
			t.Errorf("poll %d has the cursor %q", i, body.LastUpdate)
		}
		if want := epoch.Add(time.Duration(i) * 3 * time.Second); !r.at.Equal(want) {
			t.Errorf("poll %d at %s, want %s", i, r.at, want)
		}
	}
	for _, l := range parse(t, w.notes.lines) {
		if strings.HasPrefix(l.msg, "Checking") {
			t.Errorf("an idle poll is logged: %s", l.msg)
		}
	}
}

// A silent runner's connection is closed after a while, a stopped one's at once.
func TestConnectionsFollow(t *testing.T) {
	c, ctx := newJumping(10 * time.Minute)
	w := newWorld(t, c)
	var polling, silent int
	count := func(n *int) func() {
		return func() {
			w.notes.mu.Lock()
			defer w.notes.mu.Unlock()
			*n = len(w.notes.open)
		}
	}
	c.after(20*time.Second, count(&polling))
	c.after(21*time.Second, w.refuseAll)
	c.after(5*time.Minute, count(&silent))
	w.agent(0, false).Run(ctx)
	if polling != 1 || silent != 0 || len(w.notes.open) != 0 {
		t.Errorf("open connections: polling %d, silent %d, stopped %d", polling, silent, len(w.notes.open))
	}
}

func TestCanceledJobEnds(t *testing.T) {
	c, ctx := newJumping(30 * time.Second)
	w := newWorld(t, c)
	w.queue(600)
	var env []string
	c.after(4*time.Second, func() { env = w.notes.jobs[101] })
	c.after(7*time.Second, func() { w.act("POST", "/projects/1/jobs/101/cancel") })
	w.agent(0, false).Run(ctx)
	if !slices.ContainsFunc(env, func(e string) bool { return strings.HasPrefix(e, "CI_JOB_TOKEN=glcbt-") }) {
		t.Errorf("the job's environment has no job token: %d variables", len(env))
	}
	got := parse(t, w.notes.lines)
	if from(got, "Job failed: canceled") == nil || len(w.notes.jobs) != 0 {
		t.Error("the canceled job did not end")
	}
	var end string
	for _, r := range w.requests() {
		if strings.Contains(r.body, `"state":"failed"`) {
			end = r.what
		}
	}
	if end != "PUT /api/v4/jobs/101 -> 200" {
		t.Errorf("the end of the job was told as %q", end)
	}
}

func TestShortToken(t *testing.T) {
	for token, want := range map[string]string{
		"glrt-stub00000abcdef":    "stub00000",
		"glrt-t3_AbCdEfGhIjKlMnO": "AbCdEfGhI",
		"t1_AbCdEfGhIjKlMnO":      "AbCdEfGhI",
		"xyz":                     "xyz",
	} {
		if got := runner.Short(token); got != want {
			t.Errorf("Short(%q) = %q, want %q", token, got, want)
		}
	}
}
