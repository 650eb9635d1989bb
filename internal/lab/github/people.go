package github

import (
	"net/http"
	"strings"
)

// people lets a known credential through to what its path names, if it may see it and
// has what the route needs, and holds the lock while h runs.
func (s *Server) people(n need, h handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		who := s.credential(r)
		if who == nil {
			w.Header().Set("Www-Authenticate", `Bearer realm="GitHub"`)
			message := "Bad credentials"
			if r.Header.Get("Authorization") == "" {
				message = "Requires authentication"
			}
			fail(w, http.StatusUnauthorized, message)
			return
		}
		a := asks{n, "read"}
		if r.Method != http.MethodGet && r.Method != http.MethodHead || strings.HasSuffix(r.URL.Path, "/rule-suites") {
			a.level = "write" // that one read is given to who may write alone
		}
		who.tell(w.Header(), a)
		if s.limited(w, r, who, strings.HasSuffix(r.URL.Path, "/rate_limit")) {
			return
		}
		if who.app != nil && !s.suspend[who.app.Installation].IsZero() {
			fail(w, http.StatusForbidden, "This installation has been suspended")
			return
		}
		s.sweep()
		c := &call{s: s, w: w, r: r, who: who}
		if !c.resolve() {
			c.missing()
			return
		}
		if !who.may(a) {
			c.fail(who.lacking(c.scope.level))
			return
		}
		if c.repo != nil && c.repo.Public && !who.belongs(ownerOf(c.repo.Path)) && (a.level == "write" || n == repoAdmin || n == secrets || n == variables) {
			c.fail(http.StatusForbidden, "Must have admin rights to Repository.")
			return
		}
		h(c)
	}
}

// resolve finds what the path names, and is false for what is not there or hidden:
// GitHub does not tell the two apart.
func (c *call) resolve() bool {
	v := c.r.PathValue
	switch {
	case v("enterprise") != "":
		e := c.s.enterprise(v("enterprise"))
		if e == nil || !c.who.belongs(e.Slug) {
			return false
		}
		c.scope = scope{enterprise, e.Slug}
	case v("org") != "":
		c.owner = c.s.owner(v("org"))
		if c.owner == nil || c.owner.Type != "Organization" || !c.who.belongs(c.owner.Login) {
			return false
		}
		c.scope = scope{organization, c.owner.Login}
	case v("repo") != "":
		c.repo = c.s.repo(v("owner") + "/" + v("repo"))
		if c.repo == nil || !c.repo.Public && !c.who.belongs(ownerOf(c.repo.Path)) {
			return false
		}
		c.scope = scope{repository, c.repo.Path}
		c.owner = c.s.owner(ownerOf(c.repo.Path))
	}
	return true
}
