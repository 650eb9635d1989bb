package github

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// Kinds of credential, by what GitHub answers them.
const (
	classic     = "classic"
	fineGrained = "fine-grained"
	appToken    = "app" // of an installation
)

// cred is one credential that may come to the API.
type cred struct {
	kind    string // how the ledger names it
	form    string
	login   string
	person  *Person
	app     *App
	token   string
	scopes  []string
	perms   map[string]string
	sees    []string
	expires time.Time // zero: never
	used    int       // requests in this hour
	hour    time.Time
}

// need is what a route asks of a credential: a scope of a classic token, and a
// permission of a fine-grained one or of an App. An empty one cannot be had.
type need struct{ classic, perm string }

// asks is a need with what the method makes of it.
type asks struct {
	need
	level string // read or write
}

// included are the scopes that a classic scope has in it.
var included = map[string][]string{
	"admin:org":        {"write:org", "read:org"},
	"admin:enterprise": {"manage_runners:enterprise", "read:enterprise"},
	"repo":             {"public_repo", "repo:status"},
}

func (s *Server) seedPeople() error {
	for i := range s.data.People {
		p := &s.data.People[i]
		token, err := s.PersonToken(p.Token)
		if err != nil {
			return err
		}
		c := &cred{kind: kindOf(p), form: fineGrained, login: p.Login, person: p, token: token, scopes: p.Scopes, perms: p.Permissions, sees: p.Sees}
		if len(p.Scopes) > 0 {
			c.form = classic
		}
		s.creds = append(s.creds, c)
	}
	return nil
}

// kindOf is how the ledger names a person's credential.
func kindOf(p *Person) string {
	if name, _, _ := strings.Cut(p.File, "."); name != "" {
		return strings.TrimPrefix(name, "github-")
	}
	return p.Token
}

// PersonToken is the access token that the scenario calls name.
func (s *Server) PersonToken(name string) (string, error) {
	for _, p := range s.data.People {
		if p.Token == name && len(p.Scopes) == 0 {
			return s.o.Vault.Get("github_pat", "github-"+name, "github: access token")
		}
		if p.Token == name {
			return s.o.Vault.Get("ghp", "github-"+name, "github: access token")
		}
	}
	return "", fmt.Errorf("nobody of the scenario has the token %q", name)
}

// credential finds who sent the request, nil for nobody we know.
func (s *Server) credential(r *http.Request) *cred {
	token := bearer(r)
	for _, c := range s.creds {
		if token != "" && c.token == token && (c.expires.IsZero() || s.clock.Now().Before(c.expires)) {
			return c
		}
	}
	return nil
}

func bearer(r *http.Request) string {
	kind, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if strings.EqualFold(kind, "bearer") || strings.EqualFold(kind, "token") {
		return token
	}
	return ""
}

// may reports whether the credential has what is asked.
func (c *cred) may(a asks) bool {
	if c.form == classic {
		return a.classic == "" && a.perm == "" || slices.ContainsFunc(c.scopes, func(s string) bool {
			return s == a.classic || slices.Contains(included[s], a.classic)
		})
	}
	if a.perm == "metadata" || a.perm == "" && a.classic == "" {
		return true
	}
	had := c.perms[a.perm]
	return a.perm != "" && (had == "write" || had == "read" && a.level == "read")
}

func (c *cred) belongs(owner string) bool {
	return slices.ContainsFunc(c.sees, func(s string) bool { return strings.EqualFold(s, owner) })
}

// tell writes the headers that say what a credential has and what the route wants.
func (c *cred) tell(h http.Header, a asks) {
	if c.form == classic {
		h.Set("X-Oauth-Scopes", strings.Join(slices.Sorted(slices.Values(c.scopes)), ", "))
		h.Set("X-Accepted-Oauth-Scopes", a.classic)
		return
	}
	if a.perm != "" {
		h.Set("X-Accepted-Github-Permissions", a.perm+"="+a.level)
	}
}

// lacking is what GitHub says to a credential that may not.
func (c *cred) lacking(level string) (status int, message string) {
	switch {
	case c.form == appToken:
		return http.StatusForbidden, "Resource not accessible by integration"
	case c.form == fineGrained:
		return http.StatusForbidden, "Resource not accessible by personal access token"
	case level == repository:
		return http.StatusNotFound, "Not Found" // a classic token without repo does not learn that it exists
	case level == enterprise:
		return http.StatusForbidden, "You must be an enterprise owner or have the manage_runners:enterprise scope."
	}
	return http.StatusForbidden, "You must be an org admin or have the self-hosted runners and runner groups fine-grained permission."
}
