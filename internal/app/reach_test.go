package app

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"cordon/internal/change"
	"cordon/internal/config"
	"cordon/internal/host"
	"cordon/internal/host/snapshot"
	"cordon/internal/target"
)

// Only SSH is a login. A person who confirms is told what really happens.
func TestWhatIsNoLoginIsNotCalledOne(t *testing.T) {
	for way, want := range map[string]string{
		snapshot.BySSH: "logs in to b: W", snapshot.ByExec: "runs here, to reach b: W", snapshot.ByLocal: "runs on this machine, as b: W", snapshot.ByImage: "reads the disk of b with this machine's shell: W",
	} {
		l := host.Looking{Host: "b", Transport: way, Way: "W"}
		var out bytes.Buffer
		p := &Person{Ctx: t.Context(), In: strings.NewReader("b\n"), Out: Lines{W: &out}}
		if err := p.ConfirmLooking(l); err != nil {
			t.Fatal(err)
		}
		p.In, p.in = strings.NewReader("y\n"), nil
		if err := p.ConfirmLooking(l); !errors.Is(err, ErrNeeds) {
			t.Errorf("%s: y confirmed it: %v", way, err)
		}
		said := strings.ReplaceAll(out.String(), "nobody logs in", "")
		if !strings.Contains(said, want) {
			t.Errorf("%s: no %q in\n%s", way, want, said)
		}
		if login := strings.Contains(said, "log in") || strings.Contains(said, "login"); login != (way == snapshot.BySSH) {
			t.Errorf("%s: %s", way, said)
		}
		read := change.Plan{Option: strings.ReplaceAll(way, " ", "-"), Contacts: []target.Ref{{System: target.SSH, Kind: target.Host, ID: "b"}}}
		stop := read
		stop.Option, stop.Changes = "disable-now", []change.Change{{Call: change.Call{Method: map[string]string{snapshot.BySSH: "SSH", snapshot.ByExec: "EXEC", snapshot.ByLocal: "LOCAL", snapshot.ByImage: "IMAGE"}[way]}}}
		for name, pl := range map[string]change.Plan{"a read": read, "a stop": stop} {
			if got := Reaches(pl, nil); len(got) != 1 || !strings.HasPrefix(want, strings.TrimSuffix(got[0].Does, ":")) {
				t.Errorf("%s, %s: %+v, want %q", way, name, got, want)
			}
		}
	}
}

// What triage proposes next is told by the host's way too.
func TestTriageProposesAReadInTheWordsOfItsWay(t *testing.T) {
	w := newWorld(t)
	a := w.open()
	for name, h := range map[string]config.Host{"pod": {Exec: []string{"kubectl", "exec"}}, "here": {Local: true}} {
		a.cfg.Hosts[name] = h
		if s := a.checkStep(name); strings.Contains(s.Does, "log in") || strings.Contains(s.Notice, "a login") || s.Command != "cordon host check "+name {
			t.Errorf("%+v", s)
		}
	}
	if s := a.checkStep("build-07"); !strings.Contains(s.Does, "log in to build-07") || !strings.Contains(s.Notice, "a login is visible") {
		t.Errorf("%+v", s)
	}
}
