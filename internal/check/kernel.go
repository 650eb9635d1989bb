package check

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"cordon/internal/host/snapshot"
	"cordon/internal/untrusted"
)

func kernelCheck() Check {
	return Check{
		ID:     "kernel",
		Title:  "What runs inside the kernel, and what it hides",
		Why:    "Code in the kernel, or a mount over /proc, decides what every other answer of this host shows.",
		Reads:  "/proc/cmdline, /proc/modules beside /sys/module, tainted, core_pattern, modprobe of /proc/sys/kernel, /proc/self/mountinfo, names below /sys/fs/bpf",
		Root:   "names below /sys/fs/bpf",
		live:   true,
		Needs:  []string{snapshot.SectionKernel},
		Attack: []string{"T1014", "T1547.006"},
		NIST:   []string{"SI-7", "SI-4"},
		look: func(v *view) []Finding {
			var out []Finding
			add := func(s Severity, fact, where, title, format string, args ...any) {
				out = append(out, Finding{Severity: s, Title: title, Where: untrusted.Text(where), Detail: text(format, args...), Evidence: []string{"facts:" + fact}})
			}
			v.bootLine(add)
			v.modules(add)
			v.helpers(add)
			v.mounts(add)
			v.pins(add)
			return out
		},
	}
}

type addFact func(s Severity, fact, where, title, format string, args ...any)

func (v *view) bootLine(add addFact) {
	line, _ := v.s.Fact("cmdline")
	for _, m := range firstProgram.FindAllStringSubmatch(line, 8) {
		if !honestInit(m[3]) {
			add(High, "cmdline", "/proc/cmdline", "the kernel was told to start another first program", "%s=%s. It runs before everything else, as root.", m[2], quote(m[3]))
		}
	}
}

// outOfTree are modules that do not come with the kernel and that administrators build.
var outOfTree = regexp.MustCompile(`^(nvidia|zfs$|spl$|z(avl|common|lua|nvpair|unicode|zstd)$|vbox|vmw_|wireguard$|v4l2loopback$|zram$|ena$|gve$|lustre|nvproxy)`)

func (v *view) modules(add addFact) {
	list, _ := v.s.Fact("modules")
	foreign := 0
	for line := range strings.Lines(list) {
		f := strings.Fields(line)
		if len(f) < 6 || !strings.HasPrefix(f[len(f)-1], "(") || !strings.ContainsAny(f[len(f)-1], "OEF") {
			continue
		}
		foreign++
		s := Medium
		if outOfTree.MatchString(f[0]) {
			s = Low
		}
		add(s, "modules", "module "+quote(f[0]), "a kernel module that did not come with the kernel", "%s is marked %s: built elsewhere (O), without a signature (E) or by force (F). Find its file and its package.", quote(f[0]), quote(f[len(f)-1]))
	}
	unlisted, _ := v.s.Fact("unlisted")
	for name := range strings.FieldsSeq(unlisted) {
		add(High, "unlisted", "module "+quote(name), "a kernel module is loaded that the list of modules leaves out", "%s is in /sys/module and not in /proc/modules. A module that hides itself looks like this: no answer of this host is worth much then. Take its memory and disk from outside.", quote(name))
	}
	taint, _ := v.s.Fact("tainted")
	n, err := strconv.ParseUint(strings.TrimSpace(taint), 10, 64)
	const forced, elsewhere, unsigned = 1 << 1, 1 << 12, 1 << 13 // Documentation/admin-guide/tainted-kernels.rst
	if err == nil && n&(forced|elsewhere|unsigned) != 0 && foreign == 0 {
		add(Medium, "tainted", "/proc/sys/kernel/tainted", "the kernel says that a foreign module was loaded, and none is listed", "The value is %d. A module that hides itself looks like this; so does one that was unloaded.", n)
	}
}

// coreHelpers are what distributions let the kernel start when a program crashes.
var coreHelpers = []string{"systemd-coredump", "apport", "abrt-hook-ccpp", "wsl-capture-crash", "sssd_pam", "crash_reporter", "core_collector"}

func (v *view) helpers(add addFact) {
	core, _ := v.s.Fact("core_pattern")
	if exe, piped := strings.CutPrefix(strings.TrimSpace(core), "|"); piped {
		exe, _, _ = strings.Cut(exe, " ")
		switch {
		case oddPlace(exe) != "" || !inSystem(exe):
			add(High, "core_pattern", "/proc/sys/kernel/core_pattern", "a crash starts a program that is out of place", "%s runs as root outside every container whenever a program crashes.", quote(core))
		case !slices.Contains(coreHelpers, path.Base(exe)):
			add(Medium, "core_pattern", "/proc/sys/kernel/core_pattern", "a crash starts a program that no distribution sets", "%s runs as root whenever a program crashes.", quote(core))
		}
	}
	probe, told := v.s.Fact("modprobe")
	if p := strings.TrimSpace(probe); told && p != "" && !slices.Contains([]string{"/sbin/modprobe", "/usr/sbin/modprobe", "/bin/true", "/usr/bin/modprobe"}, p) {
		add(High, "modprobe", "/proc/sys/kernel/modprobe", "the kernel starts another program to load modules", "%s. Anybody can make it start, as root.", quote(p))
	}
}

var overProcess = regexp.MustCompile(`^/proc/[0-9]+(/|$)`)

// mounts finds what is mounted over the entry of a process, which hides it.
func (v *view) mounts(add addFact) {
	list, _ := v.s.Fact("mounts")
	for line := range strings.Lines(list) {
		f := strings.Fields(line)
		if len(f) > 4 && overProcess.MatchString(f[4]) {
			add(Critical, "mounts", untrusted.Clean(f[4], 80), "something is mounted over a process to hide it", "The mount %s covers %s. Do not unmount it; look at the process through a disk or memory image.", quote(f[3]), quote(f[4]))
		}
	}
}

// plainPins are names below /sys/fs/bpf that systemd, iproute2 and container runtimes make.
var plainPins = []string{"ip", "tc", "xdp", "systemd", "snap", "cilium", "calico", "crun", "runc", "maps.debug", "progs.debug", "tetragon", "globals"}

func (v *view) pins(add addFact) {
	v.each(func(p string, f *snapshot.File) {
		if name, ok := strings.CutPrefix(p, "/sys/fs/bpf/"); ok && !slices.Contains(plainPins, name) {
			add(Medium, "", p, "a BPF program stays without a process", "%s: a program or map pinned there runs in the kernel until the next boot, and belongs to nobody.", quote(fmt.Sprintf("%s (uid %d)", name, f.UID)))
		}
	})
}
