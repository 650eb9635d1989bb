package tui

import (
	"testing"

	tea "github.com/charmbracelet/bubbletea"
)

// Whoever looks around, opens cards and reads details has logged in nowhere; one
// confirmed check is one login.
func TestLookingAroundContactsNoHost(t *testing.T) {
	w := newLabWorld(t, "")
	p := w.sit(80, 24, Options{})
	p.until("ready: the providers answered")
	p.press(tea.KeyEnter)
	p.until("no host was contacted")
	p.until("1/4 of 4")
	p.runes("d")
	p.runes("s/build-07")
	p.press(tea.KeyEnter)
	p.until("1/2 of 4")
	for p.m.top().(*fleetPage).item().Runner.Status != "online" {
		p.runes("j")
	}
	p.press(tea.KeyEnter)
	p.until("status ✓ online")
	c := p.m.top().(*runnerCard)
	for !c.hosts.done || !c.hand.done {
		p.tell(<-p.msgs)
	}
	p.runes("G")
	p.until("by hand, without cordon")
	for c.cursor().open == nil {
		p.runes("k")
	}
	p.press(tea.KeyEnter)
	p.until("unit gitlab-runner.service")
	if n := w.counters().Conns; len(n) != 0 {
		t.Fatalf("looking around logged in: %v", n)
	}

	h := p.m.top().(*hostCard)
	p.runes("l")
	p.until("Do it?")
	h.dialog.opened = h.dialog.opened.Add(-deaf)
	p.runes("build-07")
	p.until("kept in case check-build-07")
	if n := w.counters().Conns["build-07"]; n != 1 {
		t.Errorf("%d logins for one check", n)
	}
	p.press(tea.KeyEsc)
	p.until("host build-07: checked")
	p.press(tea.KeyEsc)
	p.until("not ours") // what the check found is in the list, too
}
