package host

import (
	"context"
	"encoding/base64"
	"path"
	"strings"

	"cordon/internal/host/snapshot"
	"cordon/internal/untrusted"
)

// How much of a list one host is asked for.
const (
	maxListed     = 1000     // paths
	maxListedText = 64 << 10 // bytes of them, as they are sent
	maxSpread     = 2        // parts of one pattern that begin with a wildcard
)

// Listed is what a list of indicators names. Paths are absolute; * and ? stand for parts
// of a name, as in path.Match. SHA256 are lower-case hex.
type Listed struct {
	Paths  []string
	SHA256 []string
}

type listedKey struct{}

// WithListed has reads below ctx with the profile triage ask the host for exactly these
// paths, in the same session: what lies there without following links, and the SHA-256 of
// regular files up to 64 MiB each. What came is in Snapshot.Asked and in the section asked;
// a path that could not be asked for says so there. The list is hostile data: no shell reads
// it.
func WithListed(ctx context.Context, l Listed) context.Context {
	return context.WithValue(ctx, listedKey{}, l)
}

// asking is a list as one host is asked for it.
type asking struct {
	sent   []snapshot.Listed
	unsent []snapshot.Asked
	hashes map[string]bool
}

func listed(ctx context.Context) asking {
	l, ok := ctx.Value(listedKey{}).(Listed)
	if !ok {
		return asking{}
	}
	a := asking{hashes: map[string]bool{}}
	for _, h := range l.SHA256 {
		a.hashes[h] = true
	}
	size, have := 0, map[string]bool{}
	for _, p := range l.Paths {
		if have[p] {
			continue
		}
		have[p] = true
		lines, why := askable(p)
		for _, line := range lines {
			size += len(line) + 1
		}
		if why == "" && (len(a.sent) >= maxListed || size > maxListedText) {
			why = "the list has more than one host is asked for"
		}
		if why != "" {
			a.unsent = append(a.unsent, snapshot.Asked{Path: untrusted.Text(p), State: snapshot.AskedUnseen, Why: "not asked: " + why})
			continue
		}
		a.sent = append(a.sent, snapshot.Listed{Path: p, Lines: lines})
	}
	return a
}

// line is what follows the profile in the third line of the preamble.
func (a asking) line() string {
	if len(a.sent) == 0 {
		return ""
	}
	var b strings.Builder
	have := map[string]bool{}
	for _, l := range a.sent {
		for _, line := range l.Lines {
			if !have[line] { // each is answered once
				b.WriteString(line + "\n")
			}
			have[line] = true
		}
	}
	return ":" + base64.StdEncoding.EncodeToString([]byte(b.String()))
}

// askable turns one path into the lines that are sent for it, or says why it cannot be
// asked for.
func askable(p string) (lines []string, why string) {
	switch {
	case !strings.HasPrefix(p, "/") || path.Clean(p) != p || p == "/":
		return nil, "it is no absolute path without . and .. and doubled slashes"
	case len(p) > 4000:
		return nil, "it is longer than any path"
	case strings.ContainsAny(p, "\x00\n\r"):
		return nil, "a line break or a zero byte is in it"
	case strings.ContainsAny(p, `[\`):
		return nil, `with [ or \ in it, it means one thing to us and another to a shell`
	case !strings.ContainsAny(p, "*?"):
		return []string{p}, ""
	}
	lines = []string{""}
	spread := 0
	for part := range strings.SplitSeq(p[1:], "/") {
		forms := []string{part}
		if strings.ContainsAny(part[:1], "*?") {
			if spread++; spread > maxSpread || len(part) > 1 && strings.ContainsAny(part[1:2], "*?") {
				return nil, "too many wildcards, or one beside another"
			}
			if forms = hidden(part); forms == nil {
				return nil, "it stands for the directory itself"
			}
		}
		var next []string
		for _, l := range lines {
			for _, f := range forms {
				next = append(next, l+"/"+f)
			}
		}
		lines = next
	}
	return lines, ""
}

// hidden is a part of a path that begins with a wildcard, and what a shell leaves out of
// it: names that begin with a dot. Never "." and "..".
func hidden(part string) []string {
	rest := part[1:]
	switch {
	case rest == "." || rest == "..":
		return nil
	case part == "?":
		return []string{part}
	case part == "*":
		return []string{"*", ".[!.]*", "..?*"}
	case part[0] == '?':
		return []string{part, "." + rest}
	case rest[0] == '.': // *.so stands for .so too
		return []string{part, ".*" + rest, rest}
	}
	return []string{part, ".*" + rest}
}
