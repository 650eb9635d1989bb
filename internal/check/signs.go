package check

import (
	"regexp"
	"slices"
	"strings"
)

// sign is one thing that commands of intruders have in common and that the hooks,
// timers and profiles of an honest runner host rarely show. A text without any of the
// words is not searched: patterns cost a microsecond a byte.
type sign struct {
	words  []string
	re     *regexp.Regexp
	strong bool // does not occur in services and profiles of honest packages
	why    string
}

var signs = []sign{
	{[]string{"/dev/tcp/", "/dev/udp/"}, regexp.MustCompile(`/dev/(tcp|udp)/`), true, "opens a network connection from the shell"},
	{[]string{"curl", "wget"}, regexp.MustCompile(`\b(curl|wget)\b[^\n]*\|\s*(sudo\s+)?(ba|da|z|k)?sh\b`), true, "pipes a download into a shell"},
	{[]string{"curl", "wget"}, regexp.MustCompile(`\b(ba|da|z)?sh\s+-c\s+["']?\$\(\s*(curl|wget)\b`), true, "runs a download in a shell"},
	{[]string{"curl", "wget"}, regexp.MustCompile(`\b(curl|wget)\b`), false, "talks to a server"},
	{[]string{"base64"}, regexp.MustCompile(`base64\s+(-d|--decode|-D)\b`), true, "decodes hidden text"},
	{[]string{"nc", "netcat", "socat"}, regexp.MustCompile(`(^|[\s;&|(/"'])(nc|ncat|netcat|socat)\s+-?[A-Za-z0-9]`), true, "uses a raw network tool"},
	{[]string{"python", "perl", "ruby", "php", "node"}, regexp.MustCompile(`\b(python[0-9.]*|perl|ruby|php|node)\s+-[ecr]\b`), false, "runs a program given on the command line"},
	{[]string{"nohup", "setsid", "disown"}, regexp.MustCompile(`\b(nohup|setsid|disown)\b`), false, "detaches a process so that it outlives its job"},
	{[]string{"bash"}, regexp.MustCompile(`\bbash\s+-i\b`), true, "starts an interactive shell"},
	{[]string{"/tmp/", "/dev/shm/"}, regexp.MustCompile(`(^|[\s="'(:])(/tmp|/var/tmp|/dev/shm)/\S`), true, tempSign},
	{[]string{"RUNNER_TRACKING_ID"}, regexp.MustCompile(`RUNNER_TRACKING_ID=`), true, "takes itself off the list of processes that are ended after a job"},
}

const tempSign = "uses files that anybody may write"

const hiddenSign = "uses something under a hidden directory"

// underDot finds paths with a hidden directory in them.
var underDot = regexp.MustCompile(`(/[^\s"'()]*|~|\$HOME|\$\{HOME\})/\.[A-Za-z0-9_-]+/[^\s"'():;]+`)

// maxText is how much of one text is searched for signs, in bytes; the collector
// reads no more of one file.
const maxText = 256 << 10

// suspicious lists the signs in a command or script.
func suspicious(text string) []string { return withProgram(text, search(text, false)) }

// strongSigns lists the signs that honest packages do not show, for texts of a
// distribution and for services.
func strongSigns(text string) []string { return withProgram(text, search(text, true)) }

// withProgram adds what the place of a command's program says.
func withProgram(text string, found []string) []string {
	if words := splitCommand(text[:min(len(text), 4096)]); len(words) > 0 {
		if odd := oddPlace(execPath(words[0])); odd != "" && !slices.Contains(found, hiddenSign) {
			found = append(found, "starts a program that "+odd)
		}
	}
	return found
}

func search(text string, strong bool) []string {
	text = text[:min(len(text), maxText)]
	var out []string
	for _, s := range signs {
		has := slices.ContainsFunc(s.words, func(w string) bool { return strings.Contains(text, w) })
		if has && (s.strong || !strong) && s.re.MatchString(text) {
			out = append(out, s.why)
		}
	}
	if strings.Contains(text, "/.") {
		for _, p := range underDot.FindAllString(text, 64) {
			if hiddenPart(p) != "" {
				return append(out, hiddenSign)
			}
		}
	}
	return out
}
