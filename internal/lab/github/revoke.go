package github

import (
	"encoding/json"
	"net/http"
	"slices"
)

func (c *call) orgInstallations() {
	var list []*App
	for i := range c.s.data.Apps {
		if c.s.data.Apps[i].Owner == c.owner.Login {
			list = append(list, &c.s.data.Apps[i])
		}
	}
	counted(c, "installations", list, c.installation)
}

func (c *call) orgPATList() {
	plain(c, c.owner.PATs, func(p PAT) map[string]any {
		return map[string]any{
			"id": p.ID, "owner": c.account(p.Owner), "repository_selection": "all", "repositories_url": c.api() + "/organizations/" + itoa(c.owner.ID) + "/personal-access-tokens/" + itoa(p.ID) + "/repositories",
			"permissions": map[string]any{"repository": map[string]string{"contents": "write"}}, "access_granted_at": stamp(c.s.ago(500e9)),
			"token_id": 9000 + p.ID, "token_name": p.Name, "token_expired": false, "token_expires_at": nil, "token_last_used_at": nil,
		}
	})
}

func (c *call) revokePAT() {
	var in struct {
		Action string `json:"action"`
	}
	if !c.body(&in) {
		return
	}
	if in.Action != "revoke" {
		c.refuse("Invalid request.\n\n%q is not an action", in.Action)
		return
	}
	i := slices.IndexFunc(c.owner.PATs, func(p PAT) bool { return p.ID == c.id("id") })
	if i < 0 {
		c.missing()
		return
	}
	p := c.owner.PATs[i]
	c.owner.PATs = slices.Delete(c.owner.PATs, i, i+1)
	c.effect("pat.revoke", c.scope.String()+"/pat/"+itoa(p.ID), p.Owner)
	c.s.audit(c.who.login, "personal_access_token.access_revoked", c.scope, map[string]any{"user": p.Owner})
	c.none()
}

func (c *call) authorizations() {
	plain(c, c.owner.Authorized, func(a Authorized) map[string]any {
		out := map[string]any{
			"login": a.Login, "credential_id": a.ID, "credential_type": a.Type, "credential_authorized_at": stamp(c.s.ago(500e9)),
			"credential_accessed_at": nil, "authorized_credential_id": 7000 + a.ID, "authorized_credential_title": nil, "authorized_credential_note": nil,
		}
		if a.Type == "SSH key" {
			out["fingerprint"], out["authorized_credential_title"] = "SHA256:lab", a.Title
		} else {
			out["token_last_eight"], out["authorized_credential_note"], out["scopes"] = "lab0lab0", a.Title, []string{"repo"}
		}
		return out
	})
}

func (c *call) deauthorize() {
	i := slices.IndexFunc(c.owner.Authorized, func(a Authorized) bool { return a.ID == c.id("id") })
	if i < 0 {
		c.missing()
		return
	}
	a := c.owner.Authorized[i]
	c.owner.Authorized = slices.Delete(c.owner.Authorized, i, i+1)
	c.effect("sso.remove", c.scope.String()+"/credential/"+itoa(a.ID), a.Login)
	c.s.audit(c.who.login, "org_credential_authorization.revoke", c.scope, map[string]any{"user": a.Login})
	c.none()
}

// revokeLeaked ends tokens that leaked. Whoever has one may say so, and nobody else: a
// request that comes with a credential is refused. What a token was is never answered.
func (s *Server) revokeLeaked(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.Header.Get("Authorization") != "" {
		fail(w, http.StatusForbidden, "This endpoint does not accept authentication")
		return
	}
	var in struct {
		Credentials []string `json:"credentials"`
	}
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil || len(in.Credentials) == 0 || len(in.Credentials) > 1000 {
		fail(w, http.StatusUnprocessableEntity, "Invalid request.\n\n\"credentials\" has 1 to 1000 tokens")
		return
	}
	s.creds = slices.DeleteFunc(s.creds, func(c *cred) bool {
		if c.form == appToken || !slices.Contains(in.Credentials, c.token) {
			return false
		}
		s.o.Ledger.Effect("token.revoke", "anybody", "token/"+c.kind, c.login)
		return true
	})
	answer(w, http.StatusAccepted, map[string]any{})
}
