package config

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"cordon/internal/secret"
	"cordon/internal/testenv"
)

// planted is a secret that the test would find anywhere.
func planted(t *testing.T) string {
	t.Helper()
	return "gl" + "pat-" + rand.Text()
}

func TestATokenComesFromEachPlace(t *testing.T) {
	dir, tok := home(t), planted(t)
	t.Setenv("LOOK_TOKEN", tok)
	file := write(t, filepath.Join(dir, "token"), tok+"\n", 0o600)
	link := filepath.Join(dir, "link")
	if err := os.Symlink(file, link); err != nil {
		t.Fatal(err)
	}
	for _, s := range []TokenSource{
		{Env: "LOOK_TOKEN"},
		{File: file},
		{File: link},
		{Command: []string{testenv.Need(t, "cat"), file}},
		{Command: []string{"sh", "-c", "printf %s \"$LOOK_TOKEN\""}},
	} {
		got, err := s.Get(t.Context())
		if err != nil || got.Reveal() != tok {
			t.Errorf("%s: %v", &s, err)
		}
		if shown := fmt.Sprintf("%v %+v %#v %s", got, s, s, &s); strings.Contains(shown, tok) {
			t.Errorf("the token is shown: %s", shown)
		}
	}
}

func TestATokenToAskForIsTheCallersToAsk(t *testing.T) {
	if _, err := (&TokenSource{Ask: true}).Get(t.Context()); !errors.Is(err, ErrAsk) || errors.Is(err, ErrToken) {
		t.Errorf("got %v", err)
	}
}

func TestNoTokenSaysWhyAndShowsNothing(t *testing.T) {
	dir, tok := home(t), planted(t)
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		s    TokenSource
		want string
	}{
		{"not set", TokenSource{Env: "NO_SUCH_TOKEN"}, "no token from environment variable NO_SUCH_TOKEN: not set, or empty"},
		{"no file", TokenSource{File: dir + "/no"}, "no such file or directory"},
		{"readable by all", TokenSource{File: write(t, dir+"/a", tok, 0o644)}, "can be read by others (mode 0644); run: chmod 0600 " + dir + "/a"},
		{"readable by the group", TokenSource{File: write(t, dir+"/b", tok, 0o640)}, "run: chmod 0600 "},
		{"empty file", TokenSource{File: write(t, dir+"/c", "\n", 0o600)}, "it is empty"},
		{"a pipe nobody writes to", TokenSource{File: pipe}, "not a regular file"},
		{"a directory", TokenSource{File: dir}, "not a regular file"},
		{"more than a token", TokenSource{File: write(t, dir+"/d", "token: "+tok, 0o600)}, "give the token alone, on one line"},
		{"an escape sequence", TokenSource{File: write(t, dir+"/e", "\x1b]0;"+tok, 0o600)}, "characters that no token has"},
		{"a whole disk", TokenSource{File: write(t, dir+"/f", strings.Repeat("x", 1<<20), 0o600)}, "longer than 8 KiB: not a token"},
		{"no program", TokenSource{Command: []string{"no-such-program"}}, "there is no such program in PATH"},
		{"not a program", TokenSource{Command: []string{dir + "/a"}}, "it could not be run: permission denied"},
		{"it fails", TokenSource{Command: []string{"sh", "-c", "echo " + tok + "; echo " + tok + " >&2; exit 3"}}, fmt.Sprintf("it ended with exit code 3 and %d bytes of error output, not shown here", len(tok)+1)},
		{"it prints too much", TokenSource{Command: []string{"sh", "-c", "head -c 1000000 /dev/zero"}}, "longer than 8 KiB: not a token"},
		{"two lines", TokenSource{Command: []string{"printf", tok + "\\n" + tok + "\\n"}}, "on one line"},
		{"nothing", TokenSource{Command: []string{"true"}}, "it is empty"},
		{"nowhere", TokenSource{}, "no place is configured"},
		{"gh is not here", TokenSource{GH: true, host: "github.com"}, "no token from gh's login for github.com"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.s.GH {
				t.Setenv("PATH", dir)
			}
			got, err := c.s.Get(t.Context())
			if err == nil || !errors.Is(err, ErrToken) || !got.IsZero() {
				t.Fatalf("got %v, %v", got, err)
			}
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("got  %s\nwant %s", err, c.want)
			}
			if strings.Contains(err.Error(), tok) || strings.ContainsAny(err.Error(), "\n\x1b") {
				t.Errorf("it shows what it found: %q", err)
			}
		})
	}
}

// TestACommandEndsWithItsContext, and so does what it started.
func TestACommandEndsWithItsContext(t *testing.T) {
	note := filepath.Join(t.TempDir(), "pid")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan error, 1)
	go func() {
		s := TokenSource{Command: []string{"sh", "-c", "sleep 3600 & echo $! > " + note + ".new; mv " + note + ".new " + note + "; wait"}}
		_, err := s.Get(ctx)
		done <- err
	}()
	var pid []byte
	for pid == nil {
		if b, err := os.ReadFile(note); err == nil {
			pid = bytes.TrimSpace(b)
		}
		time.Sleep(5 * time.Millisecond)
	}
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	for { // until it is gone, or dead and waiting for an init that does not come
		b, err := os.ReadFile(filepath.Join("/proc", string(pid), "stat"))
		if err != nil || bytes.Contains(b, []byte(") Z ")) {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func TestEachGetFetchesAgain(t *testing.T) {
	file := write(t, filepath.Join(home(t), "token"), "first", 0o600)
	s := TokenSource{File: file}
	if got, err := s.Get(t.Context()); err != nil || got.Reveal() != "first" {
		t.Fatal(err)
	}
	write(t, file, "second", 0o600)
	if got, err := s.Get(t.Context()); err != nil || got.Reveal() != "second" {
		t.Errorf("a replaced token is not seen: %v", err)
	}
}

func TestGhIsAskedForItsHost(t *testing.T) {
	dir := home(t)
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	write(t, dir+"/gh", "#!/bin/sh\n[ \"$*\" = 'auth token --hostname github.example' ] && echo from-gh\n", 0o700)
	got, err := (&TokenSource{GH: true, host: "github.example"}).Get(t.Context())
	if err != nil || got.Reveal() != "from-gh" {
		t.Errorf("got %v", err)
	}
}

// glab writes the token as "!!null VALUE"; the shape is from its source and its users' files.
const glabFile = `git_protocol: ssh
# What editor glab should run
editor:
hosts:
    gitlab.com:
        api_protocol: https
        token:
    gitlab.example.org:
        token: !!null %[1]s
        api_host: gitlab.example.org:8443
        api_protocol: https
        user: alice
    oauth.example.org:
        token: %[1]s
        is_oauth2: "true"
    evil host:
        token: %[1]s
`

func TestGlabsLoginIsFoundByHost(t *testing.T) {
	dir, tok := home(t), planted(t)
	path := write(t, filepath.Join(dir, ".config", "glab-cli", "config.yml"), fmt.Sprintf(glabFile, tok), 0o600)
	get := func(host string) (secret.Secret, error) {
		return (&TokenSource{Glab: true, host: host}).Get(t.Context())
	}
	for _, host := range []string{"gitlab.example.org", "gitlab.example.org:8443"} {
		if got, err := get(host); err != nil || got.Reveal() != tok {
			t.Errorf("%s: %v", host, err)
		}
	}
	for host, want := range map[string]string{
		"gitlab.com":        "it may be in the keyring",
		"oauth.example.org": "ends after two hours",
		"other.example":     "knows no such host; run: glab auth login --hostname other.example",
	} {
		if _, err := get(host); !errors.Is(err, ErrToken) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", host, err)
		}
	}
	write(t, path, "hosts: ["+tok, 0o600)
	if _, err := get("gitlab.com"); err == nil || strings.Contains(err.Error(), tok) {
		t.Errorf("broken file: %v", err)
	}
	write(t, path, fmt.Sprintf(glabFile, tok), 0o644)
	if _, err := get("gitlab.example.org"); err == nil || !strings.Contains(err.Error(), "chmod 0600") {
		t.Errorf("readable by others: %v", err)
	}
	t.Setenv("GLAB_CONFIG_DIR", filepath.Join(dir, "elsewhere"))
	if _, err := get("gitlab.example.org"); err == nil || !strings.Contains(err.Error(), "elsewhere/config.yml") {
		t.Errorf("GLAB_CONFIG_DIR: %v", err)
	}
}

func TestWithoutAFileTheMachineIsAsked(t *testing.T) {
	dir, tok := home(t), planted(t)
	if c, notes := Discover(); len(c.Providers) != 0 || len(notes) != 0 {
		t.Errorf("on a bare machine: %+v, %v", c.Providers, notes)
	}
	write(t, filepath.Join(dir, ".config", "glab-cli", "config.yml"), fmt.Sprintf(glabFile, tok), 0o600)
	t.Setenv("GITLAB_TOKEN", tok)
	c, notes := Discover()
	got := []string{}
	for _, name := range sorted(c.Providers) {
		p := c.Providers[name]
		got = append(got, name+" "+p.URL+" "+p.Look.String()+" / "+p.Act.String())
	}
	want := "gitlab.com https://gitlab.com environment variable GITLAB_TOKEN / asked for\n" +
		"gitlab.example.org https://gitlab.example.org:8443 glab's login for gitlab.example.org:8443 / asked for"
	if strings.Join(got, "\n") != want {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), want)
	}
	if look := c.Providers["gitlab.example.org"].Look; func() bool { s, err := look.Get(t.Context()); return err != nil || s.Reveal() != tok }() {
		t.Error("the discovered login cannot be fetched")
	}
	if all := strings.Join(notes, "\n"); len(notes) != 2 || strings.Contains(all, tok) || !strings.Contains(all, "oauth.example.org") {
		t.Errorf("notes: %q", notes)
	}
	for env, url := range map[string]string{"GITLAB_HOST": "git.example", "CI_SERVER_URL": "https://git.example"} {
		t.Setenv("GITLAB_HOST", "")
		t.Setenv("CI_SERVER_URL", "")
		t.Setenv(env, url)
		if c, _ := Discover(); c.Providers["git.example"].URL != "https://git.example" {
			t.Errorf("%s: %+v", env, c.Providers)
		}
	}
	t.Setenv("GITLAB_HOST", "http://git.example")
	if c, notes := Discover(); c.Providers["git.example"].URL != "" || len(notes) != 3 {
		t.Errorf("a token in clear: %+v %q", c.Providers, notes)
	}
}
