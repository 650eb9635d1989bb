package github

import (
	"errors"
	"regexp"
	"strings"
	"time"

	"cordon/internal/witness"
)

// The wire structs have only the fields that are used, and none for a token: what is not
// decoded cannot be shown or kept by mistake.

// wireRunner is a runner in a list or alone. GitHub requires only id, name, os, status,
// busy and labels; the others may be missing, and then are not known.
type wireRunner struct {
	ID        int64       `json:"id"`
	GroupID   *int64      `json:"runner_group_id"`
	Name      string      `json:"name"`
	OS        string      `json:"os"`
	Status    string      `json:"status"`
	Busy      *bool       `json:"busy"`
	Labels    []wireLabel `json:"labels"`
	Ephemeral *bool       `json:"ephemeral"`
	Version   string      `json:"version"` // null: it never connected
}

// wireLabel is known by its name: ids may be 0.
type wireLabel struct {
	ID   int64  `json:"id"`
	Name string `json:"name"`
	Type string `json:"type"` // read-only, custom
}

type wireRunners struct {
	Total   *int         `json:"total_count"`
	Runners []wireRunner `json:"runners"`
}

// wireDeprecation is GET …/actions/runners/deprecations/{version}.
type wireDeprecation struct {
	Runtime *time.Time `json:"runtime_deprecates_at"`
}

type wireOwner struct {
	Login string `json:"login"`
	Type  string `json:"type"` // User, Organization, Bot
}

type wireRepository struct {
	FullName    string    `json:"full_name"`
	Owner       wireOwner `json:"owner"`
	Permissions *struct { // of the credential's person; of no meaning for an App
		Admin bool `json:"admin"`
	} `json:"permissions"`
}

// wireCounts is what GET /orgs/{org} counts; the private ones only for who sees all of them.
type wireCounts struct {
	Public  int `json:"public_repos"`
	Private int `json:"total_private_repos"`
}

type wireInstallation struct {
	Selection    string           `json:"repository_selection"` // all, selected
	Repositories []wireRepository `json:"repositories"`
}

// versionForm is what a runner's version looks like.
var versionForm = regexp.MustCompile(`^[0-9]{1,4}(\.[0-9]{1,6}){1,3}$`)

var (
	errRow  = errors.New("a runner without an id")
	errList = errors.New("a list of runners without runners or total_count")
)

// check refuses a row that could not be selected by its id later.
func (w wireRunner) check() error {
	if w.ID <= 0 {
		return errRow
	}
	return nil
}

// rows checks a page of runners.
func rows(a answer) (wireRunners, error) {
	l, err := decode[wireRunners](a)
	switch {
	case err != nil:
		return l, err
	case l.Total == nil || *l.Total < 0 || l.Runners == nil:
		return l, malformed(a, errList.Error())
	}
	for _, w := range l.Runners {
		if err := w.check(); err != nil {
			return l, malformed(a, err.Error())
		}
	}
	return l, nil
}

func tri(b *bool) witness.Tri {
	if b == nil {
		return witness.Unknown
	}
	return witness.Of(*b)
}

// online is what GitHub's word says, which is one witness: it is known to be wrong both
// ways (actions/runner#3448, #3892).
func (w wireRunner) online() witness.Tri {
	switch w.Status {
	case "online", "idle", "active":
		return witness.Yes
	case "offline":
		return witness.No
	}
	return witness.Unknown
}

// word keeps a status to small letters, digits, dashes and underscores.
func word(s string) string {
	if s == "" || len(s) > 40 || strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789_-") != "" {
		return "unknown"
	}
	return s
}
