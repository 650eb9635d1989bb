package tui

import (
	"strings"
	"testing"

	"github.com/muesli/termenv"

	"cordon/internal/change"
	"cordon/internal/engine"
	"cordon/internal/host"
	"cordon/internal/host/snapshot"
	"cordon/internal/target"
)

var (
	throughAJump = host.Looking{
		Host: "build-07", Transport: snapshot.BySSH, Way: "ir@build-07.example.org:22 via ops@jump.example.org:22",
		Effects: []string{"a login is written: utmp, wtmp and lastlog", "a login on the jump host"},
	}
	throughAPod = host.Looking{
		Host: "build-07", Transport: snapshot.ByExec, Way: "kubectl exec -i runner-0 -- sh",
		Effects: []string{"what runs the program records it: the API server's audit log"},
	}
)

// flat is a screen as running text.
func flat(s string) string {
	return strings.Join(strings.Fields(strings.NewReplacer("│", " ", "|", " ").Replace(s)), " ")
}

// Before a host is read the screen says through what, and what looking itself does there;
// only SSH is called a login.
func TestBeforeAHostIsReadTheScreenSaysHowAndWhatThatDoes(t *testing.T) {
	e, _ := quietEnv(t, termenv.Ascii, true)
	for name, c := range map[string]struct {
		look   host.Looking
		option string
		want   []string
		never  string
	}{
		"ssh through a jump host": {throughAJump, "ssh", []string{"via ops@jump.example.org:22", "logs in to build-07", "looking is not free: a login on the jump host"}, "runs here"},
		"a program":               {throughAPod, "exec", []string{"kubectl exec -i runner-0 -- sh", "looking is not free: what runs the program records it"}, "logs in"},
	} {
		fake := fullCard()
		fake.look = c.look
		card := settled(hostOn(e, fake))
		pressed(card, "l")
		step := caseAt(e, "collect", engine.Prompt{
			Kind: engine.Choose, Index: 4, Title: "Read the hosts", Choices: choices, Guards: [][]engine.Guard{nil},
			Plans: []change.Plan{{Verb: "collect", Option: c.option, Title: "read it", TipsOff: "it is seen there", Contacts: []target.Ref{{System: target.SSH, Kind: target.Host, ID: "build-07"}}}},
		})
		step.looks = []host.Looking{c.look}
		plan := flat(step.View(120, 40))
		if !strings.Contains(plan, c.look.Way) || strings.Contains(plan, c.never) {
			t.Errorf("%s, the plan:\n%s", name, plan)
		}
		step.confirm()
		for where, got := range map[string]string{"the card": flat(card.View(100, 40)), "the step": flat(step.View(120, 40))} {
			for _, w := range c.want {
				if !strings.Contains(got, w) {
					t.Errorf("%s, %s: no %q in\n%s", name, where, w, got)
				}
			}
			if strings.Contains(got, c.never) {
				t.Errorf("%s, %s: %q in\n%s", name, where, c.never, got)
			}
		}
	}
}

// A run tells the screen how the hosts of its plans are reached.
func TestThePlanOfACollectComesWithItsWay(t *testing.T) {
	w := newLabWorld(t, "none")
	p := w.sit(120, 40, Options{})
	p.find("build-07")
	s := p.walk(func(s *stepper) bool { return s.cur != nil && s.cur.Step == "collect" })
	if len(s.looks) != 1 || s.looks[0].Way == "" || len(s.looks[0].Effects) == 0 {
		t.Fatalf("%+v", s.looks)
	}
	if c := w.counters(); len(c.Conns) != 0 {
		t.Errorf("a host was contacted for it: %+v", c)
	}
	if got := flat(p.look()); !strings.Contains(got, s.looks[0].Way) {
		t.Errorf("no %q in\n%s", s.looks[0].Way, got)
	}
}
