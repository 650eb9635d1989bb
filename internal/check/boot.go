package check

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"cordon/internal/host/snapshot"
)

func bootCheck() Check {
	return Check{
		ID:     "boot-hooks",
		Title:  "What runs when the machine or its network starts",
		Why:    "A script of the boot, of an interface or of the initial RAM disk brings an intruder back after everything else was removed.",
		Reads:  "/etc/init.d, network, dhcp, ppp and NetworkManager hooks, initramfs hooks, hooks of the installation of kernels, dracut modules, GRUB's configuration, modules to load and what modprobe runs with them, links of run levels, cloud-init's scripts and settings, generators, units among the vendor's; which of them a package brought (dpkg)",
		Root:   "GRUB's configuration, cloud-init's scripts",
		Needs:  []string{snapshot.SectionSystem, snapshot.SectionUnits, snapshot.SectionOwned},
		Attack: []string{"T1037", "T1542"},
		NIST:   []string{"CM-7", "SI-7"},
		look:   func(v *view) []Finding { return v.judged(bootPlaces) },
	}
}

var bootPlaces = []place{
	{inDir("/etc/init.d"), []string{"T1037"}, "a start script of the machine that looks planted", script},
	{
		inDir("/etc/NetworkManager/dispatcher.d", "/etc/NetworkManager/dispatcher.d/*", "/etc/networkd-dispatcher/*", "/etc/network/if-*.d",
			"/etc/dhcp/dhclient-*-hooks.d", "/etc/ppp/ip-*.d"),
		[]string{"T1546"},
		"a script runs when the network changes", script,
	},
	{
		inDir("/etc/initramfs-tools/hooks", "/etc/initramfs-tools/scripts/*"),
		[]string{"T1542"},
		"a script becomes part of the initial RAM disk", script,
	},
	{kernelHooks, []string{"T1546"}, "a script runs when a kernel is installed", script},
	{inDir("/usr/lib/dracut/modules.d"), []string{"T1542"}, "a module becomes part of the initial RAM disk", unbrought(Medium)},
	{inDir("/var/lib/cloud/scripts/per-*", "/var/lib/cloud/instance/scripts"), []string{"T1037"}, "a script of the machine's image runs at boot", cloudScript},
	{func(p string) bool { return isGenerator(p) && below(p, "/usr/lib") }, []string{"T1543.002"}, "a program makes units at every boot", unbrought(Medium)},
	{
		func(p string) bool {
			return inDir("/usr/lib/systemd/system", "/usr/lib/systemd/user", "/lib/systemd/system")(p) && (startingUnit(p) || strings.HasSuffix(p, ".timer"))
		},
		[]string{"T1543.002"},
		"a unit among those of packages that none of them brought", unbrought(Medium),
	},
	{
		func(p string) bool {
			return p == "/etc/modules" || inDir("/etc/modules-load.d", "/usr/lib/modules-load.d")(p)
		},
		[]string{"T1547.006"},
		"a kernel module is loaded at every boot", judgeModulesLoad,
	},
	{inDir("/etc/modprobe.d"), []string{"T1547.006"}, "a program starts with a kernel module", judgeModprobe},
	{inDir("/etc/cloud/cloud.cfg.d"), []string{"T1037"}, "cloud-init runs commands at boot", judgeCloudConfig},
	{inDir("/etc/rc[0-6S].d"), []string{"T1037"}, "a start script of a run level that looks planted", judgeRunLevel},
	{
		func(p string) bool {
			return p == "/etc/default/grub" || inDir("/etc/default/grub.d", "/boot/grub", "/boot/grub2")(p)
		},
		[]string{"T1542"},
		"the boot configuration starts another first program", judgeGrub,
	},
	{
		func(p string) bool {
			return strings.HasPrefix(p, "/boot/") && (strings.HasSuffix(p, ".bak") || strings.HasSuffix(p, ".orig")) || path.Dir(p) == "/" && strings.HasSuffix(p, ".sh")
		},
		[]string{"T1542"},
		"a copy that tampering with the boot leaves", always(Medium, "packages leave no such copy; compare it with the file in use"),
	},
}

// unbrought reports files where only packages put any.
func unbrought(s Severity) func(*view, string, *snapshot.File, *reasons) {
	return func(v *view, p string, f *snapshot.File, why *reasons) {
		if f.Type != "link" && v.foreign(p) {
			why.add(s, "no package brought %s, and only packages put files there", quote(path.Base(p)))
			if signs := suspicious(string(f.Content)); len(signs) > 0 {
				why.add(High, "it %s", strings.Join(signs, ", "))
			}
		}
	}
}

func always(s Severity, words string) func(*view, string, *snapshot.File, *reasons) {
	return func(_ *view, _ string, _ *snapshot.File, why *reasons) { why.add(s, "%s", words) }
}

// cloudScript lists what came with the image's user data: the owner of the image knows it.
func cloudScript(_ *view, _ string, f *snapshot.File, why *reasons) {
	if f.Type != "file" {
		return
	}
	why.add(Info, "cloud-init runs it; it came with the machine's user data or was put there")
	if signs := clear(string(f.Content)); len(signs) > 0 {
		why.add(High, "it %s", strings.Join(signs, ", "))
	}
}

var firstProgram = regexp.MustCompile(`(^|[\s"'])(init|rdinit|systemd\.run|systemd\.unit)=(\S+)`)

// judgeGrub looks for another first program; recovery entries start a shell by "single".
func judgeGrub(_ *view, _ string, f *snapshot.File, why *reasons) {
	for line := range strings.Lines(string(f.Content)) {
		if strings.HasPrefix(strings.TrimSpace(line), "#") {
			continue
		}
		if m := firstProgram.FindStringSubmatch(line); m != nil && !honestInit(m[3]) {
			why.add(High, "%s=%s", m[2], quote(m[3]))
		}
	}
}

// honestInit are the first programs that distributions start; targets are no programs.
func honestInit(p string) bool {
	p = strings.Trim(p, `"'`)
	return slices.Contains([]string{"/sbin/init", "/usr/sbin/init", "/lib/systemd/systemd", "/usr/lib/systemd/systemd", "/bin/systemd"}, p) || strings.HasSuffix(p, ".target")
}
