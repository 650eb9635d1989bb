package github

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"cordon/internal/lab/fault"
)

// busy reports whether a runner counts as working.
func (s *Server) busy(r *runner) bool { return r.job != nil }

// held reports whether a runner cannot be deleted. Under the fault busy-422 one of them
// never can, whatever its own page says (the lease is held, actions/runner#3775, ARC #1318).
func (s *Server) held(r *runner) bool {
	return s.busy(r) || r.ID == s.o.Stuck && s.o.Faults.Is(fault.Busy422)
}

// pick finds the oldest queued job that the runner may take: all its labels, and a
// repository that it serves. Read-only labels count, whatever people took off.
func (s *Server) pick(x *runner) *job {
	if x.job != nil {
		return nil
	}
	has := append(slices.Clone(x.fixed), x.Labels...)
	for _, r := range s.runs {
		repo := s.repo(r.Repo)
		if repo == nil || !s.serves(x, repo) {
			continue
		}
		for _, j := range r.jobs {
			if j.status == "queued" && !slices.ContainsFunc(j.Labels, func(l string) bool { return !x.has(has, l) }) {
				return j
			}
		}
	}
	return nil
}

// assign gives a job to a runner.
func (s *Server) assign(j *job, x *runner) error {
	v, err := s.o.Vault.Get("ghs", j.target()+"-token", "github: answer of acquirejob")
	if err != nil {
		return err
	}
	j.token, j.status, j.started, j.renewed = v, "in_progress", s.clock.Now(), s.clock.Now()
	j.runnerID, j.runnerName = x.ID, x.Name
	if g := s.group(x.scope, x.Group); g != nil {
		j.groupID, j.groupName = g.ID, g.Name
	}
	j.run.updated = s.clock.Now()
	x.job = j
	s.o.Ledger.Effect("job.start", "runner-token", j.target(), x.target())
	s.audit(j.run.Actor, "workflows.prepared_workflow_job", scope{repository, j.run.Repo}, map[string]any{"job_name": j.Name, "runner_id": x.ID, "runner_name": x.Name, "workflow_run_id": j.run.ID})
	return nil
}

// finish ends a job and frees its runner, if that is still registered.
func (s *Server) finish(j *job, conclusion string) {
	if j.status == "completed" {
		return
	}
	j.status, j.conclusion, j.completed = "completed", conclusion, s.clock.Now()
	if j.started.IsZero() {
		j.started = j.completed
	}
	j.run.updated = s.clock.Now()
	s.o.Ledger.Effect("job.end", "job-token", j.target(), conclusion)
	for _, x := range s.runners {
		if x.job == j {
			x.job = nil
		}
	}
	s.wake()
}

// AddJob queues a run of one job in a repository and returns the job's number.
func (s *Server) AddJob(repo, name string, labels []string, takes time.Duration) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.repo(repo) == nil {
		return 0, fmt.Errorf("queue a job: no repository %q", repo)
	}
	if len(s.runs) >= maxRuns {
		return 0, fmt.Errorf("queue a job: there are %d runs", len(s.runs))
	}
	if name == "" {
		name = "test"
	}
	d := SeedRun{ID: s.data.NewRun, Repo: repo, Event: "push", Branch: "main", Actor: "dev", SHA: object(repo + itoa(s.data.NewRun))}
	w := Workflow{}
	if list := s.repo(repo).Workflows; len(list) > 0 {
		w = list[0]
	}
	if d.Workflow = w.ID; !s.starts(s.repo(repo), w) {
		return 0, fmt.Errorf("queue a job: the workflow %s of %s is disabled, or Actions is off there: nothing starts it", w.Path, repo)
	}
	s.data.NewRun++
	r := &run{SeedRun: d, number: d.ID, created: s.clock.Now(), updated: s.clock.Now()}
	j := &job{SeedJob: SeedJob{ID: d.ID * 10, Name: name, Labels: labels, Takes: takes}, run: r, status: "queued", created: s.clock.Now()}
	r.jobs = []*job{j}
	s.runs = append(s.runs, r)
	s.wake()
	return j.ID, nil
}

// Crowd registers so many runners more, which never connect.
func (s *Server) Crowd(in string, n int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	where, err := scopeOf(in)
	if err != nil {
		return err
	}
	if len(s.runners)+n > maxRunners {
		return fmt.Errorf("register %d runners more: there may be %d", n, maxRunners)
	}
	for range n {
		r := &runner{Seeded: Seeded{ID: s.data.NewRunner, Scope: in, Name: fmt.Sprintf("crowd-%05d", s.data.NewRunner), OS: "Linux", Labels: []string{"crowd"}}, scope: where}
		s.data.NewRunner++
		s.admit(r)
	}
	return nil
}

// older reports whether version a is before b, number by number.
func older(a, b string) bool {
	x, y := strings.Split(a, "."), strings.Split(b, ".")
	for i := range max(len(x), len(y)) {
		var m, n int
		if i < len(x) {
			m = atLeast1(x[i], 0)
		}
		if i < len(y) {
			n = atLeast1(y[i], 0)
		}
		if m != n {
			return m < n
		}
	}
	return false
}
