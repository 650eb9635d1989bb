package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"cordon/internal/lab"
	"cordon/internal/lab/fault"
	"cordon/internal/lab/ledger"
)

const githubScenario = "github-owned"

// TestEachGitHubFaultEndsInItsWord plays the demo of a GitHub under every fault of its
// scenario: an old listener knocks for ever, a new one wipes itself, a rogue is named, a
// runner that GitHub holds is not removed. The lab's ledger judges, not cordon's journal.
func TestEachGitHubFaultEndsInItsWord(t *testing.T) {
	t.Parallel()
	endings, err := lab.Endings(githubScenario)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range slices.Sorted(maps.Keys(endings)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if testing.Short() && name != fault.OldListener && name != fault.NewListener {
				t.Skip("short: the two generations of a listener")
			}
			want := endings[name]
			dir, s := demo(t, "--scenario", githubScenario, "--fault", name)
			if got := ending(s.out); s.code != want.Exit || got != fmt.Sprintf("%s (exit %d)", want.Word, want.Exit) || s.err != "" {
				t.Errorf("ends %q with code %d, the scenario says %s (exit %d)\n%s%s", got, s.code, want.Word, want.Exit, tail(s.out), s.err)
			}
			if want.Note != "" && !noted(s.out, want.Note) {
				t.Errorf("no note says %q\n%s", want.Note, tail(s.out))
			}
			if !noted(s.out, "cordon contain github-lab/organization:acme/runner/23 --playbook credentials") {
				t.Errorf("what ends the rest of what it could reach is not named\n%s", tail(s.out))
			}
			everyLineSimulated(t, s.out)
			all := every(t, filepath.Join(dir, "lab", "ledger.jsonl"))
			judgeGitHub(t, name, all, func(path string) string {
				b, err := os.ReadFile(filepath.Join(dir, "lab", "hosts", "gha-01", path))
				if err != nil {
					return ""
				}
				return string(b)
			})
		})
	}
}

// every effect of a lab, whoever made it.
func every(t testing.TB, file string) []ledger.Entry {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var all []ledger.Entry
	for line := range strings.Lines(string(b)) {
		var e ledger.Entry
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		all = append(all, e)
	}
	return all
}

func count(all []ledger.Entry, effect, actor string) int {
	n := 0
	for _, e := range all {
		if e.Effect == effect && (actor == "" || e.Actor == actor) {
			n++
		}
	}
	return n
}

// judgeGitHub holds what happened in the lab against the fault. read gives a file of the
// compromised host, "" for none.
func judgeGitHub(t *testing.T, name string, all []ledger.Entry, read func(string) string) {
	t.Helper()
	const root = "home/runner/actions-runner/"
	removed := map[bool]int{true: 0, false: 1}[name == fault.Busy422]
	stopped := map[bool]int{true: 0, false: 1}[name == fault.HostGone]
	for effect, want := range map[string]int{"group.create": 1, "runner.move": 1, "run.cancel": 1, "runner.delete": removed} {
		if got := count(all, effect, "act"); got != want {
			t.Errorf("%s happened %d times, want %d", effect, got, want)
		}
	}
	if got := count(all, "host.stop", "ssh"); got != stopped {
		t.Errorf("the unit was stopped %d times, want %d", got, stopped)
	}
	again := map[bool]int{true: 1, false: 0}[name == fault.Resurrects]
	if n := count(all, "runner.register", ""); n != again {
		t.Errorf("%d new registrations, want %d", n, again)
	}
	key := read(root + ".credentials_rsaparams")
	switch name {
	case fault.OldListener:
		if n := strings.Count(read(root+"nohup.out"), "Retrying until reconnected."); n < 10 || count(all, "host.exit", "") != 0 || key == "" {
			t.Errorf("an old listener that knocked %d times: %d exits, its key has %d bytes", n, count(all, "host.exit", ""), len(key))
		}
	case fault.NewListener:
		if !strings.Contains(read(root+"nohup.out"), "Cleaning up local configuration.") || count(all, "host.exit", "") != 1 || key != "" || read(root+".runner") != "" {
			t.Errorf("a new listener: %d exits, its key has %d bytes", count(all, "host.exit", ""), len(key))
		}
	case fault.Rogue:
		if count(all, "host.rogue", "lab") != 1 || read("home/runner/.dev-env/.runner") == "" || read("proc/17801/comm") == "" {
			t.Error("the rogue is not on the host, so that nothing was shown")
		}
	}
}

// untilEffect waits until the lab's ledger has an effect. The bound decides when to give
// up, not whether the test is right.
func (w *world) untilEffect(effect string) {
	w.t.Helper()
	for end := time.Now().Add(3 * time.Minute); count(every(w.t, w.ready.Ledger), effect, "") == 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			w.t.Fatalf("waited in vain for %s", effect)
		}
	}
}

// TestRogueThatSomebodyEnded contains a runner while the worm's own listener runs beside
// it, and somebody ends that by hand before the last look. It is registered to an account
// that is not ours: gone from this host, and open.
func TestRogueThatSomebodyEnded(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("short: the demo shows the rogue that nobody ended")
	}
	w := newWorld(t, "--scenario", githubScenario, "--fault", fault.Rogue)
	cmd := w.command("contain", w.ready.Runner, "--host", w.ready.Target.Host, "--yes", "--reason", "exercise")
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w.untilEffect("runner.delete")
	body := strings.NewReader(`{"host":"gha-01","pid":17801}`)
	resp, err := http.Post(w.ready.Control+"/kill", "application/json", body)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Errorf("nobody could end the rogue: %s", resp.Status)
	}
	_ = cmd.Wait() // the code is judged below
	if got := ending(out.String()); got != "contained (exit 0)" || cmd.ProcessState.ExitCode() != 0 {
		t.Errorf("ends %q with code %d\n%s%s", got, cmd.ProcessState.ExitCode(), tail(out.String()), errs.String())
	}
	if !noted(out.String(), "gone from this host registration not ours: open item") {
		t.Errorf("the rogue is no open item\n%s", tail(out.String()))
	}
	all := every(t, w.ready.Ledger)
	if count(all, "host.kill", "person") != 1 || count(all, "runner.delete", "act") != 1 {
		t.Errorf("the lab saw %d kills and %d removals", count(all, "host.kill", "person"), count(all, "runner.delete", "act"))
	}
	for _, e := range all {
		if e.Actor == "act" && strings.Contains(e.Target, "mallory-dev") {
			t.Errorf("cordon changed something of an account that is not ours: %+v", e)
		}
	}
}

// TestAppReadsTheFleet reads a GitHub as an App: one token is made with the App's key, and
// nothing is changed.
func TestAppReadsTheFleet(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "--scenario", githubScenario)
	b, err := os.ReadFile(w.ready.Config)
	if err != nil {
		t.Fatal(err)
	}
	was := "look: {file: " + filepath.Join(w.labDir(), "look.token") + "}"
	app := "look: {app: {id: 501, installation: 7001, key_file: " + filepath.Join(w.labDir(), "app.pem") + "}}"
	if !strings.Contains(string(b), was) {
		t.Fatalf("the configuration has no %q", was)
	}
	if err := os.WriteFile(w.ready.Config, []byte(strings.Replace(string(b), was, app, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	s := w.cordon("--read-only", "fleet")
	if s.code != 0 || !strings.Contains(s.out, "4 runners;") || strings.Contains(s.out, "NOT LISTED") {
		t.Errorf("code %d\n%s%s", s.code, s.out, s.err)
	}
	c := counters(t, w.ready.Control)
	if n := c.Requests["POST /api/v3/app/installations/{id}/access_tokens 201"]; n != 1 {
		t.Errorf("%d tokens were made", n)
	}
	if all := w.effects(); len(all) != 0 {
		t.Errorf("reading had effects: %+v", all)
	}
}

// TestAFalseAlarmAtGitHubIsTakenBack holds a runner back, stops before the removal and
// stands down: group, labels and flags are as they were, by GitHub's own answers and by
// the ledger.
func TestAFalseAlarmAtGitHubIsTakenBack(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("short: the other provider's false alarm is stood down")
	}
	w := newWorld(t, "--scenario", githubScenario)
	was := w.heldBy()
	s := w.cordon("contain", w.ready.Runner, "--host", w.ready.Target.Host, "--case", "K", "--playbook", askingPlaybook(t, w.dir), "--yes", "--reason", "exercise")
	if s.code != 6 {
		t.Fatalf("ends with %d: %s%s", s.code, tail(s.out), s.err)
	}
	if held := w.heldBy(); held == was || count(w.effects(), "runner.move", "act") != 1 {
		t.Errorf("nothing held it back: %v", w.effects())
	}
	s = w.cordon("case", "stand-down", "K", "--yes", "--reason", "our own benchmark")
	if s.code != 0 || ending(s.out) != "stood down (exit 0)" {
		t.Fatalf("ends with %d: %s%s", s.code, tail(s.out), s.err)
	}
	if !noted(s.out, "left over: the group cordon-quarantine-K of organization acme, empty: remove it on /settings/actions/runner-groups") {
		t.Errorf("the group that is left behind is not named\n%s", tail(s.out))
	}
	if now := w.heldBy(); now != was {
		t.Errorf("it is not as it was:\n%s\n%s", was, now)
	}
	all := w.effects()
	if count(all, "runner.move", "act") != 2 || count(all, "host.start", "ssh") != 1 || count(all, "group.update", "") != 0 || count(all, "runner.delete", "") != 0 {
		t.Errorf("%+v", all)
	}
}

// heldBy is what a pause could have changed of the planted runner, as GitHub says it: its
// group and labels, that group with its flags and repositories, and the policy.
func (w *world) heldBy() string {
	w.t.Helper()
	var r struct {
		Group  int `json:"runner_group_id"`
		Labels json.RawMessage
	}
	w.github("/orgs/acme/actions/runners/23", &r)
	out := fmt.Sprintf("group %d labels %s", r.Group, r.Labels)
	for _, path := range []string{"/orgs/acme/actions/runner-groups/2", "/orgs/acme/actions/runner-groups/2/repositories", "/orgs/acme/actions/permissions/self-hosted-runners"} {
		var any json.RawMessage
		w.github(path, &any)
		out += "\n" + string(any)
	}
	return out
}

// github reads from the lab's GitHub as the one who looks.
func (w *world) github(path string, out any) {
	w.t.Helper()
	token, err := os.ReadFile(filepath.Join(w.labDir(), "look.token"))
	if err != nil {
		w.t.Fatal(err)
	}
	req, err := http.NewRequest("GET", w.ready.GitHub.URL+"/api/v3"+path, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		w.t.Fatal(err)
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(resp.Body).Decode(out); err != nil || resp.StatusCode != http.StatusOK {
		w.t.Fatalf("GET %s: %s, %v", path, resp.Status, err)
	}
}
