package fleet_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"cordon/internal/evidence"
	"cordon/internal/fleet"
	"cordon/internal/host/snapshot"
	"cordon/internal/target"
	"cordon/internal/untrusted"
	"cordon/internal/witness"
	"cordon/providers"
)

var now = time.Date(2026, 3, 4, 3, 0, 0, 0, time.UTC)

func ref(id string) target.Ref {
	return target.Ref{System: "gitlab-prod", Scope: target.Scope{Level: "group", Path: "acme"}, Kind: target.Runner, ID: id}
}

func runner(id string) providers.Runner {
	return providers.Runner{Ref: ref(id), Name: untrusted.Text("runner " + id), Web: "https://gitlab.example.org/groups/acme/-/runners/" + id}
}

func manager(systemID, address string) providers.Manager {
	return providers.Manager{SystemID: untrusted.Text(systemID), Address: untrusted.Text(address)}
}

// entry is one [[runners]] of a host.
type entry struct{ id, url, token string }

func entryOf(id string) entry {
	return entry{id, "https://gitlab.example.org", "00112233445566" + strings.Repeat("0", 2-len(id)) + id}
}

// host is a snapshot with one gitlab-runner. An empty systemID leaves its file out.
func host(name, systemID string, running bool, entries ...entry) *snapshot.Snapshot {
	s := &snapshot.Snapshot{Schema: snapshot.Schema, Host: name, Profile: snapshot.ProfileTriage, Taken: now.Add(-time.Minute), Complete: true}
	for _, n := range snapshot.SectionsOf(s.Profile) {
		s.Sections = append(s.Sections, snapshot.Section{Name: n, End: snapshot.EndOK})
	}
	var b strings.Builder
	for _, e := range entries {
		b.WriteString("[[runners]]\nname = \"" + name + "\"\nurl = \"" + e.url + "\"\n")
		if e.id != "" {
			b.WriteString("id = " + e.id + "\n")
		}
		b.WriteString("token = \"[redacted hmac:" + e.token + " len:26]\"\n")
	}
	put := func(p, content string) {
		s.Files = append(s.Files, snapshot.File{Path: untrusted.Text(p), Section: snapshot.SectionRunners, Type: "file", Mode: 0o600, Size: int64(len(content)), Content: untrusted.Text(content)})
	}
	if len(entries) > 0 {
		put("/etc/gitlab-runner/config.toml", b.String())
	}
	if systemID != "" {
		put("/etc/gitlab-runner/.runner_system_id", systemID)
	}
	if running {
		s.Processes = []snapshot.Process{{PID: 7, PPID: 1, Exe: "/usr/bin/gitlab-runner", Args: []untrusted.Text{"gitlab-runner", "run"}}}
	}
	return s
}

const (
	idA = "s_aaaaaaaaaaaa"
	idB = "s_bbbbbbbbbbbb"
)

func input(rs ...providers.Runner) fleet.Input {
	return fleet.Input{
		At: now, Runners: rs, Managers: map[target.Ref][]providers.Manager{},
		Hosts: map[string][]string{"build-07": {"192.0.2.7"}, "build-08": {"192.0.2.8"}},
	}
}

func TestStates(t *testing.T) {
	for name, c := range map[string]struct {
		in     func() fleet.Input
		row    string // runner id, or the host of an unclaimed installation
		state  string
		looked string
		why    string
	}{
		"both sides agree": {func() fleet.Input {
			in := input(runner("42"))
			in.Managers[ref("42")] = []providers.Manager{manager(idA, "192.0.2.7")}
			in.Snapshots = []*snapshot.Snapshot{host("build-07", idA, true, entryOf("42"))}
			return in
		}, "42", fleet.Agreed, fleet.Looked, ""},
		"nobody looked at its host": {func() fleet.Input {
			in := input(runner("42"))
			in.Managers[ref("42")] = []providers.Manager{manager(idA, "192.0.2.7")}
			return in
		}, "42", fleet.Agreed, fleet.NotAsked, ""},
		"nothing says where it runs": {func() fleet.Input { return input(runner("42")) }, "42", fleet.Agreed, fleet.UnknownHost, ""},
		"its host was read and has it not": {func() fleet.Input {
			in := input(runner("42"))
			in.Managers[ref("42")] = []providers.Manager{manager(idA, "192.0.2.7")}
			in.Snapshots = []*snapshot.Snapshot{host("build-07", idA, false)}
			return in
		}, "42", fleet.Ghost, fleet.Looked, "build-07 was read to the end"},
		"its host could not be read whole": {func() fleet.Input {
			in := input(runner("42"))
			in.Managers[ref("42")] = []providers.Manager{manager(idA, "192.0.2.7")}
			s := host("build-07", idA, false)
			s.Complete = false
			in.Snapshots = []*snapshot.Snapshot{s}
			return in
		}, "42", fleet.Agreed, fleet.CouldNot, ""},
		"another host was read": {func() fleet.Input {
			in := input(runner("42"))
			in.Managers[ref("42")] = []providers.Manager{manager(idA, "192.0.2.7")}
			in.Snapshots = []*snapshot.Snapshot{host("build-08", idB, false)}
			return in
		}, "42", fleet.Agreed, fleet.NotAsked, ""},
		"on a host and registered nowhere": {func() fleet.Input {
			in := input(runner("42"))
			in.Snapshots = []*snapshot.Snapshot{host("build-08", idB, true, entryOf("99"))}
			return in
		}, "build-08", fleet.Rogue, fleet.Looked, "lists no runner 99"},
		"registered with a service nobody configured": {func() fleet.Input {
			in := input(runner("42"))
			in.Snapshots = []*snapshot.Snapshot{host("build-08", idB, true, entry{"42", "https://git.evil.example", "0011223344556677"})}
			return in
		}, "build-08", fleet.NotOurs, fleet.Looked, "not ours to end"},
		"registered where the list failed": {func() fleet.Input {
			in := input(runner("42"))
			in.Gaps = []evidence.Gap{{Name: "gitlab-prod/group:acme", Why: "403"}}
			in.Snapshots = []*snapshot.Snapshot{host("build-08", idB, true, entryOf("99"))}
			return in
		}, "build-08", fleet.CannotTell, fleet.Looked, "could not be listed whole"},
		"another provider's list failed": {func() fleet.Input {
			in := input(runner("42"))
			in.Services = map[string]string{"github": "https://github.com"}
			in.Gaps = []evidence.Gap{{Name: "github/org:acme", Why: "403"}}
			in.Snapshots = []*snapshot.Snapshot{host("build-08", idB, true, entryOf("99"))}
			return in
		}, "build-08", fleet.Rogue, fleet.Looked, "lists no runner 99"},
		"one system id on two hosts": {func() fleet.Input {
			in := input(runner("42"))
			in.Managers[ref("42")] = []providers.Manager{manager(idA, "192.0.2.7")}
			in.Snapshots = []*snapshot.Snapshot{host("build-07", idA, true, entryOf("42")), host("build-08", idA, true, entryOf("42"))}
			return in
		}, "42", fleet.Clone, fleet.Looked, "system id " + idA + " is in 2 places: build-07, build-08"},
		"one token on a host whose manager the provider does not know": {func() fleet.Input {
			in := input(runner("42"))
			in.Managers[ref("42")] = []providers.Manager{manager(idA, "192.0.2.7")}
			in.Snapshots = []*snapshot.Snapshot{host("build-07", idA, true, entryOf("42")), host("build-08", idB, true, entryOf("42"))}
			return in
		}, "42", fleet.Clone, fleet.Looked, "token hmac:"},
		"one token with a manager for each host": {func() fleet.Input {
			in := input(runner("42"))
			in.Managers[ref("42")] = []providers.Manager{manager(idA, "192.0.2.7"), manager(idB, "192.0.2.8")}
			in.Snapshots = []*snapshot.Snapshot{host("build-07", idA, true, entryOf("42")), host("build-08", idB, true, entryOf("42"))}
			return in
		}, "42", fleet.Agreed, fleet.Looked, ""},
		"the host has another system id than the provider knows": {func() fleet.Input {
			in := input(runner("42"))
			in.Managers[ref("42")] = []providers.Manager{manager(idB, "192.0.2.7")}
			in.Snapshots = []*snapshot.Snapshot{host("build-07", idA, true, entryOf("42"))}
			return in
		}, "42", fleet.Disagreement, fleet.Looked, "build-07 has system id " + idA + ", the provider knows " + idB},
		"its manager comes from another address": {func() fleet.Input {
			in := input(runner("42"))
			in.Managers[ref("42")] = []providers.Manager{manager(idA, "203.0.113.9")}
			in.Snapshots = []*snapshot.Snapshot{host("build-07", idA, true, entryOf("42"))}
			return in
		}, "42", fleet.Disagreement, fleet.Looked, "come from 203.0.113.9"},
		"online at the provider and no process": {func() fleet.Input {
			r := runner("42")
			r.Online = witness.Yes
			in := input(r)
			in.Managers[ref("42")] = []providers.Manager{manager(idA, "192.0.2.7")}
			in.Snapshots = []*snapshot.Snapshot{host("build-07", idA, false, entryOf("42"))}
			return in
		}, "42", fleet.Disagreement, fleet.Looked, "no process of it runs"},
		"an old configuration without a number, known by its system id": {func() fleet.Input {
			in := input(runner("42"))
			in.Managers[ref("42")] = []providers.Manager{manager(idA, "192.0.2.7")}
			in.Snapshots = []*snapshot.Snapshot{host("build-07", idA, true, entryOf(""))}
			return in
		}, "42", fleet.Agreed, fleet.Looked, ""},
	} {
		t.Run(name, func(t *testing.T) {
			f := fleet.Build(c.in())
			i := slices.IndexFunc(f.Rows, func(r fleet.Row) bool {
				return r.Runner.Ref.ID == c.row || r.Runner.Ref.IsZero() && r.Hosts[0] == c.row
			})
			if i < 0 {
				t.Fatalf("no row %s in %+v", c.row, f.Rows)
			}
			r := f.Rows[i]
			if r.State != c.state || r.Looked != c.looked || !strings.Contains(r.Why, c.why) || c.state == "" && r.Why != "" {
				t.Errorf("state %q, looked %q, why %q; want %q, %q, %q", r.State, r.Looked, r.Why, c.state, c.looked, c.why)
			}
		})
	}
}

// Number 42 exists at every GitLab: the service has to be the same.
func TestNumberOfAnotherServiceIsNotTheRunner(t *testing.T) {
	in := input(runner("42"))
	in.Managers[ref("42")] = []providers.Manager{manager(idA, "192.0.2.7")} // even with the machine's id
	in.Snapshots = []*snapshot.Snapshot{host("build-07", idA, true, entry{"42", "https://other.example.org", "0011223344556677"})}
	f := fleet.Build(in)
	if len(f.Rows) != 2 || len(f.Rows[0].Installations) != 0 || f.Rows[1].State != fleet.NotOurs {
		t.Errorf("got %+v", f.Rows)
	}
}

// A disagreement that is also a clone keeps both: nothing is averaged away.
func TestCloneKeepsTheDisagreement(t *testing.T) {
	in := input(runner("42"))
	in.Managers[ref("42")] = []providers.Manager{manager(idA, "203.0.113.9")}
	in.Snapshots = []*snapshot.Snapshot{host("build-07", idA, true, entryOf("42")), host("build-08", idA, true, entryOf("42"))}
	r := fleet.Build(in).Rows[0]
	if r.State != fleet.Clone || !strings.Contains(r.Why, "system id") || !strings.Contains(r.Why, "203.0.113.9") || len(r.Differ) == 0 {
		t.Errorf("state %q, why %q, differ %v", r.State, r.Why, r.Differ)
	}
}

// Of several reads of one host the newest counts.
func TestNewestSnapshotCounts(t *testing.T) {
	in := input(runner("42"))
	in.Managers[ref("42")] = []providers.Manager{manager(idA, "192.0.2.7")}
	old := host("build-07", idA, true, entryOf("42"))
	old.Taken = now.Add(-time.Hour)
	in.Snapshots = []*snapshot.Snapshot{host("build-07", idA, false), old}
	r := fleet.Build(in).Rows[0]
	if r.State != fleet.Ghost || !r.SeenAt["host/build-07"].Equal(now.Add(-time.Minute)) || !r.SeenAt["provider"].Equal(now) {
		t.Errorf("state %q, seen %v", r.State, r.SeenAt)
	}
}

// A newer read that broke off before the installations does not erase what an older one
// found, and what it did find counts beside that.
func TestABrokenReadErasesNothing(t *testing.T) {
	in := input()
	old := host("build-07", idA, true, entryOf("42"))
	old.Taken = now.Add(-time.Hour)
	broken := host("build-07", "", false)
	broken.Complete = false
	for i := range broken.Sections {
		if broken.Sections[i].Name == snapshot.SectionRunners {
			broken.Sections[i].End = snapshot.EndCut
		}
	}
	watch := &snapshot.Snapshot{Schema: snapshot.Schema, Host: "build-07", Profile: snapshot.ProfileWatch, Taken: now, Complete: true}
	in.Snapshots = []*snapshot.Snapshot{broken, old, watch}
	rows := fleet.Build(in).Rows
	if len(rows) != 1 || len(rows[0].Installations) != 1 || !rows[0].SeenAt["host/build-07"].Equal(old.Taken) {
		t.Fatalf("%+v", rows)
	}
	more := host("build-07", idA, true, entryOf("42"), entryOf("66"))
	more.Complete, more.Sections = false, broken.Sections
	in.Snapshots = []*snapshot.Snapshot{more, old}
	if rows := fleet.Build(in).Rows; len(rows) != 2 {
		t.Errorf("an installation that only the broken read saw is lost: %+v", rows)
	}
	r := fleet.ReadsOf([]*snapshot.Snapshot{broken, old})
	if len(r) != 1 || r[0].Told != old || r[0].Last != broken || r[0].Best() != old {
		t.Errorf("%+v", r)
	}
}

func TestRowsAreSortedOnceEach(t *testing.T) {
	in := input(runner("10"), runner("9"), runner("9"))
	in.Snapshots = []*snapshot.Snapshot{host("build-08", idB, true, entryOf("77"))}
	var got []string
	for _, r := range fleet.Build(in).Rows {
		got = append(got, r.Runner.Ref.ID)
	}
	if !slices.Equal(got, []string{"9", "10", ""}) {
		t.Errorf("order %q", got)
	}
}

func TestJSONHasItsSchemaAndNoRefForTheUnclaimed(t *testing.T) {
	in := input(runner("42"))
	in.Snapshots = []*snapshot.Snapshot{host("build-08", idB, true, entryOf("99"))}
	b, err := json.Marshal(fleet.Build(in))
	if err != nil {
		t.Fatal(err)
	}
	var back fleet.Fleet
	if err := json.Unmarshal(b, &back); err != nil || back.Schema != "cordon.fleet/1" || len(back.Rows) != 2 {
		t.Errorf("%v: %s", err, b)
	}
	if n := fleet.Build(in).Count(); n[fleet.Rogue] != 1 || len(n) != 1 {
		t.Errorf("counts %v", n)
	}
}

func TestHostsOf(t *testing.T) {
	hosts := map[string][]string{"build-07": {"192.0.2.7"}, "build-08": {"192.0.2.8:2222", "2001:db8::8"}, "nat-a": {"198.51.100.1"}, "nat-b": {"198.51.100.1"}, "named": {"build.example.org"}}
	for name, c := range map[string]struct {
		managers []providers.Manager
		names    []string
		how      string
	}{
		"none asked":          {nil, nil, ""},
		"by address":          {[]providers.Manager{manager(idA, "192.0.2.7")}, []string{"build-07"}, "came from 192.0.2.7, the address of build-07"},
		"port of ssh and v6":  {[]providers.Manager{manager(idA, "2001:db8::8"), manager(idB, "::ffff:192.0.2.8")}, []string{"build-08"}, "2001:db8::8"},
		"one address for two": {[]providers.Manager{manager(idA, "198.51.100.1")}, []string{"nat-a", "nat-b"}, "several hosts"},
		"nobody's address":    {[]providers.Manager{manager(idA, "203.0.113.9")}, nil, "no configured host has the address 203.0.113.9"},
		"no address":          {[]providers.Manager{manager(idA, "\x1b[2J")}, nil, ""},
	} {
		names, how := fleet.HostsOf(runner("42"), c.managers, hosts)
		if !slices.Equal(names, c.names) || !strings.Contains(how, c.how) || c.how == "" && how != "" {
			t.Errorf("%s: %q, %q; want %q, %q", name, names, how, c.names, c.how)
		}
	}
}

func TestHostsSeenBefore(t *testing.T) {
	snaps := []*snapshot.Snapshot{host("build-07", idA, true, entryOf("42")), host("build-08", idB, true, entryOf("43"))}
	names, how := fleet.HostsSeen([]providers.Manager{manager(idA, "")}, snaps)
	if !slices.Equal(names, []string{"build-07"}) || !strings.Contains(how, "system id "+idA) {
		t.Errorf("%q, %q", names, how)
	}
}
