package gitlab

import (
	"strings"
	"testing"
	"time"

	"cordon/internal/lab/fault"
)

type managerRow struct {
	SystemID  string    `json:"system_id"`
	IP        string    `json:"ip_address"`
	Version   string    `json:"version"`
	Contacted time.Time `json:"contacted_at"`
	Status    string    `json:"status"`
}

func (w *world) rows(id string) []managerRow {
	w.t.Helper()
	return decode[[]managerRow](w.t, w.ask("look", "GET", "/runners/"+id+"/managers", ""))
}

// A paused runner is a living one that gets no jobs.
func TestPausedStillCalls(t *testing.T) {
	w := newWorld(t)
	token := w.runnerToken("r42")
	w.ask("act", "PUT", "/runners/42", `{"paused":true}`)
	rec := w.poll(token, "s_1")
	if rec.Code != 204 || rec.Header().Get("X-GitLab-Last-Update") == "" {
		t.Errorf("%d, cursor %q", rec.Code, rec.Header().Get("X-GitLab-Last-Update"))
	}
	m := w.rows("42")
	if len(m) != 1 || m[0].IP != "127.0.0.11" || !m[0].Contacted.Equal(w.clock.Now()) || m[0].Version != "18.6.0" {
		t.Errorf("managers: %+v", m)
	}
	w.clock.pass(7 * time.Second)
	w.poll(token, "s_1")
	if m := w.rows("42"); len(m) != 1 || !m[0].Contacted.Equal(w.clock.Now()) {
		t.Errorf("after another poll: %+v", m)
	}
	w.ask("act", "PUT", "/runners/42", `{"paused":false}`)
	if rec := w.poll(token, "s_1"); rec.Code != 201 {
		t.Errorf("resumed, and a job waits: %d", rec.Code)
	}
}

// A changed runner has a new cursor, so that a long poll would come back.
func TestChangeMovesTheCursor(t *testing.T) {
	w := newWorld(t)
	token := w.runnerToken("r43")
	a := w.poll(token, "s_1").Header().Get("X-GitLab-Last-Update")
	b := w.poll(token, "s_1").Header().Get("X-GitLab-Last-Update")
	w.ask("act", "PUT", "/runners/43", `{"paused":true}`)
	c := w.poll(token, "s_1").Header().Get("X-GitLab-Last-Update")
	if a != b || b == c {
		t.Errorf("cursors %q %q %q", a, b, c)
	}
}

// verify is a heartbeat and makes a manager row; without a system id it is <legacy>.
func TestVerifyIsAHeartbeat(t *testing.T) {
	w := newWorld(t)
	if rec := w.agent("POST", "/runners/verify", map[string]string{"token": "glrt-t3_nothing"}); rec.Code != 403 {
		t.Errorf("unknown token: %d", rec.Code)
	}
	if n := len(w.rows("42")); n != 0 {
		t.Fatalf("%d managers before", n)
	}
	rec := w.agent("POST", "/runners/verify", map[string]string{"token": w.runnerToken("r42")})
	if rec.Code != 200 || !strings.Contains(rec.Body.String(), `"id":42`) {
		t.Errorf("%d %s", rec.Code, rec.Body)
	}
	if m := w.rows("42"); len(m) != 1 || m[0].SystemID != "<legacy>" {
		t.Errorf("managers: %+v", m)
	}
}

// The three ways in which clients send a body.
func TestBodiesOfEveryKind(t *testing.T) {
	w := newWorld(t)
	token := w.runnerToken("r42")
	for kind, body := range map[string]string{
		"application/json":                   `{"token":"` + token + `"}`,
		"application/x-www-form-urlencoded":  "token=" + token,
		"multipart/form-data; boundary=edge": "--edge\r\nContent-Disposition: form-data; name=\"token\"\r\n\r\n" + token + "\r\n--edge--\r\n",
	} {
		if rec := w.agent("POST", "/runners/verify", body, "Content-Type", kind); rec.Code != 200 {
			t.Errorf("%s: %d %s", kind, rec.Code, rec.Body)
		}
	}
}

func TestResetRefusesTheOldTokenAtOnce(t *testing.T) {
	w := newWorld(t)
	old := w.runnerToken("r42")
	job := decode[struct {
		ID    int
		Token string
	}](t, w.poll(old, "s_1"))
	before := w.rows("42")[0].Contacted
	answer := decode[struct{ Token string }](t, w.ask("act", "POST", "/runners/42/reset_authentication_token", ""))
	w.clock.pass(time.Minute)

	if rec := w.poll(old, "s_1"); rec.Code != 403 {
		t.Errorf("old token polls: %d", rec.Code)
	}
	if rec := w.agent("POST", "/runners/verify", map[string]string{"token": old}); rec.Code != 403 {
		t.Errorf("old token verifies: %d", rec.Code)
	}
	if m := w.rows("42")[0]; !m.Contacted.Equal(before) {
		t.Errorf("a refused poll moved contacted_at from %s to %s", before, m.Contacted)
	}
	// the running job's own token goes on, and its calls are heartbeats
	rec := w.agent("PATCH", "/jobs/103/trace", "hello", "JOB-TOKEN", job.Token, "Content-Range", "0-4", "Content-Type", "text/plain")
	if rec.Code != 202 || rec.Header().Get("Job-Status") != "running" || rec.Header().Get("Range") != "0-5" {
		t.Errorf("trace: %d %v", rec.Code, rec.Header())
	}
	if m := w.rows("42")[0]; !m.Contacted.Equal(w.clock.Now()) {
		t.Errorf("the running job is no heartbeat: %s", m.Contacted)
	}
	if rec := w.poll(answer.Token, "s_1"); rec.Code != 204 {
		t.Errorf("new token polls: %d", rec.Code)
	}
}

func TestDeletedRunner(t *testing.T) {
	w := newWorld(t)
	token := w.runnerToken("r42")
	job := decode[struct{ Token string }](t, w.poll(token, "s_1"))
	w.ask("act", "DELETE", "/runners/42", "")
	if rec := w.poll(token, "s_1"); rec.Code != 403 {
		t.Errorf("polls: %d", rec.Code)
	}
	for _, p := range []string{"/runners/42", "/runners/42/managers", "/runners/42/jobs"} {
		if rec := w.ask("look", "GET", p, ""); rec.Code != 404 {
			t.Errorf("%s: %d", p, rec.Code)
		}
	}
	if rec := w.agent("PUT", "/jobs/103", map[string]string{"token": job.Token, "state": "success"}); rec.Code != 200 {
		t.Errorf("its running job is refused: %d", rec.Code)
	}
}

func TestJobLife(t *testing.T) {
	w := newWorld(t)
	payload := decode[map[string]any](t, w.poll(w.runnerToken("r42"), "s_1"))
	token, _ := payload["token"].(string)
	if !strings.HasPrefix(token, "glcbt-") || payload["id"] != float64(103) {
		t.Fatalf("job %v with token %q", payload["id"], token)
	}
	for _, k := range []string{"job_info", "git_info", "runner_info", "variables", "steps", "features"} {
		if payload[k] == nil {
			t.Errorf("the payload has no %s", k)
		}
	}
	if rec := w.agent("PUT", "/jobs/103", map[string]string{"token": "wrong", "state": "success"}); rec.Code != 403 {
		t.Errorf("wrong job token: %d", rec.Code)
	}
	patch := func(text, span string) (int, string) {
		rec := w.agent("PATCH", "/jobs/103/trace", text, "JOB-TOKEN", token, "Content-Range", span, "Content-Type", "text/plain")
		return rec.Code, rec.Header().Get("Range")
	}
	for _, c := range []struct {
		text, span string
		code       int
		have       string
	}{
		{"one\n", "0-3", 202, "0-4"},
		{"gap\n", "9-12", 416, "0-4"},
		{"x", "", 400, ""},
		{"two\n", "4-7", 202, "0-8"},
	} {
		if code, have := patch(c.text, c.span); code != c.code || have != c.have {
			t.Errorf("trace %q at %s: %d %q, want %d %q", c.text, c.span, code, have, c.code, c.have)
		}
	}
	// canceling is asked for by the answer; the end is the agent's
	w.ask("act", "POST", "/projects/11/jobs/103/cancel", "")
	rec := w.agent("PATCH", "/jobs/103/trace", "three\n", "JOB-TOKEN", token, "Content-Range", "8-13", "Content-Type", "text/plain")
	if rec.Code != 202 || rec.Header().Get("Job-Status") != "canceling" {
		t.Errorf("canceling: %d %q", rec.Code, rec.Header().Get("Job-Status"))
	}
	w.ask("act", "POST", "/projects/11/jobs/103/cancel", `{"force":true}`)
	rec = w.agent("PUT", "/jobs/103", map[string]string{"token": token, "state": "failed"})
	if rec.Code != 403 || rec.Header().Get("Job-Status") != "canceled" {
		t.Errorf("canceled: %d %q", rec.Code, rec.Header().Get("Job-Status"))
	}
	if got := w.ask("look", "GET", "/projects/11/jobs/103/trace", "").Body.String(); got != "one\ntwo\nthree\n" {
		t.Errorf("trace %q", got)
	}
}

// One lines: which waiting job a runner gets.
func TestPick(t *testing.T) {
	w := newWorld(t)
	if rec := w.poll(w.runnerToken("r45"), "s_9"); rec.Code != 204 {
		t.Errorf("a runner without the job's tag gets it: %d", rec.Code)
	}
	if rec := w.poll(w.runnerToken("r42"), "s_1"); rec.Code != 201 {
		t.Errorf("the runner with the tag does not: %d", rec.Code)
	}
	if rec := w.poll(w.runnerToken("r42"), "s_1"); rec.Code != 204 {
		t.Errorf("the job is given twice: %d", rec.Code)
	}
	if _, err := w.api.AddJob(SeedJob{Project: 12}); err != nil {
		t.Fatal(err)
	}
	if rec := w.poll(w.runnerToken("r42"), "s_1"); rec.Code != 204 {
		t.Errorf("an untagged job goes to a runner that wants tags: %d", rec.Code)
	}
	if rec := w.poll(w.runnerToken("r43"), "s_8"); rec.Code != 201 {
		t.Errorf("and not to the group's runner that takes it: %d", rec.Code)
	}
}

func TestRegisterAnew(t *testing.T) {
	w := newWorld(t)
	if rec := w.agent("POST", "/runners", map[string]string{"token": "GR1348941wrong"}); rec.Code != 403 {
		t.Errorf("wrong registration token: %d", rec.Code)
	}
	id := decode[struct {
		ID    int
		Token string
	}](t, w.agent("POST", "/runners", map[string]string{"token": w.api.RegistrationToken(), "description": "b7"}))
	if id.ID != 60 || w.poll(id.Token, "s_1").Code != 204 {
		t.Errorf("registered as %d", id.ID)
	}
	if m := w.rows("60"); len(m) != 1 || m[0].SystemID != "s_1" || m[0].IP != "127.0.0.11" {
		t.Errorf("managers: %+v", m)
	}
}

func TestUnregister(t *testing.T) {
	w := newWorld(t)
	token := w.runnerToken("r42")
	w.poll(token, "s_1")
	if rec := w.agent("DELETE", "/runners/managers", map[string]string{"token": token, "system_id": "s_1"}); rec.Code != 204 {
		t.Errorf("manager: %d", rec.Code)
	}
	if n := len(w.rows("42")); n != 0 {
		t.Errorf("%d managers left", n)
	}
	w.poll(token, "s_1")
	if n := len(w.rows("42")); n != 1 {
		t.Error("the row does not come back with the next poll")
	}
	if rec := w.agent("DELETE", "/runners", map[string]string{"token": token}); rec.Code != 204 {
		t.Errorf("runner: %d", rec.Code)
	}
	if rec := w.ask("look", "GET", "/runners/42", ""); rec.Code != 404 {
		t.Errorf("still there: %d", rec.Code)
	}
}

func TestFaults(t *testing.T) {
	w := newWorld(t)
	if err := w.faults.Set(fault.Always422); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if rec := w.ask("act", "DELETE", "/runners/42", ""); rec.Code != 422 || !strings.Contains(rec.Body.String(), "message") {
			t.Errorf("%d %s", rec.Code, rec.Body)
		}
	}
	if err := w.faults.Set(fault.LosesReset); err != nil {
		t.Fatal(err)
	}
	old := w.runnerToken("r42")
	rec := w.ask("act", "POST", "/runners/42/reset_authentication_token", "")
	if rec.Code != 502 || !strings.HasPrefix(rec.Header().Get("Content-Type"), "text/html") || strings.Contains(rec.Body.String(), "glrt-") {
		t.Errorf("lost reset: %d %s", rec.Code, rec.Body)
	}
	if c := w.poll(old, "s_1").Code; c != 403 {
		t.Errorf("the lost reset did nothing: %d", c)
	}
	if rec := w.ask("act", "POST", "/runners/42/reset_authentication_token", ""); rec.Code != 201 {
		t.Errorf("the second reset is lost too: %d", rec.Code)
	}
}
