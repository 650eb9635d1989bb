package host

import (
	"errors"
	"testing"

	"cordon/internal/host/snapshot"
)

// A child may leave the group that is killed, and keep the pipes.
func TestAChildThatLeavesItsGroupHoldsNothingUp(t *testing.T) {
	h := New(map[string]Host{"pod": {Exec: []string{"/bin/sh", "-c", "setsid sleep 7 & exit 0"}}}, Options{Timeouts: fast})
	if _, err := h.Read(t.Context(), "pod", snapshot.ProfileWatch); !errors.Is(err, ErrSilent) {
		t.Error(err)
	}
}

func TestAProxyThatLeavesItsGroupHoldsNothingUp(t *testing.T) {
	p := newPair(t)
	p.config = `
Host build-07
  HostName 127.0.0.1
  ProxyCommand sh -c 'setsid sleep 7 & setsid sleep 7'
  IdentityFile ` + p.inner.host.Key + `
  IdentityAgent none
  UserKnownHostsFile {dir}/known_hosts
`
	if _, err := p.hosts(t, Options{Timeouts: fast}).Read(t.Context(), "build-07", snapshot.ProfileWatch); !errors.Is(err, ErrSilent) {
		t.Error(err)
	}
}
