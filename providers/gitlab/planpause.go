package gitlab

import (
	"context"
	"fmt"
	"strconv"

	"cordon/internal/change"
	"cordon/internal/target"
	"cordon/internal/witness"
	"cordon/providers"
)

func (p *Provider) planPause(ctx context.Context, v view) ([]change.Plan, error) {
	capacity, err := p.capacity(ctx, v.runner)
	if err != nil {
		return nil, err
	}
	undo, err := p.change(ctx, v, change.Change{
		ID: "pause/1/undo", Op: opResume, Title: "resume " + v.name,
		Args: change.Pack(runnerArgs{v.runner.ID}), Before: packBefore(v.runner, witness.Yes),
	})
	if err != nil {
		return nil, err
	}
	c, err := p.change(ctx, v, change.Change{
		ID: "pause/1", Op: opPause, Title: "pause " + v.name, Args: change.Pack(runnerArgs{v.runner.ID}),
		Before: packBefore(v.runner, v.runner.paused()), Capacity: capacity, Undo: &undo,
	})
	if err != nil {
		return nil, err
	}
	plan := change.Plan{
		Option: "registration", Title: c.Title,
		Covers: "GitLab hands it no new job; the agent goes on polling, is answered 204 and logs nothing",
		Limits: []string{
			v.breadth(),
			"a job that runs goes on to its end, with its secrets: cancel it",
			"the token still works: whoever has it can still poll, and can replace it (POST /runners/reset_authentication_token)",
		},
		Changes: []change.Change{c},
		ByHand:  p.byHand(v, fmt.Sprintf("--method PUT runners/%d -F paused=true", v.runner.ID)),
	}
	if v.runner.paused() == witness.Yes {
		plan.Limits = append([]string{"it is paused already: nothing will be sent"}, plan.Limits...)
	}
	return []change.Plan{plan}, nil
}

func (p *Provider) planResume(ctx context.Context, v view) ([]change.Plan, error) {
	c, err := p.change(ctx, v, change.Change{
		ID: "resume/1", Op: opResume, Title: "resume " + v.name, Args: change.Pack(runnerArgs{v.runner.ID}),
		Before: packBefore(v.runner, v.runner.paused()), Capacity: "the queue gains this runner; jobs that wait for it start at once",
		TipsOff: "the agent is given jobs again",
	})
	if err != nil {
		return nil, err
	}
	undo, err := p.change(ctx, v, change.Change{
		ID: "resume/1/undo", Op: opPause, Title: "pause " + v.name,
		Args: change.Pack(runnerArgs{v.runner.ID}), Before: packBefore(v.runner, witness.No),
	})
	if err != nil {
		return nil, err
	}
	c.Undo = &undo
	return []change.Plan{{
		Option: "registration", Title: c.Title, Covers: "GitLab hands it jobs again, with their secrets", TipsOff: c.TipsOff,
		Limits: []string{v.breadth()}, Changes: []change.Change{c},
		ByHand: p.byHand(v, fmt.Sprintf("--method PUT runners/%d -F paused=false", v.runner.ID)),
	}}, nil
}

// afterScript is why a cancellation has two steps (gitlab#35356): GitLab only forces
// a job that is already being canceled.
const afterScript = "a canceled job first becomes \"canceling\": its after_script still runs, and that may be the attacker's code; " +
	"plan again to force the jobs that are still canceling"

// planCancel makes one plan with a change for each job. Jobs of projects where the
// credential has less than Reporter are not in GitLab's answer.
func (p *Provider) planCancel(ctx context.Context, v view) ([]change.Plan, error) {
	plan := change.Plan{
		Option: "jobs", Covers: "the jobs stop, and their job tokens with them",
		Limits:  []string{afterScript, "only jobs of projects where this credential has at least Reporter can be seen", "processes that a job left behind live on: look on the host"},
		TipsOff: "the agent logs the cancellation and the job's processes get a signal",
	}
	for _, status := range []string{"running", "canceling"} {
		jobs, _, err := p.jobsWith(ctx, v.runner.ID, status)
		if err != nil {
			return nil, err
		}
		for _, j := range jobs {
			c, err := p.cancel(ctx, v, j, len(plan.Changes)+1)
			if err != nil {
				return nil, err
			}
			plan.Changes = append(plan.Changes, c)
			plan.ByHand = append(plan.ByHand, p.cancelByHand(j, status == "canceling"))
		}
	}
	plan.Title = fmt.Sprintf("cancel %d jobs on %s", len(plan.Changes), v.name)
	if len(plan.Changes) == 0 {
		plan.TipsOff, plan.Nothing = "", true
		plan.Manual = []string{"no running job can be seen with this credential; if you expect one, look with an account that has a role in its project"}
	}
	return []change.Plan{plan}, nil
}

func (p *Provider) cancel(ctx context.Context, v view, j wireJob, n int) (change.Change, error) {
	force := j.Status == "canceling"
	title := fmt.Sprintf("cancel job %d %q of %s", j.ID, p.text(j.Name), p.text(j.Project.Path))
	if force {
		title = "force: " + title
	}
	return p.planned(ctx, change.Change{
		ID: "cancel/" + strconv.Itoa(n), Op: opCancel, Title: title,
		Target: target.Ref{
			System: p.o.Name, Scope: target.Scope{Level: Project, Path: j.Project.Path},
			Kind: target.Job, ID: strconv.FormatInt(j.ID, 10),
		},
		Args: change.Pack(cancelArgs{Project: j.Project.ID, Job: j.ID, Force: force}), Before: change.Pack(jobBefore{word(j.Status)}),
		Hits: []target.Ref{v.ref}, Capacity: "the pipeline of this job fails; it can be retried",
		TipsOff: "the agent logs the cancellation and the job's processes get a signal",
	})
}

func (p *Provider) cancelByHand(j wireJob, force bool) change.Link {
	api := fmt.Sprintf("--method POST projects/%d/jobs/%d/cancel", j.Project.ID, j.ID)
	if force {
		api += " -F force=true"
	}
	l := change.Link{Title: fmt.Sprintf("job %d", j.ID), Command: "GITLAB_HOST=" + p.base.Host + " glab api " + api}
	if j.Project.Path != "" {
		l.URL = p.page(fmt.Sprintf("%s/-/jobs/%d", escapePath(j.Project.Path), j.ID))
	}
	return l
}

// listedCapacity is capacity from the listing that was just read, which has no tags.
func listedCapacity(others int, partial bool) string {
	s := "no other online runner is on the list just read: its jobs wait"
	if others > 0 {
		s = strconv.Itoa(others) + " other online runners are on the list just read; their tags were not compared with its own"
	}
	if partial {
		s += " (the list is not whole)"
	}
	return s
}

// capacity says who else could take the jobs of w, as far as this credential sees.
func (p *Provider) capacity(ctx context.Context, w wireRunner) (string, error) {
	if n, partial, ok := p.recent.peers(w.ID, providers.RecentFrom(ctx)); ok {
		return listedCapacity(n, partial), nil
	}
	others, partial, err := p.peers(ctx, w)
	if done := finished(ctx, err); done != nil {
		return "", done
	}
	if err != nil {
		return "unknown: the other runners could not be read (" + err.Error() + ")", nil
	}
	what := "take untagged jobs"
	if len(w.Tags) > 0 {
		what = "carry all of its tags (" + string(p.text(joined(w.Tags))) + ")"
	}
	at := "no other"
	if others > 0 {
		at = strconv.Itoa(others) + " other"
	}
	s := at + " online runners that this credential lists " + what
	if partial {
		s = "at least " + s
	}
	if others == 0 {
		s += ": such jobs wait"
	}
	return s, nil
}
