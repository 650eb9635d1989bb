package check_test

import (
	"strings"
	"testing"

	"cordon/internal/check"
	"cordon/internal/host/snapshot"
)

// What people and tools set in git everywhere is a note at most; one word more is not.
func TestUsualSettingsOfGitAreANote(t *testing.T) {
	const usual = `[user]
	name = x
[credential]
	helper = store
	helper = cache --timeout=3600
[credential "https://github.com"]
	helper =
	helper = !/usr/bin/gh auth git-credential
[filter "lfs"]
	clean = git-lfs clean -- %f
	smudge = git-lfs smudge --skip -- %f
	process = git-lfs filter-process
	required = true
[core]
	editor = vim
	pager = delta ; the nice one
	fsmonitor = true
[pager]
	log = less -FX
[url "git@github.com:"]
	insteadOf = https://github.com/
[url "https://"]
	insteadOf = git://
[url "https://gitlab.example.org/"]
	insteadOf = "gl:"
[diff]
	external = difft
[alias]
	lg = log --graph
	root = !git rev-parse --show-toplevel
[gpg]
	program = gpg2
[include]
	path = /srv/builds/acme/web.tmp/.gitlab-runner.ext.conf
`
	settings := func(p, content string) []check.Finding {
		s := cleanHost()
		plantFile(file(profiles, p, 0o644, 1001, content))(s)
		return resultOf(t, s, "shell-profiles").Findings
	}
	for _, f := range settings("/home/ir/.gitconfig", usual) {
		if f.Severity.AtLeast(check.Low) {
			t.Errorf("%s: %s", f.Severity, f.Detail)
		}
	}
	for was, evil := range map[string]string{
		"helper = store": "helper = store; /usr/local/sbin/grab", "gh auth git-credential": "gh auth git-credential | tee /srv/x",
		"filter-process": "filter-process & /usr/local/sbin/grab", "editor = vim": "editor = vim & /usr/local/sbin/grab",
		"url \"https://\"": "url \"http://\"", "git@github.com:\"": "git@git.example.net:\"", "/usr/bin/gh": "/srv/gh",
		"\"gl:\"": "\"git@\"", "difft": "difft `id`", "gpg2": "/home/ir/gpg2", "web.tmp/.gitlab-runner.ext.conf": "web.tmp/.gitlab-runner.conf",
	} {
		if !strings.Contains(usual, was) {
			t.Fatalf("%q is not in the text", was)
		}
		if found := settings("/home/ir/.gitconfig", strings.Replace(usual, was, evil, 1)); len(found) != 1 || !found[0].Severity.AtLeast(check.Medium) {
			// a value may hold a ";" only in quotes: git takes the rest for a comment
			if found = settings("/home/ir/.gitconfig", strings.Replace(usual, was, quoted(evil), 1)); len(found) != 1 || !found[0].Severity.AtLeast(check.Medium) {
				t.Errorf("%q: %+v", evil, found)
			}
		}
	}
}

// quoted puts the value of a setting into quotes.
func quoted(setting string) string {
	name, value, ok := strings.Cut(setting, " = ")
	if !ok {
		return setting
	}
	return name + ` = "` + value + `"`
}

// What an agent and actions/checkout write into a repository for a job is none of an intruder's.
func TestWhatAgentsWriteIntoARepository(t *testing.T) {
	s := cleanHost()
	plantFile(file(snapshot.SectionWork, "/home/gitlab-runner/builds/a/0/acme/web/.git/config", 0o644, 998, `[core]
	repositoryformatversion = 0
	sshCommand = "\"/usr/bin/ssh\" -i \"/home/runner/_work/_temp/key\" -o StrictHostKeyChecking=yes -o CheckHostIP=no"
[remote "origin"]
	url = https://gitlab.example.org/acme/web.git
[url "https://gitlab-ci-token:[redacted hmac:00112233aabbccdd len:20]@gitlab.example.org"]
	insteadOf = https://gitlab.example.org
[includeIf "gitdir:/home/runner/_work/web/web/.git"]
	path = /home/runner/_work/_temp/git-credentials-0f9a2c11-1111-2222-3333-444455556666.config
[filter "lfs"]
	smudge = git-lfs smudge --skip -- %f
`))(s)
	for _, f := range resultOf(t, s, "developer-tools").Findings {
		if f.Severity.AtLeast(check.Medium) {
			t.Errorf("%s: %s", f.Severity, f.Detail)
		}
	}
}
