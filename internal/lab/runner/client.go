package runner

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
)

// UserAgent is how the measured agent names itself.
const UserAgent = "gitlab-runner 18.6.0 (HEAD; go1.26.8; linux/amd64)"

// reply is an answer with its body read; maxReply bounds it in bytes.
type reply struct {
	status int
	header http.Header
	body   []byte
	id     string // correlation id
}

const maxReply = 4 << 20

// call sends one request with a correlation id of its own.
func (a *Agent) call(ctx context.Context, method, path string, header map[string]string, body []byte) (reply, error) {
	a.correlate++
	a.lastCall = a.c.Clock.Now()
	id := fmt.Sprintf("%016x%016x", uint64(a.lastCall.UnixNano()), a.correlate)
	r, err := do(ctx, a.client, method, a.c.URL+path, id, header, body)
	return r, err
}

func do(ctx context.Context, c *http.Client, method, url, id string, header map[string]string, body []byte) (reply, error) {
	req, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(body))
	if err != nil {
		return reply{id: id}, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", UserAgent)
	req.Header.Set("X-Request-Id", id)
	for k, v := range header {
		req.Header.Set(k, v)
	}
	resp, err := c.Do(req)
	if err != nil {
		return reply{id: id}, err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(io.LimitReader(resp.Body, maxReply))
	return reply{status: resp.StatusCode, header: resp.Header, body: b, id: id}, err
}

// info is what an agent says about itself with each poll.
func (a *Agent) info() fields {
	return fields{
		"name": "gitlab-runner", "version": "18.6.0", "revision": "5a021a1c", "platform": "linux", "architecture": "amd64",
		"executor": "shell", "shell": "bash", "features": fields{"cancel_gracefully": true, "trace_reset": true, "refspecs": true},
	}
}

func encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // only maps of plain values are encoded here
	}
	return b
}
