package casefile

import (
	"time"

	"cordon/internal/target"
)

// Opening is what a case begins with.
type Opening struct {
	ID           string
	Title        string
	Kind         string // "incident", "offboarding", …
	Simulated    bool   // everything in the case is from a lab
	Targets      []target.Ref
	Window       Window
	Playbook     []byte // the exact bytes that will run; empty: none
	PlaybookName string
	Replaces     string            // digest of the built-in playbook of the same id, where that is another one
	Tool         map[string]string // version, digest of the binary, …
	Recipients   []string          // age recipients to whom secret-bearing files are sealed; empty: such files are described, not kept
}

// Window is the time in which the target is suspect. A zero From or To is not known.
type Window struct {
	From time.Time `json:"from,omitzero"`
	To   time.Time `json:"to,omitzero"`
	Why  string    `json:"why,omitempty"`
}

// openData is the data of the first line.
type openData struct {
	Format   string            `json:"format"`
	Title    string            `json:"title"`
	Kind     string            `json:"kind"`
	Targets  []target.Ref      `json:"targets"`
	Window   Window            `json:"window"`
	Playbook *playbookData     `json:"playbook,omitempty"`
	Tool     map[string]string `json:"tool,omitempty"`

	Recipients []string `json:"recipients,omitempty"`
}

type playbookData struct {
	Name   string `json:"name"`
	SHA256 string `json:"sha256"`
	Size   int64  `json:"size"`

	Replaces string `json:"replaces,omitempty"` // digest of the built-in that these bytes stand in for
}

const format = "cordon-case/1"
