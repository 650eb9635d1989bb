package engine

import (
	"context"
	"time"

	"cordon/providers"
)

// recentReads is how old, in real time, what triage read may be when the first step
// keeps it and plans on it. Applying compares with a fresh read all the same.
const recentReads = time.Minute

// recent lets ctx reuse what was just read: only for the first look at a task, before
// anything was confirmed in this case. Whoever says "again" gets a fresh answer.
func (r *Run) recent(ctx context.Context, t task) context.Context {
	if len(r.st.tries) > 0 || r.looked[t.key()] {
		return ctx
	}
	r.looked[t.key()] = true
	return providers.WithRecent(ctx, recentReads)
}
