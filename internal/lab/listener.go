package lab

import (
	"fmt"
	"net/netip"
	"os"
	"path"
	"time"

	"cordon/internal/lab/fault"
	"cordon/internal/lab/ghrunner"
	"cordon/internal/lab/machine"
)

// listenerSpec is a GitHub runner on a host: where it is and who it is.
type listenerSpec struct {
	Runner  int       `yaml:"runner"` // number of its registration
	Root    string    `yaml:"root"`
	Version string    `yaml:"version"`
	PID     int       `yaml:"pid"`
	Hidden  []pastJob `yaml:"hidden_jobs"` // that only its logs tell of
}

// pastJob is a job that ran before the lab began.
type pastJob struct {
	Repo  string        `yaml:"repo"`
	Name  string        `yaml:"name"`
	Run   string        `yaml:"run"`
	Ref   string        `yaml:"ref"`
	Actor string        `yaml:"actor"`
	Event string        `yaml:"event"`
	Ago   time.Duration `yaml:"ago"`
	Takes time.Duration `yaml:"takes"`
}

// Ways in which a listener is started.
const (
	inUnit = "unit"  // runsvc.sh, node and the listener below it
	loose  = "loose" // nohup, from a shell that is gone
)

// version is what the fault makes of a listener's age.
func (h *host) version(spec listenerSpec) string {
	switch {
	case h.spec.Name != h.lab.scenario.Target.Host || h.spec.Listener == nil || spec.Root != h.spec.Listener.Root:
	case h.lab.faults.Is(fault.OldListener):
		return "2.317.0"
	case h.lab.faults.Is(fault.NewListener):
		return "2.336.0"
	}
	return spec.Version
}

// install writes what makes the root a runner: who it is, and the traces of its jobs.
func (h *host) install(spec listenerSpec) error {
	id, err := h.lab.github.Identity(spec.Runner, h.lab.url)
	if err != nil {
		return fmt.Errorf("listener of %s: %w", h.spec.Name, err)
	}
	where := h.spec.Name + ":" + spec.Root + "/.credentials_rsaparams"
	key := ghrunner.Key{D: id.Key, Exponent: "AQAB", Modulus: modulus(id.ClientID)}
	for name, to := range map[string]*string{"dp": &key.DP, "dq": &key.DQ, "inverseQ": &key.InverseQ, "p": &key.P, "q": &key.Q} {
		if *to, err = h.lab.vault.Get("rsaparam", fmt.Sprintf("github-runner-%d-%s", spec.Runner, name), where); err != nil {
			return err
		}
	}
	if err := h.lab.vault.Note(where, key.D); err != nil {
		return err
	}
	files, err := ghrunner.Identity{
		ID: id.ID, Name: id.Name, Pool: id.Pool, Base: h.lab.url, Web: id.Web, ClientID: id.ClientID, Key: key,
	}.Files()
	if err != nil {
		return err
	}
	for _, f := range files {
		if err := h.m.Put(path.Join(spec.Root, f.Name), f.Text, f.Mode, h.lab.clock.Start.Add(-600*time.Hour)); err != nil {
			return err
		}
	}
	return h.traces(spec, id.Name)
}

// listen starts a listener as processes of the host.
func (h *host) listen(spec listenerSpec, pid int, how string) (proc, error) {
	l := &listenerProc{onHost: h.holding(0), root: spec.Root}
	now := h.lab.clock.Now()
	if err := os.MkdirAll(h.m.Path(path.Join(spec.Root, "_diag")), 0o755); err != nil {
		return nil, err
	}
	env := []string{"HOME=" + path.Dir(spec.Root), "LANG=C.UTF-8", "PATH=/usr/local/bin:/usr/bin:/bin"}
	args := []string{spec.Root + "/bin/Runner.Listener", "run"}
	p := machine.Process{PPID: 1, UID: h.uid, Cwd: spec.Root, Env: env, Started: now, Cgroup: "/system.slice/" + h.spec.Unit}
	if how == inUnit {
		first, second := p, p
		first.PID, first.Comm, first.Exe, first.Args = pid, "runsvc.sh", "/usr/bin/bash", []string{"/bin/bash", spec.Root + "/runsvc.sh"}
		second.PID, second.PPID, second.Comm, second.Exe = pid+3, pid, "node", spec.Root+"/externals/node20/bin/node"
		second.Args = []string{"./externals/node20/bin/node", "./bin/RunnerService.js"}
		for _, x := range []machine.Process{first, second} {
			if err := h.m.Spawn(x); err != nil {
				return nil, err
			}
			l.with = append(l.with, x.PID)
		}
		p.PID, p.PPID, args = pid+9, second.PID, append(args, "--startuptype", "service")
	} else {
		p.PID, p.Cgroup = pid, fmt.Sprintf("/user.slice/user-%d.slice/session-3.scope", h.uid)
		p.Env = append(p.Env, "RUNNER_ALLOW_RUNASROOT=1")
		l.out = path.Join(spec.Root, "nohup.out")
	}
	p.Comm, p.Exe, p.Args = "Runner.Listener", spec.Root+"/bin/Runner.Listener", args
	if err := h.m.Spawn(p); err != nil {
		return nil, err
	}
	l.pid, l.diag = p.PID, path.Join(spec.Root, "_diag", ghrunner.LogName("Runner", now))
	l.listener = ghrunner.New(ghrunner.Config{
		Dir: h.m.Path(spec.Root), Version: h.version(spec), Machine: h.spec.Name, PID: p.PID, From: netip.MustParseAddr(h.spec.Address), Clock: h.lab.clock,
	}, l)
	l.launch()
	return l, nil
}

// again starts the unit's listener outside its unit.
func (h *host) again() error {
	p, err := h.listen(*h.spec.Listener, h.m.NextPID(), loose)
	if err != nil {
		return fmt.Errorf("start the listener of %s again: %w", h.spec.Name, err)
	}
	h.rogue = append(h.rogue, p)
	h.lab.ledger.Effect("host.respawn", "lab", h.target(h.spec.Unit), fmt.Sprintf("pid %d", p.number()))
	return nil
}

// watchRogue brings the second listener up once the fault asks for it. Nobody takes it
// down again but who ends it on the host.
func (h *host) watchRogue() {
	begin := func(name string) {
		if name == fault.Rogue {
			h.lab.must(h.goRogue())
		}
	}
	h.lab.faults.OnChange(begin)
	begin(h.lab.faults.Name())
}

// goRogue puts a runner of another account where worms put it, and starts it.
func (h *host) goRogue() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	spec := *h.spec.Rogue
	if len(h.rogue) > 0 {
		return nil
	}
	for name, text := range map[string]string{"run.sh": "#!/bin/sh\n/bin/true\n", "bin/Runner.Listener": "#!/bin/true\n"} {
		if err := h.m.Put(path.Join(spec.Root, name), text, 0o755, h.lab.clock.Start.Add(-25*time.Hour)); err != nil {
			return err
		}
	}
	if err := h.install(spec); err != nil {
		return err
	}
	p, err := h.listen(spec, spec.PID, loose)
	if err != nil {
		return fmt.Errorf("start the rogue of %s: %w", h.spec.Name, err)
	}
	h.rogue = append(h.rogue, p)
	h.lab.ledger.Effect("host.rogue", "lab", h.target(spec.Root), fmt.Sprintf("pid %d", p.number()))
	return nil
}
