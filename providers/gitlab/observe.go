package gitlab

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"time"

	"cordon/internal/target"
	"cordon/internal/witness"
	"cordon/providers"
)

// lag is how far contacted_at of an idle runner may be behind: Workhorse answers idle
// polls without Rails until the queue key expires (RUNNER_QUEUE_EXPIRY_TIME, 1 hour).
const lag = time.Hour

// Observe implements providers.System. Where ctx has a sink, what was answered is
// kept there in its redacted form.
func (p *Provider) Observe(ctx context.Context, t target.Ref) ([]witness.Observation, error) {
	id, err := p.own(t)
	if err != nil {
		return nil, err
	}
	ctx = providers.WithRecent(ctx, 0) // an observation is of now
	o := witness.Observation{Subject: t, Source: witness.ProviderAPI, At: p.clock.Now()}
	w, a, err := p.details(ctx, id, false)
	if kerr := p.keepAnswer(ctx, &o, "details", a, runnerFields); kerr != nil {
		return nil, kerr
	}
	if err != nil {
		return p.absent(ctx, o, err)
	}
	if err := levels(t, w); err != nil {
		return nil, err
	}
	o.Exists, o.Paused = witness.Yes, w.paused()
	said := []string{describe(w)}
	if err := p.observeManagers(ctx, &o, w, &said); err != nil {
		return nil, err
	}
	if err := p.observeJobs(ctx, &o, w, &said); err != nil {
		return nil, err
	}
	o.Says = strings.Join(said, "; ")
	return []witness.Observation{o}, ctx.Err()
}

// absent is the observation of a registration that could not be read.
func (p *Provider) absent(ctx context.Context, o witness.Observation, err error) ([]witness.Observation, error) {
	err = p.gone(ctx, err)
	if done := finished(ctx, err); done != nil {
		return nil, done
	}
	if err != nil {
		o.CouldNot = err.Error()
		return []witness.Observation{o}, nil
	}
	// With the record every token of it is gone: whoever asks with one is refused.
	o.Exists, o.Polling = witness.No, witness.No
	o.Says = "GitLab answers 404 for it, and the same credential still reads its lists: the registration is gone"
	return []witness.Observation{o}, nil
}

func describe(w wireRunner) string {
	s := "registered, " + map[witness.Tri]string{witness.Yes: "paused", witness.No: "not paused", witness.Unknown: "paused or not is not said"}[w.paused()]
	return s + ", GitLab's word for it: " + word(w.Status)
}

func (p *Provider) observeManagers(ctx context.Context, o *witness.Observation, w wireRunner, said *[]string) error {
	ms, a, err := p.managers(ctx, w.ID)
	if kerr := p.keepAnswer(ctx, o, "managers", a, managerFields); kerr != nil {
		return kerr
	}
	if done := finished(ctx, err); done != nil {
		return done
	}
	if err != nil {
		*said = append(*said, "its managers could not be read: "+err.Error())
	} else {
		*said = append(*said, fmt.Sprintf("%d managers", len(ms)))
	}
	if o.LastContact = lastContact(w, ms); o.LastContact.IsZero() {
		return nil
	}
	o.Clock, o.Lag = witness.ClockLagging, lag
	*said = append(*said, "last contact "+o.LastContact.UTC().Format(time.RFC3339)+", which may lag by 60 minutes while it is idle")
	return nil
}

// observeJobs decides busy, and from that what the last contact is worth: a running
// job moves it with its own token, also after the runner's was replaced.
func (p *Provider) observeJobs(ctx context.Context, o *witness.Observation, w wireRunner, said *[]string) error {
	busy := 0
	for _, status := range []string{"running", "canceling"} {
		list, a, err := p.jobsWith(ctx, w.ID, status)
		if kerr := p.keepAnswer(ctx, o, "jobs-"+status, a, jobFields); kerr != nil {
			return kerr
		}
		if done := finished(ctx, err); done != nil {
			return done
		}
		if err != nil {
			*said = append(*said, "jobs could not be read: "+err.Error())
			return nil
		}
		busy += len(list)
	}
	o.Busy = witness.Of(busy > 0)
	if busy > 0 {
		*said = append(*said, fmt.Sprintf("%d jobs on it, which also move the last contact", busy))
		return nil
	}
	*said = append(*said, "no job on it that this credential can see")
	if o.LastContact.IsZero() || o.At.Sub(o.LastContact) > lag {
		return nil
	}
	ended, err := p.lastJobEnd(ctx, w.ID)
	if done := finished(ctx, err); done != nil {
		return done
	}
	switch {
	case err != nil:
		*said = append(*said, "whether a job or the runner made that contact could not be seen")
	case o.LastContact.Before(ended.Add(5 * time.Second)):
		*said = append(*said, "a job that ended then explains that contact")
	default:
		o.Polling = witness.Yes
		*said = append(*said, "that contact was the runner's own: its token was accepted")
	}
	return nil
}

// lastJobEnd is when the latest of the last jobs ended; zero: none did.
func (p *Provider) lastJobEnd(ctx context.Context, id int64) (time.Time, error) {
	q := url.Values{"order_by": {"id"}, "sort": {"desc"}, "per_page": {"20"}}
	a, err := p.api.get(ctx, fmt.Sprintf("runners/%d/jobs", id), q)
	if err != nil {
		return time.Time{}, err
	}
	list, err := rows(a, checkJob)
	var last time.Time
	for _, j := range list {
		if j.FinishedAt.After(last) {
			last = j.FinishedAt
		}
	}
	return last, err
}
