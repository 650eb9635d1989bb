package check

import (
	"regexp"
	"strings"

	"cordon/internal/host/snapshot"
)

// settings are files of other settings as well, which are read for those: they hold a
// login only where one stands in them. Most of the mixed ones never do: tools write
// them for everybody.
var (
	settings  = regexp.MustCompile(`/(pip\.conf|\.npmrc|\.terraformrc)$|/\.docker/config\.json$`)
	mixed     = regexp.MustCompile(`/\.yarnrc\.yml$|/\.gradle/gradle\.properties$|/\.m2/settings\.xml$|(?i:/nuget\.config)$`)
	aLogin    = regexp.MustCompile(`(?i)://[^/\s]*@|auth|passw|token|username|secret|credential`)
	loginName = regexp.MustCompile(`(?i)key|user|login|sign|_?pw$`)
)

// What a file of settings says about a login in it.
const (
	holdsLogin = "holds one"
	holdsNone  = "holds none"
	maybeLogin = "may hold one"
)

// loginIn reports whether a login stands in such a file. What was not read may hold one.
func loginIn(p string, f *snapshot.File) string {
	switch {
	case settings.MatchString(p):
		if f.Content != "" && !f.Truncated && f.Redacted == 0 && !aLogin.MatchString(string(f.Content)) && !ourMark(string(f.Content)) {
			return holdsNone
		}
		return holdsLogin
	case !mixed.MatchString(p):
		return holdsLogin
	case f.Content == "" || f.Truncated:
		return maybeLogin
	}
	tags := strings.HasSuffix(strings.ToLower(p), ".xml") || strings.HasSuffix(strings.ToLower(p), ".config")
	out := holdsNone
	for line := range strings.Lines(string(f.Content)) {
		marked := ourMark(line)
		switch {
		case aLogin.MatchString(line) && !tags, tags && marked, marked && loginName.MatchString(line[:strings.Index(line, "[redacted")]):
			return holdsLogin
		case marked:
			out = maybeLogin
		}
	}
	return out
}

// ourMark reports a value that was replaced because it may be a secret.
func ourMark(text string) bool { return strings.Contains(text, "[redacted") }
