package github

import (
	"context"
	"fmt"
	"net/http"
	"net/url"

	"cordon/internal/change"
	"cordon/internal/target"
	"cordon/providers"
)

// suspend holds an App's installation back; unsuspend is its undo. GitHub takes both calls
// from the App itself alone (docs: apps/apps), so they work only where the credential for
// acting is that App's own token; with every other one it refuses.
type suspend struct {
	Org          string `json:"organization"`
	Installation int64  `json:"installation"`
}

type unsuspend struct {
	Org          string `json:"organization"`
	Installation int64  `json:"installation"`
}

// appInstallation is an App's installation in an organization.
type appInstallation struct {
	ID        int64   `json:"id"`
	App       int64   `json:"app_id"`
	Slug      string  `json:"app_slug"`
	Suspended *string `json:"suspended_at"`
}

func (o suspend) about() target.Ref {
	return credential(organization, o.Org, "installation", o.Installation)
}

func (o unsuspend) about() target.Ref { return suspend(o).about() }

func suspendPath(id int64) string { return fmt.Sprintf("app/installations/%d/suspended", id) }

func (o suspend) request() request {
	return request{http.MethodPut, suspendPath(o.Installation), nil, http.StatusNoContent, nil}
}

func (o unsuspend) request() request {
	return request{http.MethodDelete, suspendPath(o.Installation), nil, http.StatusNoContent, nil}
}

// installations lists the Apps of an organization, as its owners see them.
func (p *Provider) installations(ctx context.Context, org string) ([]appInstallation, error) {
	var all []appInstallation
	err := p.few(maxListed).all(ctx, "orgs/"+url.PathEscape(org)+"/installations", nil, maxListed, func(a answer) (bool, error) {
		l, err := decode[struct {
			List []appInstallation `json:"installations"`
		}](a)
		if err == nil && l.List == nil {
			err = malformed(a, "no installations")
		}
		all = append(all, l.List...)
		return true, err
	})
	return all, err
}

// suspended reads whether it is.
func (o suspend) suspended(ctx context.Context, p *Provider) (bool, error) {
	all, err := p.installations(ctx, o.Org)
	if err != nil {
		return false, err
	}
	for _, x := range all {
		if x.ID == o.Installation {
			return x.Suspended != nil, nil
		}
	}
	return false, fmt.Errorf("%w: the installation is not in the organization's list", providers.ErrNotFound)
}

func (o suspend) compare(ctx context.Context, p *Provider, _ change.Change) (string, error) {
	is, err := o.suspended(ctx, p)
	if err == nil && is {
		return "it is suspended already", nil
	}
	return "", err
}

func (o unsuspend) compare(ctx context.Context, p *Provider, _ change.Change) (string, error) {
	is, err := suspend(o).suspended(ctx, p)
	if err == nil && !is {
		return "it is not suspended", nil
	}
	return "", err
}

func (o suspend) settle(ctx context.Context, p *Provider, _ change.Change) (string, string, error) {
	return o.reads(ctx, p, true)
}

func (o unsuspend) settle(ctx context.Context, p *Provider, _ change.Change) (string, string, error) {
	return suspend(o).reads(ctx, p, false)
}

func (o suspend) reads(ctx context.Context, p *Provider, want bool) (string, string, error) {
	is, err := o.suspended(ctx, p)
	words := map[bool]string{true: "it reads back as suspended", false: "it reads back as not suspended"}[is]
	switch {
	case err != nil:
		return change.Unknown, err.Error(), finished(ctx, err)
	case is == want:
		return change.Applied, words, nil
	}
	return change.Refused, words, nil
}
