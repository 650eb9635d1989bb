package lab

import (
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"os"
	"strings"
	"time"
)

// Schema names the form of lab.json and of the line on Options.Ready.
const Schema = "cordon.lab/1"

// provider is what the lab's GitLab or GitHub is called in the configuration that comes
// with it.
func (l *lab) provider() string {
	if l.github != nil {
		return "github-lab"
	}
	return "gitlab-lab"
}

// planted is the runner that the scenario is about, as cordon writes it.
func (l *lab) planted() string {
	t := l.scenario.Target
	if t.Scope == "" {
		return fmt.Sprintf("%s/%d", l.provider(), t.Runner)
	}
	level, path, _ := strings.Cut(t.Scope, ":")
	return fmt.Sprintf("%s/%s:%s/runner/%d", l.provider(), level, url.PathEscape(path), t.Runner)
}

// Ready says where everything is. Start is when lab time and real time were equal;
// since then lab time runs Scale times as fast.
type Ready struct {
	Schema     string            `json:"schema"`
	ID         string            `json:"id"`
	PID        int               `json:"pid"`
	Scenario   string            `json:"scenario"`
	Runner     string            `json:"runner"` // what the scenario is about, as cordon writes it
	Target     Target            `json:"target"`
	Scale      float64           `json:"scale"`
	Start      time.Time         `json:"start"`
	Fault      string            `json:"fault"`
	GitLab     Endpoint          `json:"gitlab,omitzero"` // or GitHub
	GitHub     Endpoint          `json:"github,omitzero"`
	Hosts      []string          `json:"hosts"`
	SSH        map[string]string `json:"ssh"` // host to address:port
	Config     string            `json:"config"`
	KnownHosts string            `json:"known_hosts"`
	SSHKey     string            `json:"ssh_key"`
	Ledger     string            `json:"ledger"`
	Planted    string            `json:"planted"`
	Control    string            `json:"control"`
}

// Endpoint is a service's base URL.
type Endpoint struct {
	URL string `json:"url"`
}

func (l *lab) ready(control string, a *access) Ready {
	var names []string
	for _, h := range l.hosts {
		names = append(names, h.spec.Name)
	}
	r := Ready{
		Schema: Schema, ID: l.id, PID: os.Getpid(), Scenario: l.scenario.Name, Target: l.scenario.Target, Runner: l.planted(),
		Scale: l.clock.Factor, Start: l.clock.Start, Fault: l.faults.Name(), Hosts: names, SSH: a.address,
		Config: l.path("cordon.yaml"), KnownHosts: l.path("known_hosts"), SSHKey: a.keyPath,
		Ledger: l.path("ledger.jsonl"), Planted: l.path("planted.json"), Control: control,
	}
	if l.github != nil {
		r.GitHub.URL = l.url
	} else {
		r.GitLab.URL = l.url
	}
	return r
}

// announce writes the files and, last, the line that says so.
func (l *lab) announce(r Ready, a *access, to io.Writer) error {
	b, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("encode lab.json: %w", err)
	}
	b = append(b, '\n')
	for _, f := range []struct{ path, text string }{
		{r.KnownHosts, strings.Join(a.known, "\n") + "\n"},
		{r.Config, l.config(a)},
		{l.path("lab.json"), string(b)},
	} {
		tmp := f.path + ".new"
		if err := os.WriteFile(tmp, []byte(f.text), 0o600); err != nil {
			return fmt.Errorf("write the lab's files: %w", err)
		}
		if err := os.Rename(tmp, f.path); err != nil {
			return fmt.Errorf("write the lab's files: %w", err)
		}
	}
	if to == nil {
		return nil
	}
	if _, err := to.Write(b); err != nil {
		return fmt.Errorf("say that the lab is ready: %w", err)
	}
	return nil
}
