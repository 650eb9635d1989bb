package check

import (
	"path"
	"slices"
	"strings"
)

// packageDirs are where packages put programs and nobody else does.
var packageDirs = []string{"/usr/bin", "/usr/sbin", "/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/libexec", "/usr/share", "/usr/games", "/bin", "/sbin", "/lib", "/lib64", "/etc", "/snap"}

func inPackageDir(p string) bool {
	return slices.ContainsFunc(packageDirs, func(d string) bool { return below(p, d) })
}

// beforeCommand are words of a shell after which the name of a program comes.
var beforeCommand = []string{
	"if", "then", "else", "elif", "do", "while", "until", "!", "exec", "nohup", "setsid", "nice", "ionice", "command", "time", "eval", "env",
	"sudo", "doas", ".", "source", "sh", "bash", "dash", "/bin/sh", "/bin/bash", "/usr/bin/env", "/usr/bin/nohup", "/usr/bin/setsid", "-c", "builtin",
}

// started lists the programs and scripts that a shell text starts by an absolute path, as
// far as a reading without a shell goes: quoting, variables and patterns are not expanded.
func started(text string) []string {
	var out []string
	text = text[:min(len(text), maxText)]
	for line := range strings.Lines(text) {
		if strings.HasPrefix(strings.TrimSpace(line), "#") {
			continue
		}
		for _, part := range strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(";&|(){}`\n\r", r) }) {
			for _, word := range strings.Fields(part) {
				word = strings.Trim(word, `"'\`)
				name, _, assigns := strings.Cut(word, "=")
				if slices.Contains(beforeCommand, word) || assigns && name != "" && !strings.Contains(name, "/") {
					continue
				}
				if strings.HasPrefix(word, "/") && (!below(word, "/dev") || inTemp(word)) && !strings.ContainsAny(word, "*?[:") && !slices.Contains(out, path.Clean(word)) {
					out = append(out, path.Clean(word))
				}
				break
			}
		}
	}
	return out
}

// programsOf judges by its place and name what a shell text starts that no package brought.
func (v *view) programsOf(text string, why *reasons) {
	for _, p := range started(text) {
		v.programAt(p, why)
	}
}

// programAt judges a program by its place alone: one of the system's names, where no
// package puts any, is a disguise.
func (v *view) programAt(p string, why *reasons) {
	if inPackageDir(p) {
		return
	}
	switch who := impersonates(p); {
	case oddPlace(p) != "":
		why.add(High, "it starts %s, which %s", quote(p), oddPlace(p))
	case who == "ssh" || who == "cron" || who == "kernel": // words that honest names hold too
		why.add(Medium, "it starts %s, which has a name like the system's and lies where no package puts any", quote(p))
	case who != "":
		why.add(High, "it starts %s, whose name pretends to be part of %s", quote(p), who)
	case below(p, "/opt") || below(p, "/usr/local"): // where makers of programs and administrators put theirs
		why.add(Low, "it starts %s", quote(p))
	default:
		why.add(Medium, "it starts %s, where no package puts programs", quote(p))
	}
}
