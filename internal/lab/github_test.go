package lab

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const actionsRunner = "home/runner/actions-runner/"

// serveGitHub serves the scenario of a GitHub.
func serveGitHub(t *testing.T, o Options) *served {
	t.Helper()
	o.Scenario = "github-owned"
	return serve(t, o)
}

// gh asks the lab's GitHub with a token of its files.
func (s *served) gh(who, method, path string, body, out any) int {
	s.t.Helper()
	return s.ask(who, method, s.GitHub.URL+"/api/v3"+path, body, out)
}

// free ends the nightly job, so that the runner can be deleted.
func (s *served) free() {
	s.t.Helper()
	s.gh("act", "POST", "/repos/acme/shop/actions/runs/5007/cancel", nil, nil)
	s.until("the runner to be idle", func() bool {
		var r struct{ Busy bool }
		s.gh("look", "GET", "/orgs/acme/actions/runners/23", nil, &r)
		return !r.Busy
	})
}

func (s *served) stopListener(host string) {
	s.t.Helper()
	if out, exit := s.run(host, stopper, "U=actions.runner.acme."+host+".service"); exit != 0 || !strings.Contains(out, " end =stop ") {
		s.t.Fatalf("stop: exit %d, %s", exit, out)
	}
}

// diag is what the newest logs of a listener say.
func (s *served) diag(host, root string) string {
	s.t.Helper()
	list, err := filepath.Glob(s.tree(host, root+"_diag/Runner_*"))
	if err != nil || len(list) == 0 {
		return ""
	}
	var all strings.Builder
	for _, p := range slices.Sorted(slices.Values(list)) {
		b, err := os.ReadFile(p)
		if err != nil {
			s.t.Fatal(err)
		}
		all.Write(b)
	}
	return all.String()
}

func (s *served) isThere(host, path string) bool {
	_, err := os.Lstat(s.tree(host, path))
	return err == nil
}

// The generated configuration names the GitHub and its tokens; the waiting job runs on
// the host and shows there, and one that GitHub does not know any more shows in its logs.
func TestGitHubIsServed(t *testing.T) {
	t.Parallel()
	s := serveGitHub(t, Options{})
	if s.Runner != "github-lab/organization:acme/runner/23" || s.Target.Host != "gha-01" || s.GitLab.URL != "" {
		t.Errorf("ready: %+v", s.Ready)
	}
	b, err := os.ReadFile(s.Config)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"type: github\n", "url: " + s.GitHub.URL + "\n", "scopes: [organization:acme, repositories:acme]\n", "look: {file: ", "unit: actions.runner.acme.gha-02.service\n"} {
		if !strings.Contains(string(b), want) {
			t.Errorf("the configuration has no %q:\n%s", want, b)
		}
	}
	s.until("the job", func() bool { return s.state().Hosts["gha-01"].Agents["1213"].Jobs == 1 })
	var jobs struct {
		Jobs []struct {
			Status string
			Runner int `json:"runner_id"`
		}
	}
	s.gh("look", "GET", "/repos/acme/shop/actions/runs/5007/jobs", nil, &jobs)
	if len(jobs.Jobs) != 1 || jobs.Jobs[0].Status != "in_progress" || jobs.Jobs[0].Runner != 23 {
		t.Errorf("%+v", jobs)
	}
	worker := childrenOf(s, "gha-01", "1213")
	if len(worker) != 1 {
		t.Fatalf("children of the listener: %v", worker)
	}
	step := childrenOf(s, "gha-01", worker[0])
	env := s.read("gha-01", "proc/"+step[0]+"/environ")
	for _, want := range []string{"GITHUB_TOKEN=ghs_", "NPM_TOKEN=npm_", "RUNNER_TRACKING_ID=github_", "GITHUB_REPOSITORY=acme/shop"} {
		if !strings.Contains(env, want) {
			t.Errorf("the step has no %s", want)
		}
	}
	if text := s.read("gha-01", actionsRunner+"_work/_PipelineMapping/acme/infra/PipelineFolder.json"); !strings.Contains(text, `"repositoryName": "acme/infra"`) {
		t.Errorf("mapping: %s", text)
	}
	if !strings.Contains(s.diag("gha-01", actionsRunner), "Running job: collect-env") {
		t.Error("no trace of the hidden job")
	}
	var runner struct{ AgentID int }
	if text := s.read("gha-01", actionsRunner+".runner"); json.Unmarshal([]byte(strings.TrimPrefix(text, "\ufeff")), &runner) != nil || runner.AgentID != 23 || !strings.HasPrefix(text, "\ufeff") {
		t.Errorf(".runner: %s", text)
	}
}

// Stopped, a listener looks stopped everywhere: no process, no connection, no link that
// starts it, offline at once; its job is cancelled.
func TestStoppedListener(t *testing.T) {
	t.Parallel()
	s := serveGitHub(t, Options{})
	s.until("the job", func() bool { return s.state().Hosts["gha-01"].Agents["1213"].Jobs == 1 })
	s.stopListener("gha-01")
	for _, pid := range []string{"1204", "1207", "1213"} {
		if s.isThere("gha-01", "proc/"+pid) {
			t.Errorf("process %s is left", pid)
		}
	}
	if s.isThere("gha-01", "etc/systemd/system/multi-user.target.wants/actions.runner.acme.gha-01.service") {
		t.Error("it starts at boot")
	}
	if strings.Contains(s.read("gha-01", "proc/net/tcp"), "0100007F:"+hexPort(t, s.GitHub.URL)) {
		t.Error("its connection is left")
	}
	var r struct {
		Status string
		Busy   bool
	}
	if s.gh("look", "GET", "/orgs/acme/actions/runners/23", nil, &r); r.Status != "offline" || r.Busy {
		t.Errorf("%+v", r)
	}
	if s.has("host.respawn") || !s.has("host.stop") {
		t.Errorf("%v", s.effects())
	}
}

// loose is the process id of the listener that survived the stop.
func (s *served) loose() string {
	s.t.Helper()
	pids := slices.Collect(maps.Keys(s.state().Hosts["gha-01"].Agents))
	if len(pids) != 1 || pids[0] == "1213" {
		s.t.Fatalf("agents after the stop: %v", pids)
	}
	return pids[0]
}

// An old listener that survives the stop knocks for ever at a registration that is gone.
func TestOldListener(t *testing.T) {
	t.Parallel()
	s := serveGitHub(t, Options{Fault: "old-listener"})
	s.stopListener("gha-01")
	pid := s.loose()
	s.until("it to be online again", func() bool { return !s.state().Hosts["gha-01"].Agents[pid].Unhealthy })
	s.free()
	if c := s.gh("act", "DELETE", "/orgs/acme/actions/runners/23", nil, nil); c != 204 {
		t.Fatalf("delete: %d", c)
	}
	s.until("three refusals", func() bool {
		return strings.Count(s.read("gha-01", actionsRunner+"nohup.out"), "Retrying until reconnected.") > 2
	})
	a := s.state().Hosts["gha-01"].Agents[pid]
	if a.Last != 404 || !a.Unhealthy || !s.isThere("gha-01", actionsRunner+".credentials_rsaparams") || !s.isThere("gha-01", "proc/"+pid) {
		t.Errorf("%+v", a)
	}
	if n := strings.Count(s.read("gha-01", actionsRunner+"nohup.out"), "√ Connected to GitHub"); n < 3 {
		t.Errorf("it said %d times that it is connected", n)
	}
}

// A current one wipes what it is and ends, once it learns that its registration is gone.
func TestNewListener(t *testing.T) {
	t.Parallel()
	s := serveGitHub(t, Options{Fault: "new-listener"})
	s.stopListener("gha-01")
	pid := s.loose()
	s.until("it to be online again", func() bool { return !s.state().Hosts["gha-01"].Agents[pid].Unhealthy })
	s.free()
	if c := s.gh("act", "DELETE", "/orgs/acme/actions/runners/23", nil, nil); c != 204 {
		t.Fatalf("delete: %d", c)
	}
	s.until("it to end", func() bool { _, ok := s.state().Hosts["gha-01"].Exits[pid]; return ok })
	for _, name := range []string{actionsRunner + ".runner", actionsRunner + ".credentials", actionsRunner + ".credentials_rsaparams", "proc/" + pid} {
		if s.isThere("gha-01", name) {
			t.Errorf("%s is left", name)
		}
	}
	if code := s.state().Hosts["gha-01"].Exits[pid]; code != 0 || !strings.Contains(s.diag("gha-01", actionsRunner), "Cleaning up local configuration.") {
		t.Errorf("exit %d", code)
	}
}

// Once its registration is gone, the machine comes back under its own name and another
// number, from a directory that nobody knows.
func TestReregisters(t *testing.T) {
	t.Parallel()
	s := serveGitHub(t, Options{Fault: "resurrects"})
	s.stopListener("gha-01")
	s.free()
	if c := s.gh("act", "DELETE", "/orgs/acme/actions/runners/23", nil, nil); c != 204 {
		t.Fatalf("delete: %d", c)
	}
	var list struct {
		Runners []struct {
			ID     int
			Status string
		}
	}
	s.until("a new registration that polls", func() bool {
		s.gh("look", "GET", "/orgs/acme/actions/runners?name=gha-01", nil, &list)
		return len(list.Runners) == 1 && list.Runners[0].Status == "online"
	})
	if list.Runners[0].ID != 90 || !s.isThere("gha-01", "home/runner/.cache/.gr/.credentials_rsaparams") || !s.has("runner.register organization:acme/runner/90") {
		t.Errorf("%+v, %v", list, s.effects())
	}
}

// The rogue polls an account that no token of ours sees, and no stop of the unit ends
// it. The listener that survives a stop is not the rogue: there is none without it.
func TestRogue(t *testing.T) {
	t.Parallel()
	s := serveGitHub(t, Options{Fault: "rogue"})
	s.until("the rogue to poll", func() bool { a := s.state().Hosts["gha-01"].Agents["17801"]; return a.Polls > 2 && a.Last/100 == 2 })
	s.stopListener("gha-01")
	if pids := slices.Collect(maps.Keys(s.state().Hosts["gha-01"].Agents)); !slices.Equal(pids, []string{"17801"}) {
		t.Errorf("agents after the stop: %v", pids)
	}
	if text := s.read("gha-01", "home/runner/.dev-env/.runner"); !strings.Contains(text, `"gitHubUrl": "`+s.GitHub.URL+`/mallory-dev/hidden"`) {
		t.Errorf(".runner: %s", text)
	}
	if env := s.read("gha-01", "proc/17801/environ"); !strings.Contains(env, "RUNNER_ALLOW_RUNASROOT=1") {
		t.Errorf("environment: %q", env)
	}
	for _, path := range []string{"/repos/mallory-dev/hidden", "/repos/mallory-dev/hidden/actions/runners/77", "/orgs/acme/actions/runners/77"} {
		for _, who := range []string{"look", "act"} {
			if c := s.gh(who, "GET", path, nil, nil); c != 404 {
				t.Errorf("%s sees %s: %d", who, path, c)
			}
		}
	}
	if c := s.ask("", "POST", s.Control+"/kill", map[string]any{"host": "gha-01", "pid": 17801}, nil); c != 200 || s.isThere("gha-01", "proc/17801") || !s.has("host.kill") {
		t.Errorf("ended by hand: %d, %v", c, s.effects())
	}
	if s := serveGitHub(t, Options{}); s.isThere("gha-01", "home/runner/.dev-env") {
		t.Error("the rogue is there without the fault")
	}
}

// Faults of another scenario are refused.
func TestFaultsOfAScenario(t *testing.T) {
	t.Parallel()
	s := serveGitHub(t, Options{})
	if c := s.ask("", "POST", s.Control+"/fault", map[string]string{"fault": "loses-reset"}, nil); c != 400 {
		t.Errorf("a fault of the GitLab: %d", c)
	}
	if c := s.fault("busy-422"); c != 200 {
		t.Errorf("one of the GitHub: %d", c)
	}
	if c := s.gh("act", "DELETE", "/orgs/acme/actions/runners/23", nil, nil); c != 422 {
		t.Errorf("delete: %d", c)
	}
	if c := s.ask("", "POST", s.Control+"/trouble", map[string]any{"who": "look", "kind": "secondary", "status": 429, "times": 1}, nil); c != 200 {
		t.Errorf("trouble: %d", c)
	}
	if c := s.gh("look", "GET", "/orgs/acme/actions/runners", nil, nil); c != 429 {
		t.Errorf("the limited request: %d", c)
	}
}
