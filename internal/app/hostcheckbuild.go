package app

import (
	"context"
	"os"
	"path/filepath"

	"cordon/internal/config"
	"cordon/internal/host"
	"cordon/internal/redact"
	"cordon/internal/target"
)

// acceptedKeys is the known_hosts file of the keys that were accepted here.
func (a *App) acceptedKeys() string { return filepath.Join(a.state, "known_hosts") }

// ssh adds the hosts.
func (a *App) ssh(s *systems, m redact.Marker) {
	hs := map[string]host.Host{}
	for name, h := range a.cfg.Hosts {
		hs[name] = hostOf(name, h)
	}
	o := host.Options{Clock: a.clock, Marker: m, Accepted: a.acceptedKeys()}
	if a.o.Ask != nil {
		o.Ask = func(ctx context.Context, question string, _ bool) (string, error) {
			said, err := a.ask(ctx, question)
			if err != nil {
				return "", err
			}
			return said.Reveal(), nil
		}
	}
	hosts := host.New(hs, o)
	s.hosts = hosts
	s.all[target.SSH] = hosts
	if s.appliers != nil {
		s.appliers[target.SSH] = host.NewApplier(hosts)
	}
}

// hostOf is a configured host as internal/host wants it.
func hostOf(name string, h config.Host) host.Host {
	x := host.Host{
		Name: name, Ask: h.Ask, User: h.User, Key: h.Key, KnownHosts: h.KnownHosts, Reread: h.Reread,
		Exec: h.Exec, Local: h.Local, Sudo: h.Sudo, Unit: h.Unit,
	}
	if h.OverSSH() {
		x.Address = h.Address
	}
	if h.Agent {
		x.AgentSock = os.Getenv("SSH_AUTH_SOCK")
	}
	return x
}
