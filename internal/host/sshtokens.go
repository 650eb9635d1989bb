package host

import (
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"regexp"
	"strings"

	"cordon/internal/untrusted"
)

// plainWord is what may stand for %h, %r and %n in a command line.
var plainWord = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._:@%+-]{0,254}$`)

// inBraces is an environment variable in a path.
var inBraces = regexp.MustCompile(`\$\{[A-Za-z_][A-Za-z0-9_]*\}`)

// command is the ProxyCommand with its tokens replaced; empty: none.
func (s settings) command() (string, error) {
	c := s.one("proxycommand")
	if c == "" || c == "none" {
		return "", nil
	}
	if s.yes("proxyusefdpass") {
		return "", fmt.Errorf("ssh -G %s: ProxyUseFdpass cannot be used here", s.host)
	}
	out, err := s.expand(c)
	if err != nil {
		return "", fmt.Errorf("ProxyCommand of %s: %w", s.host, err)
	}
	return out, nil
}

// path completes a file name of the SSH configuration: tokens, ${NAME} and ~.
func (s settings) path(p string) (string, error) {
	p, err := s.expand(p)
	if err != nil {
		return "", err
	}
	p = inBraces.ReplaceAllStringFunc(p, func(v string) string { return os.Getenv(v[2 : len(v)-1]) })
	if rest, ok := strings.CutPrefix(p, "~/"); ok {
		p = filepath.Join(homeDir(), rest)
	}
	return filepath.Abs(p)
}

func homeDir() string {
	if u, err := user.Current(); err == nil && u.HomeDir != "" {
		return u.HomeDir // as OpenSSH: by the account, not by $HOME
	}
	d, _ := os.UserHomeDir()
	return d
}

// expand replaces the %-tokens of ssh_config(5) that are known before a connection stands.
func (s settings) expand(t string) (string, error) {
	if !strings.Contains(t, "%") {
		return t, nil
	}
	me, _ := user.Current()
	local, _ := os.Hostname()
	short, _, _ := strings.Cut(local, ".")
	known := map[byte]string{
		'%': "%", 'h': s.one("hostname"), 'n': s.host, 'p': s.one("port"), 'r': s.one("user"),
		'd': homeDir(), 'l': local, 'L': short, 'k': s.one("hostkeyalias"),
	}
	if known['k'] == "" || known['k'] == "none" {
		known['k'] = s.host
	}
	if me != nil {
		known['u'], known['i'] = me.Username, me.Uid
	}
	var b strings.Builder
	for i := 0; i < len(t); i++ {
		if t[i] != '%' {
			b.WriteByte(t[i])
			continue
		}
		i++
		if i >= len(t) {
			return "", errors.New("a % at its end")
		}
		v, ok := known[t[i]]
		if !ok {
			return "", fmt.Errorf("%%%c is not known here", t[i])
		}
		if strings.IndexByte("hnrk", t[i]) >= 0 && !plainWord.MatchString(v) {
			return "", fmt.Errorf("%%%c would be %q, which is no plain word", t[i], untrusted.Clean(v, 60))
		}
		b.WriteString(v)
	}
	return b.String(), nil
}

// paths takes the list that ssh -G prints without quotes apart: words that name no file
// are tried with what follows, because a name may hold spaces.
func paths(list string) []string {
	words := strings.Split(list, " ")
	var out []string
	for i := 0; i < len(words); {
		n := 1
		for k := 1; i+k <= len(words); k++ {
			if _, err := os.Stat(strings.Join(words[i:i+k], " ")); err == nil {
				n = k
				break
			}
		}
		if w := strings.Join(words[i:i+n], " "); w != "" && w != "none" && w != "/dev/null" {
			out = append(out, w)
		}
		i += n
	}
	return out
}
