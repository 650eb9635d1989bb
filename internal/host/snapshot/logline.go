package snapshot

import (
	"encoding/json"
	"fmt"
	"path"
	"regexp"
	"strconv"
	"strings"
	"time"

	"cordon/internal/untrusted"
)

const (
	maxLogLines = 5000
	maxLogText  = 4096
	logTail     = 256 << 10 // what the collector reads of a log file
	journalTail = 1 << 20   // and of the journal
)

// log takes the end of the agents' logs, from the journal or one file.
func (p *parser) log(name string, b []byte) {
	lines := strings.Split(strings.TrimRight(string(b), "\n"), "\n")
	journal, diag := name == "journal", diagLog.MatchString(path.Base(name))
	if len(lines) > 1 && (journal && len(b) >= journalTail || !journal && !diag && len(b) >= logTail) {
		lines = lines[1:] // the tail begins inside a line
	}
	var from, unit untrusted.Text
	if !journal {
		from, unit = p.text(name, maxPath), p.text(strings.TrimSuffix(path.Base(name), ".log"), 200)
	}
	for _, raw := range lines {
		if strings.TrimSpace(raw) == "" {
			continue
		}
		if len(p.s.Log) >= maxLogLines {
			p.broken("more log lines than the cap")
			return
		}
		l := LogLine{Unit: unit, From: from}
		text := raw
		switch {
		case journal:
			var ok bool
			if l, text, ok = journalEntry(raw); !ok {
				p.broken("a journal entry was not understood")
				continue
			}
			l.Unit = p.text(string(l.Unit), 200)
		case diag:
			var ok bool
			if l.At, text, ok = diagEntry(raw); !ok {
				continue // the rest of a message: it may be anything, and none of it is asked for
			}
		}
		if at, msg, ok := agentEntry(text); ok {
			text = msg
			if !at.IsZero() {
				l.At = at
			}
		} else if at := stamped(text); l.At.IsZero() {
			l.At = at
		}
		l.Text = p.text(text, maxLogText)
		p.s.Log = append(p.s.Log, l)
	}
}

// diagLog names the logs that the listeners of GitHub and Azure Pipelines write
// (actions/runner, HostTraceListener.cs).
var diagLog = regexp.MustCompile(`^(?:Runner|Agent)_[0-9]{8}-[0-9]{6}-utc\.log$`)

var diagHead = regexp.MustCompile(`^\[(?:[A-Z]+ )?([0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}Z) [A-Z]{3,4} +([A-Za-z0-9_.]{1,60})\] (.*)$`)

// diagEntry reads one line of such a log as "Part: message"; what the terminal showed
// loses the time that it repeats.
func diagEntry(raw string) (time.Time, string, bool) {
	m := diagHead.FindStringSubmatch(strings.TrimSuffix(strings.TrimPrefix(raw, "\ufeff"), "\r"))
	if m == nil {
		return time.Time{}, "", false
	}
	at, err := time.Parse("2006-01-02 15:04:05Z", m[1])
	if err != nil {
		return time.Time{}, "", false
	}
	text := m[3]
	for _, front := range []string{"WRITE LINE: ", "WRITE ERROR: ", "WRITE: "} {
		text = strings.TrimPrefix(text, front)
	}
	return sane(at), m[2] + ": " + text, true
}

var (
	logfmtTime = regexp.MustCompile(`^time="([^"]{10,40})" level=`)
	leadTime   = regexp.MustCompile(`^([0-9]{4}-[0-9]{2}-[0-9]{2})[ T]([0-9]{2}:[0-9]{2}:[0-9]{2})(?:\.[0-9]+)?(Z|[+-][0-9]{2}:?[0-9]{2})?\b`)
)

// stamped is the time that a line of text begins with, as the agents of Gitea
// (logfmt), Buildkite and GitHub write it; without a zone it is taken for UTC.
func stamped(text string) time.Time {
	if m := logfmtTime.FindStringSubmatch(text); m != nil {
		if t, err := time.Parse(time.RFC3339Nano, m[1]); err == nil {
			return sane(t)
		}
	}
	m := leadTime.FindStringSubmatch(text)
	if m == nil {
		return time.Time{}
	}
	zone := strings.ReplaceAll(m[3], ":", "")
	if zone == "" {
		zone = "Z"
	}
	t, err := time.Parse("2006-01-02 15:04:05Z0700", m[1]+" "+m[2]+zone)
	if err != nil {
		return time.Time{}
	}
	return sane(t)
}

// sane is t in UTC, and no time at all where no clock shows it: JSON cannot carry every
// year, and one line must not keep a snapshot from being stored.
func sane(t time.Time) time.Time {
	if t = t.UTC(); t.Year() < 1971 || t.Year() > 9000 {
		return time.Time{}
	}
	return t
}

// journalEntry reads one line of `journalctl -o json`: MESSAGE is a string, or a
// list of numbers where it is not UTF-8 (systemd's Journal JSON Format).
func journalEntry(raw string) (LogLine, string, bool) {
	var e struct {
		Message json.RawMessage `json:"MESSAGE"`
		Stamp   string          `json:"__REALTIME_TIMESTAMP"`
		Unit    json.RawMessage `json:"_SYSTEMD_UNIT"`
		About   json.RawMessage `json:"UNIT"`
	}
	if json.Unmarshal([]byte(raw), &e) != nil {
		return LogLine{}, "", false
	}
	l := LogLine{}
	for _, u := range []json.RawMessage{e.About, e.Unit} { // what systemd says about a unit names it in UNIT
		var s string
		if json.Unmarshal(u, &s) == nil && s != "" {
			l.Unit = untrusted.Text(s)
			break
		}
	}
	if us, err := strconv.ParseInt(e.Stamp, 10, 64); err == nil && us > 0 && us < 1<<56 {
		l.At = sane(time.UnixMicro(us))
	}
	var text string
	if json.Unmarshal(e.Message, &text) != nil {
		var bytes []byte
		var nums []int
		if json.Unmarshal(e.Message, &nums) != nil {
			return l, "", true // null: larger than the journal shows
		}
		for _, n := range nums {
			bytes = append(bytes, byte(n))
		}
		text = string(bytes)
	}
	return l, text, true
}

// shownFields are the fields of the agents' JSON logs that say who asked and what
// was answered (recorded: api/agent-logs).
var shownFields = []string{"runner", "agent", "job", "status", "code", "error", "unhealthy_requests", "project_full_path", "repo_url"}

// agentEntry reads one JSON line of gitlab-runner or buildkite-agent as "level: msg name=value …".
func agentEntry(raw string) (time.Time, string, bool) {
	if !strings.HasPrefix(raw, "{") {
		return time.Time{}, "", false
	}
	var e map[string]any
	if json.Unmarshal([]byte(raw), &e) != nil {
		return time.Time{}, "", false
	}
	msg, ok := e["msg"].(string)
	if !ok {
		return time.Time{}, "", false
	}
	var b strings.Builder
	if level, ok := e["level"].(string); ok {
		b.WriteString(level + ": ")
	}
	b.WriteString(msg)
	for _, k := range shownFields {
		switch v := e[k].(type) {
		case string:
			if v != "" {
				fmt.Fprintf(&b, " %s=%s", k, v)
			}
		case float64:
			fmt.Fprintf(&b, " %s=%s", k, strconv.FormatFloat(v, 'f', -1, 64))
		}
	}
	var at time.Time
	s, ok := e["time"].(string)
	if !ok {
		s, ok = e["ts"].(string) // buildkite-agent
	}
	if ok {
		if t, err := time.Parse(time.RFC3339Nano, s); err == nil {
			at = sane(t)
		}
	}
	return at, b.String(), true
}
