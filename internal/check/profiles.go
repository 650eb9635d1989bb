package check

import (
	"path"
	"slices"
	"strings"

	"cordon/internal/host/snapshot"
	"cordon/internal/untrusted"
)

func profilesCheck() Check {
	return Check{
		ID:     "shell-profiles",
		Title:  "What shells run when they start",
		Why:    "gitlab-runner's shell executor uses a login shell: a line in a profile runs in every job.",
		Reads:  "shell start-up files of every account and of the machine, environment.d, .gitconfig; which of them a package brought (dpkg)",
		Root:   "homes of other users",
		Needs:  []string{snapshot.SectionProfiles, snapshot.SectionKeys, snapshot.SectionOwned},
		Attack: []string{"T1546.004"},
		NIST:   []string{"CM-7", "SI-7"},
		look: func(v *view) []Finding {
			var out []Finding
			v.followed(func(p string, f *snapshot.File) {
				if f.Type != "file" || f.Size == 0 && f.Content == "" {
					return
				}
				if hit, ok := v.judgeProfile(p, f); ok {
					hit.Where, hit.Evidence = untrusted.Text(p), evidenceFile(f)
					out = append(out, hit)
				}
			})
			return out
		},
	}
}

var profileNames = []string{
	".profile", ".bash_profile", ".bash_login", ".bash_logout", ".bashrc", ".zshenv", ".zshrc", ".zprofile", ".zlogin",
	".pam_environment", "config.fish",
}

func systemProfile(p string) bool {
	return p == "/etc/profile" || p == "/etc/bash.bashrc" || p == "/etc/bashrc" || p == "/etc/environment" || p == "/etc/zshenv" ||
		path.Dir(p) == "/etc/profile.d" || path.Dir(p) == "/etc/zsh" || path.Dir(p) == "/etc/environment.d"
}

// isProfile reports whether p is read by a shell or by git when it starts.
func isProfile(p string) bool {
	return accountProfile(p) || systemProfile(p) || path.Base(p) == ".gitconfig" || strings.HasSuffix(p, "/.config/git/config")
}

func accountProfile(p string) bool {
	return slices.Contains(profileNames, path.Base(p)) || strings.Contains(p, "/.config/environment.d/")
}

// skeleton are the sizes in bytes of what Debian 12, Debian 13 and Ubuntu 24.04 copy
// from /etc/skel; a file of another size was changed.
var skeleton = map[string][]int64{
	".profile": {807}, ".bash_logout": {220}, ".bashrc": {3526, 3771},
}

func (v *view) judgeProfile(p string, f *snapshot.File) (Finding, bool) {
	var why reasons
	base := path.Base(p)
	if !isProfile(p) {
		return Finding{}, false
	}
	if base == ".gitconfig" || base == "config" {
		judgeGit(v, p, f, &why)
		return Finding{Severity: why.worst, Title: "git runs a program on its own, or fetches from elsewhere", Attack: []string{"T1546"}, Detail: text("%s.", why.text())}, why.worst != ""
	}
	for name, value := range inOrder(assignments(string(f.Content))) {
		if s, ok := loaderVar(name, value); ok && s.AtLeast(Medium) {
			why.add(s, "it sets %s=%s, which makes programs load foreign code", quote(name), quote(value))
		}
	}
	if signs := profileSigns(string(f.Content)); len(signs) > 0 {
		why.add(High, "it %s", strings.Join(signs, ", "))
	}
	v.startedByProfile(p, string(f.Content), &why)
	if u, ok := v.homeOwner(p); accountProfile(p) && ok && v.isRunner(u) && why.worst == "" && u.system() && !slices.Contains(skeleton[base], f.Size) {
		why.add(Medium, "%s is an account for jobs, made without such files, and runs this in each of them: %s", quote(u.name), quote(string(f.Content)))
	}
	if why.worst == "" {
		return Finding{}, false
	}
	return Finding{Severity: why.worst, Title: "a shell start-up file runs more than it should", Detail: text("%s.", why.text())}, true
}

// startedByProfile judges what a start-up file starts by its path. Which file a package
// brought is known of the machine's own only; of those, profile and bash.bashrc are made
// by packages without being listed.
func (v *view) startedByProfile(p, content string, why *reasons) {
	if systemProfile(p) {
		if v.packaged != nil && !v.foreign(p) {
			return
		}
		if path.Dir(p) == "/etc/profile.d" && v.foreign(p) && hasCode(content) {
			why.add(Low, "no package brought %s", quote(path.Base(p)))
			if who := impersonates(path.Base(p)); who != "" {
				why.add(High, "its name pretends to be part of %s", who)
			}
		}
	}
	v.programsOf(content, why)
}

// hasCode reports whether a script does anything at all.
func hasCode(content string) bool {
	for line := range strings.Lines(content) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			return true
		}
	}
	return false
}

// profileSigns are the signs that the profiles of distributions do not show.
func profileSigns(content string) []string {
	var out []string
	var code strings.Builder
	for line := range strings.Lines(content) {
		if !strings.HasPrefix(strings.TrimSpace(line), "#") {
			code.WriteString(line)
		}
	}
	out = search(code.String(), true)
	if len(out) == 0 { // two weak signs together are one strong sign
		if weak := suspicious(code.String()); len(weak) > 1 {
			out = weak
		}
	}
	return out
}
