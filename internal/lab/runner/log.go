package runner

import (
	"encoding/json"
	"strings"
	"time"
)

type fields map[string]any

// log writes one line as gitlab-runner's JSON formatter does: keys in order, time
// last but for what sorts after it.
func (a *Agent) log(level, msg string, f fields) {
	line := fields{"level": level, "msg": msg, "time": a.c.Clock.Now().UTC().Format(time.RFC3339Nano)}
	for k, v := range f {
		line[k] = v
	}
	if b, err := json.Marshal(line); err == nil {
		a.host.Log(b)
	}
}

func (a *Agent) quoted() string { return `Runner "` + a.c.URL + a.short() + `"` }

func (a *Agent) short() string { return Short(a.c.Token) }

// Short is what logs show of a token (helpers/shorten_token.go): nine characters
// after the prefixes that say its kind.
func Short(token string) string {
	t := strings.TrimPrefix(token, "glrt-")
	if len(t) > 3 && t[0] == 't' && t[2] == '_' {
		t = t[3:]
	}
	return t[:min(9, len(t))]
}
