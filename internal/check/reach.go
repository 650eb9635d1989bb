package check

import (
	"net/netip"
	"path"
	"slices"
	"strings"

	"cordon/internal/host/snapshot"
	"cordon/internal/untrusted"
)

func reachCheck() Check {
	return Check{
		ID:     "reach",
		Title:  "Where this host can go next",
		Why:    "Known hosts, clusters, agents of somebody's keys and open SSH connections are an intruder's map of what to look at next.",
		Reads:  "known_hosts, kubeconfigs by place, sockets of ssh-agent in /tmp, connections to port 22",
		Root:   "homes of other users",
		Needs:  []string{snapshot.SectionHomes, snapshot.SectionNet},
		Attack: []string{"T1021.004", "T1563.001"},
		NIST:   []string{"AC-4", "SC-7"},
		look:   (*view).reaches,
	}
}

func (v *view) reaches() []Finding {
	var out []Finding
	add := func(s Severity, where untrusted.Text, evidence []string, title, format string, args ...any) {
		out = append(out, Finding{Severity: s, Title: title, Where: where, Detail: text(format, args...), Evidence: evidence})
	}
	v.each(func(p string, f *snapshot.File) {
		switch {
		case strings.HasSuffix(p, "/.ssh/known_hosts"):
			n, names := 0, []string{}
			for line := range strings.Lines(string(f.Content)) {
				name, _, _ := strings.Cut(strings.TrimSpace(line), " ")
				if name == "" || name[0] == '#' {
					continue
				}
				n++
				if name[0] != '|' && len(names) < 10 {
					names = append(names, quote(name))
				}
			}
			if n > 0 {
				add(Info, f.Path, evidenceFile(f), "hosts that this account went to", "%d entries. %s", n, strings.Join(names, ", "))
			}
		case strings.HasSuffix(p, "/.kube/config") && f.Type == "file":
			add(Info, f.Path, evidenceFile(f), "a cluster that this account can go to", "Whoever reads it has the account's rights there.")
		case strings.HasPrefix(p, "/tmp/ssh-") && f.Type != "dir":
			name, jobs := v.runnerUID(f.UID)
			s := Info
			if jobs {
				s = Medium
			}
			add(s, f.Path, evidenceFile(f), "an agent with somebody's keys", "uid %d %s: whoever reaches the socket logs in elsewhere with the keys behind it.", f.UID, quote(name))
		}
	})
	for _, k := range v.s.Sockets {
		if _, port, ok := cutPort(k.Remote); ok && port == "22" && k.State == "ESTABLISHED" && !loopback(k.Remote) {
			add(Info, untrusted.Text(k.Remote), []string{"sockets:" + untrusted.Clean(k.Proto+" "+k.Local+" "+k.Remote, 160)}, "an SSH connection to another host", "Process %d holds it, as uid %d.", k.PID, k.UID)
		}
	}
	return out
}

func metadataCheck() Check {
	return Check{
		ID:     "cloud-metadata",
		Title:  "Whether jobs can reach the cloud's metadata",
		Why:    "The metadata service hands the machine's own credentials to whoever asks from it. It is never asked here: a request would show.",
		Reads:  "/proc/net/route, /sys/class/dmi/id/sys_vendor; firewalls are not read",
		live:   true,
		Needs:  []string{snapshot.SectionKernel},
		Attack: []string{"T1552.005"},
		NIST:   []string{"SC-7", "AC-4"},
		look:   (*view).metadata,
	}
}

// clouds are vendors whose machines have a metadata service on 169.254.169.254.
var clouds = []string{"Amazon EC2", "Google", "Microsoft Corporation", "DigitalOcean", "Hetzner", "OpenStack", "Alibaba Cloud", "Oracle", "Vultr", "Scaleway", "Akamai", "Linode"}

func (v *view) metadata() []Finding {
	vendor, _ := v.s.Fact("vendor")
	vendor = strings.TrimSpace(vendor)
	table, _ := v.s.Fact("route")
	how := ""
	for line := range strings.Lines(table) {
		f := strings.Fields(line)
		if len(f) < 8 || f[0] == "Iface" {
			continue
		}
		dest, err1 := routeWord(f[1])
		mask, err2 := routeWord(f[7])
		if err1 || err2 {
			continue
		}
		md := [4]byte{169, 254, 169, 254}
		hit := true
		for i := range md {
			hit = hit && md[i]&mask[i] == dest[i]
		}
		if hit && (how == "" || mask != [4]byte{}) {
			how = quote(f[0])
			if mask != [4]byte{} {
				how += ", by a route of its own"
			}
		}
	}
	if how == "" || !slices.Contains(clouds, vendor) && !strings.Contains(how, "own") {
		return nil
	}
	return []Finding{{
		Severity: Info, Title: "a route leads to the cloud's metadata", Where: "169.254.169.254", Evidence: []string{"facts:route"},
		Detail: text("Machine of %q, through %s. Unless a firewall or the cloud's hop limit stops them, jobs get the machine's credentials. Ask the cloud which role it has; nothing was asked from here.", quote(vendor), how),
	}}
}

// routeWord reads a little-endian hexadecimal address of /proc/net/route.
func routeWord(s string) (out [4]byte, bad bool) {
	if len(s) != 8 {
		return out, true
	}
	for i := range 4 {
		n := 0
		for _, c := range s[6-2*i : 8-2*i] {
			d := strings.IndexRune("0123456789ABCDEF", c)
			if d < 0 {
				return out, true
			}
			n = n*16 + d
		}
		out[i] = byte(n)
	}
	return out, false
}

func ageCheck() Check {
	return Check{
		ID:     "host-age",
		Title:  "How old this host is",
		Why:    "What a job left behind lives as long as the machine. A runner that is made anew from its image has less of it; an image that is old has more holes.",
		Reads:  "times of base-files' list, /etc/machine-id, SSH host keys, the boot",
		Needs:  []string{snapshot.SectionSystem, snapshot.SectionIdent},
		Attack: []string{"T1525"},
		NIST:   []string{"CM-2", "SI-2"},
		look:   (*view).age,
	}
}

func (v *view) age() []Finding {
	var said []string
	say := func(what string, p string) {
		if f := v.files[p]; f != nil && !f.Mtime.IsZero() {
			said = append(said, what+" "+f.Mtime.Format("2006-01-02"))
		}
	}
	say("its image or installation", "/var/lib/dpkg/info/base-files.list")
	say("its machine id", "/etc/machine-id")
	v.each(func(p string, f *snapshot.File) {
		if path.Dir(p) == "/etc/ssh" && strings.HasSuffix(p, "ed25519_key.pub") {
			say("its host key", p)
		}
	})
	if len(said) == 0 {
		return nil
	}
	if !v.s.Ident.BootTime.IsZero() {
		said = append(said, "booted "+v.s.Ident.BootTime.Format("2006-01-02"))
	}
	return []Finding{{
		Severity: Info, Title: "since when this host stands", Where: untrusted.Text(v.s.Host), Evidence: []string{"files:/etc/machine-id"},
		Detail: text("%s. What jobs left since then is still here; rebuild from an image that no job has touched.", strings.Join(said, ", ")),
	}}
}

func destinationsCheck() Check {
	return Check{
		ID:     "destinations",
		Title:  "Which addresses jobs talk to",
		Why:    "What leaves the runner for an address that nobody knows may be your secrets.",
		Reads:  "connections of processes of the jobs' accounts, held against private networks and your own allow-list",
		Root:   "whose a connection is",
		live:   true,
		Needs:  []string{snapshot.SectionNet, snapshot.SectionProc, snapshot.SectionDetail, snapshot.SectionKeys},
		Attack: []string{"T1041", "T1071"},
		NIST:   []string{"SC-7", "AC-4"},
		look:   (*view).destinations,
	}
}

// destinations lists public addresses of the jobs. Without an own allow-list nobody
// can say which are wrong, and the list is a note.
func (v *view) destinations() []Finding {
	var out []Finding
	seen := map[string]bool{}
	for _, k := range v.s.Sockets {
		name, jobs := v.runnerUID(k.UID)
		host, port, ok := cutPort(k.Remote)
		ip, err := netip.ParseAddr(host)
		if !ok || err != nil || !jobs || k.State != "ESTABLISHED" && k.State != "SYN_SENT" || seen[k.Remote] {
			continue
		}
		ip = ip.Unmap()
		if ip.IsLoopback() || ip.IsPrivate() || ip.IsLinkLocalUnicast() || ip.IsUnspecified() || v.agents[k.PID] != "" || v.allowed(ip) {
			continue
		}
		seen[k.Remote] = true
		s, words := Info, "no allow-list was given, so that nobody can say whether it should"
		if v.allow != nil {
			s, words = Medium, "it is on no allow-list"
		}
		out = append(out, Finding{
			Severity: s, Title: "a job talks to a public address", Where: untrusted.Text(k.Remote), Evidence: []string{"sockets:" + untrusted.Clean(k.Proto+" "+k.Local+" "+k.Remote, 160)},
			Detail: text("%s, the account of the jobs (process %d), to port %s: %s.", quote(name), k.PID, quote(port), words),
		})
	}
	return out
}

func (v *view) allowed(ip netip.Addr) bool {
	return slices.ContainsFunc(v.allow, func(p netip.Prefix) bool { return p.Contains(ip) })
}
