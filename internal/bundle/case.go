package bundle

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"

	"cordon/internal/casefile"
	"cordon/internal/evidence"
	"cordon/internal/target"
	"cordon/internal/untrusted"
)

// caseDoc is case.json: who, what and when, and where the evidence lies. Everything
// in it follows from the journal.
type caseDoc struct {
	Schema    string            `json:"schema"`
	Simulated string            `json:"simulated,omitempty"`
	Case      string            `json:"case"`
	Title     untrusted.Text    `json:"title"`
	Kind      string            `json:"kind"`
	Status    string            `json:"status"`
	Timezone  string            `json:"timezone"`
	Opened    time.Time         `json:"opened"`
	Last      time.Time         `json:"last"`
	Targets   []target.Ref      `json:"targets"`
	Window    casefile.Window   `json:"window"`
	Playbook  *playbookDoc      `json:"playbook,omitempty"`
	Tool      map[string]string `json:"tool,omitempty"`
	Operators []operator        `json:"operators"`
	Journal   journalDoc        `json:"journal"`
	Evidence  []itemDoc         `json:"evidence"`
}

type playbookDoc struct {
	Name   string `json:"name"`
	SHA256 string `json:"sha256"`
	File   string `json:"file"`
}

type operator struct {
	Actor string `json:"actor"`
	Key   string `json:"key,omitempty"`
	Host  string `json:"host,omitempty"`
}

type journalDoc struct {
	Head   string `json:"head"`
	Events int    `json:"events"`
}

type itemDoc struct {
	File string `json:"file"`
	evidence.Item
}

func caseJSON(v *casefile.View, items []placed, status string) ([]byte, error) {
	first, last := v.Lines[0], v.Lines[len(v.Lines)-1]
	d := caseDoc{
		Schema: "cordon.case/1", Case: v.ID, Title: untrusted.Text(v.Opening.Title), Kind: v.Opening.Kind, Status: status, Timezone: "UTC",
		Opened: first.T, Last: last.T, Targets: v.Opening.Targets, Window: v.Opening.Window, Tool: v.Opening.Tool,
		Operators: operators(v.Lines), Journal: journalDoc{v.Head, len(v.Lines)}, Evidence: []itemDoc{},
	}
	if v.Simulated {
		d.Simulated = simulatedWords
	}
	if d.Targets == nil {
		d.Targets = []target.Ref{}
	}
	if p := v.Opening.Playbook; len(p) > 0 {
		sum := sha256.Sum256(p)
		d.Playbook = &playbookDoc{v.Opening.PlaybookName, hex.EncodeToString(sum[:]), playbookName}
	}
	for _, it := range items {
		d.Evidence = append(d.Evidence, itemDoc{it.File, it.Item})
	}
	return document(d)
}

// operators lists who wrote, in the order in which they came.
func operators(lines []casefile.Line) []operator {
	out := []operator{}
	seen := map[operator]bool{}
	for _, l := range lines {
		if o := (operator{l.Actor, l.Key, l.Host}); !seen[o] {
			seen[o] = true
			out = append(out, o)
		}
	}
	return out
}

type gapsDoc struct {
	Schema string         `json:"schema"`
	Gaps   []evidence.Gap `json:"gaps"` // asked for and not had
	Lost   []Lost         `json:"lost"` // kept, and no longer whole when the bundle was made
}

func gapsJSON(v *casefile.View, lost []Lost) ([]byte, error) {
	d := gapsDoc{Schema: "cordon.gaps/1", Gaps: v.Gaps, Lost: lost}
	if d.Gaps == nil {
		d.Gaps = []evidence.Gap{}
	}
	if d.Lost == nil {
		d.Lost = []Lost{}
	}
	return document(d)
}

// document is JSON that a person can read and no terminal acts on.
func document(d any) ([]byte, error) {
	b, err := json.MarshalIndent(d, "", "  ")
	if err != nil {
		return nil, err
	}
	return append(untrusted.EscapeJSON(b), '\n'), nil
}
