package github

import (
	"net/http"
	"time"
)

// registration is a token that lets a machine register to a scope, or remove itself.
// It lives an hour; nobody can list or revoke it.
type registration struct {
	scope  scope
	until  time.Time
	remove bool
}

const registrationLife = time.Hour

func (c *call) mintRegistration() { c.mint("registration.mint", false) }

func (c *call) mintRemoval() { c.mint("removal.mint", true) }

func (c *call) mint(effect string, remove bool) {
	c.s.serial++
	name := effect + "/" + itoa(c.s.serial)
	v, until, err := c.s.mintAt(name, c.scope, remove, "github: answer of a token request")
	if err != nil {
		c.fail(http.StatusInternalServerError, "Server Error")
		return
	}
	c.effect(effect, c.scope.String(), "")
	c.json(http.StatusCreated, map[string]any{"token": v, "expires_at": until.UTC().Format("2006-01-02T15:04:05.000-07:00")})
}

func (s *Server) mintAt(name string, in scope, remove bool, where string) (string, time.Time, error) {
	v, err := s.o.Vault.Get("ghr", name, where)
	if err != nil {
		return "", time.Time{}, err
	}
	until := s.clock.Now().Add(registrationLife)
	s.minted[v] = registration{in, until, remove}
	return v, until, nil
}
