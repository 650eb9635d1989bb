package lab

import (
	"context"
	"fmt"
	"net/netip"
	"time"

	"cordon/internal/lab/fault"
	"cordon/internal/lab/ghrunner"
)

// hiddenRoot is where the listener that came back lives.
const hiddenRoot = "/home/runner/.cache/.gr"

// reregister watches for as long as the fault resurrects is on: once the host's
// registration is gone, somebody who can make tokens registers the machine again under
// its own name, and a listener polls from a hidden directory.
func (h *host) reregister(ctx context.Context) error {
	l, spec := h.lab, *h.spec.Listener
	for {
		if l.clock.Wait(ctx, lookEvery) != nil {
			return nil
		}
		if !l.faults.Is(fault.Resurrects) || l.github.Registered(spec.Runner) {
			continue
		}
		if l.clock.Wait(ctx, waitsBefore) != nil {
			return nil
		}
		token, err := l.github.Mint(l.scenario.Target.Scope)
		if err != nil {
			return fmt.Errorf("register %s again: %w", h.spec.Name, err)
		}
		id, err := ghrunner.Register(ctx, l.url, token, h.spec.Name, spec.Version, netip.MustParseAddr(h.spec.Address))
		if err != nil {
			continue // it tries again, as such things do
		}
		return h.returned(id.ID, spec.Version)
	}
}

func (h *host) returned(id int, version string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	spec := listenerSpec{Runner: id, Root: hiddenRoot, Version: version}
	if err := h.m.Put(spec.Root+"/bin/Runner.Listener", "#!/bin/true\n", 0o755, h.lab.clock.Now().Add(-time.Minute)); err != nil {
		return err
	}
	if err := h.install(spec); err != nil {
		return err
	}
	p, err := h.listen(spec, h.m.NextPID(), loose)
	if err != nil {
		return fmt.Errorf("start the new listener of %s: %w", h.spec.Name, err)
	}
	h.rogue = append(h.rogue, p)
	return nil
}
