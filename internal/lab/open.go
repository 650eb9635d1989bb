package lab

import (
	"context"
	"fmt"
	"maps"
	"net"
	"os"
	"text/template"
	"time"

	"golang.org/x/crypto/ssh"

	"cordon/internal/lab/fault"
	"cordon/internal/lab/machine"
	"cordon/internal/lab/runner"
	"cordon/internal/lab/sshd"
)

// runnerUID is the account that runs jobs where the scenario names no other.
const runnerUID = 998

// openHost builds the tree of a host and opens its SSH address.
func (l *lab) openHost(spec hostSpec, a *access) error {
	h := &host{lab: l, spec: spec, uid: runnerUID, exits: map[string]int{}}
	if spec.UID != 0 {
		h.uid = spec.UID
	}
	var err error
	if l.gitlab != nil {
		if h.token, err = l.gitlab.RunnerToken(spec.Agent.Token); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(l.path("hosts"), 0o700); err != nil {
		return err
	}
	h.m, err = machine.New(l.path("hosts/"+spec.Name), l.scenario.manifests[spec.Name], machine.Vars{
		Host: spec.Name, Address: spec.Address, GitLab: l.url, GitHub: l.url, Start: l.clock.Start,
		Funcs: func(where string) template.FuncMap { return l.functions(spec.Name + ":" + where) },
	}, l.seed)
	if err != nil {
		return err
	}
	if spec.Listener != nil {
		if err := h.install(*spec.Listener); err != nil {
			return err
		}
	}
	key, _, err := newKey()
	if err != nil {
		return fmt.Errorf("make a host key: %w", err)
	}
	s, err := l.listen(spec.Address + ":0")
	if err != nil {
		return err
	}
	a.host(spec.Name, s.Addr(), key.PublicKey())
	l.hosts = append(l.hosts, h)
	l.group.Go(func() error { return h.door(s, key) })
	return nil
}

// door serves the host's SSH address. Under the fault host-gone the scenario's host
// has nobody there; without it the address comes back.
func (h *host) door(s net.Listener, key ssh.Signer) error {
	l := h.lab
	addr := s.Addr().String()
	moved := make(chan struct{}, 1)
	l.faults.OnChange(func(string) {
		select {
		case moved <- struct{}{}:
		default:
		}
	})
	gone := func() bool { return h.spec.Name == l.scenario.Target.Host && l.faults.Is(fault.HostGone) }
	for l.ctx.Err() == nil {
		if gone() {
			if s != nil {
				s.Close()
				s = nil
			}
			select {
			case <-moved:
			case <-l.ctx.Done():
			}
			continue
		}
		if s == nil {
			var err error
			if s, err = l.listen(addr); err != nil {
				return err
			}
		}
		if err := h.until(s, key, moved, gone); err != nil {
			return err
		}
		s = nil
	}
	return nil
}

// until serves s as long as the host is there.
func (h *host) until(s net.Listener, key ssh.Signer, moved <-chan struct{}, gone func() bool) error {
	ctx, cancel := context.WithCancel(h.lab.ctx)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- sshd.Serve(ctx, s, h.sshd(key)) }()
	for {
		select {
		case err := <-done:
			return err
		case <-moved:
			if gone() {
				cancel()
				return <-done
			}
		}
	}
}

func (h *host) sshd(key ssh.Signer) sshd.Options {
	return sshd.Options{
		Name: h.spec.Name, Root: h.m.Root(), Client: h.lab.client, HostKey: key, Scripts: h.lab.scripts,
		Ledger: h.lab.ledger, Faults: h.lab.faults, Unit: h,
		Before: func() error { return h.m.Tick(h.lab.clock.Now()) },
	}
}

// functions are what a manifest's templates may call; what they give is planted.
func (l *lab) functions(where string) template.FuncMap {
	all := template.FuncMap{
		"secret": func(shape, name string) (string, error) { return l.vault.Get(shape, name, where) },
		"public": l.vault.Public,
		"ago": func(d string) (string, error) {
			n, err := time.ParseDuration(d)
			return l.clock.Start.Add(-n).UTC().Format(time.RFC3339), err
		},
	}
	if l.gitlab != nil {
		maps.Copy(all, l.gitlabFunctions(where))
	}
	return all
}

// gitlabFunctions are those that only a GitLab's hosts have a use for.
func (l *lab) gitlabFunctions(where string) template.FuncMap {
	return template.FuncMap{
		"runnerToken": func(name string) (string, error) {
			v, err := l.gitlab.RunnerToken(name)
			if err != nil {
				return "", err
			}
			return v, l.vault.Note(where, v)
		},
		"short": func(name string) (string, error) {
			v, err := l.gitlab.RunnerToken(name)
			return runner.Short(v), err
		},
		"registration": func() (string, error) {
			return l.gitlab.RegistrationToken(), l.vault.Note(where, l.gitlab.RegistrationToken())
		},
	}
}
