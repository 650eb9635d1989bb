package github

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v4"
)

// agent is a listener by hand.
type agent struct {
	w      *world
	id     Identity
	access string
	ses    string
}

func (w *world) agent(id int) *agent {
	w.t.Helper()
	who, err := w.api.Identity(id, "http://lab")
	if err != nil {
		w.t.Fatal(err)
	}
	a := &agent{w: w, id: who}
	if c := a.exchange(who.Key); c != 200 {
		w.t.Fatalf("token service: %d", c)
	}
	return a
}

func (a *agent) exchange(key string) int {
	a.w.t.Helper()
	s, err := jwt.NewWithClaims(jwt.SigningMethodHS256, jwt.RegisteredClaims{Issuer: a.id.ClientID}).SignedString([]byte(key))
	if err != nil {
		a.w.t.Fatal(err)
	}
	c, b := a.w.form("/_services/vstoken/oauth2/token", url.Values{"client_assertion": {s}})
	var out struct {
		Access string `json:"access_token"`
	}
	decode(a.w.t, b, &out)
	a.access = out.Access
	return c
}

func (a *agent) open(owner string) int {
	a.w.t.Helper()
	c, b := a.w.do(a.access, "POST", "/_services/broker/session", map[string]any{"ownerName": owner, "agent": map[string]any{"version": "2.336.0"}})
	var out struct {
		ID string `json:"sessionId"`
	}
	decode(a.w.t, b, &out)
	if c == 200 {
		a.ses = out.ID
	}
	return c
}

// poll asks once; the broker has nothing for as long as it keeps us, so the clock is
// moved on first where nothing is expected.
func (a *agent) poll(status string) (int, map[string]any) {
	a.w.t.Helper()
	c, b := a.w.do(a.access, "GET", "/_services/broker/message?sessionId="+a.ses+"&status="+status+"&runnerVersion=2.336.0", nil)
	out := map[string]any{}
	if len(b) > 0 {
		decode(a.w.t, b, &out)
	}
	return c, out
}

// A listener is its key: another one is refused, and so is everybody once the
// registration is gone, with the words that listeners know.
func TestTheKeyIsTheRunner(t *testing.T) {
	w := newWorld(t)
	a := w.agent(24)
	if c := a.exchange("another"); c != 400 {
		t.Errorf("another key: %d", c)
	}
	a = w.agent(24)
	if c := a.open("b2"); c != 200 {
		t.Fatalf("session: %d", c)
	}
	var r struct{ Status, Version string }
	if w.ask("look", "GET", "/orgs/acme/actions/runners/24", nil, &r); r.Status != "online" || r.Version != "2.336.0" {
		t.Errorf("%+v", r)
	}
	if c := w.ask("act", "DELETE", "/orgs/acme/actions/runners/24", nil, nil); c != 204 {
		t.Fatalf("delete: %d", c)
	}
	if c, m := a.poll("Online"); c != 404 || m["errorKind"] != "RunnerNotFound" || m["source"] != "actions-broker-listener" {
		t.Errorf("poll: %d %v", c, m)
	}
	if c := a.open("b2"); c != 404 {
		t.Errorf("session: %d", c)
	}
	c, b := w.form("/_services/vstoken/oauth2/token", url.Values{"client_assertion": {"x"}})
	if c != 400 || !strings.Contains(string(b), "invalid_client") {
		t.Errorf("token service: %d %s", c, b)
	}
}

// One place for each runner: a copy of the key is told so for as long as the first is
// heard of, and takes over once it is not.
func TestSessionConflict(t *testing.T) {
	w := newWorld(t)
	first, second := w.agent(24), w.agent(24)
	if c := first.open("b2 (PID: 1)"); c != 200 {
		t.Fatalf("first: %d", c)
	}
	if c := second.open("elsewhere (PID: 9)"); c != 409 {
		t.Errorf("second: %d", c)
	}
	w.clock.pass(sessionLife)
	var r struct{ Status string }
	if w.ask("look", "GET", "/orgs/acme/actions/runners/24", nil, &r); r.Status != "offline" {
		t.Errorf("not heard of: %s", r.Status)
	}
	if c := second.open("elsewhere (PID: 9)"); c != 200 {
		t.Errorf("second, later: %d", c)
	}
	if c, m := first.poll("Online"); c != 401 || m["errorKind"] != "RunnerSessionInvalid" {
		t.Errorf("first, later: %d %v", c, m)
	}
	if c, _ := w.do(second.access, "DELETE", "/_services/broker/session", nil); c != 204 {
		t.Errorf("good-bye: %d", c)
	}
	var log []struct{ Action string }
	w.ask("look", "GET", "/orgs/acme/audit-log?phrase=action:org.self_hosted_runner_offline", nil, &log)
	if len(log) != 1 {
		t.Errorf("%d times offline in the audit log", len(log))
	}
}

// job polls until a job comes and returns its number, or "" where the broker has none.
func (a *agent) job() string {
	a.w.t.Helper()
	a.w.api.mu.Lock()
	for _, r := range a.w.api.runners {
		if r.ID == a.id.ID && a.w.api.pick(r) == nil {
			a.w.api.mu.Unlock()
			return "" // asking would wait
		}
	}
	a.w.api.mu.Unlock()
	c, m := a.poll("Online")
	if c != 200 || m["messageType"] != "RunnerJobRequest" {
		a.w.t.Fatalf("poll: %d %v", c, m)
	}
	var body struct{ ID string }
	decode(a.w.t, []byte(m["body"].(string)), &body)
	return body.ID
}

// Jobs go by labels and by the group's repositories. Taking the custom labels off stops
// those that ask for one, and no others; a group without repositories stops all.
func TestJobsAreRouted(t *testing.T) {
	w := newWorld(t)
	queue := func(repo string, labels ...string) {
		if _, err := w.api.AddJob(repo, "j", labels, time.Minute); err != nil {
			t.Fatal(err)
		}
	}
	end := func(a *agent, id string) {
		a.w.api.mu.Lock()
		defer a.w.api.mu.Unlock()
		for _, r := range a.w.api.runs {
			for _, j := range r.jobs {
				if itoa(j.ID) == id {
					a.w.api.finish(j, "success")
				}
			}
		}
	}
	a := w.agent(23)
	a.open("b1")
	if id := a.job(); id != "5031" {
		t.Errorf("its job: %q", id)
	}
	end(a, "5031")
	queue("acme/open", "self-hosted") // not in its group
	queue("acme/web", "release")
	if c := w.ask("act", "PUT", "/orgs/acme/actions/runners/23/labels", map[string]any{"labels": []string{}}, nil); c != 200 {
		t.Fatalf("labels: %d", c)
	}
	if id := a.job(); id != "" {
		t.Errorf("without its custom label it got %s", id)
	}
	queue("acme/web", "self-hosted", "linux")
	id := a.job()
	if id == "" {
		t.Error("read-only labels do not match any more")
	}
	end(a, id)
	if c := w.ask("act", "PUT", "/orgs/acme/actions/runner-groups/2/repositories", map[string]any{"selected_repository_ids": []int{}}, nil); c != 204 {
		t.Fatalf("group: %d", c)
	}
	queue("acme/web", "self-hosted")
	if id := a.job(); id != "" {
		t.Errorf("a group without repositories got %s", id)
	}
}

// A running job has a token of its own: it outlives the registration, and a
// cancellation reaches it as a message. Secrets never go to a fork's job.
func TestJobs(t *testing.T) {
	w := newWorld(t)
	a := w.agent(23)
	a.open("b1")
	id := a.job()
	c, b := w.do(a.access, "POST", "/_services/run/"+id+"/acquirejob", nil)
	var j struct {
		Token   string
		Secrets map[string]string
	}
	decode(t, b, &j)
	if c != 200 || len(j.Secrets) != 3 || j.Token == "" {
		t.Fatalf("acquire: %d, %d secrets", c, len(j.Secrets))
	}
	if c := w.ask("act", "DELETE", "/orgs/acme/actions/runners/23", nil, nil); c != 422 {
		t.Errorf("delete while busy: %d", c)
	}
	if c := w.ask("act", "POST", "/repos/acme/web/actions/runs/503/cancel", nil, nil); c != 202 {
		t.Errorf("cancel: %d", c)
	}
	if c, m := a.poll("Busy"); c != 200 || m["messageType"] != "JobCancellation" {
		t.Errorf("poll: %d %v", c, m)
	}
	if c, _ := w.do(j.Token, "POST", "/_services/run/"+id+"/renewjob", nil); c != 200 {
		t.Errorf("it goes on, as a hostile one would: %d", c)
	}
	if c := w.ask("act", "POST", "/repos/acme/web/actions/runs/503/force-cancel", nil, nil); c != 202 {
		t.Errorf("by force: %d", c)
	}
	if c, _ := w.do(j.Token, "POST", "/_services/run/"+id+"/renewjob", nil); c != 404 {
		t.Errorf("after that: %d", c)
	}
	if c := w.ask("act", "DELETE", "/orgs/acme/actions/runners/23", nil, nil); c != 204 {
		t.Errorf("delete: %d", c)
	}
	w.api.mu.Lock()
	defer w.api.mu.Unlock()
	fork := &job{run: &run{SeedRun: SeedRun{Repo: "acme/web", Fork: "drive-by/web"}}}
	if s, err := w.api.secretsOf(fork); len(s) != 0 || err != nil {
		t.Errorf("a fork's job gets %v, %v", s, err)
	}
}

// Whoever has a registration token is a new runner; after an hour it is worthless.
func TestRegistration(t *testing.T) {
	w := newWorld(t)
	var m struct{ Token string }
	if c := w.ask("act", "POST", "/orgs/acme/actions/runners/registration-token", nil, &m); c != 201 || !w.did("registration.mint by act") {
		t.Fatalf("mint: %d", c)
	}
	var id Identity
	c, b := w.remote(m.Token, map[string]any{"name": "again", "labels": []string{"x"}})
	decode(t, b, &id)
	if c != 201 || id.ID != 90 || !w.did("runner.register by registration-token: organization:acme/runner/90") {
		t.Fatalf("register: %d %+v %v", c, id, w.effects())
	}
	if a := w.agent(90); a.open("again") != 200 {
		t.Error("the new runner gets no session")
	}
	w.clock.pass(registrationLife + time.Second)
	if c, _ := w.remote(m.Token, map[string]any{"name": "late"}); c != 404 {
		t.Errorf("an hour later: %d", c)
	}
}
