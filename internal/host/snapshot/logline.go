package snapshot

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"cordon/internal/untrusted"
)

const (
	maxLogLines = 5000
	maxLogText  = 4096
	logTail     = 256 << 10 // what the collector reads of a log file
)

// log takes the end of the agent's log, from the journal or a file.
func (p *parser) log(name string, b []byte) {
	lines := strings.Split(strings.TrimRight(string(b), "\n"), "\n")
	if name != "journal" && len(b) >= logTail && len(lines) > 0 {
		lines = lines[1:] // the tail begins inside a line
	}
	for _, raw := range lines {
		if strings.TrimSpace(raw) == "" {
			continue
		}
		if len(p.s.Log) >= maxLogLines {
			p.broken("more log lines than the cap")
			return
		}
		l := LogLine{Unit: "gitlab-runner"}
		text := raw
		if name == "journal" {
			var ok bool
			if l, text, ok = journalEntry(raw); !ok {
				p.broken("a journal entry was not understood")
				continue
			}
		}
		l.Unit = p.text(string(l.Unit), 200)
		if at, msg, ok := agentEntry(text); ok {
			text = msg
			if !at.IsZero() {
				l.At = at
			}
		}
		l.Text = p.text(text, maxLogText)
		p.s.Log = append(p.s.Log, l)
	}
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
		l.At = time.UnixMicro(us).UTC()
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

// shownFields are the fields of gitlab-runner's JSON log that say who asked and what
// was answered (recorded: api/agent-logs).
var shownFields = []string{"runner", "job", "status", "code", "error", "unhealthy_requests", "project_full_path", "repo_url"}

// agentEntry reads one JSON line of gitlab-runner as "level: msg name=value …".
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
	if s, ok := e["time"].(string); ok {
		if t, err := time.Parse(time.RFC3339Nano, s); err == nil {
			at = t.UTC()
		}
	}
	return at, b.String(), true
}
