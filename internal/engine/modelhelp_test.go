package engine

import (
	"strings"
	"sync"
	"testing"

	"cordon/internal/engine/enginemodel"
	"cordon/internal/signing"
	"cordon/playbooks"
)

// modelPlaybook has every kind of act. With second, the deregistration wants another
// person.
func modelPlaybook(t testing.TB, second bool) *playbooks.Playbook {
	t.Helper()
	ask := ""
	if second {
		ask = ", ask: second-person"
	}
	p, err := playbooks.Parse("model", []byte(strings.ReplaceAll(modelYAML, ", ASK", ask)))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

const modelYAML = `cordon: playbook/1
id: model
title: Contain
why: to be tested
steps:
  - {id: snapshot, title: Keep, why: w, acts: [{do: gather, on: runner, profile: express}]}
  - {id: pause, title: Pause, why: w, needs: [snapshot], acts: [{do: plan, verb: pause, on: runner, verify: paused}]}
  - {id: rotate, title: Rotate, why: w, needs: [snapshot], acts: [{do: plan, verb: rotate, on: runner}, {do: exposure}]}
  - {id: collect, title: Collect, why: w, acts: [{do: plan, verb: collect, on: hosts, profile: triage}]}
  - id: remove
    title: Remove
    why: w
    needs: [snapshot, collect]
    acts:
      - {do: plan, verb: cancel, on: runner, destroys: [host/*/snapshot.json]}
      - {do: plan, verb: stop, on: hosts, optional: true, verify: stopped}
      - {do: plan, verb: deregister, on: runner, verify: gone, destroys: [host/*/snapshot.json], ASK}
  - {id: confirm, title: Watch, why: w, acts: [{do: confirm}]}
`

// secondPerson can sign approvals.
type secondPerson struct {
	signer signing.Signer
	lines  []signing.Allowed
}

var bobOnce = sync.OnceValues(func() (*secondPerson, error) {
	s, err := signing.Ephemeral()
	if err != nil {
		return nil, err
	}
	lines, err := signing.ParseAllowed(strings.NewReader("bob@example.org " + s.PublicKey() + "\n"))
	return &secondPerson{s, lines}, err
})

func bob(t testing.TB) *secondPerson {
	t.Helper()
	b, err := bobOnce()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func (b *secondPerson) approvers() []Approver {
	return []Approver{{Person: "bob@example.org", Lines: b.lines}, {Person: "alice"}}
}

func (b *secondPerson) sign(t testing.TB, text string) []byte {
	t.Helper()
	sig, err := b.signer.Sign(NamespaceApproval, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return sig
}

// decide is any answer that a person, a script or a mistake could give.
func (m *model) decide(p Prompt) Decision {
	d := Decision{N: p.N, Verb: p.Choices[m.rng.IntN(len(p.Choices))]}
	if p.Kind != Doubt && m.rng.IntN(5) > 0 { // most people go on; who looks again for ever gets nowhere
		d.Verb = p.Choices[0]
	}
	if m.rng.IntN(6) > 0 {
		d.Reason = "because"
	}
	switch m.rng.IntN(20) {
	case 0:
		d.N--
	case 1:
		d.Verb = Leave
	}
	if d.Verb != Apply || len(p.Plans) == 0 {
		return d
	}
	i := m.rng.IntN(len(p.Plans))
	d.Plan = p.Plans[i].Hash()
	for _, g := range p.Guards[i] {
		switch {
		case g.Class == GuardApproval:
			m.agree(p, &d)
		case m.rng.IntN(8) > 0:
			d.Waive = append(d.Waive, g.ID)
			m.Waived++
		}
	}
	if m.rng.IntN(30) == 0 {
		d.Plan = strings.Repeat("0", 64)
	}
	return d
}

// agree has the second person sign, or breaks the glass, or does neither.
func (m *model) agree(p Prompt, d *Decision) {
	switch m.rng.IntN(3) {
	case 0:
		d.BreakGlass = "nobody else is awake"
		m.Glass++
	case 1:
		all, err := Requests(m.view(), m.pb, Approvals{By: m.second.approvers()})
		if err != nil || len(all) == 0 {
			m.fatalf("no request where one is wanted: %v", err)
		}
		if _, _, err := m.r.Approve(m.second.sign(m.t, all[m.rng.IntN(len(all))].Text())); err == nil {
			m.Approved++
		}
	}
}

// judge compares an ending with what the world knows.
func (m *model) judge(e Ending) {
	if e.Word != Contained {
		return
	}
	m.Contained++
	for i, r := range m.runners {
		m.w.With(r.ID, func(x *enginemodel.Runner) {
			if !x.Gone {
				m.errorf("called contained, and runner %s is still registered", r.ID)
			}
		})
		m.w.WithHost(m.hosts[i].ID, func(h *enginemodel.Host) {
			if h.Running {
				m.errorf("called contained, and the agent on %s runs", m.hosts[i].ID)
			}
		})
	}
}
