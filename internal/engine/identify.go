package engine

import (
	"context"
	"encoding/json"
	"strings"

	"cordon/internal/casefile"
	"cordon/internal/target"
	"cordon/providers"
)

// identityData is who the credentials of one system are, as it says.
type identityData struct {
	System string               `json:"system"`
	Who    []providers.Identity `json:"who"`
}

// identifyAll asks every provider of the case that was not asked on the way: whoever reads
// the record later sees whose credentials it was, whatever steps the playbook had.
func (r *Run) identifyAll(ctx context.Context) error {
	if r.st.closed {
		return nil
	}
	for _, t := range r.o.Runners {
		if err := r.identify(ctx, t, ""); err != nil {
			return err
		}
	}
	return nil
}

// identify asks the provider of on who its credentials are, once in a case. It is
// called where the exposure list is opened, so that a pause waits for no such read, and
// at the end. Failing to know is recorded and stops nothing; the error is the journal's
// or ctx's.
func (r *Run) identify(ctx context.Context, on target.Ref, step string) error {
	sys, err := r.system(on)
	if err != nil {
		return nil // the task says so itself
	}
	k, ok := sys.(providers.Knower)
	if !ok {
		return nil
	}
	v, err := r.o.Journal.View()
	if err != nil {
		return err
	}
	for _, l := range v.Lines {
		var d identityData
		if l.Kind == "identity" && json.Unmarshal(l.Data, &d) == nil && d.System == on.System {
			return nil
		}
	}
	who, err := k.WhoAmI(ctx)
	if err != nil {
		return err
	}
	known := true
	var names []string
	for _, w := range who {
		known = known && w.CouldNot == ""
		name := string(w.Login)
		if name == "" {
			name = "not known"
		}
		names = append(names, w.Credential+": "+name)
	}
	return r.append(casefile.Event{
		Kind: "identity", Step: step, OK: known, Msg: on.System + " says: " + strings.Join(names, ", "),
		Data: encode(identityData{on.System, who}),
	})
}
