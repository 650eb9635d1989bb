package gitlab

import (
	"errors"
	"regexp"
	"strings"
	"time"

	"cordon/internal/witness"
)

// The wire structs have only the fields that are used, and none for a token or a
// variable's value: what is not decoded cannot be shown or kept by mistake.

// wireRunner is a runner in a list or alone (lib/api/entities/ci/runner.rb, runner_details.rb).
type wireRunner struct {
	ID          int64         `json:"id"`
	Description string        `json:"description"`
	Paused      *bool         `json:"paused"`
	Active      *bool         `json:"active"` // deprecated inverse of paused, all that old versions have
	IsShared    bool          `json:"is_shared"`
	Type        string        `json:"runner_type"`
	Online      *bool         `json:"online"` // null: never contacted
	Status      string        `json:"status"`
	CreatedAt   time.Time     `json:"created_at"`
	Tags        []string      `json:"tag_list"`
	Untagged    *bool         `json:"run_untagged"`
	Locked      *bool         `json:"locked"`
	AccessLevel string        `json:"access_level"`
	Version     string        `json:"version"`
	ContactedAt time.Time     `json:"contacted_at"`
	Projects    []wireProject `json:"projects"`
	Groups      []wireGroup   `json:"groups"`
}

type wireProject struct {
	ID   int64  `json:"id"`
	Path string `json:"path_with_namespace"`
}

type wireGroup struct {
	ID     int64  `json:"id"`
	WebURL string `json:"web_url"`
}

type wireManager struct {
	ID          int64     `json:"id"`
	SystemID    string    `json:"system_id"`
	Version     string    `json:"version"`
	CreatedAt   time.Time `json:"created_at"`
	ContactedAt time.Time `json:"contacted_at"`
	Address     string    `json:"ip_address"`
	Status      string    `json:"status"`
}

type wireJob struct {
	ID         int64     `json:"id"`
	Name       string    `json:"name"`
	Ref        string    `json:"ref"`
	Status     string    `json:"status"`
	CreatedAt  time.Time `json:"created_at"`
	StartedAt  time.Time `json:"started_at"`
	FinishedAt time.Time `json:"finished_at"`
	WebURL     string    `json:"web_url"`
	User       struct {
		Username string `json:"username"`
	} `json:"user"`
	Project struct {
		ID   int64  `json:"id"`
		Path string `json:"path_with_namespace"`
	} `json:"project"`
}

type wireVariable struct {
	Key         string `json:"key"`
	Protected   bool   `json:"protected"`
	Environment string `json:"environment_scope"`
}

type wireDeployKey struct {
	Title   string `json:"title"`
	CanPush bool   `json:"can_push"`
}

type wireToken struct {
	Scopes  []string `json:"scopes"`
	Active  bool     `json:"active"`
	Expires string   `json:"expires_at"`
}

var typeRE = regexp.MustCompile(`^[a-z]{1,32}_type$`)

var errRow = errors.New("a row without an id or a known type")

// check refuses a row that could not be selected by its id later.
func (w wireRunner) check() error {
	if w.ID <= 0 || !typeRE.MatchString(w.Type) {
		return errRow
	}
	return nil
}

// level is the scope level: "project_type" is a runner of a project.
func (w wireRunner) level() string { return strings.TrimSuffix(w.Type, "_type") }

// paused prefers the switch over the deprecated inverse, and both over the status
// word, which mixes them (app/models/ci/runner.rb, deprecated_rest_status).
func (w wireRunner) paused() witness.Tri {
	switch {
	case w.Paused != nil:
		return witness.Of(*w.Paused)
	case w.Active != nil:
		return witness.Of(!*w.Active)
	case w.Status == "paused":
		return witness.Yes
	}
	return witness.Unknown
}

func tri(b *bool) witness.Tri {
	if b == nil {
		return witness.Unknown
	}
	return witness.Of(*b)
}

// groupPath is the group's path, which GitLab gives only inside its address.
func (g wireGroup) path() string {
	_, path, ok := strings.Cut(g.WebURL, "/groups/")
	if !ok {
		return ""
	}
	return strings.Trim(path, "/")
}

// word keeps a status to what GitLab's enums hold: small letters and underscores.
func word(s string) string {
	if s == "" || len(s) > 40 || strings.Trim(s, "abcdefghijklmnopqrstuvwxyz_") != "" {
		return "unknown"
	}
	return s
}
