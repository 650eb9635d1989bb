package app

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"cordon/internal/exposure"
	"cordon/internal/fleet"
	"cordon/internal/target"
	"cordon/internal/untrusted"
	"cordon/providers"
)

// cardCalls bounds, in requests, a search for jobs that a card shows, where a provider has
// no list of them. A whole search is asked for by providers.WithCalls.
const cardCalls = 60

// Ran adds to the card what ran on its one runner since a time, zero for the suspect
// window that a case would have, asked for apart so that it delays no pause: one list of
// jobs, or a bounded search where the provider has none, and then what a whole one costs.
// Where a host of the runner was read before, the two are compared. It does nothing where
// the card has not one runner.
func (a *App) Ran(ctx context.Context, c *Card, since time.Time) error {
	one := c.Only()
	if one == nil {
		return nil
	}
	now := a.clock.Now()
	if since.IsZero() {
		since = now.Add(-defaultWindow)
	}
	f := Fact{Known: couldNot}
	l, ok := a.fleet.all[one.Ref.System].(providers.JobLister)
	if ok {
		ctx := providers.WithCalls(ctx, providers.CallsFrom(ctx, cardCalls))
		jobs, partial, err := l.Jobs(ctx, one.Ref, since, 100)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			c.Unknown = append(c.Unknown, untrusted.Clean("what ran before could not be read: "+err.Error(), 400))
		} else {
			f = Fact{Known: "provider now", At: now}.says("%s", ranSays(jobs, since, partial))
			f.Items = ran(jobs)
			if partial != "" {
				if cost, ok, _ := a.RanCost(ctx, *c, since); ok {
					f.Items = append(f.Items, cost.line()+"; --calls N allows more than "+fmt.Sprint(providers.CallsFrom(ctx, 0)))
				}
			}
			f.Items = append(f.Items, a.differs(one.Ref, one.Hosts, jobs, partial, exposure.Window{From: since, Until: now})...)
		}
	}
	for i := range one.Answers {
		if one.Answers[i].ID == "ran" {
			one.Answers[i] = answer("ran", f)
		}
	}
	return nil
}

// JobsCost is an estimate of what a whole search for jobs costs.
type JobsCost struct{ providers.Cost }

func (c JobsCost) line() string {
	more := "about"
	if c.AtLeast {
		more = "at least"
	}
	left := ""
	if c.Left >= 0 {
		left = fmt.Sprintf(", of %d that are left above the reserve", c.Left)
	}
	return untrusted.Clean(fmt.Sprintf("a whole search takes %s %d requests%s: %s", more, c.Requests, left, c.Why), 400)
}

// ranSays counts jobs, and says where no job found is not the word that none ran.
func ranSays(jobs []providers.Job, since time.Time, partial string) string {
	day := since.UTC().Format("2006-01-02")
	if len(jobs) == 0 && partial != "" {
		return "not known: no job since " + day + " was found, and not all was looked at (" + partial + ")"
	}
	return fmt.Sprintf("%d jobs since %s%s", len(jobs), day, dash(partial))
}

// RanCost says what Ran would take to be whole. ok is false where the provider lists the
// jobs of a runner in one call, or the card has not one runner.
func (a *App) RanCost(ctx context.Context, c Card, since time.Time) (JobsCost, bool, error) {
	one := c.Only()
	if one == nil {
		return JobsCost{}, false, nil
	}
	p, ok := a.fleet.all[one.Ref.System].(providers.Coster)
	if !ok {
		return JobsCost{}, false, nil
	}
	if since.IsZero() {
		since = a.clock.Now().Add(-defaultWindow)
	}
	cost, err := p.JobsCost(ctx, one.Ref, since)
	return JobsCost{cost}, err == nil, err
}

// Cost writes what a search for jobs costs, before it is made.
func (l Lines) Cost(c JobsCost) { l.Printf("%s", c.line()) }

// differs holds the provider's jobs against what the kept snapshots of a runner's hosts
// tell. Nobody is contacted.
func (a *App) differs(ref target.Ref, hosts []string, jobs []providers.Job, partial string, w exposure.Window) []string {
	cases, err := a.kept()
	if err != nil {
		return nil // said where the card began
	}
	var out []string
	for _, r := range fleet.ReadsOf(snapshots(cases)) {
		s := r.Best()
		if !slices.Contains(hosts, s.Host) {
			continue
		}
		for _, f := range exposure.CompareJobs(jobs, partial, exposure.HostJobsOf(s, ref), w) {
			if len(out) == 10 {
				return append(out, "and more differences between provider and host")
			}
			out = append(out, untrusted.Clean(fmt.Sprintf("%s: %s: %s", f.Severity, f.Title, f.Detail), 400))
		}
	}
	return out
}

// odd reports whether a job has a flag that says more than what was not looked at.
func odd(j providers.Job) bool {
	return slices.ContainsFunc(j.Flags, func(f string) bool { return !strings.HasPrefix(f, "not looked") })
}

// ran is the newest jobs, what is odd first, and then how many of each project.
func ran(jobs []providers.Job) []string {
	order := slices.Clone(jobs)
	slices.SortStableFunc(order, func(x, y providers.Job) int {
		switch ox, oy := odd(x), odd(y); {
		case ox == oy:
			return 0
		case ox:
			return -1
		}
		return 1
	})
	var out []string
	for _, j := range order {
		if len(out) == 10 || len(out) >= 5 && !odd(j) {
			break
		}
		out = append(out, jobLine(j))
	}
	n := map[string]int{}
	var names []string
	for _, j := range jobs {
		p := j.Project.String()
		if n[p] == 0 {
			names = append(names, p)
		}
		n[p]++
	}
	slices.Sort(names)
	for i, p := range names {
		names[i] = fmt.Sprintf("%s: %d", p, n[p])
	}
	if len(jobs) > 5 {
		out = append(out, "of each project: "+strings.Join(names[:min(len(names), 20)], ", "))
	}
	return out
}
