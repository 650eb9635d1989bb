package gitlab

import (
	"context"
	"fmt"
	"slices"
	"time"

	"cordon/internal/target"
	"cordon/internal/witness"
	"cordon/providers"
)

// maxReturnReads bounds how many runners are asked for their managers.
const maxReturnReads = 300

// Returned implements providers.Returner: a manager of another registration that has
// the system id or the address of the machine and was heard of after since. A system
// id is made from the machine's id and copied with its image; an address may be shared
// behind one gateway. Both are said, so that a person can weigh them.
func (p *Provider) Returned(ctx context.Context, gone target.Ref, traits providers.Traits, since time.Time) (witness.Observation, error) {
	id, err := p.own(gone)
	if err != nil {
		return witness.Observation{}, err
	}
	o := witness.Observation{Subject: gone, Source: witness.ProviderAPI, At: p.clock.Now()}
	if !useful(traits) {
		o.CouldNot = "neither a system id nor an address of the machine is known: it would not be recognised"
		return o, nil
	}
	var others []wireRunner
	seen := map[int64]bool{id: true}
	for _, s := range p.scopes {
		err := p.pages(ctx, s.list, nil, maxPages, func(a answer) (bool, error) {
			list, err := rows(a, wireRunner.check)
			for _, w := range list {
				if !seen[w.ID] {
					seen[w.ID] = true
					others = append(others, w)
				}
			}
			return true, err
		})
		if done := finished(ctx, err); done != nil {
			return o, done
		}
		if err != nil && o.CouldNot == "" {
			o.CouldNot = fmt.Sprintf("the runners of %s could not all be read: %v", s, err)
		}
	}
	return p.lookAmong(ctx, o, others, traits, since)
}

// lookAmong asks the newest first: a machine that comes back mostly does so with a new
// registration.
func (p *Provider) lookAmong(ctx context.Context, o witness.Observation, others []wireRunner, traits providers.Traits, since time.Time) (witness.Observation, error) {
	slices.SortFunc(others, func(a, b wireRunner) int { return int(b.ID - a.ID) })
	reads, sameName := 0, ""
	for _, w := range others {
		if w.CreatedAt.After(since) && slices.Contains(traits.Names, w.Description) {
			sameName = fmt.Sprintf("; runner %d was created since with the same name", w.ID)
		}
		if quiet(w, o.At, since) {
			continue
		}
		if reads++; reads > maxReturnReads {
			o.CouldNot = fmt.Sprintf("more than %d other runners: not all were looked at", maxReturnReads)
			break
		}
		ms, _, err := p.managers(ctx, w.ID)
		if done := finished(ctx, err); done != nil {
			return o, done
		}
		if err != nil {
			if o.CouldNot == "" {
				o.CouldNot = fmt.Sprintf("managers of runner %d could not be read: %v", w.ID, err)
			}
			continue
		}
		for _, m := range ms {
			why := p.recognised(m, traits)
			if why == "" || !m.ContactedAt.After(since) {
				continue
			}
			o.CouldNot, o.Returned, o.LastContact, o.Clock, o.Lag = "", witness.Yes, m.ContactedAt, witness.ClockLagging, lag
			o.Says = fmt.Sprintf("runner %d %q%s has a manager with %s, heard of at %s",
				w.ID, p.text(w.Description), age(w, since), why, m.ContactedAt.UTC().Format(time.RFC3339))
			return o, nil
		}
	}
	if o.CouldNot == "" {
		o.Returned = witness.No
		o.Says = fmt.Sprintf("no manager of %d other runners has its system id or address and was heard of since%s", len(others), sameName)
	}
	return o, ctx.Err()
}

func useful(t providers.Traits) bool {
	return slices.ContainsFunc(t.SystemIDs, distinct) || slices.ContainsFunc(t.Addresses, func(a string) bool { return a != "" })
}

// distinct leaves out what agents without a system id share.
func distinct(id string) bool { return id != "" && id != "<legacy>" }

func (p *Provider) recognised(m wireManager, t providers.Traits) string {
	has := func(list []string, v string) bool {
		return slices.Contains(list, v) || slices.Contains(list, string(p.text(v)))
	}
	switch {
	case distinct(m.SystemID) && has(t.SystemIDs, m.SystemID):
		return fmt.Sprintf("its system id %s", p.text(m.SystemID))
	case m.Address != "" && has(t.Addresses, m.Address):
		return fmt.Sprintf("its address %s (which machines may share)", p.text(m.Address))
	}
	return ""
}

// quiet reports that w cannot have been heard of since: GitLab calls it offline after
// two hours (ONLINE_CONTACT_TIMEOUT), and since is not that long ago.
func quiet(w wireRunner, now, since time.Time) bool {
	return w.Online != nil && !*w.Online && now.Sub(since) < 2*time.Hour
}

func age(w wireRunner, since time.Time) string {
	if w.CreatedAt.After(since) {
		return " (created since)"
	}
	return ""
}
