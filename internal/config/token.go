package config

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"

	"cordon/internal/secret"
)

// Errors of TokenSource.Get that callers test for.
var (
	// ErrAsk means: ask the person, who keeps it elsewhere.
	ErrAsk = errors.New("this token is asked for")
	// ErrToken is wrapped by every other error: the token could not be had.
	ErrToken = errors.New("no token")
)

// TokenSource says where one token is. Exactly one field is set after Load.
type TokenSource struct {
	Env     string   `yaml:"env"`     // name of an environment variable
	Command []string `yaml:"command"` // program and arguments, no shell; its first line of output is the token
	File    string   `yaml:"file"`    // refused if anybody else can read it
	Glab    bool     `yaml:"glab"`    // what glab stored for this host
	GH      bool     `yaml:"gh"`      // what gh says for this host; GitHub only
	Ask     bool     `yaml:"ask"`     // act only
	App     *App     `yaml:"app"`     // made by a GitHub App; GitHub only

	host string // HOST[:PORT] of the provider, for glab and gh
}

// String names the place for a person, with no value in it.
func (s *TokenSource) String() string {
	switch {
	case s.Env != "":
		return "environment variable " + s.Env
	case len(s.Command) > 0:
		return "command " + s.Command[0]
	case s.File != "":
		return "file " + s.File
	case s.Glab:
		return "glab's login for " + s.host
	case s.GH:
		return "gh's login for " + s.host
	case s.Ask:
		return "asked for"
	case s.App != nil:
		return "GitHub App " + strconv.FormatInt(s.App.ID, 10)
	}
	return "nowhere"
}

// Get fetches the token now; it keeps nothing, so each call fetches again. It
// returns ErrAsk for a token that a person has to type, and otherwise errors that
// wrap ErrToken, name the place, and quote nothing that was found there. Safe for
// concurrent use; a command is ended with ctx and after CommandTimeout.
func (s *TokenSource) Get(ctx context.Context) (secret.Secret, error) {
	var raw string
	var err error
	switch {
	case s.Ask:
		return secret.Secret{}, ErrAsk
	case s.Env != "":
		if raw = os.Getenv(s.Env); raw == "" {
			err = errors.New("not set, or empty")
		}
	case len(s.Command) > 0:
		raw, err = output(ctx, s.Command)
	case s.File != "":
		var b []byte
		b, err = read(s.File, 0o077, "read")
		raw = string(b)
	case s.Glab:
		raw, err = glabToken(s.host)
	case s.GH:
		raw, err = output(ctx, []string{"gh", "auth", "token", "--hostname", s.host})
	case s.App != nil:
		err = errors.New("an App's token is made, not fetched")
	default:
		err = errors.New("no place is configured")
	}
	if err == nil {
		raw, err = oneToken(raw)
	}
	if err != nil {
		return secret.Secret{}, fmt.Errorf("%w from %s: %w", ErrToken, s, err)
	}
	return secret.New(raw), nil
}

// maxToken is far above any provider's token; a JWT of a job has about 2 KiB.
const maxToken = 8 << 10

// oneToken takes the line end off and refuses what cannot be a header's value.
func oneToken(raw string) (string, error) {
	t := strings.TrimRight(raw, "\r\n")
	switch {
	case t == "":
		return "", errors.New("it is empty")
	case len(t) > maxToken:
		return "", fmt.Errorf("longer than %d KiB: not a token", maxToken>>10)
	case strings.ContainsFunc(t, func(r rune) bool { return r <= ' ' || r >= 0x7f }):
		return "", errors.New("more than one word, or characters that no token has; give the token alone, on one line")
	}
	return t, nil
}

// Upper case only: a token pasted in place of the name is then refused unseen.
var envForm = regexp.MustCompile(`^[A-Z_][A-Z0-9_]{0,63}$`)

func (v *validator) token(here []string, s *TokenSource, p *Provider) {
	n := 0
	for _, set := range []bool{s.Env != "", s.Command != nil, s.File != "", s.Glab, s.GH, s.Ask, s.App != nil} {
		if set {
			n++
		}
	}
	switch {
	case n == 0:
		tokens := kinds[p.Type].tokens
		if tokens == "" {
			tokens = "env, command, file"
		}
		v.add(here, "name one of "+tokens, "no place for the token")
	case n > 1:
		v.add(here, "keep one of them", "more than one place for the token")
	case s.Env != "" && !envForm.MatchString(s.Env):
		v.add(append(here, "env"), "write the variable's name, in upper case; never the token itself", "not the name of an environment variable")
	case s.Command != nil && !runnable(s.Command):
		v.add(append(here, "command"), "write command: [program, argument, …]", "nothing to run")
	case s.GH && p.Type != "github":
		v.add(append(here, "gh"), "gh logs in to GitHub; here use glab, env, command or file", "gh has no token for this provider")
	case s.Glab && p.Type == "github":
		v.add(append(here, "glab"), "glab logs in to GitLab; here use gh, env, command, file or app", "glab has no token for this provider")
	case s.App != nil:
		v.app(append(here, "app"), s.App, p)
	}
	v.path(&s.File)
}

func runnable(argv []string) bool { return len(argv) > 0 && strings.TrimSpace(argv[0]) != "" }
