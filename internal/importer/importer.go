// Package importer reads logs of other systems into entries for a timeline: audit logs
// of GitHub and GitLab, alerts of an EDR, lines of a proxy or a firewall.
//
// It is pure: bytes in, entries out. Everything in it is foreign and stays so: each
// field is cleaned and cut, a line that is not understood is counted and named, never
// guessed, and what has no time of its own is not an entry. Level 1: it may import
// level 0 and the standard library, and knows nothing of cases.
package importer

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"cordon/internal/untrusted"
)

// Formats that Read takes.
const (
	GitHubAudit = "github-audit" // JSON (array or one object a line) or CSV, as GitHub exports it
	GitLabAudit = "gitlab-audit" // CSV of the audit events page, or the JSON of the API
	EDR         = "edr"          // alerts as JSON: an array, one object a line, or a list under a key
	Proxy       = "proxy"        // Squid's native or the combined format, or key=value lines of a firewall
)

// Formats lists them.
func Formats() []string { return []string{GitHubAudit, GitLabAudit, EDR, Proxy} }

// Bounds of one log.
const (
	MaxBytes    = 64 << 20 // of the file
	MaxLine     = 256 << 10
	MaxEntries  = 100_000
	maxField    = 300 // bytes of a field
	maxProblems = 20  // that are named; all are counted
	maxDepth    = 16  // of JSON
)

// Errors that callers test for.
var (
	ErrFormat = errors.New("unknown log format")
	ErrLog    = errors.New("not a log of that format") // nothing in it was understood
	ErrTooBig = errors.New("log is too big")
)

// Entry is one thing that a log says happened. Only At is always there.
type Entry struct {
	At      time.Time `json:"at"`
	Actor   string    `json:"actor,omitempty"`
	Action  string    `json:"action,omitempty"`
	Subject string    `json:"subject,omitempty"` // what it was done to; for an EDR, the alert's title
	Where   string    `json:"where,omitempty"`   // project, organization, machine
	From    string    `json:"from,omitempty"`    // address that it came from
	To      string    `json:"to,omitempty"`      // host[:port] that was asked, without a path
	Status  int       `json:"status,omitempty"`  // HTTP status; 0: not told
	Line    int       `json:"line"`              // in the file, or number of the object
}

// Text is the entry in one line.
func (e Entry) Text() string {
	var out []string
	for _, s := range []string{e.Action, e.Subject, prefixed("in ", e.Where), prefixed("by ", e.Actor), prefixed("from ", e.From), prefixed("to ", e.To)} {
		if s != "" {
			out = append(out, s)
		}
	}
	if e.Status != 0 {
		out = append(out, fmt.Sprint(e.Status))
	}
	return strings.Join(out, " ")
}

func prefixed(p, s string) string {
	if s == "" {
		return ""
	}
	return p + s
}

// Log is what was understood of a file. Entries are in order of time.
type Log struct {
	Format   string
	Entries  []Entry
	Skipped  int      // lines or objects that were not understood or have no time
	Problems []string // why, the first few
	Cut      bool     // there were more than MaxEntries
}

// Read reads a log. ErrLog if nothing in it was understood; what was not is in Skipped.
func Read(format string, r io.Reader) (Log, error) {
	l := Log{Format: format}
	parse, ok := map[string]func(*Log, []byte) error{
		GitHubAudit: githubAudit, GitLabAudit: gitlabAudit, EDR: edr, Proxy: proxy,
	}[format]
	if !ok {
		return l, fmt.Errorf("%w: one of %s", ErrFormat, strings.Join(Formats(), ", "))
	}
	b, err := io.ReadAll(io.LimitReader(r, MaxBytes+1))
	if err != nil {
		return l, fmt.Errorf("read log: %w", err)
	}
	if len(b) > MaxBytes {
		return l, fmt.Errorf("%w: more than %d bytes; cut out the time that matters", ErrTooBig, MaxBytes)
	}
	b = bytes.TrimPrefix(b, []byte("\xef\xbb\xbf"))
	if err := parse(&l, b); err != nil {
		return l, fmt.Errorf("%w (%s): %w", ErrLog, format, err)
	}
	if len(l.Entries) == 0 {
		why := "it is empty"
		if len(l.Problems) > 0 {
			why = l.Problems[0]
		}
		return l, fmt.Errorf("%w (%s): %s", ErrLog, format, why)
	}
	slices.SortStableFunc(l.Entries, func(x, y Entry) int { return x.At.Compare(y.At) })
	return l, nil
}

// add takes an entry, or counts it as skipped where it has no time.
func (l *Log) add(e Entry) {
	switch {
	case e.At.IsZero() || e.At.Year() < 2000 || e.At.Year() > 2200:
		l.skip(e.Line, "it has no time")
	case len(l.Entries) >= MaxEntries:
		l.Cut = true
	default:
		e.At = e.At.UTC()
		for _, f := range []*string{&e.Actor, &e.Action, &e.Subject, &e.Where, &e.From, &e.To} {
			*f = untrusted.Clean(strings.TrimSpace(*f), maxField)
		}
		l.Entries = append(l.Entries, e)
	}
}

func (l *Log) skip(line int, why string) {
	l.Skipped++
	if len(l.Problems) < maxProblems {
		l.Problems = append(l.Problems, fmt.Sprintf("%d: %s", line, untrusted.Clean(why, 120)))
	}
}

// lines hands every line that is not blank to f with its number. A line that is too long
// is skipped.
func (l *Log) lines(b []byte, f func(n int, line string)) {
	r := bufio.NewReaderSize(bytes.NewReader(b), 64<<10)
	var long []byte
	for n := 1; ; {
		part, more, err := r.ReadLine()
		if err != nil {
			return
		}
		if len(long) <= MaxLine {
			long = append(long, part...)
		}
		if more {
			continue
		}
		switch s := strings.TrimSpace(string(long)); {
		case len(long) > MaxLine:
			l.skip(n, "the line is too long")
		case s != "":
			f(n, s)
		}
		long, n = long[:0], n+1
	}
}

// moment reads a time as logs write it: RFC 3339, with a space, with a zone's name, or a
// number of seconds or milliseconds since 1970.
func moment(s string) time.Time {
	s = strings.TrimSpace(s)
	for _, layout := range []string{
		time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999Z07:00", "2006-01-02 15:04:05 MST",
		"2006-01-02 15:04:05 -0700", "2006-01-02 15:04:05", "02/Jan/2006:15:04:05 -0700",
	} {
		if t, err := time.Parse(layout, s); err == nil {
			if strings.HasSuffix(layout, "MST") && !strings.HasSuffix(s, "UTC") && !strings.HasSuffix(s, "GMT") {
				return time.Time{} // a zone's abbreviation says nothing for sure
			}
			return t
		}
	}
	return epoch(s)
}

// epoch reads seconds, with or without a fraction, or milliseconds since 1970.
func epoch(s string) time.Time {
	whole, frac, _ := strings.Cut(s, ".")
	if whole == "" || len(whole) > 13 || len(frac) > 9 || strings.Trim(whole+frac, "0123456789") != "" {
		return time.Time{}
	}
	var n int64
	for _, c := range whole {
		n = n*10 + int64(c-'0')
	}
	switch {
	case len(whole) == 13:
		return time.UnixMilli(n)
	case len(whole) == 9 || len(whole) == 10:
		var ns int64
		for _, c := range (frac + "000000000")[:9] {
			ns = ns*10 + int64(c-'0')
		}
		return time.Unix(n, ns)
	}
	return time.Time{}
}
