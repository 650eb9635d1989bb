package check

import (
	"errors"
	"fmt"
	"net/netip"
	"path"
	"regexp"
	"strings"
	"time"

	"cordon/internal/untrusted"
	"cordon/internal/yamlfile"
)

// IndicatorsSchema names the form of an indicator file.
const IndicatorsSchema = "cordon.indicators/1"

// ErrIndicators is wrapped by every error about the content of an indicator file.
var ErrIndicators = errors.New("not an indicator file that this build reads")

// MaxIndicators bounds one file: in bytes, and in entries of all kinds together.
const (
	MaxIndicators  = 1 << 20
	maxIndicatorsN = 10_000
)

// Indicators are what an intrusion left somewhere, to be looked for elsewhere.
type Indicators struct {
	Schema string `yaml:"schema"`
	Made   string `yaml:"made"`  // when, RFC 3339 or a date
	Until  string `yaml:"until"` // after it the list is old; may be empty
	By     string `yaml:"by"`
	About  string `yaml:"about"`

	Paths     []string `yaml:"paths"`     // of files and executables; * and ? stand for parts of a name (path.Match)
	SHA256    []string `yaml:"sha256"`    // of the bytes of a file
	Addresses []string `yaml:"addresses"` // single, or a prefix such as 192.0.2.0/24
	Names     []string `yaml:"names"`     // of a process, file, account, unit, runner or host; also looked for as a word in what was read
	Keys      []string `yaml:"keys"`      // fingerprints as ssh-keygen -l prints them: SHA256:…

	made, until time.Time
	prefixes    []netip.Prefix
	words       map[string]*regexp.Regexp
}

var (
	hashShape = regexp.MustCompile(`^[0-9a-f]{64}$`)
	keyShape  = regexp.MustCompile(`^SHA256:[A-Za-z0-9+/]{43}$`)
)

// ParseIndicators reads a file that somebody else may have written; name is for errors.
func ParseIndicators(name string, b []byte) (*Indicators, error) {
	if len(b) > MaxIndicators {
		return nil, fmt.Errorf("%s: %w: more than %d bytes", name, ErrIndicators, MaxIndicators)
	}
	var in Indicators
	doc, err := yamlfile.Decode(name, b, &in)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrIndicators, err)
	}
	bad := func(path []string, hint, format string, args ...any) error {
		return fmt.Errorf("%w: %w", ErrIndicators, doc.Errorf(path, hint, format, args...))
	}
	if in.Schema != IndicatorsSchema {
		return nil, bad([]string{"schema"}, "write schema: "+IndicatorsSchema, "the schema is another")
	}
	if in.made, err = when(in.Made); err != nil || in.made.IsZero() {
		return nil, bad([]string{"made"}, "write a date, such as 2026-11-30", "the list says not when it was made")
	}
	if in.until, err = when(in.Until); err != nil {
		return nil, bad([]string{"until"}, "write a date, or leave it out", "not a date")
	}
	n := 0
	for kind, list := range map[string][]string{"paths": in.Paths, "sha256": in.SHA256, "addresses": in.Addresses, "names": in.Names, "keys": in.Keys} {
		n += len(list)
		for i, x := range list {
			if why := wrong(kind, x); why != "" {
				return nil, bad([]string{kind}, "", "entry %d of %s: %s", i+1, kind, why)
			}
		}
	}
	if n == 0 || n > maxIndicatorsN {
		return nil, bad(nil, "name at least one path, hash, address, name or key", "%d indicators, at most %d", n, maxIndicatorsN)
	}
	for _, a := range in.Addresses {
		p, _ := prefix(a)
		in.prefixes = append(in.prefixes, p)
	}
	in.words = map[string]*regexp.Regexp{}
	for _, list := range [][]string{in.Names, in.Paths, in.Addresses} {
		for _, x := range list {
			if !strings.ContainsAny(x, "*?[") {
				before := `(^|[^A-Za-z0-9_.-])`
				if x[0] == '/' { // systemd's "-" before a command; a hyphen in a name is before no path
					before = `(^-?|[^A-Za-z0-9_.-]-?)`
				}
				in.words[x] = regexp.MustCompile(before + regexp.QuoteMeta(x) + `($|[^A-Za-z0-9_-])`)
			}
		}
	}
	return &in, nil
}

// wrong says what keeps one entry from ever being found.
func wrong(kind, x string) string {
	if strings.TrimSpace(x) != x || x == "" || len(x) > 1024 || untrusted.Clean(x, 2048) != x {
		return "empty, too long, or with unprintable characters"
	}
	switch kind {
	case "paths":
		if _, err := path.Match(x, "/"); err != nil || !strings.HasPrefix(x, "/") {
			return "a path begins with / and may hold * and ?"
		}
	case "sha256":
		if !hashShape.MatchString(x) {
			return "64 lower-case hex digits"
		}
	case "addresses":
		if _, err := prefix(x); err != nil {
			return "an IP address or a prefix such as 192.0.2.0/24"
		}
	case "names":
		if len(x) < 3 {
			return "a name of less than three letters is found everywhere"
		}
	case "keys":
		if !keyShape.MatchString(x) {
			return "SHA256: and 43 characters, as ssh-keygen -l prints it"
		}
	}
	return ""
}

func prefix(s string) (netip.Prefix, error) {
	if a, err := netip.ParseAddr(s); err == nil {
		return netip.PrefixFrom(a.Unmap(), a.Unmap().BitLen()), nil
	}
	return netip.ParsePrefix(s)
}

func when(s string) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	if t, err := time.Parse(time.DateOnly, s); err == nil {
		return t, nil
	}
	return time.Parse(time.RFC3339, s)
}

// MadeAt is when the list was made, and Old whether it says that it is no longer valid.
func (in *Indicators) MadeAt() time.Time { return in.made }

// Old reports whether the list is past its own end at now.
func (in *Indicators) Old(now time.Time) bool { return !in.until.IsZero() && now.After(in.until) }
