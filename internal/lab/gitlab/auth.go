package gitlab

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// underRunner is where the scope manage_runner reaches: one runner and what hangs
// on it, no lists (facts/gitlab-gitea.md §1.4).
var underRunner = regexp.MustCompile(`^/api/v4/runners/[0-9]+(/|$)`)

type forPeople func(w http.ResponseWriter, r *http.Request, who *Person)

// people lets only a known access token with a fitting scope through, and holds the
// lock while h runs.
func (s *Server) people(h forPeople) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		who := s.person(r)
		if who == nil {
			fail(w, http.StatusUnauthorized, "401 Unauthorized")
			return
		}
		if need := lacking(who, r); need != "" {
			answer(w, http.StatusForbidden, map[string]string{
				"error":             "insufficient_scope",
				"error_description": "The request requires higher privileges than provided by the access token.",
				"scope":             need,
			})
			return
		}
		h(w, r, who)
	}
}

func (s *Server) person(r *http.Request) *Person {
	token := r.Header.Get("PRIVATE-TOKEN")
	if token == "" {
		token, _ = strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	}
	for i := range s.data.People {
		p := &s.data.People[i]
		want, err := s.PersonToken(p.Token)
		if err == nil && token != "" && token == want {
			return p
		}
	}
	return nil
}

// PersonToken is the access token that the scenario calls name.
func (s *Server) PersonToken(name string) (string, error) {
	return s.o.Vault.Get("glpat", name, "gitlab: access token")
}

// lacking names the scopes that would do, or is empty where the person has one.
func lacking(who *Person, r *http.Request) string {
	enough := []string{"api"}
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		enough = append(enough, "read_api")
	}
	if underRunner.MatchString(r.URL.Path) {
		enough = append(enough, "manage_runner")
	}
	if r.URL.Path == "/api/v4/user/runners" {
		enough = append(enough, "create_runner")
	}
	if slices.ContainsFunc(who.Scopes, func(s string) bool { return slices.Contains(enough, s) }) {
		return ""
	}
	return strings.Join(enough, " ")
}

// kind is how the ledger names the credential.
func (p *Person) kind() string {
	name, _, _ := strings.Cut(p.File, ".")
	if name == "" {
		return p.Username
	}
	return name
}

func (p *Person) seesAll() bool { return p.Admin || p.Auditor }

func (p *Person) maintains(project int) bool { return p.Admin || slices.Contains(p.Projects, project) }

func (p *Person) sees(r *runner) bool {
	return p.seesAll() || r.Type == "instance_type" || slices.ContainsFunc(r.Projects, p.maintains)
}

// mayChange: instance and group runners need an administrator here, project runners
// a maintainer of one of their projects.
func (p *Person) mayChange(r *runner) bool {
	if r.Type != "project_type" {
		return p.Admin
	}
	return p.Admin || slices.ContainsFunc(r.Projects, p.maintains)
}
