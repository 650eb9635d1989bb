package runner

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
)

// poll asks for a job. 204 is not logged; 403 counts against the runner's health, 401
// and 5xx do not.
func (a *Agent) poll(ctx context.Context) {
	const path = "/api/v4/jobs/request"
	body := fields{"token": a.c.Token, "system_id": a.c.SystemID, "info": a.info()}
	if a.lastUpdate != "" {
		body["last_update"] = a.lastUpdate
	}
	r, err := a.call(ctx, http.MethodPost, path, nil, encode(body))
	a.mu.Lock()
	a.state.Polls++
	a.state.Last, a.state.LastPoll = r.status, a.c.Clock.Now()
	a.mu.Unlock()
	if err != nil {
		if ctx.Err() == nil {
			a.log("error", "Checking for jobs... error", fields{"correlation_id": r.id, "runner": a.short(), "status": "couldn't execute POST against " + a.c.URL + path})
		}
		return
	}
	if u := r.header.Get("X-GitLab-Last-Update"); u != "" {
		a.lastUpdate = u
	}
	switch r.status {
	case http.StatusNoContent:
		a.judge(true)
	case http.StatusCreated:
		a.judge(true)
		a.take(ctx, r)
	case http.StatusForbidden:
		a.log("error", "Checking for jobs... forbidden", fields{"correlation_id": r.id, "runner": a.short(), "status": a.said(http.MethodPost, path, r.status)})
		a.judge(false)
	default:
		a.log("warning", "Checking for jobs... failed", fields{"correlation_id": r.id, "runner": a.short(), "status": a.said(http.MethodPost, path, r.status)})
	}
}

func (a *Agent) said(method, path string, status int) string {
	return method + " " + a.c.URL + path + ": " + line(status)
}

func line(status int) string { return strconv.Itoa(status) + " " + http.StatusText(status) }

// Identity is what a registration gives.
type Identity struct {
	ID    int    `json:"id"`
	Token string `json:"token"`
}

// Verify asks whether the token still opens its runner; it is a heartbeat as well.
// The status is 200, 403 or whatever else the server said.
func (a *Agent) Verify(ctx context.Context) (status int, err error) {
	r, err := a.call(ctx, http.MethodPost, "/api/v4/runners/verify", nil, encode(fields{"token": a.c.Token, "system_id": a.c.SystemID}))
	return r.status, err
}

// Register makes a new runner with a registration token, as c's machine.
func Register(ctx context.Context, c Config, registration string) (Identity, int, error) {
	a := New(c, nil)
	defer a.client.CloseIdleConnections()
	r, err := a.call(ctx, http.MethodPost, "/api/v4/runners", nil, encode(fields{
		"token": registration, "description": c.Name, "run_untagged": true, "info": a.info(),
	}))
	if err != nil || r.status != http.StatusCreated {
		return Identity{}, r.status, err
	}
	var id Identity
	return id, r.status, json.Unmarshal(r.body, &id)
}
