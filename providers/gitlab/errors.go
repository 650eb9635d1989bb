package gitlab

import (
	"bytes"
	"fmt"

	"cordon/internal/transport"
	"cordon/providers"
)

// problem says what a status means, in our words: a service's own error text is
// foreign and may hold anything. Only phrases from a fixed list are recognised in it.
func problem(a answer) error {
	said := func(kind error, hint string) error {
		return fmt.Errorf("%s: %w (HTTP %d): %s", a.Request, kind, a.Status, hint)
	}
	switch {
	case a.Status >= 500:
		return said(providers.ErrUnavailable, "GitLab or a proxy before it is in trouble")
	case a.html():
		return malformed(a, "an HTML page, from a login form or a proxy")
	}
	switch a.Status {
	case 400:
		return said(providers.ErrConflict, "GitLab does not accept the request; its version may differ")
	case 401:
		return said(providers.ErrUnauthorized, "the credential is expired, revoked or wrong")
	case 403:
		return said(providers.ErrForbidden, forbidden(a.Body))
	case 404:
		return said(providers.ErrNotFound, "gone, or hidden from this credential")
	case 408:
		return said(providers.ErrUnavailable, "the request timed out")
	case 409:
		return said(providers.ErrConflict, "it is being changed by somebody else")
	case 410:
		return said(providers.ErrConflict, "this GitLab has that function turned off")
	case 412:
		return said(providers.ErrConflict, "it was changed in the meantime; plan again")
	case 422:
		return said(providers.ErrConflict, "GitLab cannot do this in the present state; the token's rotation deadline may have passed")
	case 429:
		return said(providers.ErrLimited, "too many requests; wait a minute, then again")
	}
	return malformed(a, "an answer that this call does not have")
}

// forbidden recognises what lib/api/ci/runners.rb says with a 403.
func forbidden(body []byte) string {
	for phrase, hint := range map[string]string{
		"more than one project":       "only an administrator may remove a runner of more than one project; unassign it elsewhere first",
		"insufficient_scope":          "the token lacks a scope: api, or manage_runner for calls on one runner",
		"insufficient_granular_scope": "the token lacks a permission on runners",
		"admin_mode":                  "the instance has admin mode on: the token needs the scope admin_mode",
	} {
		if bytes.Contains(body, []byte(phrase)) {
			return hint
		}
	}
	return "the credential's role is too low: Maintainer for a project's runner, Owner for a group's, administrator for the instance's"
}

func malformed(a answer, what string) error { return providers.Malformed(a.Request, a.Status, what) }

// noAnswer maps what the transport says; a missing credential is said as that.
func noAnswer(err error) error {
	return transport.As(err, providers.ErrMalformed, providers.ErrUnavailable)
}

// decode reads the one document of an answer, as transport.Document does.
func decode[T any](a answer) (T, error) {
	v, err := transport.Document[T](a.Body)
	if err != nil {
		return v, malformed(a, err.Error())
	}
	return v, nil
}
