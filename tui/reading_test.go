package tui

import (
	"errors"
	"strings"
	"testing"

	"github.com/muesli/termenv"

	"cordon/internal/host"
)

func init() {
	screens["case-reading"] = func(e env) page {
		p := casePause(e).(*stepper)
		p.cur, p.busy, p.about.Hosts = nil, "reading build-08", []string{"build-07", "build-08"}
		p.take(event{reading: &host.Reading{Host: "build-08", Section: "cron", N: 12, Of: 31, Bytes: 48 << 10, Most: 32 << 20}})
		return p
	}
	screens["host-card-reading"] = func(e env) page {
		p := settled(hostOn(e, fullCard()))
		p.check()
		p.Update(readingMsg{p, p.told, host.Reading{Host: "build-07", Section: "cron", N: 12, Of: 31, Bytes: 48 << 10, Most: 32 << 20}})
		p.View(80, 21)
		return p
	}
}

// A reader of a host never waits for the screen: only the newest word of a read is kept,
// and none of it is in the way of what happened.
func TestAReadNeverWaitsForTheScreen(t *testing.T) {
	d := &driver{wake: make(chan struct{}, 1), done: make(chan struct{})}
	note := func(s string) { d.post(event{note: s}) }
	note("before")
	for n := range 1000 {
		d.post(event{reading: &host.Reading{Host: "b7", N: n}})
	}
	note("after")
	evs, _ := d.events(t.Context())
	if len(evs) != 3 || evs[0].note != "before" || evs[1].reading.N != 999 || evs[2].note != "after" {
		t.Errorf("%d events: %+v", len(evs), evs)
	}
	r := newReadings()
	for n := range 1000 {
		r.tell(host.Reading{N: n})
	}
	if x, more := r.next(t.Context()); !more || x.N != 999 {
		t.Errorf("%+v, %v", x, more)
	}
	r.end()
	if _, more := r.next(t.Context()); more {
		t.Error("more after the end")
	}
}

// What a read said last does not stay when it is over, however it ended.
func TestHowFarAReadIsGoesWithIt(t *testing.T) {
	e, _ := quietEnv(t, termenv.Ascii, false)
	p := screens["case-reading"](e).(*stepper)
	mustShow(t, p.View(80, 21), "build-08, host 2 of 2 of this case", "section 12 of 31, cron, 48 KiB")
	p.take(event{err: errors.New("the host is gone")})
	if v := p.View(80, 21); strings.Contains(v, "section 12") {
		t.Error(v)
	}
	d := fullCard()
	h := settled(hostOn(e, d))
	cmd := h.check()
	mustShow(t, all(h), "being read since 03:00:00Z: it has not answered yet")
	h.Update(readingMsg{h, h.told, host.Reading{Host: "build-07", Section: "cron", N: 12, Of: 31, Bytes: 5}})
	mustShow(t, all(h), "section 12 of 31, cron, 5 bytes")
	old := h.told
	hand(h, cmd)
	h.Update(readingMsg{h, old, host.Reading{Host: "build-07", Section: "late", N: 13, Of: 31}})
	if v := all(h); strings.Contains(v, "section 1") {
		t.Error(v)
	}
}

// The collecting step of a real run is told about, and so is the read of a host's card.
func TestTheScreenFollowsARealRead(t *testing.T) {
	w := newLabWorld(t, "none")
	p := w.sit(80, 24, Options{})
	p.find("build-07")
	seen := false
	p.walk(func(s *stepper) bool { seen = seen || s.reads != nil; return seen || s.over() })
	if !seen {
		t.Error("a case was walked to its end and no read of a host was told")
	}
	h := newHostCard(p.m.e, w.app.PlantedHost()).(*hostCard)
	p.tell(pushMsg{h})
	p.until("never checked from here")
	p.do(h.check())
	for seen = false; h.running; p.tell(<-p.msgs) {
		seen = seen || h.reads != nil
	}
	if !seen || h.failed != nil {
		t.Errorf("the card was told: %v; %v", seen, h.failed)
	}
}
