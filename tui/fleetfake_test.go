package tui

import (
	"context"
	"fmt"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"cordon/internal/app"
	"cordon/internal/check"
	"cordon/internal/evidence"
	"cordon/internal/fleet"
	"cordon/internal/target"
	"cordon/internal/untrusted"
	"cordon/internal/witness"
	"cordon/providers"
)

func init() {
	screens["fleet"] = func(e env) page { return settled(fleetOn(e, &fleetFake{fleet: someFleet()})) }
	screens["fleet-filter"] = func(e env) page {
		p := fleetOn(e, &fleetFake{fleet: someFleet()})
		settled(p)
		pressed(p, "/")
		pressed(p, "status:online lable:gpu")
		return p
	}
	screens["fleet-reading"] = func(e env) page {
		p := fleetOn(e, &fleetFake{})
		p.read() // its commands never run: nothing has come in but what was known
		arrive(p, aged(someFleet(), 3*24*time.Hour))
		return p
	}
	screens["fleet-empty"] = func(e env) page { return settled(fleetOn(e, &fleetFake{})) }
	screens["fleet-failed"] = func(e env) page {
		return settled(fleetOn(e, &fleetFake{err: fmt.Errorf("%w: no provider is configured; write one to config.yaml or set GITLAB_TOKEN", app.ErrUsage)}))
	}
}

// fleetFake lists a fleet that a test made. It counts what is asked of it.
type fleetFake struct {
	fleet fleet.Fleet
	err   error
	asked []string // references of runners that were read
	bad   map[string]error
	open  []app.OpenCase
}

func (f *fleetFake) OpenCases() ([]app.OpenCase, error) { return f.open, nil }

func (f *fleetFake) KnownFleet() (fleet.Fleet, error) { return f.fleet, f.err }

func (f *fleetFake) ListFleet(_ context.Context, o app.FleetOptions) (fleet.Fleet, error) {
	if f.err != nil {
		return fleet.Fleet{}, f.err
	}
	o.Partly(f.fleet)
	return f.fleet, nil
}

func (f *fleetFake) Runner(_ context.Context, ref string) (providers.Runner, error) {
	f.asked = append(f.asked, ref)
	if err := f.bad[ref]; err != nil {
		return providers.Runner{}, err
	}
	for _, r := range f.fleet.Rows {
		if r.Runner.Ref.String() == ref {
			r.Runner.Labels = []untrusted.Text{"gpu", "linux"}
			r.Runner.Owner = "acme/web"
			return r.Runner, nil
		}
	}
	return providers.Runner{}, providers.ErrNotFound
}

func fleetOn(e env, data fleetData) *fleetPage {
	return newFleetOf(e, data, func() time.Time { return still })
}

// settled runs what a page begins with, and all that comes of it.
func settled[P page](p P) P {
	hand(p, p.Init())
	return p
}

// hand runs a command and hands its messages to the page until nothing more comes. It
// returns what was meant for the root.
func hand(p page, cmd tea.Cmd) (root []tea.Msg) {
	if cmd == nil {
		return nil
	}
	switch msg := cmd().(type) {
	case nil:
	case tea.BatchMsg:
		for _, c := range msg {
			root = append(root, hand(p, c)...)
		}
	case pushMsg, popMsg, sayMsg, quitMsg:
		return []tea.Msg{msg}
	default:
		return hand(p, p.Update(msg))
	}
	return root
}

// arrive is a part of a listing that is going on; no other follows it.
func arrive(p *fleetPage, f fleet.Fleet) {
	p.in = make(chan fleet.Fleet)
	close(p.in)
	hand(p, p.Update(fleetPartMsg{p, p.turn, f, true}))
}

// pressed gives a page one key: a name that tea knows, or text in one message.
func pressed(p page, key string) (root []tea.Msg) {
	named := map[string]tea.KeyType{"enter": tea.KeyEnter, "esc": tea.KeyEsc, "backspace": tea.KeyBackspace, "ctrl+d": tea.KeyCtrlD, "ctrl+u": tea.KeyCtrlU}
	k := tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(key)}
	if t, ok := named[key]; ok {
		k = tea.KeyMsg{Type: t}
	} else if key == " " {
		k = tea.KeyMsg{Type: tea.KeySpace, Runes: []rune{' '}}
	}
	return hand(p, p.Update(k))
}

// saidBy is the text of the one line that a key led to.
func saidBy(t *testing.T, root []tea.Msg) string {
	t.Helper()
	for _, m := range root {
		if s, ok := m.(sayMsg); ok {
			return s.text
		}
	}
	t.Fatalf("nothing was said: %v", root)
	return ""
}

func someRow(id, name, status string) fleet.Row {
	return fleet.Row{
		Runner: providers.Runner{
			Ref:  target.Ref{System: "gitlab-prod", Scope: target.Scope{Level: "project"}, Kind: target.Runner, ID: id},
			Name: untrusted.Text(name), Status: status, Paused: witness.No,
		},
		Looked: fleet.UnknownHost, SeenAt: map[string]time.Time{"provider": still},
	}
}

// someFleet has one of each kind of row.
func someFleet() fleet.Fleet {
	on := someRow("42", "build-07", "online")
	on.Hosts, on.Looked = []string{"build-07"}, fleet.Looked
	on.Runner.LastContact = still.Add(-90 * time.Second)
	off := someRow("44", "spot-fleet-a", "offline")
	off.Runner.Paused = witness.Yes
	ghost := someRow("45", "build-07", "stale")
	ghost.Hosts, ghost.Looked, ghost.State, ghost.Why = []string{"build-08"}, fleet.Looked, fleet.Ghost, "build-08 was read to the end, and no installation of it is there"
	old := someRow("7", "kept from before", "online")
	old.SeenAt["provider"] = still.Add(-3 * 24 * time.Hour)
	det := someRow("46", "gpu-1", "online")
	det.Runner.Labels, det.Runner.Owner = []untrusted.Text{"gpu", "cuda"}, "acme/ml"
	det.SeenAt["details"] = still
	rogue := fleet.Row{
		Installations: []check.Installation{{Host: "build-07", Root: "/home/x/.dev-env", RunnerID: "7", Name: "dev-env"}},
		Hosts:         []string{"build-07"}, State: fleet.Rogue, Why: "it serves https://example.invalid, which no configured provider is",
		Looked: fleet.Looked, SeenAt: map[string]time.Time{"host/build-07": still.Add(-2 * time.Hour)},
	}
	return fleet.Fleet{
		At: still, Rows: []fleet.Row{old, on, off, ghost, det, rogue},
		Gaps: []evidence.Gap{{Name: "gitlab-prod/runners of group:acme", Why: "403, the credential lacks read_api", At: still}},
	}
}

func aged(f fleet.Fleet, d time.Duration) fleet.Fleet {
	for i := range f.Rows {
		f.Rows[i].SeenAt = map[string]time.Time{"provider": still.Add(-d)}
	}
	f.Gaps = nil
	return f
}
