package github

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

func (s *Server) seedGroups() error {
	for _, d := range s.data.Groups {
		where, err := scopeOf(d.Scope)
		if err != nil {
			return fmt.Errorf("group %q: %w", d.Name, err)
		}
		s.groups = append(s.groups, &group{SeedGroup: d, scope: where})
		s.nextPool = max(s.nextPool, d.ID)
	}
	var need []scope
	for _, e := range s.data.Enterprises {
		need = append(need, scope{enterprise, e.Slug})
	}
	for _, o := range s.data.Owners {
		if o.Type == "Organization" {
			need = append(need, scope{organization, o.Login})
		}
	}
	for _, where := range need {
		if s.defaultGroup(where) == nil {
			id := 1
			if where.level == enterprise {
				id = 800 // organizations list it beside their own
			}
			s.groups = append(s.groups, &group{SeedGroup: SeedGroup{ID: id, Name: "Default", Default: true}, scope: where})
		}
	}
	return nil
}

func (s *Server) seedRunners() error {
	for _, d := range s.data.Runners {
		where, err := scopeOf(d.Scope)
		if err != nil {
			return fmt.Errorf("runner %d: %w", d.ID, err)
		}
		r := &runner{Seeded: d, scope: where, created: s.ago(d.Age)}
		if r.key, err = s.o.Vault.Get("rsaparam", keyName(d), "github: runner registration"); err != nil {
			return err
		}
		s.admit(r)
		r.created = s.ago(d.Age)
		s.auditAt(r.created, "rosa", verbOf(where, "register_self_hosted_runner"), where, r.facts())
	}
	return nil
}

// keyName is how the vault calls what a runner's listener proves itself with.
func keyName(d Seeded) string {
	if d.Secret != "" {
		return d.Secret
	}
	return fmt.Sprintf("github-runner-%d", d.ID)
}

// admit puts a runner on the list, in the default group where nothing else was said.
func (s *Server) admit(r *runner) {
	if r.OS == "" {
		r.OS = "Linux"
	}
	if r.Arch == "" {
		r.Arch = "X64"
	}
	r.fixed = []string{"self-hosted", r.OS, r.Arch}
	h := sum(r.target())
	r.clientID = strings.Join([]string{h[:8], h[8:12], "4" + h[13:16], "8" + h[17:20], h[20:32]}, "-")
	if g := s.defaultGroup(r.scope); g != nil && r.Group == 0 {
		r.Group = g.ID
	}
	r.created = s.clock.Now()
	s.runners = append(s.runners, r)
}

func (s *Server) seedRuns() error {
	all := s.data.Runs
	for _, h := range s.data.History {
		all = append(h.runs(s.start), all...)
	}
	for i, d := range all {
		if s.repo(d.Repo) == nil {
			return fmt.Errorf("run %d: no repository %q", d.ID, d.Repo)
		}
		if d.SHA == "" {
			d.SHA = object(d.Repo + itoa(d.ID))
		}
		r := &run{SeedRun: d, number: i + 1, created: s.ago(d.Ago), updated: s.ago(d.Ago)}
		for _, x := range d.Jobs {
			j := &job{SeedJob: x, run: r, status: "queued", created: r.created.Add(x.After + 3*time.Second)}
			if d.Conclusion != "" {
				j.status, j.conclusion = "completed", d.Conclusion
				j.started = j.created.Add(9 * time.Second)
				j.completed = j.started.Add(x.Takes)
				r.updated = j.completed
			}
			if err := s.ranOn(j); err != nil {
				return err
			}
			r.jobs = append(r.jobs, j)
		}
		s.runs = append(s.runs, r)
	}
	return nil
}

// ranOn says which runner a finished job of the scenario was on.
func (s *Server) ranOn(j *job) error {
	if j.Runner == 0 {
		return nil
	}
	i := slices.IndexFunc(s.runners, func(r *runner) bool { return r.ID == j.Runner })
	if i < 0 {
		return fmt.Errorf("job %d: no runner %d", j.ID, j.Runner)
	}
	r := s.runners[i]
	j.runnerID, j.runnerName = r.ID, r.Name
	if g := s.group(r.scope, r.Group); g != nil {
		j.groupID, j.groupName = g.ID, g.Name
	}
	return nil
}

func (s *Server) seedKeys() error {
	for i := range s.data.Repos {
		r := &s.data.Repos[i]
		for k := range r.Keys {
			line, err := s.o.Vault.Public(r.Keys[k].Secret)
			if err != nil {
				return err
			}
			r.Keys[k].public, _, _ = cutLast(line)
		}
	}
	return nil
}

// cutLast takes the comment off an authorized_keys line: GitHub gives keys without one.
func cutLast(line string) (before, after string, found bool) {
	i := strings.LastIndexByte(line, ' ')
	if i < 0 {
		return line, "", false
	}
	return line[:i], line[i+1:], true
}

// value is a secret's value, which only a job gets.
func (s *Server) value(x Secret, where string) (string, error) {
	shape := x.Shape
	if shape == "" {
		shape = "opaque"
	}
	name := x.Secret
	if name == "" {
		name = "github-" + x.Name
	}
	return s.o.Vault.Get(shape, name, where)
}
