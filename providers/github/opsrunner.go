package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"cordon/internal/change"
	"cordon/internal/target"
	"cordon/providers"
)

// now reads a runner and what a plan for it rests on. A group that this credential may not
// see is not compared; one that could not be read is an error.
func (p *Provider) now(ctx context.Context, sc scope, id int64) (wireRunner, before, error) {
	w, _, err := p.details(ctx, p.act, sc, id)
	if err != nil {
		return w, before{}, err
	}
	g, _, err := p.groupOf(ctx, sc, w)
	switch {
	case err == nil:
		return w, w.before(g.before()), nil
	case unseen(err):
		return w, w.before(nil), nil
	}
	return w, before{}, err
}

// unseen reports whether a group is not known for a reason that will not pass by itself.
func unseen(err error) bool {
	return errors.Is(err, errNoGroup) || errors.Is(err, providers.ErrNotFound) || errors.Is(err, providers.ErrForbidden)
}

// in is the group that a runner is in, 0: not known.
func (w wireRunner) in(b before) int64 {
	switch {
	case b.Group != nil:
		return b.Group.ID
	case w.GroupID != nil:
		return *w.GroupID
	}
	return 0
}

// settleRunner reads a runner for settling; state is set where that says it all.
func (p *Provider) settleRunner(ctx context.Context, sc scope, id int64) (state, why string, w wireRunner, now before, err error) {
	w, now, err = p.now(ctx, sc, id)
	if errors.Is(err, providers.ErrNotFound) {
		if err = p.gone(ctx, sc, err); err == nil {
			return change.Applied, "moot: the registration is gone", w, now, nil
		}
	}
	if err != nil {
		return change.Unknown, err.Error(), w, now, finished(ctx, err)
	}
	return "", "", w, now, nil
}

// labelSet replaces the custom labels of a runner.
type labelSet struct {
	home
	Runner int64    `json:"runner"`
	Labels []string `json:"labels"` // sorted
}

func (o labelSet) about() target.Ref { return o.runner(o.Runner) }

func (o labelSet) request() request {
	list := append([]string{}, o.Labels...)
	body := struct {
		Labels []string `json:"labels"`
	}{list}
	return request{http.MethodPut, fmt.Sprintf("%s/actions/runners/%d/labels", o.scope().prefix(), o.Runner), body, http.StatusOK, labelled}
}

// labelled checks that an answer is a list of labels.
func labelled(a answer) error {
	l, err := decode[struct {
		Labels []wireLabel `json:"labels"`
	}](a)
	if err == nil && l.Labels == nil {
		err = malformed(a, "no labels")
	}
	return err
}

func (o labelSet) compare(ctx context.Context, p *Provider, c change.Change) (string, error) {
	w, now, err := p.now(ctx, o.scope(), o.Runner)
	switch {
	case err != nil:
		return "", err
	case slices.Equal(w.custom(), o.Labels):
		return "it has these labels already", nil
	}
	return "", drifted(c, now)
}

func (o labelSet) settle(ctx context.Context, p *Provider, _ change.Change) (string, string, error) {
	state, why, w, _, err := p.settleRunner(ctx, o.scope(), o.Runner)
	switch {
	case state != "":
		return state, why, err
	case slices.Equal(w.custom(), o.Labels):
		return change.Applied, "its labels read back as they should be", nil
	}
	return change.Refused, "its labels read back as other ones", nil
}

// deregister removes a registration.
type deregister struct {
	home
	Runner int64 `json:"runner"`
}

func (o deregister) about() target.Ref { return o.runner(o.Runner) }

func (o deregister) request() request {
	return request{http.MethodDelete, o.scope().prefix() + "/actions/runners/" + strconv.FormatInt(o.Runner, 10), nil, http.StatusNoContent, nil}
}

func (o deregister) compare(ctx context.Context, p *Provider, c change.Change) (string, error) {
	_, now, err := p.now(ctx, o.scope(), o.Runner)
	if errors.Is(err, providers.ErrNotFound) {
		if err = p.gone(ctx, o.scope(), err); err == nil {
			return "the registration is gone already", nil
		}
	}
	if err != nil {
		return "", err
	}
	return "", drifted(c, now)
}

func (o deregister) settle(ctx context.Context, p *Provider, _ change.Change) (string, string, error) {
	_, _, err := p.details(ctx, p.act, o.scope(), o.Runner)
	if errors.Is(err, providers.ErrNotFound) {
		if err = p.gone(ctx, o.scope(), err); err == nil {
			return change.Applied, "404, and the same credential still reads the list of its scope: the registration is gone", nil
		}
	}
	if err != nil {
		return change.Unknown, err.Error(), finished(ctx, err)
	}
	return change.Refused, "the registration reads back as still there", nil
}
