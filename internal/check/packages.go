package check

import (
	"path"
	"regexp"
	"strings"

	"cordon/internal/host/snapshot"
)

func packagesCheck() Check {
	return Check{
		ID:     "package-hooks",
		Title:  "What runs when packages are installed",
		Why:    "Automatic updates start such a hook as root every night.",
		Reads:  "hooks in apt's, dpkg's, dnf's and yum's configuration; apt's sources without signatures; maintainer scripts of installed packages that talk to the network, decode or detach",
		Needs:  []string{snapshot.SectionSystem, snapshot.SectionOwned},
		Attack: []string{"T1546.016"},
		NIST:   []string{"CM-7", "SI-7"},
		look:   func(v *view) []Finding { return v.judged(packagePlaces) },
	}
}

var packagePlaces = []place{
	{
		func(p string) bool {
			return p == "/etc/apt/apt.conf" || inDir("/etc/apt/apt.conf.d", "/etc/dpkg/dpkg.cfg.d")(p)
		},
		nil, "the package manager starts a program", judgeAptHook,
	},
	{isAptSource, []string{"T1195.002"}, "packages from there need no signature", judgeAptSource},
	{inDir("/etc/dnf/plugins", "/etc/yum/pluginconf.d", "/usr/lib/yum-plugins", "/usr/lib/python3*/site-packages/dnf-plugins"), nil, "the package manager loads a plug-in", judgePlugin},
	{
		func(p string) bool {
			return path.Dir(p) == "/var/lib/dpkg/info" && regexp.MustCompile(`\.(pre|post)(inst|rm)$`).MatchString(p)
		},
		nil, "a package's own script does what installing does not need", judgeMaintainer,
	},
}

var aptHook = regexp.MustCompile(`(?i)(Pre-Invoke|Post-Invoke(-Success|-Stats)?|Pre-Install-Pkgs|Post-Update|pre-invoke|post-invoke)\b`)

func judgeAptHook(v *view, p string, f *snapshot.File, why *reasons) {
	if f.Type != "file" {
		return
	}
	for line := range strings.Lines(string(f.Content)) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "//") || strings.HasPrefix(line, "#") || !aptHook.MatchString(line) {
			continue
		}
		signs := suspicious(line)
		switch {
		case len(signs) > 0 && (v.foreign(p) || v.packaged == nil):
			why.add(High, "%s: it %s", quote(line), strings.Join(signs, ", "))
		case len(clear(line)) > 0:
			why.add(High, "%s: it %s", quote(line), strings.Join(clear(line), ", "))
		case v.foreign(p) && path.Base(p) == "docker-clean" && strings.Contains(line, "rm -f /var/cache/apt/"):
			why.add(Low, "%s: every Debian image for containers has it", quote(line))
		case v.foreign(p):
			why.add(Medium, "no package brought the file, and it starts %s", quote(line))
		case v.packaged == nil:
			why.add(Low, "%s", quote(line))
		}
	}
}

func judgePlugin(v *view, p string, f *snapshot.File, why *reasons) {
	if f.Type != "file" || strings.HasSuffix(p, ".pyc") {
		return
	}
	if v.foreign(p) {
		why.add(Medium, "no package brought %s", quote(path.Base(p)))
	}
	if signs := suspicious(string(f.Content)); len(signs) > 0 {
		why.add(High, "it %s", strings.Join(signs, ", "))
	}
}

// judgeMaintainer judges the few scripts that the collector picked for their words.
func judgeMaintainer(_ *view, p string, f *snapshot.File, why *reasons) {
	if f.Content == "" {
		return
	}
	if signs := clear(string(f.Content)); len(signs) > 0 {
		why.add(High, "%s %s", quote(path.Base(p)), strings.Join(signs, ", "))
	} else if signs := suspicious(string(f.Content)); len(signs) > 1 {
		why.add(Medium, "%s %s", quote(path.Base(p)), strings.Join(signs, ", "))
	}
}
