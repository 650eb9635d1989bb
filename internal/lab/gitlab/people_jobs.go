package gitlab

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// projectOf finds the project of the path by number or by escaped path.
func (s *Server) projectOf(r *http.Request) *Project {
	id := r.PathValue("id")
	if n, err := strconv.Atoi(id); err == nil {
		return s.project(n)
	}
	for i := range s.data.Projects {
		if strings.EqualFold(s.data.Projects[i].Path, id) {
			return &s.data.Projects[i]
		}
	}
	return nil
}

func (s *Server) groupOf(r *http.Request) *Group {
	id := r.PathValue("id")
	if n, err := strconv.Atoi(id); err == nil {
		return s.group(n)
	}
	for i := range s.data.Groups {
		if strings.EqualFold(s.data.Groups[i].Path, id) {
			return &s.data.Groups[i]
		}
	}
	return nil
}

func (s *Server) getProject(w http.ResponseWriter, r *http.Request, _ *Person) {
	p := s.projectOf(r)
	if p == nil {
		missing(w, "Project")
		return
	}
	out := projectBasic(p)
	if g := s.group(p.Group); g != nil {
		out["namespace"] = map[string]any{"id": g.ID, "name": g.Name, "path": g.Path, "kind": "group", "full_path": g.Path}
	}
	out["default_branch"], out["visibility"], out["archived"] = "main", "private", false
	answer(w, http.StatusOK, out)
}

func (s *Server) getGroup(w http.ResponseWriter, r *http.Request, _ *Person) {
	g := s.groupOf(r)
	if g == nil {
		missing(w, "Group")
		return
	}
	answer(w, http.StatusOK, map[string]any{"id": g.ID, "name": g.Name, "path": g.Path, "full_path": g.Path, "visibility": "private", "web_url": "http://gitlab.invalid/groups/" + g.Path})
}

// statuses of a job (Ci::HasStatus AVAILABLE_STATUSES).
var statuses = []string{
	"created", "waiting_for_resource", "preparing", "waiting_for_callback", "pending", "running", "success",
	"failed", "canceling", "canceled", "skipped", "manual", "scheduled",
}

// jobsWhere lists matching jobs, newest first, or answers 400 for a status that is none.
func (s *Server) jobsWhere(w http.ResponseWriter, r *http.Request, who *Person, want []string, in func(*job) bool) {
	for _, st := range want {
		if !slices.Contains(statuses, st) {
			answer(w, http.StatusBadRequest, map[string]string{"error": "status does not have a valid value"})
			return
		}
	}
	var hits []*job
	for _, j := range s.jobs {
		if in(j) && (len(want) == 0 || slices.Contains(want, j.Status)) {
			hits = append(hits, j)
		}
	}
	slices.SortFunc(hits, func(a, b *job) int { return b.ID - a.ID })
	if r.URL.Query().Get("sort") == "asc" {
		slices.Reverse(hits)
	}
	out := []any{}
	for _, j := range page(w, r, hits) {
		shape := s.jobShape(j, who)
		shape["project"] = projectBasic(s.project(j.Project))
		out = append(out, shape)
	}
	answer(w, http.StatusOK, out)
}

// runnerJobs lists jobs of a runner in projects that the caller may report on.
func (s *Server) runnerJobs(w http.ResponseWriter, r *http.Request, who *Person) {
	x := s.runnerOf(w, r, who)
	if x == nil {
		return
	}
	q := r.URL.Query()
	s.jobsWhere(w, r, who, fields(q.Get("status")), func(j *job) bool {
		return j.runner == x && (who.seesAll() || who.maintains(j.Project)) &&
			(q.Get("system_id") == "" || (j.manager != nil && j.manager.systemID == q.Get("system_id")))
	})
}

func (s *Server) projectJobs(w http.ResponseWriter, r *http.Request, who *Person) {
	p := s.projectOf(r)
	if p == nil || (!who.seesAll() && !who.maintains(p.ID)) {
		missing(w, "Project")
		return
	}
	q := r.URL.Query()
	want := append(q["scope[]"], fields(q.Get("scope"))...)
	s.jobsWhere(w, r, who, want, func(j *job) bool { return j.Project == p.ID })
}

func fields(v string) []string {
	return strings.FieldsFunc(v, func(c rune) bool { return c == ',' })
}

// jobOf finds the job of the path, or answers.
func (s *Server) jobOf(w http.ResponseWriter, r *http.Request, who *Person) *job {
	p := s.projectOf(r)
	if p == nil || (!who.seesAll() && !who.maintains(p.ID)) {
		missing(w, "Project")
		return nil
	}
	j := s.job(pathID(r, "job"))
	if j == nil || j.Project != p.ID {
		missing(w, "Job")
		return nil
	}
	return j
}

func (s *Server) getJob(w http.ResponseWriter, r *http.Request, who *Person) {
	if j := s.jobOf(w, r, who); j != nil {
		answer(w, http.StatusOK, s.jobShape(j, who))
	}
}

func (s *Server) getTrace(w http.ResponseWriter, r *http.Request, who *Person) {
	if j := s.jobOf(w, r, who); j != nil {
		w.Header().Set("Content-Type", "text/plain")
		w.WriteHeader(http.StatusOK)
		_, _ = w.Write(j.log) // the other side is gone: nobody to tell
	}
}

// cancel ends what waits at once, asks what runs to end ("canceling", after_script
// still runs), and with force ends what is being asked.
func (s *Server) cancel(w http.ResponseWriter, r *http.Request, who *Person) {
	j := s.jobOf(w, r, who)
	if j == nil {
		return
	}
	if !who.maintains(j.Project) {
		fail(w, http.StatusForbidden, "403 Forbidden")
		return
	}
	in, err := params(r)
	if err != nil {
		fail(w, http.StatusBadRequest, "400 Bad request")
		return
	}
	switch {
	case finished(j.Status):
	case j.Status == "running" && j.cancelable:
		j.Status = "canceling"
		s.o.Ledger.Effect("job.cancel", who.kind(), j.target(), "canceling")
	case j.Status == "canceling" && in["force"] != "true":
	default:
		j.Status, j.finished = "canceled", s.clock.Now()
		s.o.Ledger.Effect("job.cancel", who.kind(), j.target(), "canceled")
	}
	answer(w, http.StatusCreated, s.jobShape(j, who))
}
