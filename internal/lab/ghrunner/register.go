package ghrunner

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"cordon/internal/lab/dial"
)

// Registered is what a registration gives.
type Registered struct {
	ID       int    `json:"id"`
	Name     string `json:"name"`
	Pool     int    `json:"pool"`
	Web      string `json:"web"`
	ClientID string `json:"client_id"`
	Key      string `json:"key"` // in place of the key pair that a real one makes itself
}

// Register makes a new runner with a registration token, as config.sh does
// (src/Runner.Common/RunnerDotcomServer.cs).
func Register(ctx context.Context, base, token, name, version string, from netip.Addr) (Registered, error) {
	body, err := json.Marshal(map[string]any{"name": name, "version": version, "labels": []string{}})
	if err != nil {
		return Registered{}, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, base+"/api/v3/actions/runners/register", strings.NewReader(string(body)))
	if err != nil {
		return Registered{}, err
	}
	req.Header.Set("Authorization", "RemoteAuth "+token)
	l := &Listener{c: Config{Version: version}, client: dial.Client(from, nil, 1, 20*time.Second)}
	defer l.client.CloseIdleConnections()
	r, err := l.do(req)
	if err != nil {
		return Registered{}, err
	}
	if r.status != http.StatusCreated {
		return Registered{}, fmt.Errorf("register %s: the server answered %d", name, r.status)
	}
	var out Registered
	return out, json.Unmarshal(r.body, &out)
}
