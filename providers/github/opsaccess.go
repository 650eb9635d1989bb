package github

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"cordon/internal/change"
	"cordon/internal/target"
)

// maxAccess is how many repositories or organizations a group may serve that is shrunk from
// here: they all have to be in the undo.
const maxAccess = 500

// access replaces what a group serves, for all of its runners. It is only planned for a
// group whose visibility is "selected": changing the visibility too would take another
// call, whose description gives flags that it leaves out a default of false, so that it
// could not be taken back exactly.
type access struct {
	home
	Runner int64   `json:"runner"` // that this is about
	Group  int64   `json:"group"`
	IDs    []int64 `json:"ids"` // sorted
}

// accessBefore is what shrinking a group rested on.
type accessBefore struct {
	Group groupBefore `json:"group"`
	IDs   []int64     `json:"ids"`
}

func (o access) about() target.Ref { return o.runner(o.Runner) }

func (o access) request() request {
	path, _ := o.scope().served(o.Group)
	return selection(o.home, path, o.IDs)
}

// selection is the call that replaces a list of repositories, or of organizations where it
// is an enterprise's.
func selection(of home, path string, ids []int64) request {
	ids = append([]int64{}, ids...) // an empty list, never none
	var body any = struct {
		IDs []int64 `json:"selected_repository_ids"`
	}{ids}
	if of.Level == enterprise {
		body = struct {
			IDs []int64 `json:"selected_organization_ids"`
		}{ids}
	}
	return request{http.MethodPut, path, body, http.StatusNoContent, nil}
}

// ids are the numbers of what a group serves, sorted; an error where they are not all known.
func (p *Provider) ids(ctx context.Context, sc scope, group int64) ([]int64, []member, error) {
	path, _ := sc.served(group)
	return p.idsAt(ctx, sc, path)
}

// idsAt are those of a list of repositories or organizations at path.
func (p *Provider) idsAt(ctx context.Context, sc scope, path string) ([]int64, []member, error) {
	list, total, err := p.membersAt(ctx, sc, path, maxAccess/100)
	if err == nil && len(list) != total {
		err = fmt.Errorf("GitHub counts %d of them and listed %d", total, len(list))
	}
	ids := []int64{}
	for _, m := range list {
		ids = append(ids, m.ID)
	}
	slices.Sort(ids)
	return ids, list, err
}

func (o access) compare(ctx context.Context, p *Provider, c change.Change) (string, error) {
	was, err := change.Parse[accessBefore](c.Op, c.Before)
	if err != nil {
		return "", err
	}
	g, _, err := p.group(ctx, p.act, o.scope(), o.Group)
	if err != nil {
		return "", err
	}
	now, _, err := p.ids(ctx, o.scope(), o.Group)
	switch {
	case err != nil:
		return "", err
	case slices.Equal(now, o.IDs):
		return "the group serves just these already", nil
	case !slices.Equal(now, was.IDs):
		return "", fmt.Errorf("%w (what the group serves: no longer as it was)", change.ErrStale)
	case !sameGroup(&was.Group, g.before()):
		return "", fmt.Errorf("%w (runner group: no longer as it was)", change.ErrStale)
	}
	return "", nil
}

func (o access) settle(ctx context.Context, p *Provider, _ change.Change) (string, string, error) {
	now, _, err := p.ids(ctx, o.scope(), o.Group)
	switch {
	case err != nil:
		return change.Unknown, err.Error(), finished(ctx, err)
	case slices.Equal(now, o.IDs):
		return change.Applied, "the group reads back as serving just these", nil
	}
	return change.Refused, "the group reads back as serving others", nil
}
