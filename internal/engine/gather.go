package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"cordon/internal/casefile"
	"cordon/internal/change"
	"cordon/internal/check"
	"cordon/internal/evidence"
	"cordon/internal/exposure"
	"cordon/internal/host/snapshot"
	"cordon/internal/target"
	"cordon/providers"
)

// gather keeps what a profile asks of the provider. It reads the provider only, so
// it needs no confirmation; what could not be had is a gap.
func (r *Run) gather(ctx context.Context, t task) (Prompt, error) {
	sys, err := r.system(t.on)
	if err != nil {
		return r.unreached(t, err.Error())
	}
	rctx, lost := r.record(ctx, t)
	gaps, err := sys.Gather(r.recent(rctx, t), t.on, t.do().Profile, r.sink())
	if *lost != nil {
		return Prompt{}, *lost
	}
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		if ctx.Err() != nil {
			return Prompt{}, ctx.Err()
		}
		return r.unreached(t, err.Error())
	}
	p := r.prompt(t, Progress, gathered(t.do().Profile, gaps))
	return p, r.finish(t, ended(gaps), p.Text)
}

func gathered(profile string, gaps []evidence.Gap) string {
	if len(gaps) == 0 {
		return profile + ": everything asked for was kept"
	}
	return fmt.Sprintf("%s: %d of the things asked for could not be had; first: %s: %s", profile, len(gaps), gaps[0].Name, gaps[0].Why)
}

func ended(gaps []evidence.Gap) string {
	if len(gaps) > 0 {
		return Unreached
	}
	return Done
}

// collect reads a host once, under the plan that was confirmed, and runs the checks
// on what came back.
func (r *Run) collect(ctx context.Context, t task, plan change.Plan) error {
	profile := t.do().Profile
	if profile == "" {
		profile = providers.Triage
	}
	sys, err := r.system(t.on)
	if err != nil {
		return err
	}
	rctx, lost := r.record(ctx, t)
	gaps, err := sys.Gather(rctx, t.on, profile, r.sink())
	if *lost != nil {
		return *lost
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		r.tell(r.prompt(t, Progress, "could not be read: "+err.Error()))
		return r.finish(t, Unreached, err.Error())
	}
	snap, err := r.snapshot(t.on.ID)
	if err != nil {
		why := err.Error()
		if len(gaps) > 0 {
			why = gaps[0].Why
		}
		r.tell(r.prompt(t, Progress, "could not be read: "+why))
		return r.finish(t, Unreached, why)
	}
	results := check.RunWith(snap, r.o.Checks)
	err = r.append(casefile.Event{Kind: "finding", Step: t.step.ID, Target: t.on, OK: true, Data: encode(findingData{t.on.ID, results, r.strays(snap), r.notOn(t.on, snap)})})
	if err != nil {
		return err
	}
	p := r.prompt(t, Progress, gathered(profile, gaps))
	p.Findings = results
	if x := r.st.exposed; x != nil {
		// What lies on the host was reachable too: the list grows, it never shrinks.
		list := r.comparedWith(x.With(t.on.ID, results), t.on, snap)
		err := r.append(casefile.Event{Kind: "exposure", Step: t.step.ID, Target: t.on, OK: true, Data: encode(list)})
		if err != nil {
			return err
		}
		p.Findings = append(slices.Clone(results), differing(list, t.on.ID)...)
	}
	r.tell(p)
	for _, n := range r.st.notOf[t.on.ID] {
		r.tell(r.prompt(t, Progress, n.Why+": it does not count as a host of "+n.Runner.Short()))
	}
	if !snap.Complete {
		return r.finish(t, Unreached, "the answer of the host is not complete: what is absent from it means nothing")
	}
	return r.finish(t, Done, gathered(profile, gaps))
}

// snapshot reads the host's snapshot back from the evidence, as a reviewer would.
func (r *Run) snapshot(host string) (*snapshot.Snapshot, error) {
	name := "host/" + host + "/snapshot.json"
	v, err := r.o.Journal.View()
	if err != nil {
		return nil, err
	}
	var digest string
	for _, it := range v.Items {
		if it.Name == name {
			digest = it.Digest
		}
	}
	if digest == "" {
		return nil, fmt.Errorf("no snapshot of %s was kept", host)
	}
	b, err := v.Blob(digest)
	if err != nil {
		return nil, fmt.Errorf("read %s back: %w", name, err)
	}
	defer b.Close()
	s, err := snapshot.Decode(b)
	if err != nil {
		return nil, fmt.Errorf("read %s back: %w", name, err)
	}
	return s, nil
}

// openExposure opens the list of what the runner could reach: by name and place.
func (r *Run) openExposure(ctx context.Context, t task) (Prompt, error) {
	since := r.st.window.From
	if since.IsZero() {
		since = r.o.Clock.Now().Add(-30 * 24 * time.Hour)
	}
	rctx, lost := r.record(ctx, t)
	if p, first := r.foretell(rctx, t, since); first {
		return p, errors.Join(*lost, ctx.Err())
	}
	list := r.reachable(rctx, t.on, since)
	if old := r.st.exposed; old != nil && !r.st.listed[t.on] {
		list = list.Joined(*old) // what another runner of the case could reach stays on it
	}
	list = r.compared(list)
	if err := r.background(rctx, t, since); err != nil {
		return Prompt{}, err
	}
	tr := r.readTraits(rctx, t.on)
	if err := r.identify(rctx, t.on, t.step.ID); err != nil {
		return Prompt{}, err
	}
	if *lost != nil {
		return Prompt{}, *lost
	}
	if ctx.Err() != nil {
		return Prompt{}, ctx.Err()
	}
	if err := r.append(casefile.Event{Kind: "traits", Step: t.step.ID, Target: t.on, OK: true, Data: encode(tr)}); err != nil {
		return Prompt{}, err
	}
	err := r.append(casefile.Event{Kind: "exposure", Step: t.step.ID, Target: t.on, OK: true, Data: encode(list)})
	if err != nil {
		return Prompt{}, err
	}
	p := r.prompt(t, Progress, list.Summary())
	p.Exposed = &list
	return p, r.finish(t, Done, p.Text)
}

// reachable asks the provider what the runner could reach since a time and makes the
// list of it.
func (r *Run) reachable(ctx context.Context, runner target.Ref, since time.Time) exposure.List {
	own := providers.Credential{
		Name: runner.Short(), Kind: "runner-token", Where: runner.String(), Why: "the runner's own credential",
		Replaced: r.st.rotated[runner],
	}
	ctx, left := r.spend(ctx)
	defer left()
	var creds []providers.Credential
	var gaps []evidence.Gap
	var jobs []providers.Job
	prov := r.provider(runner)
	if e, ok := prov.(providers.Exposer); ok {
		var err error
		if creds, gaps, err = e.Exposure(ctx, runner, since); err != nil {
			gaps = append(gaps, evidence.Gap{Name: "exposure", Why: spent(ctx, err), At: r.o.Clock.Now()})
		}
	} else {
		gaps = append(gaps, evidence.Gap{Name: "exposure", Why: "this provider cannot list what a runner reaches", At: r.o.Clock.Now()})
	}
	shared := providers.WithRecent(ctx, sharedReads) // what the first of these read serves the others
	var partial string
	if l, ok := prov.(providers.JobLister); ok {
		var err error
		jobs, partial, err = l.Jobs(shared, runner, since, 200)
		if err != nil {
			partial = spent(ctx, err)
		}
		same := func(g evidence.Gap) bool { return g.Why == partial } // said by the list already
		if partial != "" && !slices.ContainsFunc(gaps, same) {
			gaps = append(gaps, evidence.Gap{Name: "exposure/jobs", Why: partial, At: r.o.Clock.Now()})
		}
	}
	in := exposure.Input{Own: own, Since: since, Jobs: jobs, JobsPartial: partial, Known: creds, Findings: r.st.findings, Gaps: gaps, Paused: r.heldSince(runner)}
	if p, ok := prov.(providers.Publisher); ok {
		var err error
		if in.Outputs, in.OutputGaps, err = p.Published(shared, runner, since); err != nil {
			in.OutputGaps = append(in.OutputGaps, evidence.Gap{Name: "what was published", Why: spent(ctx, err), At: r.o.Clock.Now()})
		}
	}
	in.At = r.o.Clock.Now()
	return exposure.Open(in)
}
