package app

import (
	"errors"
	"strings"
	"testing"

	"cordon/internal/fleet"
	"cordon/internal/host/snapshot"
	"cordon/internal/target"
	"cordon/internal/untrusted"
)

// A planted runner may be the only one on a machine of ours: the case is then about the
// machine, and is none about a runner of the same name.
func TestACaseAboutAHostAlone(t *testing.T) {
	w := newWorld(t)
	a := w.open()
	s, err := a.NewCase(t.Context(), "ssh/host/build-07", CaseSpec{ID: "H-1"})
	if err != nil {
		t.Fatal(err)
	}
	if !s.Runner().IsZero() || len(s.HostNames()) != 1 || s.HostNames()[0] != "build-07" {
		t.Errorf("about %s on %v", s.Runner(), s.HostNames())
	}
	for _, step := range s.Steps() {
		if step.ID == "pause" && step.End == "" {
			t.Errorf("a step about runners is open: %+v", step)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if !a.HostsAlone("H-1") {
		t.Error("it is not known to be about a host alone")
	}
	for ref, spec := range map[string]CaseSpec{"ssh/host/nowhere": {}, "ssh/host/build-07": {Also: []string{"gl/runner/42"}}} {
		if _, err := a.NewCase(t.Context(), ref, spec); !errors.Is(err, ErrNoHost) && !errors.Is(err, ErrUsage) {
			t.Errorf("%s %+v: %v", ref, spec, err)
		}
	}
	if s, err := a.Resume(t.Context(), "H-1"); err != nil {
		t.Errorf("gone on with: %v", err)
	} else if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// What a host has beside the case's runner is told with whose it is, without asking anybody.
func TestStraysOfAHost(t *testing.T) {
	w := newWorld(t)
	a := w.open()
	s := &snapshot.Snapshot{Schema: snapshot.Schema, Host: "build-07", Profile: snapshot.ProfileTriage, Complete: true}
	put := func(p, content string) {
		s.Files = append(s.Files, snapshot.File{Path: untrusted.Text(p), Section: snapshot.SectionRunners, Type: "file", Size: int64(len(content)), Content: untrusted.Text(content)})
	}
	put("/etc/gitlab-runner/config.toml", "[[runners]]\nname = \"x\"\nid = 42\nurl = \""+w.srv.URL+"\"\n")
	put("/home/ci/.dev-env/.runner", `{"agentId":7,"agentName":"SHA1HULUD","gitHubUrl":"https://github.invalid/mallory/x"}`)
	got := a.strays(s, []target.Ref{{System: "gl", Kind: target.Runner, ID: "42"}})
	if len(got) != 1 || got[0].State != fleet.NotOurs || got[0].Root != "/home/ci/.dev-env" || !strings.Contains(got[0].What, "mallory") {
		t.Errorf("%+v", got)
	}
}
