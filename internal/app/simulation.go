package app

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"cordon/internal/clock"
	"cordon/internal/config"
	"cordon/internal/plainfile"
)

// ErrNotLab means that something pretends to be a lab and is not.
var ErrNotLab = errors.New("not a lab")

// simulation is what a lab says of itself in its lab.json. Time is scaled only
// through it, and only when every provider of the configuration is on loopback and
// answers with this lab's id: no configuration file can make a real watch shorter.
type simulation struct {
	Schema string    `json:"schema"`
	ID     string    `json:"id"`
	PID    int       `json:"pid"`
	Scale  float64   `json:"scale"`
	Start  time.Time `json:"start"`
	Config string    `json:"config"`
	Runner string    `json:"runner"` // reference of the planted one, for the demo
	Target struct {
		Host string `json:"host"`
	} `json:"target"`
}

func readLab(dir string) (*simulation, error) {
	b, err := plainfile.Read(filepath.Join(dir, "lab.json"), 1<<20)
	if err != nil {
		return nil, fmt.Errorf("lab %s: %w; start one with: cordon lab serve --dir %s", dir, errors.Join(ErrNotLab, err), dir)
	}
	var s simulation
	if err := json.Unmarshal(b, &s); err != nil || s.Schema != "cordon.lab/1" {
		return nil, fmt.Errorf("lab %s: %w: lab.json is not understood", dir, ErrNotLab)
	}
	return &s, nil
}

func (s *simulation) clock() clock.Clock { return clock.Scaled{Start: s.Start, Factor: s.Scale} }

// labProbe is what is asked to see whose service it is: any answer has the lab's id.
var labProbe = map[string]string{"gitlab": "/api/v4/version", "github": "/api/v3/meta"}

// check makes sure that all of c is this lab.
func (s *simulation) check(c *config.Config) error {
	hc := &http.Client{
		Timeout:       10 * time.Second,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	for name, p := range c.Providers {
		u, err := url.Parse(p.URL)
		if err != nil || !strings.HasPrefix(u.Hostname(), "127.") {
			return fmt.Errorf("provider %s: %w: %s is not on loopback", name, ErrNotLab, p.URL)
		}
		resp, err := hc.Get(p.URL + labProbe[p.Type])
		if err != nil {
			return fmt.Errorf("provider %s: %w: it does not answer; is the lab still running?", name, ErrNotLab)
		}
		_ = resp.Body.Close() // nothing of it is used
		if resp.Header.Get("X-Cordon-Lab") != s.ID {
			return fmt.Errorf("provider %s: %w: it does not answer as lab %s", name, ErrNotLab, s.ID)
		}
	}
	for name, h := range c.Hosts {
		if !h.OverSSH() {
			return fmt.Errorf("host %s: %w: it is reached by a program of this machine", name, ErrNotLab)
		}
		if !strings.HasPrefix(h.Address, "127.") || len(h.Ask) > 0 {
			return fmt.Errorf("host %s: %w: %s is not on loopback, with its user and key named", name, ErrNotLab, h.Address)
		}
	}
	// A demo cannot touch the machine it runs on: what it starts lies in the lab too.
	dir := filepath.Dir(s.Config) + string(filepath.Separator)
	for name, x := range c.Operator {
		for _, argv := range [][]string{x.Do, x.Verify, x.Undo} {
			if len(argv) > 0 && !strings.HasPrefix(argv[0], dir) {
				return fmt.Errorf("operator action %s: %w: %s is not in the lab's directory", name, ErrNotLab, argv[0])
			}
		}
	}
	return nil
}

// Planted is the reference of the runner that the lab's scenario is about, "" outside
// a lab.
func (a *App) Planted() string {
	if a.sim == nil {
		return ""
	}
	return a.sim.Runner
}

// PlantedHost is the host that an alert of the lab's scenario would name, "" outside a
// lab.
func (a *App) PlantedHost() string {
	if a.sim == nil {
		return ""
	}
	return a.sim.Target.Host
}
