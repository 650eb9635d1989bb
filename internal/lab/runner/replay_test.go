package runner_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// line is one log line without what differs from run to run.
type line struct {
	level, msg string
	keys       []string
	values     map[string]any // those that must not differ
	at         time.Time
}

var (
	place  = regexp.MustCompile(`http://127\.0\.0\.1:\d+`)
	quoted = regexp.MustCompile(`"http://127\.0\.0\.1:[0-9A-Za-z_-]+"`)
)

// stable are fields whose values belong to the behaviour; job-log and sent-log depend
// on how much a script prints, bytesize and checksum on what.
var stable = []string{"status", "code", "job-status", "update-interval", "unhealthy_requests", "unhealthy_requests_limit", "unhealthy_interval", "builds", "max_builds", "failure_reason", "error"}

func parse(t *testing.T, raw [][]byte) []line {
	t.Helper()
	var out []line
	for _, b := range raw {
		var f map[string]any
		if err := json.Unmarshal(b, &f); err != nil {
			t.Fatalf("%s: %v", b, err)
		}
		l := line{level: f["level"].(string), values: map[string]any{}}
		l.msg = place.ReplaceAllString(quoted.ReplaceAllString(f["msg"].(string), `"URLSHORT"`), "URL")
		for _, k := range stable {
			if v, ok := f[k]; ok {
				if s, is := v.(string); is {
					v = regexp.MustCompile(`jobs/\d+`).ReplaceAllString(place.ReplaceAllString(s, "URL"), "jobs/N")
				}
				l.values[k] = v
			}
		}
		var err error
		if l.at, err = time.Parse(time.RFC3339Nano, f["time"].(string)); err != nil {
			t.Fatal(err)
		}
		l.keys = slices.Sorted(maps.Keys(f))
		out = append(out, l)
	}
	return out
}

func recorded(t *testing.T, name string) []line {
	t.Helper()
	b, err := os.ReadFile("testdata/gitlab-runner." + name + ".jsonl")
	if err != nil {
		t.Fatal(err)
	}
	return parse(t, bytes.Split(bytes.TrimSpace(b), []byte("\n")))
}

// same fails where the simulated lines are not the recorded ones: words, fields, and
// how far apart, give or take the slack.
func same(t *testing.T, got, want []line, slack time.Duration) {
	t.Helper()
	for i, w := range want {
		if i >= len(got) {
			t.Fatalf("line %d is missing: %s", i, w.msg)
		}
		g := got[i]
		if g.level != w.level || g.msg != w.msg {
			t.Fatalf("line %d:\n got %s %s\nwant %s %s", i, g.level, g.msg, w.level, w.msg)
		}
		if !slices.Equal(g.keys, w.keys) {
			t.Errorf("line %d (%s): fields\n got %v\nwant %v", i, w.msg, g.keys, w.keys)
		}
		for k, v := range w.values {
			if g.values[k] != v {
				t.Errorf("line %d (%s): %s is %v, want %v", i, w.msg, k, g.values[k], v)
			}
		}
		if d := g.at.Sub(got[0].at) - w.at.Sub(want[0].at); d.Abs() > slack {
			t.Errorf("line %d (%s) comes %v off", i, w.msg, d)
		}
	}
}

// from drops what comes before the first line with that message.
func from(lines []line, msg string) []line {
	i := slices.IndexFunc(lines, func(l line) bool { return strings.Contains(l.msg, msg) })
	if i < 0 {
		return nil
	}
	return lines[i:]
}

// A token that is replaced: three refusals three seconds apart, one line that says
// so, and then nothing for an hour counted from the last healthy poll.
func TestRefusedThenSilentForAnHour(t *testing.T) {
	c, ctx := newJumping(61 * time.Minute)
	w := newWorld(t, c)
	c.after(28*time.Second, w.reset)
	w.agent(0, false).Run(ctx)

	got := from(parse(t, w.notes.lines), "forbidden")
	same(t, got, recorded(t, "403-default-interval"), 100*time.Millisecond)
	if len(got) < 5 || !strings.Contains(got[4].msg, "is not healthy, but check for a new job will be forced!") {
		t.Fatalf("after the silence: %+v", got[4:])
	}
	healthy := got[0].at.Add(-3 * time.Second) // the last poll that was answered
	if d := got[4].at.Sub(healthy); d < time.Hour || d > time.Hour+6*time.Second {
		t.Errorf("the forced check comes %v after the last healthy one", d)
	}
	for _, r := range w.requests() {
		if r.at.After(got[3].at) && r.at.Before(got[4].at) {
			t.Errorf("not silent: %s at %s", r.what, r.at)
		}
	}
}

func TestForcedChecksRepeat(t *testing.T) {
	c, ctx := newJumping(50 * time.Second)
	w := newWorld(t, c)
	w.refuseAll()
	w.agent(12*time.Second, false).Run(ctx)
	want := recorded(t, "403-unhealthy_interval-12s")
	// the warning about request_concurrency=1 is about a setting the lab's hosts have at 2
	want = slices.DeleteFunc(want, func(l line) bool { return strings.HasPrefix(l.msg, "CONFIGURATION") })
	same(t, parse(t, w.notes.lines), want, 100*time.Millisecond)
}

// The running job goes on with its own token; only then the refusals begin.
func TestResetInTheMiddleOfAJob(t *testing.T) {
	c, ctx := newJumping(40 * time.Second)
	w := newWorld(t, c)
	w.queue(15)
	c.after(5*time.Second, w.reset)
	w.agent(12*time.Second, false).Run(ctx)
	got := from(parse(t, w.notes.lines), "received")
	same(t, got, recorded(t, "token-reset-mid-job"), time.Second)
}

func TestJobTokenRefusedToo(t *testing.T) {
	c, ctx := newJumping(40 * time.Second)
	w := newWorld(t, c)
	w.queue(300)
	c.after(8*time.Second, w.refuseAll)
	w.agent(12*time.Second, false).Run(ctx)
	got := from(parse(t, w.notes.lines), "received")
	same(t, got, recorded(t, "all-403-mid-job"), time.Second)
	if len(w.notes.jobs) != 0 {
		t.Error("the job still shows on the host")
	}
}

// An agent that ignores its back-off knocks every three seconds for ever.
func TestDefiantKeepsKnocking(t *testing.T) {
	c, ctx := newJumping(10 * time.Minute)
	w := newWorld(t, c)
	w.refuseAll()
	w.agent(0, true).Run(ctx)
	if n := len(w.requests()); n < 200 {
		t.Errorf("%d requests in ten minutes", n)
	}
	for _, l := range parse(t, w.notes.lines) {
		if strings.Contains(l.msg, "unhealthy") {
			t.Errorf("backs off: %s", l.msg)
		}
	}
}
