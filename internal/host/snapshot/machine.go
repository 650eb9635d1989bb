package snapshot

import (
	"encoding/hex"
	"net/netip"
	"path"
	"regexp"
	"slices"
	"strings"

	"cordon/internal/untrusted"
)

// Caps of what a machine says of itself.
const (
	maxMachine   = 64 << 10 // bytes of one value
	maxCards     = 256
	maxAddresses = 512
)

// machine takes the values of the section ident that say where this machine is: the
// fields of a manifest of evidence (facts/host.md §3.4).
func (p *parser) machine(key, v string) {
	id := &p.s.Ident
	switch key {
	case "cards":
		for line := range strings.Lines(v) {
			name, mac, _ := strings.Cut(strings.TrimSpace(line), " ")
			if hardware.MatchString(mac) && strings.Trim(mac, "0:") != "" && len(id.Cards) < maxCards {
				id.Cards = append(id.Cards, Card{Name: p.text(name, 64), MAC: mac})
			}
		}
	case "inet":
		for line := range strings.Lines(v) {
			p.address(strings.TrimSpace(line))
		}
	case "inet6":
		for line := range strings.Lines(v) { // address, index, prefix, scope, flags, interface
			word, _, _ := strings.Cut(line, " ")
			if b, err := hex.DecodeString(word); err == nil && len(b) == 16 {
				p.address(netip.AddrFrom16([16]byte(b)).String())
			}
		}
	case "within":
		id.Within = p.text(within(v), 300)
	case "localtime", "timezone":
		p.zone(key, v)
	}
}

// hardware is an address as /sys/class/net shows it; InfiniBand's have twenty bytes.
var hardware = regexp.MustCompile(`^[0-9a-f]{2}(:[0-9a-f]{2}){0,31}$`)

// address notes one address that another machine could know this one by.
func (p *parser) address(s string) {
	a, err := netip.ParseAddr(s)
	if err != nil || a.IsLoopback() || a.IsUnspecified() || a.Zone() != "" {
		return
	}
	id := &p.s.Ident
	if at, there := slices.BinarySearch(id.Addresses, a.String()); !there && len(id.Addresses) < maxAddresses {
		id.Addresses = slices.Insert(id.Addresses, at, a.String())
	}
}

// zone takes what the C library follows first; what Debian writes beside it counts where
// that is no link.
func (p *parser) zone(key, v string) {
	id := &p.s.Ident
	how, link, _ := strings.Cut(v, " ")
	switch {
	case key == "timezone" && id.Zone != "" && !strings.HasPrefix(string(id.Zone), "not named"):
	case key == "timezone":
		id.Zone = p.text(strings.TrimSpace(v), 100)
	case how == "link":
		if _, name, ok := strings.Cut(path.Clean(link), "zoneinfo/"); ok {
			link = name
		}
		id.Zone = p.text(link, 100)
	case how == "file":
		id.Zone = "not named: /etc/localtime is a file"
	case how == "none":
		id.Zone = "not named: there is no /etc/localtime, which means UTC"
	}
}

// makers are words in what the firmware says of a virtual machine, and what that is.
var makers = []struct{ word, kind string }{
	{"amazon ec2", "Amazon EC2"},
	{"google", "Google Compute Engine"},
	{"vmware", "VMware"},
	{"innotek", "VirtualBox"},
	{"virtualbox", "VirtualBox"},
	{"xen", "Xen"},
	{"parallels", "Parallels"},
	{"bhyve", "bhyve"},
	{"openstack", "OpenStack"},
	{"digitalocean", "DigitalOcean"},
	{"hetzner", "Hetzner"},
	{"alibaba", "Alibaba Cloud"},
	{"apple virtualization", "Apple Virtualization"},
	{"virtual machine", "Hyper-V"},
	{"qemu", "QEMU"},
	{"kvm", "KVM"},
}

// boxes are words in a control group, and what puts processes into such.
var boxes = []struct{ word, kind string }{
	{"kubepods", "Kubernetes"}, {"libpod", "podman"}, {"docker", "docker"}, {"lxc", "lxc"}, {"machine.slice", "machine.slice"}, {"containerd", "containerd"},
}

// within says in words what a machine runs in, by the signs that its collector found:
// the container first, and then the machine that carries it.
func within(signs string) string {
	var box, machine, firmware []string
	add := func(list *[]string, kind string) {
		if kind = strings.TrimSpace(kind); kind != "" && !slices.Contains(*list, kind) && len(*list) < 4 {
			*list = append(*list, kind)
		}
	}
	virtual := false
	for line := range strings.Lines(signs) {
		key, v, _ := strings.Cut(strings.TrimSpace(line), " ")
		low := strings.ToLower(v)
		switch key {
		case "sys_vendor", "product_name", "board_vendor", "bios_vendor":
			for _, m := range makers {
				if strings.Contains(low, m.word) {
					add(&machine, m.kind)
					break
				}
			}
			if key != "bios_vendor" && key != "board_vendor" {
				add(&firmware, cutTo(v, 60))
			}
		case "hypervisor":
			add(&machine, cutTo(v, 40))
		case "cpu":
			virtual = true
		case "kernel":
			if strings.Contains(low, "microsoft") {
				add(&machine, "WSL")
			}
		case "manager":
			add(&box, cutTo(v, 40))
		case "there":
			switch v {
			case "/.dockerenv":
				add(&box, "docker")
			case "/run/.containerenv":
				add(&box, "podman")
			case "/proc/vz":
				if !strings.Contains(signs, "there /proc/bc\n") {
					add(&box, "OpenVZ")
				}
			}
		case "cgroup":
			for _, b := range boxes {
				if strings.Contains(low, b.word) {
					add(&box, b.kind)
					break
				}
			}
		}
	}
	var out []string
	if len(box) > 0 {
		out = append(out, "container ("+strings.Join(box, ", ")+")")
	}
	switch {
	case len(machine) > 0:
		out = append(out, "virtual machine ("+strings.Join(machine, ", ")+")")
	case virtual:
		out = append(out, "virtual machine (its processor says so)")
	case len(firmware) > 0:
		out = append(out, "no sign of a hypervisor")
	case len(box) == 0:
		out = append(out, "no sign of a container, and no firmware that says what the machine is")
	}
	if len(firmware) > 0 {
		out = append(out, "firmware says "+strings.Join(firmware, ", "))
	}
	return untrusted.Clean(strings.Join(out, "; "), 300)
}
