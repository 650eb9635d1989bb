package signing

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"path"
	"regexp"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"
)

const (
	maxAllowedFile = 4 << 20  // bytes
	maxAllowedLine = 64 << 10 // bytes
)

// ErrAllowed is wrapped by every error of ParseAllowed.
var ErrAllowed = errors.New("not an allowed_signers file")

var principalRE = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._@+:/=-]{0,253}$`)

// Allowed is one line of an allowed_signers file (ssh-keygen(1), ALLOWED SIGNERS).
type Allowed struct {
	Line          int    // its number in the file
	Principals    string // the pattern list as written: "alice@example.org,*@ops.example.org"
	Namespaces    string // pattern list; empty: any namespace
	CertAuthority bool   // the key signs certificates and nothing else
	After, Before time.Time
	Key           ssh.PublicKey
}

// Matches reports whether a principal is one of the line's, with the patterns of
// ssh_config(5): * and ?, and ! before what is not meant.
func (a Allowed) Matches(principal string) bool { return matchList(a.Principals, principal) }

// Fingerprint of the line's key, "SHA256:…".
func (a Allowed) Fingerprint() string { return ssh.FingerprintSHA256(a.Key) }

// String is the line as ParseAllowed reads it, without a line end.
func (a Allowed) String() string {
	var options []string
	if a.CertAuthority {
		options = append(options, "cert-authority")
	}
	option := func(name, v string) {
		options = append(options, name+`="`+strings.ReplaceAll(v, `"`, `\"`)+`"`)
	}
	if a.Namespaces != "" {
		option("namespaces", a.Namespaces)
	}
	if !a.After.IsZero() {
		option("valid-after", a.After.UTC().Format("20060102150405")+"Z")
	}
	if !a.Before.IsZero() {
		option("valid-before", a.Before.UTC().Format("20060102150405")+"Z")
	}
	who := a.Principals
	if strings.ContainsAny(who, " \t") {
		who = `"` + who + `"`
	}
	parts := []string{who, strings.Join(options, ","), keyLine(a.Key)}
	if len(options) == 0 {
		parts = []string{who, keyLine(a.Key)}
	}
	return strings.Join(parts, " ")
}

// AllowedLine is the line that lets others check what s signs, without a line end.
// The principal is one plain name: no blanks, quotes or patterns, and nothing that a
// shell acts on, because people paste it into commands.
func AllowedLine(principal string, s Signer) (string, error) {
	if !principalRE.MatchString(principal) {
		return "", fmt.Errorf("allowed_signers line for %q: a principal is one name like alice@example.org", principal)
	}
	return fmt.Sprintf("%s namespaces=%q %s", principal, NamespaceBundle+","+NamespaceHead+","+NamespaceApproval, s.PublicKey()), nil
}

// ParseAllowed reads an allowed_signers file as ssh-keygen does: principals, options
// (cert-authority, namespaces=, valid-after=, valid-before=), key. It is stricter in
// one way: a line that cannot be read is an error, because a list that is half
// understood would refuse or admit the wrong people. Times without Z are local.
func ParseAllowed(r io.Reader) ([]Allowed, error) {
	out := []Allowed{} // never nil: a list without anybody is not "no list"
	sc := bufio.NewScanner(io.LimitReader(r, maxAllowedFile))
	sc.Buffer(nil, maxAllowedLine)
	for n := 1; sc.Scan(); n++ {
		line := strings.Trim(sc.Text(), " \t\r")
		if line == "" || line[0] == '#' {
			continue
		}
		a, err := parseLine(line)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w: %w", n, ErrAllowed, err)
		}
		a.Line = n
		out = append(out, a)
	}
	if err := sc.Err(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrAllowed, err)
	}
	return out, nil
}

func parseLine(line string) (Allowed, error) {
	var a Allowed
	var ok bool
	if line[0] == '"' {
		a.Principals, line, ok = strings.Cut(line[1:], `"`)
	} else if i := strings.IndexAny(line, " \t"); i > 0 {
		a.Principals, line, ok = line[:i], line[i:], true
	}
	if !ok || a.Principals == "" {
		return a, errors.New("no principals and key; write: PRINCIPAL [OPTIONS] KEYTYPE KEY")
	}
	line = strings.TrimLeft(line, " \t")
	key, err := parseKey(line)
	if err != nil {
		// Not a key, so options, and then the key: the order in which OpenSSH tries.
		rest, oerr := a.options(line)
		if oerr != nil {
			return a, oerr
		}
		if key, err = parseKey(strings.TrimLeft(rest, " \t")); err != nil {
			return a, err
		}
	}
	if _, cert := key.(*ssh.Certificate); cert {
		return a, errors.New("a certificate; list the plain key")
	}
	a.Key = key
	return a, nil
}

func parseKey(s string) (ssh.PublicKey, error) {
	f := strings.Fields(s)
	if len(f) < 2 {
		return nil, errors.New("no key")
	}
	key, _, opts, _, err := ssh.ParseAuthorizedKey([]byte(f[0] + " " + f[1]))
	if err != nil || len(opts) > 0 {
		return nil, errors.New("no key that can be read")
	}
	if key.Type() != f[0] {
		return nil, errors.New("the key is not of the type it says")
	}
	return key, nil
}

// options reads the option list at the start of s and returns what follows it.
func (a *Allowed) options(s string) (string, error) {
	seen := map[string]bool{}
	for {
		i := strings.IndexAny(s, "=, \t")
		if i < 0 {
			return "", errors.New("no key")
		}
		name := strings.ToLower(s[:i])
		s = s[i:]
		if seen[name] {
			return "", fmt.Errorf("option %s twice", name)
		}
		seen[name] = true
		if name == "cert-authority" {
			a.CertAuthority = true
		} else {
			v, rest, err := optionValue(name, s)
			if err != nil {
				return "", err
			}
			if err := a.set(name, v); err != nil {
				return "", err
			}
			s = rest
		}
		switch {
		case s == "":
			return "", errors.New("no key")
		case s[0] == ' ' || s[0] == '\t':
			if !a.After.IsZero() && !a.Before.IsZero() && !a.After.Before(a.Before) {
				return "", errors.New("valid-before is not after valid-after")
			}
			return s, nil
		case s[0] != ',':
			return "", fmt.Errorf("something follows option %s", name)
		}
		s = s[1:]
	}
}

func optionValue(name, s string) (value, rest string, err error) {
	body, ok := strings.CutPrefix(s, `="`)
	if !ok {
		return "", "", fmt.Errorf("unknown option %.32q, or its value is not in double quotes", name)
	}
	var b strings.Builder
	for i := 0; i < len(body); i++ {
		switch {
		case body[i] == '\\' && i+1 < len(body) && body[i+1] == '"':
			b.WriteByte('"')
			i++
		case body[i] == '"':
			return b.String(), body[i+1:], nil
		default:
			b.WriteByte(body[i])
		}
	}
	return "", "", fmt.Errorf("option %s: no closing quote", name)
}

func (a *Allowed) set(name, v string) (err error) {
	switch name {
	case "namespaces":
		if a.Namespaces = v; v == "" {
			return errors.New("namespaces is empty")
		}
	case "valid-after":
		a.After, err = parseTime(v)
	case "valid-before":
		a.Before, err = parseTime(v)
	default:
		return fmt.Errorf("unknown option %.32q", name)
	}
	return err
}

// parseTime reads YYYYMMDD[Z] and YYYYMMDDHHMM[SS][Z].
func parseTime(s string) (time.Time, error) {
	digits, utc := strings.CutSuffix(strings.ToUpper(s), "Z")
	where := time.Local
	if utc {
		where = time.UTC
	}
	layout := map[int]string{8: "20060102", 12: "200601021504", 14: "20060102150405"}[len(digits)]
	t, err := time.ParseInLocation(layout, digits, where)
	if layout == "" || err != nil {
		return time.Time{}, fmt.Errorf("time %.32q: write YYYYMMDD or YYYYMMDDHHMM[SS], with Z for UTC", s)
	}
	return t, nil
}

// matchList is match_pattern_list of OpenSSH: one match is needed, and a match of a
// negated pattern spoils everything.
func matchList(list, s string) bool {
	matched := false
	for _, p := range strings.Split(list, ",") {
		p, not := strings.CutPrefix(p, "!")
		if !matchPattern(p, s) {
			continue
		}
		if not {
			return false
		}
		matched = true
	}
	return matched
}

// matchPattern knows * and ? only; path.Match's other signs are taken literally, and
// * there stops at a slash, which is mapped away.
func matchPattern(p, s string) bool {
	flat := func(x string) string { return strings.ReplaceAll(x, "/", "\x00") }
	p = strings.NewReplacer(`\`, `\\`, `[`, `\[`).Replace(flat(p))
	ok, err := path.Match(p, flat(s))
	return err == nil && ok
}
