package github

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"cordon/internal/change"
	"cordon/internal/target"
	"cordon/providers"
)

// maxListed is how many pages of 100 a list of credentials is read for. A credential that
// was not found in a longer list is not known to be gone.
const maxListed = 10

// keyRemove removes a deploy key: whoever holds its private half is shut out.
type keyRemove struct {
	Repo string `json:"repository"`
	Key  int64  `json:"key"`
}

// deployKey is a deploy key.
type deployKey struct {
	ID       int64      `json:"id"`
	Key      string     `json:"key"` // the public half
	Title    string     `json:"title"`
	ReadOnly bool       `json:"read_only"`
	AddedBy  string     `json:"added_by"`
	Created  string     `json:"created_at"`
	LastUsed *time.Time `json:"last_used"`
	Enabled  *bool      `json:"enabled"`
}

// keyBefore is what removing a key rested on: the key itself.
type keyBefore struct {
	SHA256 string `json:"sha256"` // of the public half
}

func (k deployKey) before() keyBefore {
	sum := sha256.Sum256([]byte(k.Key))
	return keyBefore{hex.EncodeToString(sum[:])}
}

// credential is the reference of something that can be revoked.
func credential(level, path, kind string, id int64) target.Ref {
	return target.Ref{Scope: target.Scope{Level: level, Path: path}, Kind: target.Token, ID: kind + "-" + strconv.FormatInt(id, 10)}
}

func (o keyRemove) about() target.Ref { return credential(repository, o.Repo, "deploy-key", o.Key) }

func (o keyRemove) path() string { return fmt.Sprintf("%s/keys/%d", repoPath(o.Repo), o.Key) }

func (o keyRemove) request() request {
	return request{http.MethodDelete, o.path(), nil, http.StatusNoContent, nil}
}

// now reads the key; there is false where it is gone and the list of keys can still be read.
func (o keyRemove) now(ctx context.Context, p *Provider) (k deployKey, there bool, err error) {
	a, err := p.act.get(ctx, o.path(), nil)
	if errors.Is(err, providers.ErrNotFound) {
		l, lerr := p.act.get(ctx, repoPath(o.Repo)+"/keys", pageOf(nil, 1, 1))
		if lerr == nil {
			_, lerr = decode[[]deployKey](l)
		}
		if lerr != nil {
			return k, false, fmt.Errorf("404, but the keys of %s cannot be listed: gone and hidden cannot be told apart (%w)", o.Repo, lerr)
		}
		return k, false, nil
	}
	if err != nil {
		return k, false, err
	}
	k, err = decode[deployKey](a)
	if err == nil && k.ID != o.Key {
		err = malformed(a, "not the key that was asked for")
	}
	return k, true, err
}

func (o keyRemove) compare(ctx context.Context, p *Provider, c change.Change) (string, error) {
	was, err := change.Parse[keyBefore](c.Op, c.Before)
	if err != nil {
		return "", err
	}
	k, there, err := o.now(ctx, p)
	switch {
	case err != nil:
		return "", err
	case !there:
		return "the key is gone already", nil
	case k.before() != was:
		return "", fmt.Errorf("%w (another key)", change.ErrStale)
	}
	return "", nil
}

func (o keyRemove) settle(ctx context.Context, p *Provider, _ change.Change) (string, string, error) {
	_, there, err := o.now(ctx, p)
	return settled(ctx, there, err, "the key")
}

// settled is the outcome of something that has to be gone.
func settled(ctx context.Context, there bool, err error, what string) (string, string, error) {
	switch {
	case err != nil:
		return change.Unknown, err.Error(), finished(ctx, err)
	case there:
		return change.Refused, what + " reads back as still there", nil
	}
	return change.Applied, "the same credential still reads the list, and " + what + " is not in it", nil
}

// ssoRemove takes back what a member's token or key was authorized for by single sign-on.
type ssoRemove struct {
	Org   string `json:"organization"`
	ID    int64  `json:"credential"`
	Login string `json:"login"`
}

// wireSSO is an authorization (docs: orgs/orgs, list SAML SSO authorizations). The last
// eight characters of the token, which GitHub tells, are not read.
type wireSSO struct {
	Login      string     `json:"login"`
	ID         int64      `json:"credential_id"`
	Kind       string     `json:"credential_type"`
	Note       string     `json:"authorized_credential_note"`  // of a token
	Title      string     `json:"authorized_credential_title"` // of a key
	Authorized string     `json:"credential_authorized_at"`
	Used       *time.Time `json:"credential_accessed_at"`
}

func (o ssoRemove) about() target.Ref { return credential(organization, o.Org, "sso", o.ID) }

func (o ssoRemove) request() request {
	return request{http.MethodDelete, fmt.Sprintf("orgs/%s/credential-authorizations/%d", url.PathEscape(o.Org), o.ID), nil, http.StatusNoContent, nil}
}

func (o ssoRemove) there(ctx context.Context, p *Provider) (bool, error) {
	there := false
	err := p.few(maxListed).all(ctx, "orgs/"+url.PathEscape(o.Org)+"/credential-authorizations", url.Values{"login": {o.Login}}, maxListed, func(a answer) (bool, error) {
		l, err := decode[[]wireSSO](a)
		for _, x := range l {
			there = there || x.ID == o.ID
		}
		return !there, err
	})
	return there, err
}

func (o ssoRemove) compare(ctx context.Context, p *Provider, _ change.Change) (string, error) {
	there, err := o.there(ctx, p)
	if err == nil && !there {
		return "the authorization is gone already", nil
	}
	return "", err
}

func (o ssoRemove) settle(ctx context.Context, p *Provider, _ change.Change) (string, string, error) {
	there, err := o.there(ctx, p)
	return settled(ctx, there, err, "the authorization")
}

// patRevoke ends a fine-grained token's access to the organization. Its owner keeps the
// token for other places.
type patRevoke struct {
	Org string `json:"organization"`
	ID  int64  `json:"grant"`
}

// wirePAT is a fine-grained token with access (docs: orgs/personal-access-tokens).
type wirePAT struct {
	ID    int64  `json:"id"`
	Name  string `json:"token_name"`
	Owner struct {
		Login string `json:"login"`
	} `json:"owner"`
	Used    *time.Time `json:"token_last_used_at"`
	Expired bool       `json:"token_expired"`
}

func (o patRevoke) about() target.Ref { return credential(organization, o.Org, "pat", o.ID) }

func (o patRevoke) request() request {
	body := struct {
		Action string `json:"action"`
	}{"revoke"}
	return request{http.MethodPost, fmt.Sprintf("orgs/%s/personal-access-tokens/%d", url.PathEscape(o.Org), o.ID), body, http.StatusNoContent, nil}
}

func (o patRevoke) there(ctx context.Context, p *Provider) (bool, error) {
	there := false
	err := p.few(maxListed).all(ctx, "orgs/"+url.PathEscape(o.Org)+"/personal-access-tokens", nil, maxListed, func(a answer) (bool, error) {
		l, err := decode[[]wirePAT](a)
		for _, x := range l {
			there = there || x.ID == o.ID
		}
		return !there, err
	})
	return there, err
}

func (o patRevoke) compare(ctx context.Context, p *Provider, _ change.Change) (string, error) {
	there, err := o.there(ctx, p)
	if err == nil && !there {
		return "it has no access any more", nil
	}
	return "", err
}

func (o patRevoke) settle(ctx context.Context, p *Provider, _ change.Change) (string, string, error) {
	there, err := o.there(ctx, p)
	return settled(ctx, there, err, "its access")
}
