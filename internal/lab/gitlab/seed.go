package gitlab

import (
	"fmt"
	"strings"
	"time"
)

// shapeOf is the token shape GitLab gives a runner of that type (Ci::Runner).
func shapeOf(kind string) string {
	switch kind {
	case "instance_type":
		return "glrt-t1"
	case "group_type":
		return "glrt-t2"
	}
	return "glrt-t3"
}

// RunnerToken is the current token of a runner by the seed's name for it.
func (s *Server) RunnerToken(name string) (string, error) {
	for _, r := range s.data.Runners {
		if r.Token == name {
			return s.o.Vault.Get(shapeOf(r.Type), name, "gitlab: runner registration")
		}
	}
	return "", fmt.Errorf("no runner of the scenario has the token %q", name)
}

func (s *Server) seedRunners() error {
	now := s.clock.Now()
	for _, d := range s.data.Runners {
		r := &runner{Seeded: d, created: now.Add(-d.Age), access: "not_protected"}
		var err error
		if r.value, err = s.RunnerToken(d.Token); err != nil {
			return err
		}
		for _, m := range d.Managers {
			s.nextManager++
			r.managers = append(r.managers, &manager{
				id: s.nextManager, systemID: m.SystemID, address: m.Address, version: m.Version,
				revision: "5a021a1c", platform: "linux", arch: "amd64", executor: "shell",
				created: now.Add(-m.Age), contact: now.Add(-m.Seen),
			})
			r.everSeen = true
			if c := now.Add(-m.Seen); c.After(r.contacted) {
				r.contacted = c
			}
		}
		s.runners = append(s.runners, r)
	}
	return nil
}

func (s *Server) seedJobs() error {
	now := s.clock.Now()
	for _, d := range s.data.Jobs {
		if s.project(d.Project) == nil {
			return fmt.Errorf("job %d: no project %d", d.ID, d.Project)
		}
		j := &job{SeedJob: d, created: now.Add(-d.Ago), runner: s.runner(d.Runner)}
		if d.Status != "pending" && d.Status != "created" {
			j.started = j.created.Add(9 * time.Second)
		}
		if finished(d.Status) {
			j.finished = j.started.Add(d.Takes)
		}
		if j.runner != nil && len(j.runner.managers) > 0 {
			j.manager = j.runner.managers[0]
		}
		j.log = []byte(d.Trace)
		j.logged = len(j.log)
		s.jobs = append(s.jobs, j)
	}
	return nil
}

func (s *Server) seedVariables() error {
	if err := s.fill(s.data.Variables, "gitlab: variables of the instance"); err != nil {
		return err
	}
	for i := range s.data.Groups {
		g := &s.data.Groups[i]
		if err := s.fill(g.Variables, "gitlab: variables of group "+g.Path); err != nil {
			return err
		}
	}
	for i := range s.data.Projects {
		p := &s.data.Projects[i]
		if err := s.fill(p.Variables, "gitlab: variables of project "+p.Path); err != nil {
			return err
		}
		for k := range p.DeployKeys {
			d := &p.DeployKeys[k]
			line, err := s.o.Vault.Public(d.Secret)
			if err != nil {
				return err
			}
			d.public = line
		}
	}
	return nil
}

func (s *Server) fill(vars []Variable, where string) error {
	for i := range vars {
		v := &vars[i]
		shape := v.Shape
		if shape == "" {
			shape = "opaque"
		}
		var err error
		if v.value, err = s.o.Vault.Get(shape, v.Secret, where+" "+v.Key); err != nil {
			return err
		}
	}
	return nil
}

// finished reports whether a status is an end (Ci::HasStatus COMPLETED_STATUSES).
func finished(status string) bool {
	switch status {
	case "success", "failed", "canceled", "skipped":
		return true
	}
	return false
}

// short is what logs and CI_RUNNER_SHORT_TOKEN show of a token (gitlab-runner
// helpers/shorten_token.go): nine characters after the known prefixes.
func short(token string) string {
	t := strings.TrimPrefix(token, "glrt-")
	if len(t) > 3 && t[0] == 't' && t[2] == '_' {
		t = t[3:]
	}
	return t[:min(9, len(t))]
}
