package config

import (
	"net"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/adrg/xdg"
)

// Host is one machine, and how it is reached: over SSH unless exec or local says otherwise.
type Host struct {
	Address    string `yaml:"address"`     // HOST or HOST:PORT; absent: the host's name. Always HOST:PORT after Load.
	User       string `yaml:"user"`        // absent: as the SSH configuration says
	Key        string `yaml:"key"`         // private key file; with agent: a public key file or SHA256: fingerprint
	Agent      bool   `yaml:"agent"`       // use the SSH agent's keys
	KnownHosts string `yaml:"known_hosts"` // absent: as the SSH configuration says, else ~/.ssh/known_hosts
	Reread     bool   `yaml:"reread"`      // over SSH, read a handful of files a second time by SFTP

	Exec  []string `yaml:"exec"`  // program and arguments that lead to a shell there, never through one: [kubectl, exec, -i, POD, --, /bin/sh, -s]
	Local bool     `yaml:"local"` // the machine that cordon runs on

	Sudo bool   `yaml:"sudo"` // read and act as root through sudo -n
	Unit string `yaml:"unit"` // the agent's unit; absent: gitlab-runner.service

	// Ask are arguments of ssh -G, whose answer completes what the file leaves out; empty
	// where the file gives address, user and key, or the host is not reached over SSH.
	Ask []string `yaml:"-"`
}

// OverSSH reports whether the host is logged in to.
func (h Host) OverSSH() bool { return len(h.Exec) == 0 && !h.Local }

func (v *validator) host(name string, h *Host) {
	here := at("hosts", name)
	given := h.Address != ""
	if !given {
		h.Address = name
	}
	host, port, err := net.SplitHostPort(h.Address)
	ported := err == nil
	if err != nil {
		host, port = strings.Trim(h.Address, "[]"), "22"
	}
	if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 || !hostForm.MatchString(host) && net.ParseIP(host) == nil {
		v.add(append(here, "address"), "write HOST, HOST:PORT or [IPV6]:PORT", "not an address")
	}
	h.Address = net.JoinHostPort(host, port)
	if h.User != "" && !userForm.MatchString(h.User) {
		v.add(append(here, "user"), "", "not a user name")
	}
	if h.Unit == "" {
		h.Unit = DefaultUnit
	}
	if !unitForm.MatchString(h.Unit) {
		v.add(append(here, "unit"), "write NAME.service", "not a service unit")
	}
	if !h.OverSSH() {
		v.notSSH(here, *h)
		return
	}
	if h.OverSSH() && (!given || h.User == "" || h.Key == "" && !h.Agent) {
		h.Ask = ask(host, port, ported, h.User)
	}
	if h.Key != "" && h.Agent && !named(h.Key) {
		v.add(here, "keep one of them, or name the agent's key by its .pub file or SHA256: fingerprint", "both key and agent")
	}
	if !strings.HasPrefix(h.Key, "SHA256:") {
		v.path(&h.Key)
	}
	if v.path(&h.KnownHosts); h.KnownHosts == "" && len(h.Ask) == 0 {
		h.KnownHosts = filepath.Join(xdg.Home, ".ssh", "known_hosts")
	}
}

// ask are the arguments of ssh -G that mean the same as the file does.
func ask(host, port string, ported bool, user string) []string {
	var out []string
	if ported {
		out = append(out, "-p", port)
	}
	if user != "" {
		out = append(out, "-l", user)
	}
	return append(out, "--", host)
}

// named reports whether key names one of an agent's keys rather than a private key file.
func named(key string) bool {
	return strings.HasPrefix(key, "SHA256:") || strings.HasSuffix(key, ".pub")
}

// notSSH checks a host that is reached by a program or is this machine.
func (v *validator) notSSH(here []string, h Host) {
	switch {
	case len(h.Exec) > 0 && h.Local:
		v.add(here, "keep one of them", "both exec and local")
	case h.User != "" || h.Key != "" || h.Agent || h.KnownHosts != "" || h.Reread:
		v.add(here, "leave out user, key, agent, known_hosts and reread", "they belong to SSH, which exec and local take the place of")
	case len(h.Exec) > 0 && h.Sudo:
		v.add(append(here, "sudo"), "put it into exec: […, sudo, -n, /bin/sh, -s]", "sudo with exec")
	}
	if len(h.Exec) > 0 && (!runnable(h.Exec) || slices.Contains(h.Exec, "")) {
		v.add(append(here, "exec"), "write exec: [kubectl, exec, -i, POD, --, /bin/sh, -s]", "no program with arguments")
	}
}
