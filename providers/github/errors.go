package github

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"time"

	"cordon/internal/transport"
	"cordon/providers"
)

// problem says what a status means, in our words: a service's own error text is foreign
// and may hold anything. Only phrases from a fixed list are recognised in it.
func problem(a answer) error {
	said := func(kind error, hint string) error {
		return fmt.Errorf("%s: %w (HTTP %d): %s", a.Request, kind, a.Status, hint)
	}
	switch {
	case a.Status >= 500:
		return said(providers.ErrUnavailable, "GitHub or a proxy before it is in trouble")
	case a.html():
		return malformed(a, "an HTML page, from a login form or a proxy")
	case a.Status == 429, a.Status == 403 && a.limited():
		return said(providers.ErrLimited, a.slower())
	}
	switch a.Status {
	case 400:
		return said(providers.ErrConflict, "GitHub does not accept the request; its version may differ")
	case 401:
		return said(providers.ErrUnauthorized, "the credential is expired, revoked or wrong")
	case 403:
		return said(providers.ErrForbidden, a.forbidden())
	case 404:
		return said(providers.ErrNotFound, "gone, or hidden from this credential"+a.needs())
	case 408:
		return said(providers.ErrUnavailable, "the request timed out")
	case 409:
		return said(providers.ErrConflict, "not in its present state")
	case 410:
		return said(providers.ErrConflict, "this is turned off or no longer there")
	case 412:
		return said(providers.ErrConflict, "it was changed in the meantime; plan again")
	case 422:
		return said(providers.ErrConflict, "GitHub cannot do this in the present state")
	}
	return malformed(a, "an answer that this call does not have")
}

// limited tells a 403 that says "slower" from one that says "no": by the primary limit
// used up, a time to wait, or GitHub's words for it (docs: rate limits for the REST API).
func (a answer) limited() bool {
	if a.Rate.Limit > 0 && a.Rate.Remaining == 0 || a.waits {
		return true
	}
	for _, phrase := range []string{"secondary rate limit", "secondary-rate-limits", "abuse-rate-limits", "API rate limit exceeded", "abuse detection mechanism"} {
		if bytes.Contains(a.Body, []byte(phrase)) {
			return true
		}
	}
	return false
}

// slower says which limit it was and when it ends.
func (a answer) slower() string {
	switch {
	case a.Rate.Limit > 0 && a.Rate.Remaining == 0 && !a.Rate.Reset.IsZero():
		return fmt.Sprintf("the %d calls of this hour are used up; there are new ones at %s", a.Rate.Limit, a.Rate.Reset.Format("15:04 MST"))
	case a.waits && a.wait > 0:
		return "too many requests at once (secondary limit); GitHub asks to wait " + a.wait.Round(time.Second).String()
	case a.waits:
		return "too many requests at once (secondary limit); again in a moment"
	}
	return "too many requests at once (secondary limit); wait a minute, then again"
}

// refusals are what GitHub says with a 403, and what that means.
var refusals = []struct{ phrase, hint string }{
	{"SAML", "the organization asks for single sign-on: authorize this token for it"},
	{"IP allow list", "the organization's list of allowed addresses does not have this one"},
	{"personal access token (classic)", "the organization does not accept classic tokens; use a fine-grained one or an App"},
	{"fine-grained personal access token", "the organization does not accept this fine-grained token; it may need an owner's approval or a shorter life"},
	{"OAuth App access restrictions", "the organization does not accept this OAuth app"},
	{"Resource not accessible by", "the token lacks a permission"},
	{"Must have admin rights", "only somebody with admin rights there may do this"},
	{"has been suspended", "the account or installation is suspended"},
}

func (a answer) forbidden() string {
	hint := "the credential may not do this"
	if a.SSO {
		hint = refusals[0].hint
	} else {
		for _, r := range refusals {
			if bytes.Contains(a.Body, []byte(r.phrase)) {
				hint = r.hint
				break
			}
		}
	}
	return hint + a.needs()
}

// needs is the permission that GitHub says the call needs, as an addition to a hint.
func (a answer) needs() string {
	switch {
	case a.Classic && a.Wants != "" && !anyScope(a.Scopes, a.Wants):
		return "; it needs the scope " + strings.Join(list(a.Wants), " or ")
	case !a.Classic && a.Needs != "":
		return "; it needs " + a.Needs
	}
	return ""
}

// list splits a header's list.
func list(header string) []string {
	var out []string
	for s := range strings.SplitSeq(header, ",") {
		if s = strings.TrimSpace(s); s != "" {
			out = append(out, s)
		}
	}
	return out
}

func malformed(a answer, what string) error { return providers.Malformed(a.Request, a.Status, what) }

// noAnswer maps what the transport says; a missing credential is said as that.
func noAnswer(err error) error {
	out := transport.As(err, providers.ErrMalformed, providers.ErrUnavailable)
	if errors.Is(err, transport.ErrRedirect) {
		out = fmt.Errorf("%w; the repository or organization may have another name now", out)
	}
	return out
}

// decode reads the one document of an answer, as transport.Document does.
func decode[T any](a answer) (T, error) {
	v, err := transport.Document[T](a.Body)
	if err != nil {
		return v, malformed(a, err.Error())
	}
	return v, nil
}
