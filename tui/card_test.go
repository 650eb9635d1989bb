package tui

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"
	"github.com/muesli/termenv"

	"cordon/internal/app"
	"cordon/internal/change"
	"cordon/internal/check"
	"cordon/providers"
)

func cardOn(e env, d *cardFake) *runnerCard {
	return newCardOf(e, d, func() time.Time { return still }, cardRef)
}

func hostOn(e env, d *cardFake) *hostCard {
	return newHostCardOf(e, d, func() time.Time { return still }, "build-07")
}

func quietCard(t testing.TB, d *cardFake) *runnerCard {
	e, _ := quietEnv(t, termenv.Ascii, false)
	return settled(cardOn(e, d))
}

// all is the whole of a card, however long.
func all(p page) string { return p.View(100, 400) }

func TestACardHasEveryThingOfARunner(t *testing.T) {
	v := all(quietCard(t, fullCard()))
	mustShow(t, v,
		cardRef+"  build-07", "the provider said so <1m ago", "status ✓ online, paused no, busy ?, last contact <1m ago (its service writes that down late)",
		"owner acme/shop, scope project, serves more than one project", "labels shell,release; takes no untagged jobs",
		"now  running  publish  acme/shop@main by rosa", "2 others since", "not all of them: GitLab lists only jobs",
		"s_5b1c7a90e3d4 from 192.0.2.7  ✓ online", "! disagreement: the provider says it is online",
		"host build-07: checked 3d ago, worst finding critical", "gitlab-runner at /etc/gitlab-runner for https://gitlab.example.org, runner 42",
		"✗ critical  a job fetches and runs code", "! could not look  keys: denied: /root/.ssh",
		"case contain-42-20261101T221400, open, enter goes on with it", "ci-variable DEPLOY_KEY (acme/shop), not replaced as far as known", "no baseline kept yet",
		"pause: with glab", "glab api --method PUT runners/42 -F paused=true",
	)
}

func TestASectionThatCouldNotBeReadSaysWhy(t *testing.T) {
	for part, want := range map[string]string{
		"jobs": "could not be read: no jobs", "managers": "not known: the managers could not be read", "hand": "could not be read: no hand",
		"record": "could not be read: no record", "hosts": "could not be read: no hosts", "host": "could not be read: no host",
	} {
		d := fullCard()
		d.fail = map[string]error{part: errors.New("no " + part)}
		v := all(quietCard(t, d))
		mustShow(t, v, want, cardRef)
		if part != "jobs" {
			mustShow(t, v, "now  running")
		}
	}
	d := fullCard()
	d.fail = map[string]error{"runner": errors.New("404")}
	p := quietCard(t, d)
	mustShow(t, all(p), "could not be read: 404")
	if why := p.cannotContain(); why == "" {
		t.Error("a runner that could not be read can be contained")
	}
	d.fail = nil
	pressed(p, "r")
	mustShow(t, all(p), "status ✓ online")
}

func TestUnknownIsNeverShownAsClean(t *testing.T) {
	d := fullCard()
	d.host.Read, d.host.Report = false, app.HostReport{}
	d.record = app.RunnerRecord{}
	mustShow(t, all(quietCard(t, d)), "host build-07: never checked from here", "what it could reach is not known")
	d = fullCard()
	d.host.Report.Complete = false
	d.host.Report.Results = []check.Result{{Check: "cron", State: check.Nothing}}
	v := all(quietCard(t, d))
	mustShow(t, v, "not read to the end: what is absent means nothing")
	d.host.Report.Complete = true
	d.host.Report.Results[0].State = check.Unasked
	if v := all(quietCard(t, d)); strings.Contains(v, "nothing found") {
		t.Errorf("a check that was not asked reads as clean:\n%s", v)
	}
}

func TestWhatTheCursorIsOnIsCopiedExactly(t *testing.T) {
	p := quietCard(t, fullCard())
	for _, c := range []struct{ key, want string }{
		{"y", cardRef + "  build-07"},
		{"w", "https://gitlab.example.org/acme/shop/-/runners/42"},
		{"h", "cordon contain " + cardRef},
	} {
		if s := saidBy(t, pressed(p, c.key)); !strings.Contains(s, "copied if the terminal allows it: "+c.want) {
			t.Errorf("%s: %q", c.key, s)
		}
	}
	pressed(p, "G")
	if s := saidBy(t, pressed(p, "h")); !strings.HasSuffix(s, ": GITLAB_HOST=gitlab.example.org glab api --method PUT runners/42 -F paused=true") {
		t.Error(s)
	}
	if s := saidBy(t, pressed(p, "w")); s != "no address of this is known" {
		t.Error(s)
	}
	if s := saidBy(t, pressed(p, "e")); s != "nothing is kept for this" {
		t.Error(s)
	}
}

func TestTheCursorStaysOnItsThingWhileSectionsComeIn(t *testing.T) {
	e, _ := quietEnv(t, termenv.Ascii, false)
	p := cardOn(e, fullCard())
	p.set([]cardLine{head("a"), {id: "x", text: "x"}, {id: "y", text: "y"}})
	p.at = 2
	p.set([]cardLine{head("a"), {id: "w", text: "w"}, {id: "x", text: "x"}, head("b"), {id: "y", text: "y"}})
	if p.cursor().id != "y" {
		t.Errorf("on %q", p.cursor().id)
	}
	p.set([]cardLine{head("a"), {id: "w", text: "w"}})
	if p.cursor().id != "w" {
		t.Errorf("after its thing is gone: %q", p.cursor().id)
	}
}

func TestAnOlderAnswerDoesNotOverwriteANewerOne(t *testing.T) {
	d := fullCard()
	p := quietCard(t, d)
	late := p.turn
	p.Init()
	p.Update(cardMsg{p, late, func() tea.Cmd { t.Error("a stale answer was put in place"); return nil }})
	p.Update(cardMsg{quietCard(t, d), p.turn, func() tea.Cmd { t.Error("another card's answer was put in place"); return nil }})
}

func TestEveryLineOfACardCanBeReached(t *testing.T) {
	p := quietCard(t, fullCard())
	seen := map[string]bool{}
	p.View(80, 12)
	for range p.lines {
		v := p.View(80, 12)
		if n := strings.Count("\n"+v, "\n> "); n != 1 {
			t.Fatalf("%d cursors on %q:\n%s", n, p.cursor().id, v)
		}
		seen[p.cursor().id] = true
		pressed(p, "j")
	}
	things := 0
	for _, l := range p.lines {
		if !l.head {
			things++
		}
	}
	if len(seen) != things {
		t.Errorf("%d of %d reached", len(seen), things)
	}
	pressed(p, "g")
	if p.View(80, 12); p.at != 1 || p.off != 0 {
		t.Errorf("top is line %d, offset %d", p.at, p.off)
	}
}

func TestHostileTextNeverBreaksACard(t *testing.T) {
	for _, n := range badNames {
		d := fullCard()
		d.runner.Name, d.runner.Owner, d.runner.Labels, d.runner.Projects, d.runner.Status, d.runner.Version = n, n, badNames, badNames, string(n), n
		d.runner.Web, d.partial = "https://x/"+string(n), string(n)
		for i := range d.jobs {
			d.jobs[i].Name, d.jobs[i].Project, d.jobs[i].Actor, d.jobs[i].Status, d.jobs[i].Web = n, n, n, string(n), string(n)
		}
		d.ms[0].SystemID, d.ms[0].Address, d.ms[0].Status = n, n, string(n)
		in := &d.host.Report.Installations[0]
		in.Root, in.URL, in.Name, in.Unexpected, in.Problems, in.RunnerID = n, n, n, string(n), []string{string(n)}, ""
		f := &d.host.Report.Results[0].Findings[0]
		f.Title, f.Where, f.Detail, f.Evidence = string(n), n, n, []string{string(n)}
		d.host.Report.Ident.Hostname, d.host.Address = n, string(n)
		d.hand[0] = change.Link{Title: string(n), URL: string(n), Command: string(n)}
		d.record.Exposed.Entries[0] = providers.Credential{Name: string(n), Kind: string(n), Where: string(n), Web: string(n)}
		d.fail = map[string]error{"check": errors.New(string(n))}
		e, _ := quietEnv(t, termenv.TrueColor, false)
		e.simulated = true
		for _, p := range []page{settled(cardOn(e, d)), settled(hostOn(e, d))} {
			m := newModel(e, p, nil)
			for _, size := range [][2]int{{60, 15}, {80, 24}, {120, 40}} {
				m.w, m.h = size[0], size[1]
				for range 4 {
					v := m.View()
					sound(t, v, m.w, m.h, true)
					if strings.Count(ansi.Strip(v), "\n> ") > 1 {
						t.Errorf("two cursors:\n%s", v)
					}
					for _, k := range []string{"ctrl+d", "y", "w", "h", "e"} {
						for _, r := range pressed(p, k) {
							if s, ok := r.(sayMsg); ok {
								m.Update(s)
								sound(t, m.View(), m.w, m.h, true)
							}
						}
					}
				}
				pressed(p, "g")
			}
		}
	}
}

func TestAHostIsReadOnlyAfterItsNameWasTyped(t *testing.T) {
	d := fullCard()
	e, wall := quietEnv(t, termenv.Ascii, false)
	p := settled(hostOn(e, d))
	for range 3 { // looking, however long, contacts nobody
		pressed(p, "r")
		pressed(p, "j")
	}
	pressed(p, "l")
	if p.dialog == nil {
		t.Fatal("no dialog")
	}
	wall.pass(deaf)
	hand(p, p.Update(tea.KeyMsg{Type: tea.KeyEnter}))
	hand(p, p.Update(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("build-07"), Paste: true}))
	pressed(p, "y")
	pressed(p, "build-08")
	if len(d.checked) != 0 {
		t.Fatalf("checked %v without its name", d.checked)
	}
	pressed(p, "esc")
	if p.dialog != nil || len(d.checked) != 0 {
		t.Fatal("esc is not no")
	}
	pressed(p, "l")
	wall.pass(deaf)
	pressed(p, "build-07")
	if fmt.Sprint(d.checked) != "[build-07]" {
		t.Errorf("checked %v", d.checked)
	}
	mustShow(t, all(p), "checked <1m ago")
}

func TestACheckSaysThatItRunsAndWhyItFailed(t *testing.T) {
	d := fullCard()
	d.fail = map[string]error{"check": errors.New("dial build-07: refused")}
	e, _ := quietEnv(t, termenv.Ascii, false)
	p := settled(hostOn(e, d))
	cmd := p.check()
	mustShow(t, all(p), "being read since 03:00:00Z")
	if why := p.cannotCheck(); why != "the host is being read" {
		t.Errorf("a second check: %q", why)
	}
	hand(p, cmd)
	mustShow(t, all(p), "the last check failed: dial build-07: refused")
}

func TestACheckThatCannotBeMadeSaysWhy(t *testing.T) {
	d := fullCard()
	d.host.Configured = false
	e, _ := quietEnv(t, termenv.Ascii, false)
	p := settled(hostOn(e, d))
	if s := saidBy(t, pressed(p, "l")); !strings.Contains(s, "not configured") || p.dialog != nil {
		t.Error(s)
	}
}

func TestAFindingShowsWhatItRestsOn(t *testing.T) {
	e, _ := quietEnv(t, termenv.Ascii, false)
	p := settled(hostOn(e, fullCard()))
	for p.cursor().id != "finding/build-07/0" {
		was := p.at
		if pressed(p, "j"); p.at == was {
			t.Fatal("no finding on the card")
		}
	}
	root := pressed(p, "e")
	if len(root) != 1 {
		t.Fatalf("e: %v", root)
	}
	mustShow(t, root[0].(pushMsg).page.View(100, 30),
		"kept as host/build-07/snapshot.json in case check-build-07-20261030T030000.000", "/etc/cron.d/sync", "ATT&CK T1053.003")
}

// What a card shows is never taken for the newest that is known of a host.
func TestACardSaysThatANewerReadFailed(t *testing.T) {
	d := fullCard()
	if v := all(quietCard(t, d)); strings.Contains(v, "FAILED") {
		t.Fatal(v)
	}
	d.host.Failed = &app.FailedRead{At: still.Add(-2 * time.Hour), Why: "dial tcp: no route to host", Case: "check-build-07-late"}
	e, _ := quietEnv(t, termenv.Ascii, false)
	const says = "a NEWER READ FAILED 2h ago, at 2026-11-02 01:00Z; what follows is older than that"
	mustShow(t, all(settled(hostOn(e, d))), "checked 3d ago", says, "dial tcp: no route to host", "kept in case check-build-07-late", "critical")
	mustShow(t, all(quietCard(t, d)), says, "dial tcp: no route to host")
	d.host.Read, d.host.Report = false, app.HostReport{}
	v := all(settled(hostOn(e, d)))
	mustShow(t, v, "never read: it was tried from here", "a read failed 2h ago", "dial tcp: no route to host")
}
