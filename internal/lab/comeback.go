package lab

import (
	"context"
	"fmt"
	"net/http"
	"net/netip"
	"os"
	"time"

	"cordon/internal/lab/fault"
	"cordon/internal/lab/machine"
	"cordon/internal/lab/runner"
)

// respawn is the fault keeps-polling, and what old-listener and new-listener begin with:
// somebody on the host starts the agent again outside its unit. A gitlab-runner is
// patched to ignore its back-off; a GitHub listener needs no patch.
func (h *host) respawn() error {
	if h.spec.Listener != nil {
		return h.again()
	}
	p := h.process(h.m.NextPID())
	p.Cgroup = "/system.slice/cron.service"
	c := h.config()
	c.Defiant = true
	a, err := h.start(p, c)
	if err != nil {
		return fmt.Errorf("start the agent of %s again: %w", h.spec.Name, err)
	}
	h.rogue = append(h.rogue, a)
	h.lab.ledger.Effect("host.respawn", "lab", h.target(h.spec.Unit), fmt.Sprintf("pid %d", a.pid))
	return nil
}

// How patient the thing is that brings a runner back, in lab time.
const (
	lookEvery   = time.Minute
	waitsBefore = 2 * time.Minute
)

// hidden is where the agent that came back has its configuration.
const hidden = "/home/gitlab-runner/.cache/.gr/config.toml"

// resurrect watches for as long as the fault is on: once the host's token is refused,
// it registers anew with the registration token and polls under the new identity.
func (h *host) resurrect(ctx context.Context) error {
	probe := runner.New(h.config(), nobody{})
	for {
		if h.lab.clock.Wait(ctx, lookEvery) != nil {
			return nil
		}
		if !h.lab.faults.Is(fault.Resurrects) {
			continue
		}
		status, err := probe.Verify(ctx)
		if err != nil || status != http.StatusForbidden {
			continue
		}
		if h.lab.clock.Wait(ctx, waitsBefore) != nil {
			return nil
		}
		c := h.config()
		id, status, err := runner.Register(ctx, c, h.lab.gitlab.RegistrationToken())
		if err != nil || status != http.StatusCreated {
			continue // it tries again, as such things do
		}
		return h.comeBack(c, id)
	}
}

func (h *host) comeBack(c runner.Config, id runner.Identity) error {
	c.Token = id.Token
	text := fmt.Sprintf("concurrent = 1\n[[runners]]\n  name = %q\n  url = %q\n  id = %d\n  token = %q\n  executor = \"shell\"\n", c.Name, c.URL, id.ID, id.Token)
	full := h.m.Path(hidden)
	if err := os.MkdirAll(h.m.Path("/home/gitlab-runner/.cache/.gr"), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(full, []byte(text), 0o600); err != nil {
		return err
	}
	h.lab.plant(h.spec.Name+":"+hidden, []string{id.Token})

	h.mu.Lock()
	defer h.mu.Unlock()
	p := machine.Process{
		PID: h.m.NextPID(), PPID: 1, UID: h.uid, Comm: "gitlab-runner", Exe: "/usr/bin/gitlab-runner", Cwd: "/home/gitlab-runner",
		Args: []string{"gitlab-runner", "run", "--config", hidden}, Cgroup: "/system.slice/cron.service",
	}
	a, err := h.start(p, c)
	if err != nil {
		return fmt.Errorf("start the new agent of %s: %w", h.spec.Name, err)
	}
	h.rogue = append(h.rogue, a)
	return nil
}

// nobody is a host on which nothing shows.
type nobody struct{}

func (nobody) Log([]byte)                      {}
func (nobody) Connected(_, _ netip.AddrPort)   {}
func (nobody) Disconnected(netip.AddrPort)     {}
func (nobody) JobStarted(id int, env []string) {}
func (nobody) JobEnded(int)                    {}
