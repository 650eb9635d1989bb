package check

import (
	"encoding/json"
	"path"
	"slices"
	"strconv"
	"strings"

	"cordon/internal/host/snapshot"
)

func containersCheck() Check {
	return Check{
		ID:     "containers",
		Title:  "Containers that come back, and what they may do",
		Why:    "A privileged container with a restart policy is a root shell that returns after every boot; a mounted engine socket is one for every job.",
		Reads:  "hostconfig.json of docker's containers, daemon.json, quadlets, sockets of engines, the service account's token of a pod, mounts and capabilities of the collector itself",
		Root:   "docker's containers",
		Needs:  []string{snapshot.SectionContainers, snapshot.SectionKernel, snapshot.SectionHomes},
		Attack: []string{"T1610", "T1611"},
		NIST:   []string{"CM-7", "AC-6"},
		look: func(v *view) []Finding {
			return append(v.judged(containerPlaces), v.pod()...)
		},
	}
}

var containerPlaces = []place{
	{func(p string) bool { return path.Base(p) == "hostconfig.json" }, nil, "a container reaches the host", judgeHostConfig},
	{func(p string) bool { return p == "/etc/docker/daemon.json" }, nil, "the container engine is open or trusts too much", judgeDaemonJSON},
	{
		func(p string) bool { return strings.Contains(p, "/containers/systemd/") },
		[]string{"T1543.005", "T1610"},
		"a container starts as a service", judgeQuadlet,
	},
	{
		func(p string) bool { return strings.HasPrefix(p, "/run/") && strings.HasSuffix(p, ".sock") },
		[]string{"T1611"},
		"anybody can drive the container engine", judgeSocket,
	},
}

func judgeHostConfig(_ *view, p string, f *snapshot.File, why *reasons) {
	var c struct {
		Privileged                             bool
		PidMode, NetworkMode, IpcMode, UTSMode string
		Binds, CapAdd, SecurityOpt             []string
		RestartPolicy                          struct{ Name string }
		Mounts                                 []struct{ Source string }
	}
	if f.Content == "" {
		return
	}
	if err := json.Unmarshal([]byte(f.Content), &c); err != nil {
		why.add(Low, "its settings were not understood")
		return
	}
	if c.Privileged {
		why.add(Medium, "it is privileged: root on this host")
	}
	if c.PidMode == "host" {
		why.add(Medium, "it sees every process of the host")
	}
	for _, k := range c.CapAdd {
		if slices.Contains([]string{"ALL", "SYS_ADMIN", "SYS_PTRACE", "SYS_MODULE"}, strings.TrimPrefix(k, "CAP_")) {
			why.add(Medium, "it has the capability %s", quote(k))
		}
	}
	sources := c.Binds
	for _, m := range c.Mounts {
		sources = append(sources, m.Source)
	}
	for _, b := range sources {
		source, _, _ := strings.Cut(b, ":")
		mount(path.Clean(source), func(s Severity, _, words string) { why.add(s, "it has %s: %s", quote(source), words) })
	}
	if why.worst != "" && (c.RestartPolicy.Name == "always" || c.RestartPolicy.Name == "unless-stopped") {
		why.add(High, "and it starts again by itself (%s)", quote(c.RestartPolicy.Name))
	}
	if why.worst != "" {
		id := path.Base(path.Dir(p))
		why.add(why.worst, "container %s", quote(id[:min(len(id), 12)]))
	}
}

func judgeDaemonJSON(_ *view, _ string, f *snapshot.File, why *reasons) {
	var c struct {
		Hosts    []string                         `json:"hosts"`
		Insecure []string                         `json:"insecure-registries"`
		Mirrors  []string                         `json:"registry-mirrors"`
		Runtimes map[string]struct{ Path string } `json:"runtimes"`
		Default  string                           `json:"default-runtime"`
	}
	if err := json.Unmarshal([]byte(f.Content), &c); err != nil {
		if f.Size > 0 {
			why.add(Low, "it was not understood")
		}
		return
	}
	for _, h := range c.Hosts {
		switch {
		case strings.HasPrefix(h, "tcp://127.") || strings.HasPrefix(h, "tcp://localhost"):
			why.add(Medium, "it listens on %s: every job on this host can drive it", quote(h))
		case strings.HasPrefix(h, "tcp://"):
			why.add(High, "it listens on %s", quote(h))
		}
	}
	for _, r := range append(c.Insecure, c.Mirrors...) {
		s := Low
		if bareAddress.MatchString("//" + strings.TrimPrefix(strings.TrimPrefix(r, "http://"), "https://")) {
			s = Medium
		}
		why.add(s, "images come from %s", quote(r))
	}
	for name, r := range c.Runtimes {
		if r.Path != "" && (oddPlace(r.Path) != "" || !inSystem(r.Path) && strings.HasPrefix(r.Path, "/")) {
			why.add(High, "containers are started by %s (%s)", quote(r.Path), quote(name))
		}
	}
}

func judgeQuadlet(v *view, p string, f *snapshot.File, why *reasons) {
	if f.Type != "file" {
		return
	}
	why.add(Low, "made on this host")
	if u, ok := v.homeOwner(p); ok && v.isRunner(u) {
		why.add(Medium, "it belongs to %s, the account of the jobs", quote(u.name))
	}
	for _, l := range parseUnit(string(f.Content)).lines {
		switch {
		case l.key == "PodmanArgs" && strings.Contains(l.value, "--privileged"), l.key == "AddCapability" && strings.EqualFold(l.value, "all"):
			why.add(Medium, "%s=%s", l.key, quote(l.value))
		case l.key == "Volume":
			source, _, _ := strings.Cut(l.value, ":")
			mount(path.Clean(source), func(s Severity, _, words string) { why.add(s, "Volume=%s: %s", quote(l.value), words) })
		}
	}
}

func judgeSocket(_ *view, _ string, f *snapshot.File, why *reasons) {
	if f.Mode&0o002 != 0 {
		why.add(High, "it has mode %04o: every account, and so every job, is root on this host", f.Mode)
	}
}

// pod judges what the collector itself stands in, where that is a pod or container.
func (v *view) pod() []Finding {
	mounts, _ := v.s.Fact("mounts")
	token := v.files["/var/run/secrets/kubernetes.io/serviceaccount/token"] != nil || strings.Contains(mounts, "/secrets/kubernetes.io/serviceaccount")
	var out []Finding
	if token {
		out = append(out, Finding{
			Severity: Info, Title: "this is a pod with a service account", Where: "/var/run/secrets/kubernetes.io/serviceaccount", Attack: []string{"T1552.007"}, Evidence: []string{"facts:mounts"},
			Detail: "Every job in it can speak to the cluster as that account. Look up what it may do: kubectl auth can-i --list --as=system:serviceaccount:NAMESPACE:NAME.",
		})
		caps, _ := v.s.Fact("capeff")
		if n, err := strconv.ParseUint(strings.TrimSpace(caps), 16, 64); err == nil && n&(1<<21) != 0 { // CAP_SYS_ADMIN
			out = append(out, Finding{Severity: Medium, Title: "the pod is privileged", Where: "/proc/self/status", Detail: text("CapEff is %s: root on its node.", quote(caps)), Evidence: []string{"facts:capeff"}})
		}
	}
	for line := range strings.Lines(mounts) {
		f := strings.Fields(line)
		if len(f) > 4 && slices.Contains([]string{"docker.sock", "containerd.sock", "crio.sock", "podman.sock"}, path.Base(f[4])) {
			out = append(out, Finding{Severity: High, Title: "the socket of the container engine is mounted here", Where: text("%s", quote(f[4])), Detail: "Who reaches it starts a container with the host's disk in it: root on the host.", Evidence: []string{"facts:mounts"}})
		}
	}
	return out
}
