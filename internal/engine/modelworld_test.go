package engine

import (
	"errors"
	"slices"
	"strings"
	"syscall"
	"time"

	"cordon/internal/casefile"
	"cordon/internal/casefile/faultfs"
	"cordon/internal/change"
	"cordon/internal/engine/enginemodel"
)

// fault says what happens to the next change.
func (m *model) fault(string) enginemodel.Fault {
	if m.rng.IntN(2) == 0 || m.calm && m.rng.IntN(9) > 0 {
		return enginemodel.None
	}
	return enginemodel.Faults[m.rng.IntN(len(enginemodel.Faults))]
}

// effect is called when a permit lets a call through.
func (m *model) effect(c change.Change) {
	m.Effects++
	if m.sent[c.ID]++; m.sent[c.ID] > 1 {
		m.errorf("EFFECT TWICE: %s was let through again", c.ID)
	}
	if disk := string(m.f.Disk("/state/cases/" + modelCase + "/journal.jsonl")); !strings.Contains(disk, `"digest":"`+c.Digest()+`"`) {
		m.errorf("NO SYNCED INTENT for %s", c.ID)
	}
}

// meanwhile is what others, the disk and the clock do.
func (m *model) meanwhile() {
	if m.calm && m.rng.IntN(9) > 0 {
		return
	}
	id := m.runners[m.rng.IntN(len(m.runners))]
	switch m.rng.IntN(24) {
	case 0, 1, 2:
		m.breakDisk()
	case 3:
		if v, err := m.s.Read(modelCase); err == nil && m.rng.IntN(4) == 0 { // else the machine is off
			m.same(v)
		}
		m.crash(m.rng.IntN(2) == 0)
	case 4:
		m.w.Clock.Jump(time.Duration(m.rng.IntN(7200)-3600) * time.Second)
	case 5:
		ours := slices.ContainsFunc(m.r.st.made, func(x made) bool { return x.change.Target == id })
		if !ours { // who paused it afterwards cannot be told by looking
			m.w.With(id.ID, func(r *enginemodel.Runner) { r.Paused = true })
		}
	case 6:
		m.w.With(id.ID, func(r *enginemodel.Runner) { r.Paused = false })
	case 7:
		m.w.WithHost(m.hosts[0].ID, func(h *enginemodel.Host) { h.Away = !h.Away })
	case 8, 9:
		m.intrude()
	case 10:
		if m.rng.IntN(4) == 0 {
			m.standDown()
		}
	case 11:
		m.blind()
	}
}

// blind makes the next reads fail, some of them.
func (m *model) blind() {
	left := m.rng.IntN(4)
	m.w.Blind = func() error {
		if left--; left < 0 {
			return nil
		}
		return errors.New("503 from the provider")
	}
}

// breakDisk plans what goes wrong on the disk next.
func (m *model) breakDisk() {
	rule := faultfs.Rule{Nth: 1 + m.rng.IntN(20), Keep: -1}
	switch m.rng.IntN(5) {
	case 0:
		rule.Stop = true
	case 1:
		rule.Op, rule.Err = faultfs.OpSync, syscall.EIO
	case 2:
		rule.Op, rule.Err = faultfs.OpWrite, syscall.EIO
	case 3:
		rule.Err = syscall.EIO
	case 4:
		m.f.SetCapacity(m.f.Used() + int64(m.rng.IntN(6000)))
		return
	}
	m.f.Inject(rule)
}

// intrude is another process that wants the case while this one has it.
func (m *model) intrude() {
	c, err := m.s.Take(m.t.Context(), modelCase, casefile.Actor{Name: "mallory", Host: "m", BootID: "m", PID: 2})
	switch {
	case err == nil:
		m.errorf("LOCK IGNORED: two writers have the case")
		_ = c.Close()
	case errors.Is(err, casefile.ErrHeld):
		m.Held++
	}
}
