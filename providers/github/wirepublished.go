package github

import (
	"strings"
	"time"
)

// What a repository gives to others. Descriptions and bodies are not read.

type wireRelease struct {
	Tag         string    `json:"tag_name"`
	Name        string    `json:"name"`
	Draft       bool      `json:"draft"`
	CreatedAt   time.Time `json:"created_at"` // of its commit
	PublishedAt time.Time `json:"published_at"`
	UpdatedAt   time.Time `json:"updated_at"`
	Author      wireUser  `json:"author"`
	Assets      []struct {
		Name      string    `json:"name"`
		CreatedAt time.Time `json:"created_at"`
		UpdatedAt time.Time `json:"updated_at"`
		Uploader  wireUser  `json:"uploader"`
		Digest    string    `json:"digest"` // "sha256:…"; old assets have none
	} `json:"assets"`
}

type wireDeployment struct {
	ID          int64     `json:"id"`
	SHA         string    `json:"sha"`
	Ref         string    `json:"ref"`
	Environment string    `json:"environment"`
	CreatedAt   time.Time `json:"created_at"`
	Creator     wireUser  `json:"creator"`
}

// wireEvent is an event of a repository: GitHub keeps the last 300, of 30 days, and may
// be hours late (docs: activity/events).
type wireEvent struct {
	Type      string    `json:"type"`
	Actor     wireUser  `json:"actor"`
	CreatedAt time.Time `json:"created_at"`
	Payload   struct {
		Ref     string `json:"ref"`
		RefType string `json:"ref_type"`
	} `json:"payload"`
}

// tag is the tag that an event is about and what was done to it; "" where it is about none.
// A tag that is pushed over an old one is how a release that everybody pins by name changes
// under them (tj-actions/changed-files, 2025).
func (e wireEvent) tag() (name, did string) {
	pushed, isTag := strings.CutPrefix(e.Payload.Ref, "refs/tags/")
	switch {
	case e.Type == "CreateEvent" && e.Payload.RefType == "tag":
		return e.Payload.Ref, "made"
	case e.Type == "DeleteEvent" && e.Payload.RefType == "tag":
		return e.Payload.Ref, "deleted"
	case e.Type == "PushEvent" && isTag:
		return pushed, "pushed, perhaps over an older one,"
	}
	return "", ""
}

type wirePackage struct {
	Name       string    `json:"name"`
	Type       string    `json:"package_type"`
	UpdatedAt  time.Time `json:"updated_at"`
	Repository *wireRepo `json:"repository"` // null: not linked to one, or not visible
}

type wireVersion struct {
	ID        int64     `json:"id"`
	Name      string    `json:"name"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
}

type wireCaches struct {
	Caches []struct {
		ID        int64     `json:"id"`
		Key       string    `json:"key"`
		Ref       string    `json:"ref"`
		CreatedAt time.Time `json:"created_at"`
	} `json:"actions_caches"`
}

type wireArtifacts struct {
	Artifacts []wireArtifact `json:"artifacts"`
}

type wireArtifact struct {
	ID        int64     `json:"id"`
	Name      string    `json:"name"`
	Expired   bool      `json:"expired"`
	CreatedAt time.Time `json:"created_at"`
	ExpiresAt time.Time `json:"expires_at"`
	Run       *struct {
		ID int64 `json:"id"`
	} `json:"workflow_run"`
}

type wireAttestations struct {
	Attestations []struct {
		BundleURL string `json:"bundle_url"`
	} `json:"attestations"`
}
