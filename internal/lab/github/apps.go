package github

import (
	"crypto/rsa"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/golang-jwt/jwt/v4"
)

// installationLife is how long a token of an installation lives.
const installationLife = time.Hour

// TrustApp makes the server accept JWTs that are signed with the private half of key.
func (s *Server) TrustApp(id int, key *rsa.PublicKey) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keys[id] = key
}

// withJWT lets an App itself through, known by its signature alone.
func (s *Server) withJWT(h handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		app, err := s.app(bearer(r))
		if err != nil {
			fail(w, http.StatusUnauthorized, err.Error())
			return
		}
		h(&call{s: s, w: w, r: r, who: &cred{kind: "app", form: appToken, login: app.Slug + "[bot]", app: app}})
	}
}

// app checks a JWT: RS256, issued by a known App, with at most ten minutes to live.
func (s *Server) app(token string) (*App, error) {
	var app *App
	var claims jwt.RegisteredClaims
	parser := jwt.NewParser(jwt.WithValidMethods([]string{"RS256"}), jwt.WithoutClaimsValidation())
	_, err := parser.ParseWithClaims(token, &claims, func(*jwt.Token) (any, error) {
		id, _ := strconv.Atoi(claims.Issuer) // not a number: no App's
		for i := range s.data.Apps {
			if s.data.Apps[i].ID == id && s.keys[id] != nil {
				app = &s.data.Apps[i]
				return s.keys[id], nil
			}
		}
		return nil, errors.New("no such App")
	})
	switch now := s.o.Wall.Now(); {
	case err != nil:
		return nil, errors.New("a JSON web token could not be decoded")
	case claims.ExpiresAt == nil || claims.IssuedAt == nil || claims.IssuedAt.After(now.Add(time.Minute)):
		return nil, errors.New("'Issued at' claim ('iat') must be an Integer representing the time that the assertion was issued")
	case claims.ExpiresAt.Before(now) || claims.ExpiresAt.After(now.Add(10*time.Minute+time.Second)):
		return nil, errors.New("'Expiration time' claim ('exp') is too far in the future or past")
	}
	return app, nil
}

func (c *call) ownApp() {
	a := c.who.app
	c.json(http.StatusOK, map[string]any{
		"id": a.ID, "slug": a.Slug, "node_id": nodeID("Integration", a.ID), "owner": c.account(a.Owner), "name": a.Slug, "description": nil,
		"external_url": c.web(), "html_url": c.web() + "/github-apps/" + a.Slug, "created_at": "2024-03-01T09:00:00Z", "updated_at": "2024-03-01T09:00:00Z",
		"permissions": granted(a), "events": []string{},
	})
}

func granted(a *App) map[string]string {
	out := map[string]string{"metadata": "read"}
	maps.Copy(out, a.Permissions)
	return out
}

func (c *call) installation(a *App) map[string]any {
	out := map[string]any{
		"id": a.Installation, "account": c.account(a.Owner), "repository_selection": "all", "app_id": a.ID, "app_slug": a.Slug,
		"access_tokens_url": c.api() + "/app/installations/" + itoa(a.Installation) + "/access_tokens", "repositories_url": c.api() + "/installation/repositories",
		"html_url": c.web() + "/organizations/" + a.Owner + "/settings/installations/" + itoa(a.Installation), "target_id": accountID(a.Owner), "target_type": "Organization",
		"permissions": granted(a), "events": []string{}, "created_at": "2024-03-02T09:00:00Z", "updated_at": "2024-03-02T09:00:00Z", "single_file_name": nil,
		"suspended_by": nil, "suspended_at": nil,
	}
	if at := c.s.suspend[a.Installation]; !at.IsZero() {
		out["suspended_at"], out["suspended_by"] = stamp(at), c.account(a.Owner)
	}
	return out
}

func (c *call) ownInstallations() { c.json(http.StatusOK, []any{c.installation(c.who.app)}) }

// mine reports whether the path names the App's own installation, or answers.
func (c *call) mine() bool {
	if c.id("id") == c.who.app.Installation {
		return true
	}
	c.missing()
	return false
}

func (c *call) ownInstallation() {
	if c.mine() {
		c.json(http.StatusOK, c.installation(c.who.app))
	}
}

// mintInstallationToken gives a token with the App's permissions, or with fewer where
// the request asks for fewer. Asking for more is refused.
func (c *call) mintInstallationToken() {
	if !c.mine() {
		return
	}
	var in struct {
		Permissions map[string]string `json:"permissions"`
	}
	if !c.body(&in) {
		return
	}
	a := c.who.app
	perms := granted(a)
	if in.Permissions != nil {
		for name, level := range in.Permissions {
			if had := perms[name]; had == "" || had == "read" && level != "read" {
				c.refuse("The permissions requested are not granted to this installation.")
				return
			}
		}
		perms = in.Permissions
	}
	if !c.s.suspend[a.Installation].IsZero() {
		c.fail(http.StatusForbidden, "This installation has been suspended")
		return
	}
	c.s.serial++
	v, err := c.s.o.Vault.Get("ghs", fmt.Sprintf("app/%d-token-%d", a.ID, c.s.serial), "github: answer of access_tokens")
	if err != nil {
		c.fail(http.StatusInternalServerError, "Server Error")
		return
	}
	until := c.s.clock.Now().Add(installationLife)
	c.s.creds = slices.DeleteFunc(c.s.creds, func(x *cred) bool { return !x.expires.IsZero() && x.expires.Before(c.s.clock.Now()) })
	c.s.creds = append(c.s.creds, &cred{
		kind: "app", form: appToken, login: a.Slug + "[bot]", app: a, token: v, perms: perms, sees: []string{a.Owner}, expires: until,
	})
	c.json(http.StatusCreated, map[string]any{"token": v, "expires_at": stamp(until), "permissions": perms, "repository_selection": "all"})
}

func (c *call) suspendApp() {
	if !c.mine() {
		return
	}
	if c.s.suspend[c.who.app.Installation].IsZero() {
		c.s.suspend[c.who.app.Installation] = c.s.clock.Now()
		c.effect("app.suspend", "app/"+itoa(c.who.app.ID), "")
		c.s.audit(c.who.login, "integration_installation.suspend", scope{organization, c.who.app.Owner}, nil)
	}
	c.none()
}

func (c *call) unsuspendApp() {
	if !c.mine() {
		return
	}
	if !c.s.suspend[c.who.app.Installation].IsZero() {
		delete(c.s.suspend, c.who.app.Installation)
		c.effect("app.unsuspend", "app/"+itoa(c.who.app.ID), "")
		c.s.audit(c.who.login, "integration_installation.unsuspend", scope{organization, c.who.app.Owner}, nil)
	}
	c.none()
}
