package gitlab

import "net/http"

// routes is everything this GitLab answers. The first part is for people, the
// second for agents, who carry their token in the body or in JOB-TOKEN.
func (s *Server) routes() *http.ServeMux {
	mux := http.NewServeMux()
	for route, h := range map[string]forPeople{
		"GET /api/v4/version":                                  s.version,
		"GET /api/v4/metadata":                                 s.metadata,
		"GET /api/v4/admin/ci/variables":                       s.instanceVariables,
		"GET /api/v4/user":                                     s.user,
		"GET /api/v4/personal_access_tokens/self":              s.ownToken,
		"GET /api/v4/runners":                                  s.listMine,
		"GET /api/v4/runners/all":                              s.listAll,
		"GET /api/v4/groups/{id}":                              s.getGroup,
		"GET /api/v4/groups/{id}/runners":                      s.listGroup,
		"GET /api/v4/groups/{id}/variables":                    s.groupVariables,
		"GET /api/v4/projects/{id}":                            s.getProject,
		"GET /api/v4/projects/{id}/runners":                    s.listProject,
		"GET /api/v4/projects/{id}/variables":                  s.projectVariables,
		"GET /api/v4/projects/{id}/deploy_keys":                s.deployKeys,
		"GET /api/v4/projects/{id}/jobs":                       s.projectJobs,
		"GET /api/v4/projects/{id}/jobs/{job}":                 s.getJob,
		"GET /api/v4/projects/{id}/jobs/{job}/trace":           s.getTrace,
		"POST /api/v4/projects/{id}/jobs/{job}/cancel":         s.cancel,
		"GET /api/v4/runners/{id}":                             s.getRunner,
		"PUT /api/v4/runners/{id}":                             s.update,
		"DELETE /api/v4/runners/{id}":                          s.remove,
		"GET /api/v4/runners/{id}/managers":                    s.listManagers,
		"GET /api/v4/runners/{id}/jobs":                        s.runnerJobs,
		"GET /api/v4/runners/{id}/projects":                    s.listProjectsOf,
		"POST /api/v4/runners/{id}/reset_authentication_token": s.reset,
		"POST /api/v4/user/runners":                            s.create,
	} {
		mux.Handle(route, s.people(h))
	}
	for route, h := range map[string]http.HandlerFunc{
		"POST /api/v4/runners":                            s.register,
		"DELETE /api/v4/runners":                          s.unregister,
		"POST /api/v4/runners/verify":                     s.verify,
		"POST /api/v4/runners/reset_authentication_token": s.resetOwn,
		"DELETE /api/v4/runners/managers":                 s.unregisterManager,
		"POST /api/v4/jobs/request":                       s.request,
		"PUT /api/v4/jobs/{id}":                           s.updateJob,
		"PATCH /api/v4/jobs/{id}/trace":                   s.appendTrace,
	} {
		mux.HandleFunc(route, h)
	}
	return mux
}
