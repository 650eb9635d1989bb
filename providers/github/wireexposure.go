package github

import "time"

// Lists of names. None has a field for a value: what is not decoded cannot be shown.

type wireSecret struct {
	Name       string    `json:"name"`
	CreatedAt  time.Time `json:"created_at"`
	UpdatedAt  time.Time `json:"updated_at"`
	Visibility string    `json:"visibility"` // of an organization's: all, private, selected
}

type wireSecrets struct {
	Total   *int         `json:"total_count"`
	Secrets []wireSecret `json:"secrets"`
}

type wireVariables struct {
	Total     *int         `json:"total_count"`
	Variables []wireSecret `json:"variables"`
}

type wireEnvironments struct {
	Total        *int `json:"total_count"`
	Environments []struct {
		Name  string `json:"name"`
		Rules []struct {
			Type string `json:"type"` // required_reviewers, wait_timer, branch_policy
		} `json:"protection_rules"`
	} `json:"environments"`
}

type wireKey struct {
	ID        int64     `json:"id"`
	Title     string    `json:"title"`
	ReadOnly  *bool     `json:"read_only"`
	CreatedAt time.Time `json:"created_at"`
	LastUsed  time.Time `json:"last_used"`
	AddedBy   string    `json:"added_by"`
}

type wireTeam struct {
	Slug       string `json:"slug"`
	Permission string `json:"permission"` // admin, maintain, push, …
}

// wireProperty is a custom property of a repository; its value is a text, a list of
// texts, or null.
type wireProperty struct {
	Name  string `json:"property_name"`
	Value any    `json:"value"`
}

type wireRetention struct {
	Days int `json:"days"`
}
