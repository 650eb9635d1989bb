package check

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"cordon/internal/host/snapshot"
)

func toolsCheck() Check {
	return Check{
		ID:     "developer-tools",
		Title:  "What build tools start or trust on their own",
		Why:    "Every job uses npm, pip, cargo, go or git: a line in their settings runs in all of them, or gives them another server's packages.",
		Reads:  "settings of npm, yarn, pip, cargo, go, gradle, Maven, NuGet and docker, Python's .pth and start-up files, git's hooks and configuration of repositories in homes and work directories, ssh's client settings",
		Root:   "homes of other users",
		Needs:  []string{snapshot.SectionHomes, snapshot.SectionWork, snapshot.SectionSystem, snapshot.SectionKeys},
		Attack: []string{"T1195.001", "T1546"},
		NIST:   []string{"CM-7", "SR-3"},
		look:   func(v *view) []Finding { return v.judged(slices.Concat(toolPlaces, sourcePlaces)) },
	}
}

var toolPlaces = []place{
	{func(p string) bool { return path.Base(p) == ".npmrc" || p == "/etc/npmrc" }, []string{"T1195.001"}, "npm's settings start a program or trust another server", judgeSettings},
	{func(p string) bool { return path.Base(p) == "pip.conf" }, []string{"T1195.001"}, "pip's settings trust another server", judgeSettings},
	{
		func(p string) bool {
			return path.Base(path.Dir(p)) == ".cargo" && strings.HasPrefix(path.Base(p), "config") || strings.HasSuffix(p, "/.config/go/env")
		},
		[]string{"T1195.001"},
		"the compiler is started through another program", judgeSettings,
	},
	{
		func(p string) bool {
			return path.Base(path.Dir(p)) == "init.d" && strings.Contains(p, "/.gradle/") || strings.HasSuffix(p, "/.gradle/init.gradle")
		},
		[]string{"T1546"},
		"a script runs in every Gradle build", judgeGradle,
	},
	{func(p string) bool { return strings.HasSuffix(p, "/.docker/config.json") }, []string{"T1546"}, "docker asks a program for logins", judgeDockerClient},
	{func(p string) bool { return strings.Contains(p, "/.docker/cli-plugins/") }, []string{"T1546"}, "docker has a command that no package brought", cliPlugin},
	{
		func(p string) bool {
			return strings.HasSuffix(p, ".pth") || path.Base(p) == "sitecustomize.py" || path.Base(p) == "usercustomize.py"
		},
		[]string{"T1546.018"},
		"Python runs code before every program", judgePython,
	},
	{func(p string) bool { return strings.Contains(p, ".git/") && path.Base(path.Dir(p)) == "hooks" }, []string{"T1546"}, "git starts a script in a repository of this host", judgeGitHook},
	{
		func(p string) bool { // of modules, work trees and bare repositories too
			return strings.Contains(p, ".git/") && (path.Base(p) == "config" || path.Base(p) == "config.worktree") || p == "/etc/gitconfig"
		},
		[]string{"T1546"},
		"a repository's settings start a program, or fetch from elsewhere", judgeGit,
	},
	{func(p string) bool { return path.Base(p) == "sitecustomize.pl" }, []string{"T1546"}, "Perl runs code before every program", script},
	{func(p string) bool { return path.Base(p) == ".curlrc" }, []string{"T1557"}, "curl talks to somebody else, or believes everybody", judgeCurl},
	{func(p string) bool { return strings.HasSuffix(p, "/.ssh/config") }, []string{"T1546"}, "ssh's settings start a program", judgeSSHConfig},
}

// codeSettings start a program; source settings say where packages come from.
var (
	codeSettings   = []string{"script-shell", "node-options", "rustc-wrapper", "rustc", "runner", "linker", "GOFLAGS", "CC", "CXX"}
	sourceSettings = []string{"registry", "index-url", "extra-index-url", "find-links", "trusted-host", "replace-with", "GOPROXY", "GOSUMDB", "GOINSECURE", "GONOSUMDB", "GONOSUMCHECK"}
	publicSources  = regexp.MustCompile(`^(https://(registry\.npmjs\.org|registry\.yarnpkg\.com|npm\.pkg\.github\.com|pypi\.org|files\.pythonhosted\.org|proxy\.golang\.org)(/|,|$)|off$|direct$|sum\.golang\.org$)`)
)

func judgeSettings(_ *view, _ string, f *snapshot.File, why *reasons) {
	for line := range strings.Lines(string(f.Content)) {
		line = strings.TrimSpace(line)
		name, value, ok := strings.Cut(line, "=")
		if !ok || line[0] == '#' || line[0] == ';' {
			continue
		}
		name, value = strings.TrimSpace(name), strings.Trim(strings.TrimSpace(value), `"'`)
		if i := strings.LastIndexByte(name, ':'); i >= 0 {
			name = name[i+1:]
		}
		switch {
		case slices.Contains(codeSettings, name) && (name != "GOFLAGS" || strings.Contains(value, "toolexec")):
			s := Medium
			if len(suspicious(value)) > 0 || oddPlace(value) != "" || strings.Contains(value, "toolexec") || name == "node-options" && strings.Contains(value, "require") {
				s = High
			}
			why.add(s, "%s = %s", quote(name), quote(value))
		case name == "ignore-scripts" || name == "strict-ssl":
			if value == "false" {
				why.add(Low, "%s = false", name)
			}
		case slices.Contains(sourceSettings, name) && !publicSources.MatchString(value):
			s := Low // the company's own mirror is common
			if strings.HasPrefix(value, "http://") || name == "trusted-host" || name == "extra-index-url" || strings.Contains(value, "://192.") || strings.Contains(value, "://203.0.113.") || bareAddress.MatchString(value) {
				s = Medium
			}
			why.add(s, "packages come from %s (%s)", quote(value), name)
		}
	}
}

var bareAddress = regexp.MustCompile(`//(\d{1,3}\.){3}\d{1,3}\b`)

func judgeGradle(_ *view, _ string, f *snapshot.File, why *reasons) {
	why.add(Medium, "%s", quote(string(f.Content)))
	if signs := suspicious(string(f.Content)); len(signs) > 0 {
		why.add(High, "it %s", strings.Join(signs, ", "))
	}
}

var helper = regexp.MustCompile(`"(credsStore|credHelpers|cliPluginsExtraDirs)"\s*:\s*("[^"]*"|\{[^}]*\}|\[[^\]]*\])`)

func judgeDockerClient(_ *view, _ string, f *snapshot.File, why *reasons) {
	for _, m := range helper.FindAllStringSubmatch(string(f.Content), 8) {
		switch {
		case m[1] == "cliPluginsExtraDirs":
			why.add(Medium, "commands are looked for in %s", quote(m[2]))
		case plainHelpers.MatchString(m[2]):
		default:
			why.add(Medium, "%s %s: docker starts docker-credential-… of that name from PATH", m[1], quote(m[2]))
		}
	}
}

var plainHelpers = regexp.MustCompile(`^("(desktop|osxkeychain|secretservice|pass|wincred|ecr-login|gcloud|gcr|acr-env)?"|\{(\s*"[^"]*"\s*:\s*"(gcloud|gcr|ecr-login|acr-env|pass|secretservice)"\s*,?)*\s*\})$`)

func cliPlugin(v *view, p string, f *snapshot.File, why *reasons) {
	if f.Type == "file" && f.Mode&0o111 != 0 {
		s := Low
		if u, ok := v.homeOwner(p); ok && v.isRunner(u) {
			s = Medium
		}
		why.add(s, "docker %s runs it", quote(strings.TrimPrefix(path.Base(p), "docker-")))
	}
}

// plainPth are start-up files with code in them that pip brings, by name and by every
// line of code: the name alone excuses nothing.
var plainPth = []struct{ name, line *regexp.Regexp }{
	{regexp.MustCompile(`^distutils-precedence\.pth$`), regexp.MustCompile(`^import os; var = 'SETUPTOOLS_USE_DISTUTILS'; .*__import__\('_distutils_hack'\)`)},
	{regexp.MustCompile(`-nspkg\.pth$`), regexp.MustCompile(`^import sys, types, os;\s?(has_mfs|p) = .*\bmp = \(m or \[\]\) and m\.__dict__\.setdefault\('__path__', ?\[\]\)`)},
	{regexp.MustCompile(`^__editable__`), regexp.MustCompile(`^import __editable__[A-Za-z0-9_]*; __editable__[A-Za-z0-9_]*\.install\(\)$`)},
	{regexp.MustCompile(`^_?virtualenv\.pth$`), regexp.MustCompile(`^import _virtualenv$`)},
	{regexp.MustCompile(`coverage.*\.pth$`), regexp.MustCompile(`^import (sys; exec\('try: import coverage; coverage\.process_startup\(\)|coverage; coverage\.process_startup\(\))`)},
}

// isPlainPth reports whether the code of p is what pip brings under that name.
func isPlainPth(p, code string) bool {
	for _, x := range plainPth {
		if !x.name.MatchString(path.Base(p)) {
			continue
		}
		for line := range strings.Lines(code) {
			if !x.line.MatchString(strings.TrimSpace(line)) {
				return false
			}
		}
		return true
	}
	return false
}

func judgePython(v *view, p string, f *snapshot.File, why *reasons) {
	content := string(f.Content)
	code := ""
	for line := range strings.Lines(content) {
		trim := strings.TrimSpace(line)
		if trim == "" || trim[0] == '#' || strings.HasSuffix(p, ".pth") && !strings.HasPrefix(trim, "import ") && !strings.HasPrefix(trim, "import\t") {
			continue
		}
		code += line
	}
	if code == "" {
		return
	}
	_, home := v.homeOwner(p)
	switch {
	case len(suspicious(code)) > 0 && !(v.packaged != nil && !v.foreign(p)):
		why.add(High, "%s: it %s", quote(code), strings.Join(suspicious(code), ", "))
	case isPlainPth(p, code) || v.packaged != nil && !v.foreign(p):
	case strings.Contains(code, "apport_python_hook") && len(content) < 400:
	case home || v.foreign(p) || strings.HasSuffix(p, "customize.py"):
		why.add(Medium, "%s", quote(code))
	default:
		why.add(Low, "%s", quote(code))
	}
}

func judgeSSHConfig(_ *view, _ string, f *snapshot.File, why *reasons) {
	for line := range strings.Lines(string(f.Content)) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		value = strings.TrimSpace(value)
		switch k := strings.ToLower(key); {
		case k == "localcommand" || k == "knownhostscommand" || k == "proxycommand" || k == "match" && strings.Contains(value, "exec"):
			s := Low
			if len(suspicious(value)) > 0 || k == "localcommand" {
				s = Medium
			}
			why.add(s, "%s %s", quote(key), quote(value))
		}
	}
}
