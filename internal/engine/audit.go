package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"cordon/internal/casefile"
	"cordon/internal/importer"
	"cordon/internal/witness"
	"cordon/providers"
)

const (
	auditBatch = 200    // entries on one line of the journal
	maxAudit   = 10_000 // entries that one process adds to it
)

// auditData is the data of a foreign line, in the form of an imported log; no file was
// read, so it has no digest.
type auditData struct {
	Schema  string           `json:"schema"`
	Format  string           `json:"format"`
	From    string           `json:"from"` // the system that was asked
	Entries []importer.Entry `json:"entries"`
}

// audit reads the service's own log where it has one: what it says is a witness of its
// own, and its entries go into the timeline, each once.
func (r *Run) audit(ctx context.Context, t task, since time.Time) ([]witness.Observation, error) {
	a, ok := r.provider(t.on).(providers.Auditor)
	if !ok {
		return nil, nil
	}
	trail, err := a.Audit(ctx, t.on, r.traits(t.on), since)
	if err != nil {
		return r.asked(t.on, witness.ProviderAudit, trail.Seen, err), nil
	}
	return trail.Seen, r.timeline(t, trail)
}

// timeline writes the entries that are not on record yet.
func (r *Run) timeline(t task, trail providers.Trail) error {
	if err := r.hear(); err != nil {
		return err
	}
	var fresh []importer.Entry
	for _, e := range trail.Entries {
		if key := auditKey(t.on.System, e); !r.heard[key] && len(r.heard) < maxAudit {
			r.heard[key] = true
			fresh = append(fresh, e)
		}
	}
	for part := range slices.Chunk(fresh, auditBatch) {
		err := r.append(casefile.Event{
			Kind: "foreign", Step: t.step.ID, Target: t.on, OK: true, Data: encode(auditData{"cordon.foreign/1", trail.Format, t.on.System, part}),
			Msg: fmt.Sprintf("%d entries of the audit log of %s, %s to %s", len(part), t.on.System, part[0].At.Format(time.RFC3339), part[len(part)-1].At.Format(time.RFC3339)),
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// hear reads once what is on record of such logs already.
func (r *Run) hear() error {
	if r.heard != nil {
		return nil
	}
	v, err := r.o.Journal.View()
	if err != nil {
		return err
	}
	r.heard = map[string]bool{}
	for _, l := range v.Lines {
		var d auditData
		if l.Kind != "foreign" || json.Unmarshal(l.Data, &d) != nil || d.From == "" {
			continue
		}
		for _, e := range d.Entries {
			r.heard[auditKey(d.From, e)] = true
		}
	}
	return nil
}

func auditKey(system string, e importer.Entry) string {
	return strings.Join([]string{system, fmt.Sprint(e.At.UnixMilli()), e.Action, e.Actor, e.Subject, e.Where}, "\x00")
}

// background puts what a service's log says of the suspect window into the timeline, when
// the exposure list is opened. That it cannot be read is a note: nothing waits for it.
func (r *Run) background(ctx context.Context, t task, since time.Time) error {
	ctx, left := r.spend(ctx)
	defer left()
	seen, err := r.audit(ctx, t, since)
	if err != nil {
		return err
	}
	for _, o := range seen {
		if o.CouldNot != "" {
			if err := r.append(casefile.Event{Kind: "note", Step: t.step.ID, Target: t.on, Msg: "not in the timeline: " + o.CouldNot}); err != nil {
				return err
			}
		}
	}
	return nil
}
