package snapshot

import (
	"bytes"
	"regexp"
	"strings"
)

// passwd replaces field 2 of /etc/passwd and /etc/group where it is a hash instead of a
// reference to /etc/shadow or /etc/gshadow (passwd(5), group(5)).
func (p *parser) passwd(s string) (string, int) {
	n := 0
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		f := strings.Split(l, ":")
		if len(f) < 3 || strings.Trim(f[1], "x*!") == "" {
			continue
		}
		f[1] = p.hidden(f[1])
		n++
		lines[i] = strings.Join(f, ":")
	}
	return strings.Join(lines, "\n"), n
}

// assignments replaces the values of NAME=VALUE lines that are not on the list of
// names whose values are shown.
func (p *parser) assignments(s string) (string, int) {
	return p.lines(s, lineRule{re: assignment, shown: shown, export: true})
}

var assignment = regexp.MustCompile(`^(\s*(?:export\s+)?)([A-Za-z_][A-Za-z0-9_]*)(=)(.*)$`)

var (
	unitEnv  = regexp.MustCompile(`^(\s*Environment\s*=)(.*)$`)
	unitWord = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[^\s"']+`)
)

// unitEnvironment does the same for Environment= of unit files (systemd.exec(5)):
// words, each of them NAME=VALUE, quoted as a whole, going on in the next line after
// a backslash.
func (p *parser) unitEnvironment(s string) (string, int) {
	n := 0
	lines := strings.Split(s, "\n")
	on := false
	for i, l := range lines {
		head, rest := "", l
		if m := unitEnv.FindStringSubmatch(l); m != nil {
			head, rest, on = m[1], m[2], true
		}
		if !on {
			continue
		}
		lines[i] = head + unitWord.ReplaceAllStringFunc(rest, func(w string) string {
			q := ""
			if w[0] == '"' || w[0] == '\'' {
				q = w[:1]
				w = w[1 : len(w)-1]
			}
			name, v, ok := strings.Cut(w, "=")
			switch {
			case w == `\`:
			case !ok: // the rest of a value that was quoted inside, or nothing systemd takes
				w = p.hidden(w)
				n++
			case v != "" && !shown(name):
				w = name + "=" + p.hidden(strings.TrimSuffix(v, `\`))
				n++
			}
			return q + w + q
		})
		on = strings.HasSuffix(strings.TrimRight(l, " \t"), `\`)
	}
	return strings.Join(lines, "\n"), n
}

// registrationFields are what a .runner says that is no credential: GitHub's
// (actions/runner, ConfigurationStore.cs) and Gitea's (registration.go).
var registrationFields = []string{
	"isHostedServer", "IsHostedServer", "agentId", "AgentId", "agentName", "AgentName", "skipSessionRecover", "poolId", "PoolId", "poolName", "PoolName",
	"disableUpdate", "ephemeral", "Ephemeral", "serverUrl", "ServerUrl", "gitHubUrl", "GitHubUrl", "workFolder", "WorkFolder", "monitorSocketAddress",
	"useV2Flow", "UseV2Flow", "useRunnerAdminFlow", "DisableUpdate", "MonitorSocketAddress", "SkipSessionRecover", "serverUrlV2", "ServerUrlV2", "WARNING", "id", "uuid", "name", "address", "labels",
	// .agent of Azure Pipelines
	"projectName", "ProjectName", "projectId", "ProjectId", "deploymentGroupId", "DeploymentGroupId", "deploymentGroupName", "DeploymentGroupName",
	"environmentId", "EnvironmentId", "environmentName", "EnvironmentName", "notificationPipeName", "alwaysExtractTask", "acceptTeeEula",
}

// registration keeps the named fields of a .runner file, which .NET writes with a
// byte order mark.
func (p *parser) registration(s string) (string, int, bool) {
	out, n, err := p.x.Marker.JSON(bytes.TrimPrefix([]byte(s), []byte("\xef\xbb\xbf")), registrationFields)
	return string(out), n, err == nil
}

// settingsFile reports a configuration of NAME = VALUE lines in which a credential may
// stand under any name.
func settingsFile(name string) bool {
	for _, end := range []string{"/.npmrc", "/pip.conf", "/.cargo/config", "/.cargo/config.toml", "/.config/go/env"} {
		if strings.HasSuffix(name, end) {
			return true
		}
	}
	return false
}

var setting = regexp.MustCompile(`^(\s*(?:[@A-Za-z0-9_./:-]+:)?)([A-Za-z_][A-Za-z0-9_.-]*)(\s*=\s*)(.*)$`)

// shownSettings are the names in such files that decide what is run and from where it
// is fetched (facts/host.md §1.4, §2.2).
var shownSettings = map[string]bool{
	"registry": true, "script-shell": true, "node-options": true, "ignore-scripts": true, "strict-ssl": true, "prefix": true,
	"index-url": true, "extra-index-url": true, "trusted-host": true, "find-links": true, "no-index": true,
	"rustc-wrapper": true, "rustc": true, "runner": true, "linker": true, "replace-with": true, "directory": true, "git-fetch-with-cli": true,
	"GOFLAGS": true, "GOPROXY": true, "GONOSUMDB": true, "GONOSUMCHECK": true, "GOSUMDB": true, "GOINSECURE": true, "GOTOOLCHAIN": true, "CC": true, "CXX": true,
	"hooks-path": true, "additional-hooks-paths": true, "plugins-path": true, "bootstrap-script": true, "git-mirrors-path": true, "build-path": true,
	"no-command-eval": true, "no-plugins": true, "no-local-hooks": true, "name": true, "endpoint": true, "shell": true,
}

// settings replaces what a line of such a file sets under any other name.
func (p *parser) settings(s string) (string, int) {
	return p.lines(s, lineRule{re: setting, shown: func(name string) bool { return shownSettings[name] }, indents: true})
}

// engineFields are what a container engine's JSON says that is no credential: the
// limits of one container, the daemon's and the client's settings.
var engineFields = []string{
	"Binds", "Privileged", "PidMode", "NetworkMode", "IpcMode", "UTSMode", "UsernsMode", "CgroupnsMode", "CapAdd", "CapDrop", "SecurityOpt", "Devices",
	"PathOnHost", "Name", "MaximumRetryCount", "Runtime", "VolumeDriver", "VolumesFrom", "Source", "Target", "Type",
	"insecure-registries", "registry-mirrors", "hosts", "runtimes", "path", "default-runtime", "userns-remap", "data-root", "icc",
	"credsStore", "credHelpers", "cliPluginsExtraDirs", "currentContext",
}

func (p *parser) engine(s string) (string, int, bool) {
	out, n, err := p.x.Marker.JSON([]byte(s), engineFields)
	return string(out), n, err == nil
}

// buildkiteSettings are the settings of buildkite-agent.cfg that are no credential
// (buildkite/agent, clicommand/agent_start.go).
var buildkiteSettings = map[string]bool{
	"name": true, "priority": true, "tags": true, "tags-from-host": true, "spawn": true, "queue": true, "endpoint": true, "build-path": true,
	"hooks-path": true, "additional-hooks-paths": true, "plugins-path": true, "bootstrap-script": true, "git-mirrors-path": true, "sockets-path": true,
	"no-command-eval": true, "no-plugins": true, "no-local-hooks": true, "no-git-submodules": true, "no-ssh-keyscan": true, "no-http2": true,
	"disconnect-after-job": true, "disconnect-after-idle-timeout": true, "cancel-grace-period": true, "experiment": true, "debug": true, "debug-http": true,
	"trace-log": true, "shell": true, "hooks-shell": true, "log-format": true, "log-level": true, "job-log-path": true, "git-clone-flags": true,
	"git-fetch-flags": true, "git-clean-flags": true, "git-checkout-flags": true, "acquire-job": true, "allowed-repositories": true, "allowed-plugins": true,
	"verification-failure-behavior": true, "profile": true, "lock": true, "health-check-addr": true, "metrics-datadog": true, "enable-environment-file": true,
}

var buildkiteLine = regexp.MustCompile(`^(\s*)([A-Za-z_][A-Za-z0-9_-]*)(\s*=\s*)(.*)$`)

// buildkite replaces the values of all other settings in such a file.
func (p *parser) buildkite(s string) (string, int) {
	return p.lines(s, lineRule{re: buildkiteLine, shown: func(name string) bool { return buildkiteSettings[name] }, around: `"`})
}
