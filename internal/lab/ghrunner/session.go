package ghrunner

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v4"
)

// Waits of BrokerMessageListener.cs.
const (
	sessionRetry  = 30 * time.Second
	conflictLimit = 4 * time.Minute
	messageRetry  = 20 * time.Second // it draws between 15 and 30
)

// reply is an answer with its body read; maxReply bounds it in bytes.
type reply struct {
	status int
	body   []byte
}

const maxReply = 4 << 20

func (l *Listener) call(ctx context.Context, method, url, token string, v any) (reply, error) {
	b := []byte{}
	if v != nil {
		var err error
		if b, err = json.Marshal(v); err != nil {
			return reply{}, err
		}
	}
	req, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(b))
	if err != nil {
		return reply{}, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+token)
	return l.do(req)
}

func (l *Listener) do(req *http.Request) (reply, error) {
	req.Header.Set("User-Agent", "GitHubActionsRunner-linux-x64/"+l.c.Version)
	resp, err := l.client.Do(req)
	if err != nil {
		return reply{}, err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(io.LimitReader(resp.Body, maxReply))
	return reply{resp.StatusCode, b}, err
}

// exchange gets an access token for the key. The error of a deleted registration is
// invalid_client.
func (l *Listener) exchange(ctx context.Context) (refused bool, err error) {
	now := l.c.Clock.Now()
	t := jwt.NewWithClaims(jwt.SigningMethodHS256, jwt.RegisteredClaims{
		Issuer: l.files.cred.Data.ClientID, Subject: l.files.cred.Data.ClientID, IssuedAt: jwt.NewNumericDate(now), ExpiresAt: jwt.NewNumericDate(now.Add(5 * time.Minute)),
	})
	signed, err := t.SignedString([]byte(l.files.key.D))
	if err != nil {
		return false, err
	}
	form := url.Values{
		"grant_type": {"client_credentials"}, "client_assertion_type": {"urn:ietf:params:oauth:client-assertion-type:jwt-bearer"}, "client_assertion": {signed},
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, l.files.cred.Data.AuthorizationURL, strings.NewReader(form.Encode()))
	if err != nil {
		return false, err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r, err := l.do(req)
	if err != nil {
		return false, err
	}
	var out struct {
		Access string `json:"access_token"`
		Error  string `json:"error"`
	}
	if err := json.Unmarshal(r.body, &out); err != nil || r.status != http.StatusOK {
		return out.Error == "invalid_client", fmt.Errorf("the token service answered %d %s", r.status, out.Error)
	}
	l.access = out.Access
	return false, nil
}

// connect makes a session, however long that takes. Where it is given up, the exit
// code says why. "Connected to GitHub" is said before there is a session and proves
// nothing.
func (l *Listener) connect(ctx context.Context) (code int, ok bool) {
	begun := l.c.Clock.Now()
	for ctx.Err() == nil {
		l.log("INFO", "BrokerMessageListener", "Attempt to create session.")
		l.log("INFO", "BrokerMessageListener", "Connecting to the Broker Server...")
		var refused bool
		var err error
		if l.access == "" {
			refused, err = l.exchange(ctx)
		}
		if err == nil {
			l.cheer("Connected to GitHub")
			var status int
			if status, err = l.attempt(ctx); err == nil {
				l.log("INFO", "BrokerMessageListener", "Session created.")
				if l.failed {
					l.say(l.utc() + ": Runner reconnected.")
					l.failed = false
				}
				return 0, true
			}
			if status == http.StatusConflict && l.c.Clock.Now().Sub(begun) > conflictLimit {
				l.log("INFO", "BrokerMessageListener", "Stop retry on SessionConflictException after retried for 240 seconds.")
				l.complain("Failed to create session. " + err.Error())
				return ExitConflict, false
			}
			if status == http.StatusNotFound && l.generation() != "old" {
				l.log("ERR ", "BrokerMessageListener", "Test oauth app registration.")
				refused, _ = l.exchange(ctx)
			}
		}
		if ctx.Err() != nil {
			break
		}
		l.log("ERR ", "BrokerMessageListener", "Catch exception during create session.")
		l.log("ERR ", "BrokerMessageListener", err.Error())
		if refused && l.generation() != "old" {
			l.complain("Failed to create a session. The runner registration has been deleted from the server, please re-configure. Runner registrations are automatically deleted for runners that have not connected to the service recently.")
			return ExitTerminated, false
		}
		l.failed = true
		l.complain(l.utc() + ": Runner connect error: " + err.Error() + ". Retrying until reconnected.")
		l.log("INFO", "BrokerMessageListener", "Sleeping for 30 seconds before retrying.")
		_ = l.c.Clock.Wait(ctx, sessionRetry) // the loop looks at ctx
	}
	return ExitOK, false
}

func (l *Listener) attempt(ctx context.Context) (status int, err error) {
	r, err := l.call(ctx, http.MethodPost, l.files.agent.ServerURLV2+"session", l.access, map[string]any{
		"ownerName": fmt.Sprintf("%s (PID: %d)", l.c.Machine, l.c.PID), "useFipsEncryption": false,
		"agent": map[string]any{"id": l.files.agent.AgentID, "name": l.files.agent.AgentName, "version": l.c.Version, "osDescription": "Linux 6.1.0-28-amd64"},
	})
	l.asked(r.status)
	if err != nil {
		return 0, err
	}
	var out struct {
		SessionID string `json:"sessionId"`
		Message   string `json:"message"`
	}
	if err := json.Unmarshal(r.body, &out); err != nil || r.status != http.StatusOK {
		if r.status == http.StatusUnauthorized {
			l.access = "" // a new one is asked for
		}
		return r.status, fmt.Errorf("%s", out.Message)
	}
	l.mu.Lock()
	l.session = out.SessionID
	l.mu.Unlock()
	return r.status, nil
}

// asked counts a request to the broker.
func (l *Listener) asked(status int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.state.Polls++
	l.state.Last, l.state.LastPoll = status, l.c.Clock.Now()
}

func (l *Listener) lost() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.session = ""
}
