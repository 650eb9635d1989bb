package github

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// group is a runner group with every flag that an undo has to leave as it was. Groups exist
// in organizations and enterprises alone, and a runner is in exactly one of its own scope.
type group struct {
	ID         int64  `json:"id"`
	Name       string `json:"name"`
	Visibility string `json:"visibility"` // all, selected, private
	Default    bool   `json:"default"`
	Inherited  bool   `json:"inherited"` // of the enterprise, and managed there

	Public          *bool    `json:"allows_public_repositories"`
	InheritedPublic *bool    `json:"inherited_allows_public_repositories"`
	Restricted      *bool    `json:"restricted_to_workflows"`
	RestrictedAbove *bool    `json:"workflow_restrictions_read_only"`
	Workflows       []string `json:"selected_workflows"`
	Network         string   `json:"network_configuration_id"`
}

type groupPage struct {
	Total  *int    `json:"total_count"`
	Groups []group `json:"runner_groups"`
}

// member is a repository or an organization that a group serves.
type member struct {
	ID     int64  `json:"id"`
	Name   string `json:"full_name"` // of a repository
	Login  string `json:"login"`     // of an organization
	Pushed string `json:"pushed_at"`
}

func (m member) name() string {
	if m.Name != "" {
		return m.Name
	}
	return m.Login
}

type memberPage struct {
	Total *int     `json:"total_count"`
	Repos []member `json:"repositories"`
	Orgs  []member `json:"organizations"`
}

// grouped reports whether runners of a scope are in groups.
func (s scope) grouped() bool { return s.level == organization || s.level == enterprise }

func (s scope) groups() string { return s.prefix() + "/actions/runner-groups" }

func (s scope) group(id int64) string { return s.groups() + "/" + strconv.FormatInt(id, 10) }

// served is the path of what a group serves, and the word for it.
func (s scope) served(id int64) (path, word string) {
	if s.level == enterprise {
		return s.group(id) + "/organizations", "organizations"
	}
	return s.group(id) + "/repositories", "repositories"
}

func (p *Provider) group(ctx context.Context, s service, sc scope, id int64) (group, answer, error) {
	return one(ctx, s, sc.group(id), "group", func(g group) bool { return g.ID == id })
}

// few is what containment reads with, at most n requests.
func (p *Provider) few(n int) *bounded { return &bounded{service: p.act, left: n} }

// maxGroups bounds how many groups are read: 5 pages.
const maxGroups = 500

func (p *Provider) allGroups(ctx context.Context, sc scope) ([]group, error) {
	var all []group
	err := p.few(maxGroups/100).all(ctx, sc.groups(), nil, maxGroups/100, func(a answer) (bool, error) {
		l, err := decode[groupPage](a)
		if err == nil && (l.Groups == nil || l.Total == nil) {
			err = malformed(a, "a list of groups without groups or total_count")
		}
		all = append(all, l.Groups...)
		return true, err
	})
	return all, err
}

// members reads what a group serves, at most max pages; total is what GitHub says.
func (p *Provider) members(ctx context.Context, sc scope, id int64, max int) (list []member, total int, err error) {
	path, _ := sc.served(id)
	return p.membersAt(ctx, sc, path, max)
}

// membersAt reads a list of repositories, or of organizations where sc is an enterprise.
func (p *Provider) membersAt(ctx context.Context, sc scope, path string, max int) (list []member, total int, err error) {
	read := 0
	err = p.few(max).all(ctx, path, nil, max, func(a answer) (bool, error) {
		l, err := decode[memberPage](a)
		rows := l.Repos
		if sc.level == enterprise {
			rows = l.Orgs
		}
		if err == nil && (rows == nil || l.Total == nil || *l.Total < 0) {
			err = malformed(a, "a list without its rows or total_count")
		}
		if err == nil {
			total = *l.Total
			list = append(list, rows...)
		}
		read++
		return read < max, err
	})
	return list, total, err
}

// seal says why a group is no quarantine; "" is one: it serves nobody, so that no job can
// be given to a runner in it. It is read each time, never inferred from a name.
func (p *Provider) seal(ctx context.Context, sc scope, g group) (why string, err error) {
	switch {
	case g.Inherited:
		return "it is the enterprise's, and who may use it is decided there", nil
	case g.Visibility == "private" && sc.level == organization:
		return "it serves all private repositories (visibility private)", nil
	case g.Visibility != "selected":
		return "it serves all " + map[bool]string{true: "organizations", false: "repositories"}[sc.level == enterprise] + " (visibility " + word(g.Visibility) + ")", nil
	case g.Public == nil || *g.Public:
		return "public repositories are allowed in it", nil
	case g.Default:
		return "it is the default group, into which new runners come", nil
	}
	list, total, err := p.members(ctx, sc, g.ID, 1)
	if err != nil {
		return "", err
	}
	if n := max(total, len(list)); n > 0 {
		_, what := sc.served(g.ID)
		return fmt.Sprintf("it serves %d %s", n, what), nil
	}
	return "", nil
}

// maxSearched is how many groups are asked for their runners where GitHub does not say in
// which one a runner is: its own example of a runner has no runner_group_id.
const maxSearched = 30

var errNoGroup = errors.New("GitHub does not say in which group it is")

// groupOf is the group that a runner is in.
func (p *Provider) groupOf(ctx context.Context, sc scope, w wireRunner) (group, answer, error) {
	if !sc.grouped() {
		return group{}, answer{}, fmt.Errorf("%w: a repository's runners have none", errNoGroup)
	}
	if w.GroupID != nil && *w.GroupID > 0 {
		return p.group(ctx, p.act, sc, *w.GroupID)
	}
	all, err := p.allGroups(ctx, sc)
	if err != nil {
		return group{}, answer{}, err
	}
	for i, g := range all {
		if i == maxSearched {
			break
		}
		found := false
		err := p.few(3).all(ctx, sc.group(g.ID)+"/runners", nil, 3, func(a answer) (bool, error) {
			l, err := rows(a)
			for _, r := range l.Runners {
				found = found || r.ID == w.ID
			}
			return !found, err
		})
		if err != nil {
			return group{}, answer{}, err
		}
		if found {
			return p.group(ctx, p.act, sc, g.ID)
		}
	}
	return group{}, answer{}, errNoGroup
}

// Quarantine is how the name of a group for contained runners begins. One that is made for
// a case has the case's id behind a dash: a marker that others at GitHub can read.
const Quarantine = "cordon-quarantine"

func quarantineName(caseID string) string {
	if caseID == "" {
		return Quarantine
	}
	return Quarantine + "-" + caseID
}

func (g group) quarantine() bool { return strings.HasPrefix(g.Name, Quarantine) }
