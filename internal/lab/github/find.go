package github

import (
	"slices"
	"strings"
	"time"
)

func (s *Server) owner(login string) *Owner {
	for i := range s.data.Owners {
		if strings.EqualFold(s.data.Owners[i].Login, login) {
			return &s.data.Owners[i]
		}
	}
	return nil
}

func (s *Server) repo(path string) *Repo {
	for i := range s.data.Repos {
		if strings.EqualFold(s.data.Repos[i].Path, path) {
			return &s.data.Repos[i]
		}
	}
	return nil
}

func (s *Server) enterprise(slug string) *Enterprise {
	for i := range s.data.Enterprises {
		if strings.EqualFold(s.data.Enterprises[i].Slug, slug) {
			return &s.data.Enterprises[i]
		}
	}
	return nil
}

// runner finds the runner of that number in one scope only: an organization does not
// know its repositories' runners.
func (s *Server) runner(in scope, id int) *runner {
	for _, r := range s.runners {
		if r.ID == id && r.scope == in {
			return r
		}
	}
	return nil
}

func (s *Server) registered(r *runner) bool { return slices.Contains(s.runners, r) }

func (s *Server) group(in scope, id int) *group {
	for _, g := range s.groups {
		if g.ID == id && g.scope == in {
			return g
		}
	}
	return nil
}

// defaultGroup is where a runner of the scope is when nobody put it elsewhere; nil for
// a repository, which has no groups.
func (s *Server) defaultGroup(in scope) *group {
	for _, g := range s.groups {
		if g.Default && g.scope == in {
			return g
		}
	}
	return nil
}

func (s *Server) run(repo string, id int) *run {
	for _, r := range s.runs {
		if r.ID == id && r.Repo == repo {
			return r
		}
	}
	return nil
}

func (s *Server) workflow(repo *Repo, id int) *Workflow {
	for i := range repo.Workflows {
		if repo.Workflows[i].ID == id {
			return &repo.Workflows[i]
		}
	}
	return nil
}

func ownerOf(path string) string { o, _, _ := strings.Cut(path, "/"); return o }

func nameOf(path string) string { _, n, _ := strings.Cut(path, "/"); return n }

// ago is a time of the scenario: ages count from the lab's start.
func (s *Server) ago(d time.Duration) time.Time { return s.start.Add(-d) }

// stamp is a time as GitHub writes it: to the second, nil for none.
func stamp(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UTC().Format(time.RFC3339)
}

// status is how a run stands, which follows from its jobs.
func (r *run) status() (status, conclusion string) {
	if r.Conclusion != "" {
		return "completed", r.Conclusion
	}
	open, busy := false, false
	for _, j := range r.jobs {
		open = open || j.status != "completed"
		busy = busy || j.status == "in_progress"
	}
	switch {
	case busy:
		return "in_progress", ""
	case open:
		return "queued", ""
	case r.cancelled:
		return "completed", "cancelled"
	}
	for _, j := range r.jobs {
		if j.conclusion != "success" && j.conclusion != "skipped" {
			return "completed", j.conclusion
		}
	}
	return "completed", "success"
}
