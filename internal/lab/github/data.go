// Package github is the lab's GitHub, as an Enterprise Server answers: people come to
// /api/v3, listeners to /_services. It is stateful on both sides, so that what cordon
// changes is felt by the listeners, and what they do shows in the answers.
//
// Shapes come from GitHub's REST description (its tests validate every answer against
// it), semantics from facts/github.md and, for listeners, from actions/runner (the
// broker's errors, what a listener says to it). It knows wire shapes only and no
// provider code; everything is behind one mutex, since nothing here is slow.
package github

import "time"

// Data is what a scenario puts into a GitHub. Secrets are named by name; Vault makes
// them. Scopes are written as in the configuration: organization:acme,
// repository:acme/shop, enterprise:acme-corp.
type Data struct {
	Version     string       `yaml:"version"` // of the Enterprise Server
	People      []Person     `yaml:"people"`
	Apps        []App        `yaml:"apps"`
	Enterprises []Enterprise `yaml:"enterprises"`
	Owners      []Owner      `yaml:"owners"`
	Repos       []Repo       `yaml:"repositories"`
	Groups      []SeedGroup  `yaml:"groups"` // of runners
	Runners     []Seeded     `yaml:"runners"`
	Runs        []SeedRun    `yaml:"runs"`
	History     []History    `yaml:"history"`          // runs of before
	NewRunner   int          `yaml:"first_new_runner"` // ids of runners that register later count from here
	NewRun      int          `yaml:"first_new_run"`    // ids of runs that arrive later count from here; their jobs from ten times that
}

// Person is one access token and whose it is. With Scopes it is a classic token, with
// Permissions (name to "read" or "write") a fine-grained one. File is where the lab puts it, if anywhere.
type Person struct {
	ID          int               `yaml:"id"`
	Login       string            `yaml:"login"`
	Name        string            `yaml:"name"`
	Token       string            `yaml:"token"`
	File        string            `yaml:"file"`
	Scopes      []string          `yaml:"scopes"`
	Permissions map[string]string `yaml:"permissions"`
	Sees        []string          `yaml:"sees"` // owners and enterprises it belongs to; public repositories are seen by all
}

// App is a GitHub App with one installation. KeyFile is where the lab puts its private key, if anywhere.
type App struct {
	ID           int               `yaml:"id"`
	Slug         string            `yaml:"slug"`
	Installation int               `yaml:"installation"`
	Owner        string            `yaml:"owner"`
	KeyFile      string            `yaml:"key_file"`
	Permissions  map[string]string `yaml:"permissions"`
}

// Enterprise holds organizations.
type Enterprise struct {
	ID   int    `yaml:"id"`
	Slug string `yaml:"slug"`
}

// Owner is an organization or a user account that has repositories.
type Owner struct {
	ID         int          `yaml:"id"`
	Login      string       `yaml:"login"`
	Type       string       `yaml:"type"` // Organization or User
	Enterprise string       `yaml:"enterprise"`
	NoAudit    bool         `yaml:"no_audit"` // its plan has no audit log over REST
	Secrets    []Secret     `yaml:"secrets"`
	Dependabot []Secret     `yaml:"dependabot"`
	Variables  []Variable   `yaml:"variables"`
	Teams      []string     `yaml:"teams"`
	PATs       []PAT        `yaml:"personal_access_tokens"`
	Authorized []Authorized `yaml:"credential_authorizations"`
	Packages   []Package    `yaml:"packages"`
	SelfHosted string       `yaml:"self_hosted"` // policy for repository-level runners: all (""), selected, none
	NoGroups   bool         `yaml:"no_groups"`   // its plan cannot make runner groups
}

// Secret is a secret's name; the value is never given out over this API. A job gets it.
type Secret struct {
	Name   string        `yaml:"name"`
	Secret string        `yaml:"secret"`
	Shape  string        `yaml:"shape"`
	Age    time.Duration `yaml:"age"`   // since it was last set
	Repos  []string      `yaml:"repos"` // of an organization: only these; empty means all
}

// Variable can be read by who may see it.
type Variable struct {
	Name  string        `yaml:"name"`
	Value string        `yaml:"value"`
	Age   time.Duration `yaml:"age"`
}

// PAT is a fine-grained token that reaches an organization.
type PAT struct {
	ID    int    `yaml:"id"`
	Owner string `yaml:"owner"`
	Name  string `yaml:"name"`
}

// Authorized is a credential that single sign-on let in.
type Authorized struct {
	ID    int    `yaml:"id"`
	Login string `yaml:"login"`
	Type  string `yaml:"type"` // "personal access token" or "SSH key"
	Title string `yaml:"title"`
}

// Package is one version of a package that an organization publishes.
type Package struct {
	ID   int           `yaml:"id"`
	Name string        `yaml:"name"`
	Type string        `yaml:"type"`
	Repo string        `yaml:"repo"`
	Tag  string        `yaml:"tag"`
	Ago  time.Duration `yaml:"ago"`
}
