package target

import (
	"errors"
	"strings"
	"testing"
)

func TestTheShortFormOfAnInstallationIsItsHost(t *testing.T) {
	for want, r := range map[string]Ref{
		"build-07":     {System: SSH, Scope: Scope{Level: Host, Path: "build-07"}, Kind: Installation, ID: "act_runner-812"},
		"ssh/build-07": {System: SSH, Kind: Host, ID: "build-07"},
		"gl/42":        {System: "gl", Scope: Scope{Level: "project"}, Kind: Runner, ID: "42"},

		"gh/5@acme":            {System: "gh", Scope: Scope{Level: "organization", Path: "acme"}, Kind: Runner, ID: "5"},
		"gh/5@acme/shop":       {System: "gh", Scope: Scope{Level: "repository", Path: "acme/shop"}, Kind: Runner, ID: "5"},
		"gh/5@enterprise:acme": {System: "gh", Scope: Scope{Level: "enterprise", Path: "acme"}, Kind: Runner, ID: "5"},
	} {
		if got := r.Short(); got != want {
			t.Errorf("%s is %s in short, want %s", r, got, want)
		}
	}
}

func TestOneNumberInTwoScopesIsTwoRunners(t *testing.T) {
	org := Ref{System: "gh", Scope: Scope{Level: "organization", Path: "acme"}, Kind: Runner, ID: "5"}
	repo := Ref{System: "gh", Scope: Scope{Level: "repository", Path: "acme/shop"}, Kind: Runner, ID: "5"}
	open := Ref{System: "gh", Kind: Runner, ID: "5"}
	if org.Same(repo) || repo.Same(org) {
		t.Error("one number in two scopes is the same runner")
	}
	if !org.Same(org) || !open.Same(org) || !org.Same(open) {
		t.Error("a reference that leaves the scope open is another one's")
	}
	if other := (Ref{System: "gl", Kind: Runner, ID: "5"}); other.Same(org) {
		t.Error("another system's is the same")
	}
	if project := (Ref{System: "gl", Scope: Scope{Level: "project"}, Kind: Runner, ID: "5"}); !project.Same(Ref{System: "gl", Kind: Runner, ID: "5"}) {
		t.Error("a level without a path tells runners of a GitLab apart")
	}
}

func TestAPathWithItsSlashIsToldHowToBeWritten(t *testing.T) {
	_, err := Parse("gh/repository:acme/web/runner/7")
	if !errors.Is(err, ErrSyntax) || !strings.Contains(err.Error(), "%2F") {
		t.Errorf("%v", err)
	}
	if r, err := Parse("gh/repository:acme%2Fweb/runner/7"); err != nil || r.Scope.Path != "acme/web" {
		t.Errorf("control: %v, %v", r, err)
	}
}
