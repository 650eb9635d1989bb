package engine

import (
	"encoding/json"
	"fmt"
	"time"

	"cordon/internal/casefile"
	"cordon/internal/change"
	"cordon/internal/check"
	"cordon/internal/signing"
	"cordon/internal/target"
	"cordon/internal/witness"
	"cordon/providers"
)

// What the engine writes into the data of its journal lines. Field names are part of
// the case format: add, never rename.
type (
	stepData struct {
		Task string `json:"task"`
		End  string `json:"end"`
		Why  string `json:"why,omitempty"`
	}
	planData struct {
		Task  string        `json:"task"`
		Plans []change.Plan `json:"plans"`
		Hash  int           `json:"hash,omitempty"` // version of the hash by which they are approved; 0: change.HashWhole
		Until time.Time     `json:"until,omitzero"` // an approval of these plans counts until then; zero: none is asked
	}
	confirmData struct {
		Task   string   `json:"task"`
		Plan   string   `json:"plan"` // hash
		Option string   `json:"option"`
		Partly bool     `json:"partly,omitempty"` // the plan holds back in part
		Digest []string `json:"changes"`          // digests, in order
		Tasks  []string `json:"tasks,omitempty"`  // the task of each change, where they are of several
		Waived []string `json:"waived,omitempty"`
		Reason string   `json:"reason,omitempty"`
	}
	evidenceName struct {
		Name   string `json:"name"`
		Digest string `json:"digest"`
		Why    string `json:"why"`
	}
	intentData struct {
		Task   string        `json:"task"`
		Digest string        `json:"digest"`
		Change change.Change `json:"change"`
	}
	// anewData opens a task whose last change is unknown: somebody decided to do it again.
	anewData struct {
		Task   string `json:"task"`
		Change string `json:"change"`
	}
	// againData opens tasks that had ended: after a refusal that may pass, or when what
	// they did is no longer in force.
	againData struct {
		Tasks []string  `json:"tasks"`
		At    time.Time `json:"at,omitzero"` // not before, by our clock
	}
	alarmData struct {
		Task   string     `json:"task"` // the pause it is about
		Word   string     `json:"word"`
		Target target.Ref `json:"target"`
		Says   string     `json:"says"`
	}
	renewData struct {
		Task   string `json:"task"`
		Of     string `json:"of"`     // the change that was confirmed, and its renewal with it
		Digest string `json:"digest"` // of the change that renews it
	}
	glassData struct {
		Task  string `json:"task"`
		Plan  string `json:"plan"`
		Binds string `json:"binds"`
	}
	approveData struct {
		signing.Agreed
		Until time.Time `json:"until"`
	}
	resultData struct {
		Task    string         `json:"task"`
		Verb    string         `json:"verb"`
		Outcome change.Outcome `json:"outcome"`
	}
	observeData struct {
		Task string                `json:"task"`
		Seen []witness.Observation `json:"seen"`
	}
	traitsData struct {
		Runner   *providers.Runner   `json:"runner,omitempty"`
		Managers []providers.Manager `json:"managers,omitempty"`
		Known    *providers.Known    `json:"known,omitempty"`
	}
	findingData struct {
		Host    string         `json:"host"`
		Results []check.Result `json:"results"`
		Strays  []Stray        `json:"strays,omitempty"`
		NotOf   []notOf        `json:"not_of,omitempty"`
	}
	watchData struct {
		From  time.Time     `json:"from"`
		Needs time.Duration `json:"needs_ns"`
		Why   string        `json:"why"`
		Blind bool          `json:"provider_only,omitempty"` // no host is logged in to
	}
	verdictData struct {
		Final    bool              `json:"final"`
		Verdicts []witness.Verdict `json:"verdicts"`
	}
)

func with[T any](l casefile.Line, f func(T)) error {
	var d T
	if err := json.Unmarshal(l.Data, &d); err != nil {
		return fmt.Errorf("%s line is not understood: %w", l.Kind, err)
	}
	f(d)
	return nil
}

func encode(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		panic("engine: a closed struct did not marshal: " + err.Error())
	}
	return b
}
