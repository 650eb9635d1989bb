package check

import (
	"regexp"
	"strings"
)

// A variable that makes programs load code: always, or when its value matches when.
type loader struct {
	name string
	as   Severity
	when *regexp.Regexp // nil: any value
}

var loaders = []loader{
	{"LD_PRELOAD", High, nil},
	{"LD_AUDIT", High, nil},
	{"BASH_ENV", High, nil},
	{"PROMPT_COMMAND", High, nil},
	{"PYTHONSTARTUP", High, nil},
	{"GIT_EXTERNAL_DIFF", High, nil},
	{"GIT_PROXY_COMMAND", High, nil},
	{"GIT_CONFIG_GLOBAL", Medium, nil},
	{"GIT_CONFIG_SYSTEM", Medium, nil},
	{"GIT_CONFIG_PARAMETERS", Medium, nil},
	{"GIT_EXEC_PATH", High, nil},
	{"GIT_TEMPLATE_DIR", Medium, nil},
	{"DOTNET_STARTUP_HOOKS", High, nil},
	{"DOTNET_ADDITIONAL_DEPS", Medium, nil},
	{"CORECLR_PROFILER", High, nil},
	{"CORECLR_PROFILER_PATH", High, nil},
	{"PERL5DB", High, nil},
	{"RUSTC_WRAPPER", Medium, nil},
	{"GOFLAGS", High, regexp.MustCompile(`toolexec`)},
	{"JDK_JAVA_OPTIONS", High, javaAgent},
	{"MAVEN_OPTS", High, javaAgent},
	{"GRADLE_OPTS", High, javaAgent},
	{"ENV", High, regexp.MustCompile(`^[/~$.]`)}, // a file for sh; as "production" it is an application's
	{"NODE_OPTIONS", High, regexp.MustCompile(`(^|\s)(-r|--require|--import|--loader|--experimental-loader|--inspect\S*)([\s=]|$)`)},
	{"JAVA_TOOL_OPTIONS", High, javaAgent},
	{"_JAVA_OPTIONS", High, javaAgent},
	{"PERL5OPT", High, regexp.MustCompile(`-[MmIdx]`)},
	{"RUBYOPT", High, regexp.MustCompile(`-[rI]`)},
	{"GIT_SSH", Medium, nil},
	{"GIT_SSH_COMMAND", Medium, regexp.MustCompile(`ProxyCommand|^\S*/(tmp|shm)/|^[^-]*\.sh\b`)},
	// env.sh of the GitHub runner writes these by itself.
	{"LD_LIBRARY_PATH", Low, nil},
	{"PERL5LIB", Low, nil},
	{"PYTHONPATH", Low, nil},
	{"NODE_EXTRA_CA_CERTS", Low, nil},
}

var javaAgent = regexp.MustCompile(`-(javaagent|agentlib|agentpath):`)

// gitKey matches the keys of GIT_CONFIG_COUNT's settings, of which some start a program.
var gitKey = regexp.MustCompile(`(?i)^(filter\..*\.(clean|smudge|process)|diff\..*|core\.(editor|pager|hookspath|sshcommand|fsmonitor|gitproxy|attributesfile)|credential\..*helper|init\.templatedir|url\..*\.(push)?insteadof|include(if)?\..*|protocol\..*\.allow|alias\..*|http\..*proxy.*)$`)

// loaderVar judges a variable that an agent or a job is started with. Where the value
// was not kept and would have to be known, it is Low.
func loaderVar(name, value string) (Severity, bool) {
	switch {
	case strings.HasPrefix(name, "BASH_FUNC_") && value != "": // a function in place of a program of its name
		return High, true
	case strings.HasPrefix(name, "GIT_CONFIG_KEY_"):
		switch {
		case gitKey.MatchString(value):
			return High, true
		case printShape.MatchString(value):
			return Low, true
		}
		return "", false
	}
	for _, l := range loaders {
		switch {
		case l.name != name:
		case value == "":
			return "", false
		case l.as == Low && oddPlace(strings.Split(value, ":")[0]) != "":
			return High, true
		case l.when == nil || l.when.MatchString(value):
			return l.as, true
		case printShape.MatchString(value):
			return Low, true
		}
	}
	return "", false
}
