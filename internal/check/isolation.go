package check

import (
	"path"
	"slices"
	"strings"
)

// isolation reports what in an entry of config.toml lets a job out of its container.
func isolation(r table) []Finding {
	var out []Finding
	add := func(s Severity, title, detail string, args ...any) {
		f := Finding{Severity: s, Title: title, Attack: []string{"T1611"}}
		f.Detail = text("%s: ", quote(r.name())) + text(detail, args...)
		out = append(out, f)
	}
	for _, kind := range []string{"docker", "kubernetes"} {
		t := r.sub(kind)
		if t.yes("privileged") || t.yes("services_privileged") {
			add(Medium, "jobs run in privileged containers",
				"%s.privileged is on. A job can load modules and mount the host's disks: it is root on this host.", kind)
		}
		for _, c := range t.list("cap_add") {
			switch name := strings.TrimPrefix(strings.ToUpper(c), "CAP_"); {
			case slices.Contains([]string{"ALL", "SYS_ADMIN", "SYS_PTRACE", "SYS_MODULE", "DAC_READ_SEARCH", "SYS_RAWIO", "BPF", "PERFMON", "SYS_BOOT", "MAC_ADMIN"}, name):
				add(Medium, "jobs get a capability that leaves the container", "%s.cap_add has %s.", kind, quote(c))
			case slices.Contains([]string{"NET_ADMIN", "SYSLOG", "SYS_TIME", "LINUX_IMMUTABLE"}, name):
				add(Low, "jobs get a capability that reaches beyond their own container", "%s.cap_add has %s.", kind, quote(c))
			}
		}
	}
	d := r.sub("docker")
	for _, vol := range d.list("volumes") {
		source, _, bound := strings.Cut(vol, ":")
		if !bound || !strings.HasPrefix(source, "/") {
			continue
		}
		mount(path.Clean(source), func(s Severity, title, why string) { add(s, title, "docker.volumes has %s. %s", quote(vol), why) })
	}
	for _, vol := range kubernetesHostPaths(r) {
		mount(path.Clean(vol), func(s Severity, title, why string) {
			add(s, title, "kubernetes.volumes.host_path has %s. %s", quote(vol), why)
		})
	}
	for _, key := range []string{"network_mode", "pid_mode", "pid", "ipcmode", "userns_mode"} {
		if d.text(key) == "host" {
			add(Medium, "jobs share a namespace of the host", "docker.%s is host: what listens on loopback or runs on the host is in reach of every job.", key)
		}
	}
	for _, opt := range d.list("security_opt") {
		if strings.HasSuffix(opt, "unconfined") {
			add(Medium, "jobs run without a confinement profile", "docker.security_opt has %s.", quote(opt))
		}
	}
	if img := d.text("helper_image"); img != "" && !strings.Contains(img, "gitlab-runner-helper") {
		f := Finding{Severity: Medium, Title: "the helper image is not gitlab-runner's own", Attack: []string{"T1525"}}
		f.Detail = text("%s: docker.helper_image is %s. The helper clones with the job's token and handles caches and artifacts.", quote(r.name()), quote(img))
		out = append(out, f)
	}
	return out
}

// mount judges a path of the host that jobs see.
func mount(source string, add func(Severity, string, string)) {
	base := path.Base(source)
	switch {
	case base == "docker.sock" || base == "containerd.sock" || base == "podman.sock" || base == "crio.sock":
		add(High, "jobs can drive the container engine of the host", "Who reaches the socket starts a container with the host's disk in it: root on this host.")
	case slices.Contains([]string{"/", "/etc", "/root", "/home", "/proc", "/sys", "/dev", "/boot", "/var", "/var/run", "/run", "/usr", "/lib", "/bin", "/sbin", "/var/lib", "/var/lib/docker", "/var/lib/kubelet", "/var/lib/containerd", "/var/lib/containers", "/var/spool/cron", "/run/containerd", "/usr/local"}, source) || below(source, "/var/lib/kubelet"):
		add(High, "jobs see a part of the host's own file system", "A job that writes there changes the host and stays after the container is gone.")
	case strings.Contains(source, "/.ssh") || strings.Contains(source, "/.aws") || strings.Contains(source, "/.kube") || strings.Contains(source, "/.docker"):
		add(High, "jobs see credentials of the host", "Every job of every project can read them.")
	}
}

func kubernetesHostPaths(r table) []string {
	var out []string
	list, _ := r.sub("kubernetes").sub("volumes")["host_path"].([]any)
	for _, e := range list {
		if m, ok := e.(map[string]any); ok {
			t := table(m)
			p := t.text("host_path")
			if p == "" {
				p = t.text("mount_path") // host_path defaults to it
			}
			if p != "" {
				out = append(out, p)
			}
		}
	}
	return out
}
