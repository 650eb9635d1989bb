package check

import (
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"

	"cordon/internal/host/snapshot"
)

// gitPrograms are the settings with which git starts a program or reads more settings
// (git-config(1), facts/host.md §2.1), section and key in lower case.
var gitPrograms = regexp.MustCompile(`^(filter\..*\.(clean|smudge|process)|diff\..*\.(command|textconv)|merge\..*\.driver|diff\.external` +
	`|core\.(editor|pager|hookspath|sshcommand|fsmonitor|gitproxy|attributesfile|askpass|alternaterefscommand)|pager\.[^.]+|sequence\.editor|interactive\.difffilter` +
	`|credential\.helper|credential\..*\.helper|gpg\.program|gpg\..*\.(program|defaultkeycommand)|init\.templatedir` +
	`|include\.path|includeif\..*\.path|protocol\.ext\.allow|uploadpack\.packobjectshook|remote\..*\.(uploadpack|receivepack|vcs)|trailer\..*\.(command|cmd)` +
	`|(difftool|mergetool|browser|man|guitool)\..*\.cmd|sendemail\.(smtpserver|tocmd|cccmd|sendmailcmd)|alias\..*)$`)

// gitSources are settings that decide which server sources come from.
var gitSources = regexp.MustCompile(`^(url\..*\.(insteadof|pushinsteadof)|http\.(.*\.)?(proxy|sslverify)|core\.gitproxy|remote\..*\.proxy)$`)

// judgeGit judges settings of git: an account's, the machine's or a repository's. In a
// repository more counts, because people set little there and every job there obeys it.
func judgeGit(v *view, p string, f *snapshot.File, why *reasons) {
	var usual reasons // would only hide what is not
	repo := strings.Contains(p, ".git/")
	_, home := v.homeOwner(p)
	for name, value := range gitSettings(string(f.Content)) {
		var s Severity
		var words string
		switch {
		case gitSources.MatchString(name):
			s, words = gitSource(name, value)
		case !gitPrograms.MatchString(name) || value == "" || strings.HasPrefix(name, "alias.") && !strings.HasPrefix(value, "!"):
		case strings.HasPrefix(name, "include"):
			s, words = gitInclude(name, value, home)
		default:
			s, words = gitProgram(name, value, repo)
		}
		switch {
		case s == Info:
			usual.add(s, "%s", words)
		case s != "":
			why.add(s, "%s", words)
		}
	}
	if why.worst == "" {
		*why = usual
	}
}

// isSet shows a setting.
func isSet(name, value, words string) string { return quote(name) + " = " + quote(value) + words }

// gitProgram judges one setting that starts a program; "" where it is what everybody has.
func gitProgram(name, value string, repo bool) (Severity, string) {
	usual, known := usualGit(name, value)
	words := splitCommand(strings.TrimPrefix(value, "!"))
	odd := ""
	if len(words) > 0 {
		odd = oddPlace(execPath(words[0]))
	}
	signs := suspicious(value)
	if strings.HasPrefix(name, "credential.") { // helpers speak to servers; what carries the answer away is what counts
		signs = strongSigns(value)
	}
	switch {
	case usual:
		return Info, isSet(name, value, "")
	case odd != "":
		return High, isSet(name, value, ": the program "+odd)
	case len(signs) > 0:
		return High, isSet(name, value, ": it "+strings.Join(signs, ", "))
	case known && (!repo || name == "core.hookspath" || name == "core.sshcommand"):
		return Low, isSet(name, value, "")
	case strings.HasPrefix(name, "alias.") && !repo:
		return "", ""
	}
	return Medium, isSet(name, value, "")
}

var (
	plainPager = regexp.MustCompile(`^(/usr/bin/)?(less|more|most|cat|delta|bat|diff-so-fancy|diff-highlight)\b[^;&|$` + "`" + `]*$`)
	pagerChain = regexp.MustCompile(`^(delta|diff-so-fancy|diff-highlight) \| less( [-A-Za-z0-9=.]+)*$`)
	plainEdit  = regexp.MustCompile(`^("?/usr/bin/)?"?(vi|vim|nvim|nano|emacs|emacsclient|code|codium|subl|micro|hx|joe|ed|mcedit|editor|sensible-editor|true|:)\b[^;&|$` + "`" + `]*$`)
	plainDiff  = regexp.MustCompile(`^(/usr/bin/)?(difft|difftastic|delta|icdiff|colordiff|meld|vimdiff|exiftool|exif|pandoc|pdftotext|nbdime|git-nbdiffdriver|git-nbmergedriver|nbstripout|jq|sops|git-crypt|mergiraf)\b[^;&|$` + "`" + `]*$`)
	plainLFS   = regexp.MustCompile(`^git[- ]lfs (clean|smudge)( --skip)? -- %f$|^git[- ]lfs filter-process( --skip)?$`)
	plainCrypt = regexp.MustCompile(`^"?(/usr/bin/)?git-crypt"? (clean|smudge|diff)[A-Za-z0-9 =_-]*$|^nbstripout( --?[a-z-]+)*$`)
	plainCreds = regexp.MustCompile(`^(cache|store|manager|manager-core|libsecret|gnome-keyring|osxkeychain|wincred|oauth|netrc|gcloud\.sh|aws-codecommit|(/usr/(lib/git-core|share/doc/git/contrib/credential/[a-z]+|bin)/)git-credential-[a-z-]+)( --?[a-z]+([ =][A-Za-z0-9_./~-]+)?)*$`)
	plainCLIs  = regexp.MustCompile(`^!("?/usr(/local)?/bin/)?(gh|glab|tea|gcloud|aws)"? (auth git-credential|auth git-helper( --[a-z-]+)*( \$@)?|credential-helper|login helper|(--profile [A-Za-z0-9_-]+ )?codecommit credential-helper \$@)$`)
	plainSSH   = regexp.MustCompile(`^"?(/usr/bin/)?ssh"?( |$)`)
	plainGPG   = regexp.MustCompile(`^(/usr/bin/|/usr/local/bin/)?(gpg2?|gpgsm|ssh-keygen|op-ssh-sign)$`)
)

// usualGit reports whether a setting is what tools and people set everywhere, and
// whether it is at least of a kind that people set.
func usualGit(name, value string) (usual, known bool) {
	last := name[strings.LastIndexByte(name, '.')+1:]
	switch {
	case name == "core.pager" || strings.HasPrefix(name, "pager.") || name == "interactive.difffilter":
		return plainPager.MatchString(value) || pagerChain.MatchString(value) || value == "true" || value == "false", false
	case name == "core.editor" || name == "sequence.editor":
		return plainEdit.MatchString(value), false
	case strings.HasPrefix(name, "credential."):
		return plainCreds.MatchString(value) || plainCLIs.MatchString(value), false
	case strings.HasPrefix(name, "filter."):
		return plainLFS.MatchString(value) || plainCrypt.MatchString(value), false
	case last == "textconv" || last == "driver" || last == "command" || name == "diff.external":
		return plainDiff.MatchString(value) || plainCrypt.MatchString(value), last == "textconv"
	case name == "core.fsmonitor":
		return slices.Contains([]string{"true", "false", "0", "1"}, value), false
	case name == "core.hookspath":
		return false, ownHooks.MatchString(value) && !strings.Contains(value, "..")
	case name == "core.sshcommand":
		plain := plainSSH.MatchString(value) && !strings.ContainsAny(value, ";&|$`") && !sshStarts.MatchString(value)
		return false, plain
	case name == "core.attributesfile" || last == "cmd" || strings.HasPrefix(name, "sendemail."):
		return last == "cmd" && plainEdit.MatchString(value) || name == "sendemail.smtpserver" && !strings.Contains(value, "/"), true
	case last == "program":
		return plainGPG.MatchString(value), false
	case name == "protocol.ext.allow":
		return value == "never", false
	case strings.HasPrefix(name, "remote.") && (last == "uploadpack" || last == "receivepack"):
		return value == "git-upload-pack" || value == "git-receive-pack", false
	}
	return false, false
}

// ownHooks are directories that repositories bring for their hooks by custom.
var ownHooks = regexp.MustCompile(`^([A-Za-z0-9_-]+/)*(\.husky(/_)?|\.?git-?hooks|hooks)/?$`)

// sshStarts are options with which ssh starts a program of its own.
var sshStarts = regexp.MustCompile(`(?i)\b(ProxyCommand|LocalCommand|PermitLocalCommand|KnownHostsCommand|PKCS11Provider|SecurityKeyProvider|-F)\b`)

// jobIncludes are files that agents write for one job and name in its repository.
var jobIncludes = regexp.MustCompile(`/\.gitlab-runner\.ext\.conf$|/_temp/git-credentials-[0-9a-f-]+\.config$|^/github/runner_temp/git-credentials-`)

// gitInclude judges a file with more settings, which is not read.
func gitInclude(name, value string, home bool) (Severity, string) {
	clean := path.Clean(value)
	switch {
	case jobIncludes.MatchString(value):
		return Info, isSet(name, value, ", which an agent writes for its job; not read")
	case inTemp(clean):
		return High, isSet(name, value, ": more settings, not read, and it "+oddPlace(clean))
	case home && !strings.HasPrefix(clean, "/") && !strings.Contains(clean, "..") || strings.HasPrefix(clean, "~/"):
		return Low, isSet(name, value, ": more settings, not read; read them too")
	}
	return Medium, isSet(name, value, ": more settings, from elsewhere and not read; read them too")
}

// gitSource judges what decides which server sources come from.
func gitSource(name, value string) (Severity, string) {
	switch {
	case strings.HasSuffix(name, "sslverify"):
		if slices.Contains([]string{"false", "0", "no", "off"}, strings.ToLower(value)) {
			return Medium, isSet(name, value, ": git takes sources from whoever answers")
		}
		return "", ""
	case strings.HasSuffix(name, "proxy"):
		switch {
		case value == "":
			return "", ""
		case name == "core.gitproxy" || bareAddress.MatchString(value):
			return Medium, isSet(name, value, ": sources come through it")
		}
		return Low, isSet(name, value, ": sources come through it")
	}
	to := strings.TrimPrefix(name[:strings.LastIndexByte(name, '.')], "url.")
	there, from := gitHost(to), gitHost(value)
	s := Medium
	switch {
	case there == from && there != "", there == "" && gitSchemes.MatchString(to):
		s = Info
	case strings.HasPrefix(to, "http:") || strings.HasPrefix(to, "git:") || strings.HasPrefix(to, "ext::") || bareAddress.MatchString(to):
		s = High
	case from == "" && gitShort.MatchString(value) && !gitSchemes.MatchString(value) && strings.HasPrefix(to, "https://"):
		s = Info
	}
	return s, quote(value) + " is fetched from " + quote(to) + " instead"
}

// gitSchemes are ways to fetch from whatever server, gitShort is a name made up for one.
var (
	gitSchemes = regexp.MustCompile(`^(https|ssh|git\+ssh)(:|://)?$`)
	gitShort   = regexp.MustCompile(`^[A-Za-z0-9_-]+:/{0,2}$`)
)

// gitHost is the server of an address as git writes it: a URL, or user@host:path.
func gitHost(s string) string {
	if u, err := url.Parse(s); err == nil && u.Host != "" {
		return strings.ToLower(u.Hostname())
	}
	if _, rest, ok := strings.Cut(s, "://"); ok { // a user name that was replaced by a mark
		rest, _, _ = strings.Cut(rest, "/")
		rest = rest[strings.LastIndexByte(rest, '@')+1:]
		rest, _, _ = strings.Cut(rest, ":")
		return strings.ToLower(rest)
	}
	if host, _, ok := strings.Cut(s, ":"); ok && !strings.Contains(host, "/") && strings.Contains(host, ".") {
		return strings.ToLower(host[strings.LastIndexByte(host, '@')+1:])
	}
	return ""
}

// gitSettings yields section[.subsection].key in lower case and the value (git-config(1)).
func gitSettings(content string) func(func(string, string) bool) {
	return func(yield func(string, string) bool) {
		section := ""
		for line := range strings.Lines(strings.ReplaceAll(strings.ReplaceAll(content, "\\\r\n", ""), "\\\n", "")) {
			line = strings.TrimSpace(line)
			if m := gitSection.FindStringSubmatch(line); m != nil {
				section = strings.ToLower(m[1])
				if m[2] != "" {
					section += "." + gitUnescape.Replace(m[2])
				}
				line = strings.TrimSpace(line[len(m[0]):]) // a setting may stand on the same line
			}
			key, value, ok := strings.Cut(line, "=")
			if !ok || line[0] == '#' || line[0] == ';' {
				continue
			}
			if !yield(strings.ToLower(section)+"."+strings.ToLower(strings.TrimSpace(key)), gitValue(value)) {
				return
			}
		}
	}
}

var (
	gitSection  = regexp.MustCompile(`^\[\s*([A-Za-z0-9.-]+)\s*(?:"((?:[^"\\]|\\.)*)")?\s*\]`)
	gitUnescape = strings.NewReplacer(`\"`, `"`, `\\`, `\`)
)

// gitValue is a value without its quotes and the comment behind it.
func gitValue(s string) string {
	var out strings.Builder
	quoted := false
	s = strings.TrimSpace(s)
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\' && i+1 < len(s):
			i++
			out.WriteByte(s[i])
		case c == '"':
			quoted = !quoted
		case (c == '#' || c == ';') && !quoted:
			return strings.TrimSpace(out.String())
		default:
			out.WriteByte(c)
		}
	}
	return strings.TrimSpace(out.String())
}

func judgeGitHook(v *view, p string, f *snapshot.File, why *reasons) {
	if f.Type != "file" || f.Mode&0o111 == 0 || strings.HasSuffix(p, ".sample") {
		return
	}
	content := string(f.Content)
	switch u, ok := v.homeOwner(p); {
	case len(suspicious(content)) > 0:
		why.add(High, "it %s", strings.Join(suspicious(content), ", "))
	case strings.Contains(content, "git lfs ") || strings.Contains(content, "git-lfs") || strings.Contains(content, "husky"):
		why.add(Info, "a hook of git-lfs or husky")
	case ok && v.isRunner(u) || v.inWork(p):
		why.add(Medium, "a repository of the jobs; the next job there runs it: %s", quote(content))
	default:
		why.add(Low, "%s", quote(content))
	}
}
