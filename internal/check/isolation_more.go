package check

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// adder adds a finding about an entry of config.toml, which it names.
type adder func(s Severity, attack, title, format string, args ...any)

// settingHooks reports the keys of an entry that start programs or weaken it beside its
// scripts and mounts (facts/host.md §1.2).
func settingHooks(r table) []Finding {
	var out []Finding
	add := func(s Severity, attack, title, format string, args ...any) {
		f := Finding{Severity: s, Title: title, Attack: []string{attack}}
		f.Detail = text("%s: ", quote(r.name())) + text(format, args...)
		out = append(out, f)
	}
	scaler := r.sub("autoscaler")
	if cmd := scaler.text("instance_ready_command"); strings.TrimSpace(cmd) != "" {
		out = append(out, scriptFinding(Medium, "a command runs on every machine before its jobs", r.name()+": autoscaler.instance_ready_command", cmd))
	}
	if plugin := scaler.text("plugin"); strings.Contains(plugin, "/") && path.IsAbs(plugin) {
		s, words := Medium, "plugins have a name and come from a registry"
		if odd := oddPlace(plugin); odd != "" {
			s, words = High, "it "+odd
		}
		add(s, "T1554", "a program of somebody's own makes the machines of jobs", "autoscaler.plugin is %s: %s.", quote(plugin), words)
	}
	if r.sub("ssh").yes("disable_strict_host_key_checking") {
		add(Medium, "T1557", "jobs go to a machine whose key nobody checks", "ssh.disable_strict_host_key_checking is on: who answers at its address gets the job and its secrets.")
	}
	if sh := r.text("shell"); sh != "" && !slices.Contains([]string{"bash", "sh", "pwsh", "powershell", "cmd"}, sh) {
		add(Medium, "T1059.004", "jobs are written for a shell that gitlab-runner does not know", "shell is %s.", quote(sh))
	}
	for _, key := range []string{"builds_dir", "cache_dir"} {
		if odd := oddPlace(r.text(key)); odd != "" {
			add(Medium, "T1574", "jobs work in a directory that is out of place", "%s is %s: it %s.", key, quote(r.text(key)), odd)
		}
	}
	for _, kind := range []string{"docker", "kubernetes"} {
		services(r, kind, add, &out)
	}
	devices(r, add)
	kubernetes(r.sub("kubernetes"), add)
	return out
}

// services judges the containers beside every job: what they start was not in the image.
func services(r table, kind string, add adder, out *[]Finding) {
	list, _ := r.sub(kind)["services"].([]any)
	for _, e := range list {
		m, _ := e.(map[string]any)
		s := table(m)
		for _, key := range []string{"entrypoint", "command"} {
			if line := strings.Join(s.list(key), " "); line != "" {
				*out = append(*out, scriptFinding(Low, "a container beside every job starts what the configuration says", r.name()+": "+kind+".services "+s.text("name")+" "+key, line))
			}
		}
		for _, kv := range s.list("environment") {
			name, value, _ := strings.Cut(kv, "=")
			if f, ok := variable(name, value); ok {
				add(f.Severity, "T1574.006", f.Title, "%s.services %s: %s", kind, quote(s.text("name")), string(f.Detail))
			}
		}
	}
}

// Devices of the host: disks and memory are the host itself; those of the second list
// are given for what they do and show nothing of it.
var (
	hostDevice  = regexp.MustCompile(`^/dev/(sd|vd|xvd|nvme|hd|dm-|mapper|disk|md|loop|mem|kmem|port|kcore)`)
	plainDevice = regexp.MustCompile(`^/dev/(kvm|fuse|net/tun|dri|snd|nvidia|ttyUSB|ttyACM|bus/usb|kfd|vhost-|null|zero|random|urandom)`)
)

func devices(r table, add adder) {
	d := r.sub("docker")
	for _, dev := range d.list("devices") {
		source, _, _ := strings.Cut(dev, ":")
		switch source = path.Clean(source); {
		case hostDevice.MatchString(source) || source == "/dev":
			add(High, "T1611", "jobs get the disk or the memory of the host", "docker.devices has %s.", quote(dev))
		case !plainDevice.MatchString(source):
			add(Medium, "T1611", "jobs get a device of the host", "docker.devices has %s.", quote(dev))
		}
	}
	for _, rule := range d.list("device_cgroup_rules") {
		add(Medium, "T1611", "jobs may make devices", "docker.device_cgroup_rules has %s.", quote(rule))
	}
	for _, from := range d.list("volumes_from") {
		add(Medium, "T1611", "jobs see the volumes of another container", "docker.volumes_from has %s: what it mounts, every job mounts.", quote(from))
	}
	for _, key := range []string{"allowed_privileged_images", "allowed_privileged_services"} {
		for _, img := range d.list(key) {
			s := Low
			if strings.Contains(img, "*") {
				s = Medium
			}
			add(s, "T1611", "images that run privileged", "docker.%s has %s: where privileged is on, a job that names such an image is root on this host.", key, quote(img))
		}
	}
	if host := d.text("host"); strings.HasPrefix(host, "tcp://") && d.text("tls_cert_path") == "" {
		add(Medium, "T1610", "the container engine is driven over the network without a certificate", "docker.host is %s.", quote(host))
	}
	for _, h := range d.list("extra_hosts") {
		if name, _, _ := strings.Cut(h, ":"); name != "" && strings.Contains(r.text("url")+r.text("clone_url"), "//"+name) {
			add(High, "T1557", "jobs reach their own server under another address", "docker.extra_hosts has %s.", quote(h))
		}
	}
}

// unbounded are what a job may choose itself, where the pattern lets it.
var unbounded = []string{"service_account_overwrite_allowed", "namespace_overwrite_allowed", "bearer_token_overwrite_allowed"}

var podEscape = regexp.MustCompile(`(?i)["']?(hostNetwork|hostPID|hostIPC|privileged|hostPath|allowPrivilegeEscalation|serviceAccountName)["']?\s*:\s*(true|["'{]|[a-z])`)

func kubernetes(k table, add adder) {
	if k.yes("allow_privilege_escalation") {
		add(Medium, "T1611", "jobs may gain rights in their container", "kubernetes.allow_privilege_escalation is on.")
	}
	for _, key := range unbounded {
		if v := k.text(key); v != "" && v != "false" {
			s := Low
			if v == "true" || strings.Contains(v, ".*") {
				s = Medium
			}
			add(s, "T1078.004", "a job may choose whose rights it runs with", "kubernetes.%s is %s.", key, quote(v))
		}
	}
	if k.yes("automount_service_account_token") {
		add(Low, "T1552.007", "every job gets a token of the cluster", "kubernetes.automount_service_account_token is on.")
	}
	list, _ := k["pod_spec"].([]any)
	for _, e := range list {
		m, _ := e.(map[string]any)
		p := table(m)
		s, patch := Low, p.text("patch")
		if patch == "" {
			patch = p.text("patch_path")
		}
		if podEscape.MatchString(patch) {
			s = Medium
		}
		add(s, "T1610", "the pods of jobs are changed by a patch", "kubernetes.pod_spec %s: %s.", quote(p.text("name")), quote(patch))
	}
}

// sessions reports the terminal into running jobs, which belongs to the whole file.
func sessions(t table) []Finding {
	listen := t.sub("session_server").text("listen_address")
	if listen == "" || strings.HasPrefix(listen, "127.") || strings.HasPrefix(listen, "localhost") || strings.HasPrefix(listen, "[::1]") {
		return nil
	}
	return []Finding{{
		Severity: Low, Title: "a terminal into running jobs listens on the network", Attack: []string{"T1021"},
		Detail: text("session_server.listen_address is %s. Who may start a debug session of a job gets a shell beside its secrets.", quote(listen)),
	}}
}
