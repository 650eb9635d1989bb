package gitlab

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"cordon/internal/change"
	"cordon/internal/witness"
)

// before is what a plan rested on. It holds what only somebody with rights on the
// runner can change; nothing that an agent can move (managers, contact, version), or
// whoever holds the runner's token could keep every plan stale.
type before struct {
	Type     string      `json:"runner_type"`
	Paused   witness.Tri `json:"paused,omitempty"` // only where the operation turns on it
	Tags     []string    `json:"tags"`
	Untagged witness.Tri `json:"run_untagged"`
	Locked   witness.Tri `json:"locked"`
}

func (w wireRunner) before(paused witness.Tri) before {
	tags := slices.Clone(w.Tags)
	slices.Sort(tags)
	if tags == nil {
		tags = []string{}
	}
	return before{Type: w.Type, Paused: paused, Tags: tags, Untagged: tri(w.Untagged), Locked: tri(w.Locked)}
}

// drifted compares what a plan rested on with what is there now.
func drifted(c change.Change, now before) error {
	was, err := change.Parse[before](c.Op, c.Before)
	if err != nil {
		return err
	}
	was.Paused, now.Paused = "", "" // being so already is Already, not drift
	var what []string
	if was.Type != now.Type {
		what = append(what, "runner_type")
	}
	if !slices.Equal(was.Tags, now.Tags) {
		what = append(what, "tags")
	}
	if was.Untagged != now.Untagged {
		what = append(what, "run_untagged")
	}
	if was.Locked != now.Locked {
		what = append(what, "locked")
	}
	if len(what) == 0 {
		return nil
	}
	return fmt.Errorf("%w (%s is no longer as it was)", change.ErrStale, strings.Join(what, ", "))
}

// jobBefore is what a cancellation rested on.
type jobBefore struct {
	Status string `json:"status"`
}

func packBefore(w wireRunner, paused witness.Tri) json.RawMessage {
	return change.Pack(w.before(paused))
}
