package fleet_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"cordon/internal/check"
	"cordon/internal/fleet"
	"cordon/internal/host/snapshot"
	"cordon/internal/target"
	"cordon/internal/untrusted"
	"cordon/internal/witness"
	"cordon/providers"
)

// onDisk is a whole snapshot of a host with these files in the section of runners.
func onDisk(name string, files map[string]string, procs ...snapshot.Process) *snapshot.Snapshot {
	s := &snapshot.Snapshot{Schema: snapshot.Schema, Host: name, Profile: snapshot.ProfileTriage, Taken: now.Add(-time.Minute), Complete: true, Processes: procs}
	for _, n := range snapshot.SectionsOf(s.Profile) {
		s.Sections = append(s.Sections, snapshot.Section{Name: n, End: snapshot.EndOK})
	}
	for p, content := range files {
		s.Files = append(s.Files, snapshot.File{Path: untrusted.Text(p), Section: snapshot.SectionRunners, Type: "file", Size: int64(len(content)), Content: untrusted.Text(content)})
	}
	return s
}

func gha(id, name, url string) string {
	return fmt.Sprintf(`{"agentId":%s,"agentName":%q,"gitHubUrl":%q,"serverUrl":"https://pipelinesghubeus1.actions.githubusercontent.com/x"}`, id, name, url)
}

func ghScope(word string) target.Scope {
	level, path, _ := strings.Cut(word, ":")
	return target.Scope{Level: level, Path: path}
}

func ghRunner(scope, id, name string) providers.Runner {
	return providers.Runner{Ref: target.Ref{System: "gh", Scope: ghScope(scope), Kind: target.Runner, ID: id}, Name: untrusted.Text(name)}
}

// github is what one listing of the organization acme read.
func github(rs ...providers.Runner) fleet.Input {
	in := fleet.Input{At: now, Runners: rs, Services: map[string]string{"gh": "https://github.com"}, Managers: map[target.Ref][]providers.Manager{}}
	in.Listed = map[string]map[target.Scope]bool{"gh": {ghScope("organization:acme"): true, ghScope("repository:acme/web"): true, ghScope("repository:acme/app"): false}}
	return in
}

func TestWhoseARegistrationIs(t *testing.T) {
	for name, c := range map[string]struct {
		url, id, state, why string
	}{
		"ours and listed":                {"https://github.com/acme", "21", fleet.Agreed, ""},
		"the case of an account":         {"https://github.com/ACME/", "21", fleet.Agreed, ""},
		"not in our account's list":      {"https://github.com/acme", "99", fleet.Rogue, "lists no runner 99 in organization acme"},
		"the number of another account":  {"https://github.com/acme/web", "21", fleet.Rogue, "lists no runner 21 in repository acme/web"},
		"a list that was not whole":      {"https://github.com/acme/app", "99", fleet.CannotTell, "could not be listed to the end"},
		"ours, and never listed":         {"https://github.com/acme/secret", "99", fleet.CannotTell, "add it under scopes"},
		"an account of somebody else":    {"https://github.com/mallory/x", "7", fleet.NotOurs, "no configured account: its registration is not ours to end"},
		"an organization of nobody here": {"https://github.com/mallory", "21", fleet.NotOurs, "no configured account"},
		"an enterprise":                  {"https://github.com/enterprises/acme", "21", fleet.NotOurs, "enterprise acme"},
		"another service":                {"https://ghe.evil.example/acme", "21", fleet.NotOurs, "no configured provider is"},
		"the address of the API":         {"https://api.github.com/acme", "21", fleet.Agreed, ""},
	} {
		in := github(ghRunner("organization:acme", "21", "gha-01"))
		in.Snapshots = []*snapshot.Snapshot{onDisk("gha-01", map[string]string{"/home/ci/r/.runner": gha(c.id, "gha-01", c.url)})}
		f := fleet.Build(in)
		i := slices.IndexFunc(f.Rows, func(r fleet.Row) bool { return len(r.Installations) > 0 })
		if i < 0 || f.Rows[i].State != c.state || !strings.Contains(f.Rows[i].Why, c.why) || (c.state == fleet.Agreed) != !f.Rows[i].Runner.Ref.IsZero() {
			t.Errorf("%s: %+v", name, f.Rows)
		}
	}
}

// Before anything was listed nobody can be called a stranger.
func TestNothingListedSaysNothing(t *testing.T) {
	in := github()
	in.Listed = nil
	in.Snapshots = []*snapshot.Snapshot{onDisk("gha-01", map[string]string{"/home/ci/.dev-env/.runner": gha("7", "SHA1HULUD", "https://github.com/mallory/x")})}
	if r := fleet.Build(in).Rows[0]; r.State != fleet.CannotTell || !strings.Contains(r.Why, "were not listed") {
		t.Errorf("%q: %s", r.State, r.Why)
	}
}

// A configuration that names its accounts names all of them: nothing need be listed to
// know that another one is somebody else's.
func TestTheConfigurationNamesWhoWeAre(t *testing.T) {
	for name, c := range map[string]struct{ scopes, url, state string }{
		"named":                      {"organization:acme", "https://github.com/acme", fleet.CannotTell},
		"a repository of its":        {"repositories:acme", "https://github.com/acme/x", fleet.CannotTell},
		"another":                    {"organization:acme", "https://github.com/mallory/x", fleet.NotOurs},
		"whatever the token can see": {"mine:", "https://github.com/mallory/x", fleet.CannotTell},
	} {
		in := github()
		in.Listed, in.Configured = nil, map[string][]target.Scope{"gh": {ghScope(c.scopes)}}
		in.Snapshots = []*snapshot.Snapshot{onDisk("gha-01", map[string]string{"/home/ci/.dev-env/.runner": gha("7", "x", c.url)})}
		if r := fleet.Build(in).Rows[0]; r.State != c.state {
			t.Errorf("%s: %q, %s", name, r.State, r.Why)
		}
	}
}

func TestAJustInTimeRunnerIsKnownByNumberAndName(t *testing.T) {
	jit := `{"agentId":21,"agentName":"gha-01","serverUrl":"https://pipelinesghubeus1.actions.githubusercontent.com/x","ephemeral":true}`
	in := github(ghRunner("organization:acme", "21", "gha-01"), ghRunner("repository:acme/web", "21", "other"))
	in.Snapshots = []*snapshot.Snapshot{onDisk("gha-01", map[string]string{"/home/ci/r/.runner": jit})}
	f := fleet.Build(in)
	if r := f.Rows[0]; len(r.Installations) != 1 || !strings.Contains(r.Known, "keeps no account") || len(f.Rows) != 2 {
		t.Errorf("%+v", f.Rows)
	}
}

func TestKindsWithoutAProviderAreNoRogues(t *testing.T) {
	in := github()
	in.Snapshots = []*snapshot.Snapshot{onDisk("box", map[string]string{
		"/etc/buildkite-agent/buildkite-agent.cfg": "name=\"x\"\n",
		"/srv/az/.agent":            `{"agentId":"1","agentName":"a","serverUrl":"https://dev.azure.com/acme"}`,
		"/srv/jenkins/remoting.jar": "PK",
	})}
	f := fleet.Build(in)
	if len(f.Rows) != 3 {
		t.Fatalf("%+v", f.Rows)
	}
	for _, r := range f.Rows {
		if r.State != fleet.NoProvider || !strings.Contains(r.Why, "has no provider") {
			t.Errorf("%s: %q, %s", r.Installations[0].Kind, r.State, r.Why)
		}
	}
}

func TestGiteaByAddressAndNumber(t *testing.T) {
	r := providers.Runner{Ref: target.Ref{System: "forge", Scope: target.Scope{Level: "organization", Path: "acme"}, Kind: target.Runner, ID: "3"}, Name: "gt-1"}
	in := fleet.Input{At: now, Runners: []providers.Runner{r}, Services: map[string]string{"forge": "https://gitea.example.org"}}
	in.Snapshots = []*snapshot.Snapshot{
		onDisk("a", map[string]string{"/var/lib/gt/.runner": `{"id":3,"uuid":"u-1","name":"gt-1","address":"https://gitea.example.org/"}`}),
		onDisk("b", map[string]string{"/var/lib/gt/.runner": `{"id":4,"uuid":"u-2","name":"gt-2","address":"https://gitea.example.org/"}`}),
	}
	f := fleet.Build(in)
	if len(f.Rows) != 2 || f.Rows[0].State != fleet.Agreed || f.Rows[0].Hosts[0] != "a" || f.Rows[1].State != fleet.Rogue {
		t.Errorf("%+v", f.Rows)
	}
}

// One registration in two directories or on two machines, and one whose agent is told
// that a session is there already, are the same thing: somebody has the key.
func TestACopiedRegistrationIsAClone(t *testing.T) {
	in := github(ghRunner("organization:acme", "21", "gha-01"))
	one := map[string]string{"/home/ci/r/.runner": gha("21", "gha-01", "https://github.com/acme")}
	in.Snapshots = []*snapshot.Snapshot{onDisk("gha-01", one), onDisk("gha-02", one)}
	if r := fleet.Build(in).Rows[0]; r.State != fleet.Clone || !strings.Contains(r.Why, "is in 2 places") {
		t.Errorf("copied: %q, %s", r.State, r.Why)
	}
	// The same number in two accounts is two runners.
	in.Runners = append(in.Runners, ghRunner("repository:acme/web", "21", "web"))
	in.Snapshots[1] = onDisk("gha-02", map[string]string{"/home/ci/r/.runner": gha("21", "web", "https://github.com/acme/web")})
	for _, r := range fleet.Build(in).Rows {
		if r.State != fleet.Agreed {
			t.Errorf("two accounts: %q, %s", r.State, r.Why)
		}
	}
	s := onDisk("gha-01", one)
	said := func(minute int, text string) {
		s.Log = append(s.Log, snapshot.LogLine{At: now.Add(time.Duration(minute) * time.Minute), From: "/home/ci/r/_diag/Runner_20260304-000000-utc.log", Text: untrusted.Text(text)})
	}
	said(1, "Terminal: A session for this runner already exists.")
	in = github(ghRunner("organization:acme", "21", "gha-01"))
	in.Snapshots = []*snapshot.Snapshot{s}
	if r := fleet.Build(in).Rows[0]; r.State != fleet.Clone || !strings.Contains(r.Why, "another session") {
		t.Errorf("contested: %q, %s", r.State, r.Why)
	}
	said(2, "Terminal: Listening for Jobs") // a restart after a crash says it too, and then works
	if r := fleet.Build(in).Rows[0]; r.State != fleet.Agreed {
		t.Errorf("contested, then at work: %q, %s", r.State, r.Why)
	}
}

func TestGitHubsWordAndTheHosts(t *testing.T) {
	r := ghRunner("organization:acme", "21", "renamed")
	r.Online = witness.Yes
	in := github(r)
	in.Snapshots = []*snapshot.Snapshot{onDisk("gha-01", map[string]string{"/home/ci/r/.runner": gha("21", "gha-01", "https://github.com/acme")})}
	row := fleet.Build(in).Rows[0]
	if row.State != fleet.Disagreement || len(row.Differ) != 2 {
		t.Errorf("%q: %v", row.State, row.Differ)
	}
}

func TestWhatARemovedRunnerLeavesIsNoRogue(t *testing.T) {
	in := github()
	in.Snapshots = []*snapshot.Snapshot{onDisk("gha-01", map[string]string{"/home/ci/r/run.sh": "#!/bin/bash\n", "/home/ci/r/svc.sh": "#!/bin/bash\n"})}
	rows := fleet.Build(in).Rows
	if len(rows) != 1 || rows[0].State != fleet.Leftover || rows[0].Installations[0].Kind != check.GitHub {
		t.Errorf("%+v", rows)
	}
}
