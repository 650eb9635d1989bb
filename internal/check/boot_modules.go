package check

import (
	"regexp"
	"slices"
	"strings"

	"cordon/internal/host/snapshot"
)

// plainModules are loaded by name by installers and by container hosts.
var plainModules = []string{
	"br_netfilter", "overlay", "loop", "lp", "ppdev", "parport_pc", "rtc", "tun", "fuse", "8021q", "bonding", "kvm", "vhost_net", "vhost_vsock",
	"nf_conntrack", "ip_vs", "ip_vs_rr", "ip_vs_wrr", "ip_vs_sh", "ip_tables", "ip6_tables", "iptable_nat", "iptable_filter", "nbd", "dm_mod", "msr", "efi_pstore", "pstore_blk", "ramoops",
}

func judgeModulesLoad(v *view, p string, f *snapshot.File, why *reasons) {
	if f.Type != "file" {
		return
	}
	for line := range strings.Lines(string(f.Content)) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' || line[0] == ';' {
			continue
		}
		name, _, _ := strings.Cut(line, " ")
		switch {
		case slices.Contains(plainModules, strings.ReplaceAll(name, "-", "_")):
		case strings.HasPrefix(name, "/"):
			why.add(High, "%s is loaded from a path", quote(name))
		case v.packaged == nil || p == "/etc/modules":
			why.add(Low, "%s", quote(name))
		case v.foreign(p):
			why.add(Medium, "no package brought the file that loads %s", quote(name))
		}
	}
	if f.Content == "" && p != "/etc/modules" && v.foreign(p) {
		why.add(Medium, "no package brought it")
	}
}

var modprobeRuns = regexp.MustCompile(`^(install|remove)\s+(\S+)\s+(.+)$`)

// judgeModprobe reads modprobe.d(5): install and remove run a command in place of the
// module. To forbid a module it is true or false; modprobe itself loads another with it.
func judgeModprobe(v *view, p string, f *snapshot.File, why *reasons) {
	if f.Type != "file" {
		return
	}
	if f.Content == "" && f.Size > 0 {
		why.add(Medium, "its content could not be read")
	}
	for line := range strings.Lines(strings.ReplaceAll(string(f.Content), "\\\n", " ")) {
		m := modprobeRuns.FindStringSubmatch(strings.TrimSpace(line))
		if m == nil || forbids.MatchString(m[3]) {
			continue
		}
		signs := suspicious(m[3])
		brought := v.packaged != nil && !v.foreign(p)
		if brought {
			signs = clear(m[3])
		}
		switch {
		case len(signs) > 0:
			why.add(High, "%s of %s runs %s: it %s", m[1], quote(m[2]), quote(m[3]), strings.Join(signs, ", "))
		case !brought && onlyModprobe.MatchString(m[3]):
			why.add(Low, "%s of %s runs %s", m[1], quote(m[2]), quote(m[3]))
		case !brought:
			why.add(Medium, "%s of %s runs %s, as root", m[1], quote(m[2]), quote(m[3]))
			v.programsOf(m[3], why)
		}
	}
}

var (
	forbids      = regexp.MustCompile(`^(/usr)?(/bin/)?(true|false)\s*$`)
	onlyModprobe = regexp.MustCompile(`^(/usr)?(/sbin/)?modprobe\s[^;&|]*$`)
)
