package github

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"cordon/internal/target"
	"cordon/providers"
)

var build07 = runner(23, organization, "acme")

func jobIDs(jobs []providers.Job) []string {
	var out []string
	for _, j := range jobs {
		out = append(out, j.Ref.ID)
	}
	return out
}

func TestJobsOfARunnerAreFoundByItsIdInTheRepositoriesOfItsGroup(t *testing.T) {
	l, p, since := openPast(t)
	p.repos("acme/web", "acme/tools")
	at := since.Add(time.Hour)
	p.run("acme/web", 900, at, nil, on(1, "build", at), pastJob{id: 2, runner: 24, runnerName: "build-08", attempt: 1, name: "test", status: "completed", began: at, ended: at})
	p.run("acme/tools", 901, at.Add(time.Hour), nil, on(3, "release", at.Add(time.Hour)))
	p.run("acme/web", 902, since.Add(-48*time.Hour), nil, on(4, "long ago", since.Add(-48*time.Hour)))
	jobs, partial, err := l.Jobs(context.Background(), build07, since, 100)
	if err != nil || partial != "" || !slices.Equal(jobIDs(jobs), []string{"3", "1"}) {
		t.Fatalf("%v %q %v", jobIDs(jobs), partial, err)
	}
	j := jobs[1]
	if j.Ref.Scope.Path != "acme/web" || j.Ref.Kind != target.Job || j.Run != "900" || j.Status != "success" || j.Actor != "alice" ||
		j.Web != l.base+"/acme/web/actions/runs/900/job/1" || j.FinishedAt.IsZero() {
		t.Errorf("%+v", j)
	}
}

func TestAnIdIsOfItsScopeAndANameOutlivesIt(t *testing.T) {
	l, p, since := openPast(t)
	p.repos("acme/web")
	at := since.Add(time.Hour)
	alien := on(2, "of a repository's own runner 23", at)
	alien.runnerName = "laptop"
	again := on(3, "after it was registered again", at)
	again.runner, again.runnerName = 77, "Build-07"
	queued := on(4, "taken by none", at)
	queued.runner, queued.status = 0, "queued"
	p.run("acme/web", 900, at, nil, on(1, "build", at), alien, again, queued)
	jobs, _, err := l.Jobs(context.Background(), build07, since, 100)
	if err != nil || !slices.Equal(jobIDs(jobs), []string{"3", "1"}) {
		t.Fatalf("%v %v", jobIDs(jobs), err)
	}
	p.change(func(p *past) {
		x := p.runs["acme/web"][0]
		x.status = "in_progress"
		for i := range x.jobs {
			x.jobs[i].status = "in_progress"
		}
	})
	now, _, err := l.RunningJobs(context.Background(), build07)
	if err != nil || !slices.Equal(jobIDs(now), []string{"3", "1"}) || !slices.Equal(now[0].Flags, []string{"by name (runner id 77)"}) || now[1].Flags != nil {
		t.Errorf("what runs now: %+v %v", now, err)
	}
	if !slices.Contains(jobs[0].Flags, "by name (runner id 77)") || slices.ContainsFunc(jobs[1].Flags, func(s string) bool { return strings.HasPrefix(s, flagByName) }) {
		t.Errorf("%q, %q", jobs[0].Flags, jobs[1].Flags)
	}
}

func TestARunnerThatIsGoneIsMatchedByWhatWasKnownOfIt(t *testing.T) {
	l, p, since := openPast(t)
	p.repos("acme/web")
	at := since.Add(time.Hour)
	again := on(2, "again", at)
	again.runner = 77
	p.run("acme/web", 900, at, nil, on(1, "build", at), again)
	if jobs, _, err := l.Jobs(context.Background(), build07, since, 100); err != nil || len(jobs) != 2 {
		t.Fatalf("%v %v", jobs, err)
	}
	l.fake.change(func(f *fake) { delete(f.runners["orgs/acme"], 23) })
	if jobs, _, err := l.Jobs(context.Background(), build07, since, 100); err != nil || len(jobs) != 2 {
		t.Errorf("its name was known: %v %v", jobIDs(jobs), err)
	}
	fresh, q, _ := openPast(t)
	q.repos("acme/web")
	q.run("acme/web", 900, at, nil, on(1, "build", at), again)
	fresh.fake.change(func(f *fake) { delete(f.runners["orgs/acme"], 23) })
	jobs, partial, err := fresh.Jobs(context.Background(), build07, since, 100)
	if err != nil || len(jobs) != 1 || !strings.Contains(partial, "by its id alone") || !strings.Contains(partial, "group is not known") {
		t.Errorf("nothing was known: %v %q %v", jobIDs(jobs), partial, err)
	}
}

func TestWhatAnEarlierAttemptDidIsFoundAndARunFromBeforeThatRanAgain(t *testing.T) {
	l, p, since := openPast(t)
	p.repos("acme/web")
	at := since.Add(time.Hour)
	second := on(2, "build", at.Add(time.Hour))
	second.attempt, second.runner, second.runnerName = 2, 24, "build-08"
	p.run("acme/web", 900, at, func(r *pastRun) { r.attempt = 2 }, on(1, "build", at), second)
	old := on(3, "deploy", at)
	old.attempt = 2
	p.run("acme/web", 800, since.Add(-20*24*time.Hour), func(r *pastRun) { r.attempt, r.updated = 2, at }, old)
	jobs, partial, err := l.Jobs(context.Background(), build07, since, 100)
	if ids := jobIDs(jobs); err != nil || partial != "" || len(ids) != 2 || !slices.Contains(ids, "1") || !slices.Contains(ids, "3") {
		t.Errorf("%v %q %v", ids, partial, err)
	}
}

func TestMoreThanAThousandRunsAreReadInSlicesOfTime(t *testing.T) {
	t.Parallel()
	l, p, since := openPast(t)
	p.repos("acme/web")
	const n = 1300
	for i := range n {
		at := since.Add(time.Duration(i) * 30 * time.Second)
		p.run("acme/web", int64(1000+i), at, nil, pastJob{id: int64(50000 + i), attempt: 1, name: "x", status: "queued", began: at})
	}
	p.change(func(p *past) { // one at each end, where a limit of 1,000 would cut
		p.runs["acme/web"][0].jobs = []pastJob{on(1, "first", since)}
		p.runs["acme/web"][n-1].jobs = []pastJob{on(2, "last", since.Add(n*30*time.Second))}
	})
	ctx := providers.WithCalls(context.Background(), 5000)
	jobs, partial, err := l.Jobs(ctx, build07, since, 100)
	if err != nil || partial != "" || !slices.Equal(jobIDs(jobs), []string{"2", "1"}) {
		t.Fatalf("%v %q %v", jobIDs(jobs), partial, err)
	}
	if lists := p.count("actions/runs?"); lists > 45 {
		t.Errorf("%d requests for lists", lists)
	}
}

func TestMoreRunsInASecondThanGitHubListsAreSaid(t *testing.T) {
	t.Parallel()
	l, p, since := openPast(t)
	p.repos("acme/web")
	at := since.Add(time.Hour)
	for i := range 1200 {
		p.run("acme/web", int64(1000+i), at, func(r *pastRun) { r.updated = since.Add(-time.Hour) })
	}
	_, partial, err := l.Jobs(context.Background(), build07, since, 100)
	if err != nil || !strings.Contains(partial, "1,000 runs in one second") {
		t.Errorf("%q %v", partial, err)
	}
}

func TestASearchStopsAtItsBoundSaysWhatIsMissingAndGoesOnFromThere(t *testing.T) {
	l, p, since := openPast(t)
	p.repos("acme/web", "acme/tools")
	for i := range 30 {
		at := since.Add(time.Duration(i+1) * time.Minute)
		p.run("acme/web", int64(900+i), at, nil, on(int64(i+1), "build", at))
	}
	ctx := providers.WithCalls(context.Background(), 15)
	jobs, partial, err := l.Jobs(ctx, build07, since, 100)
	if err != nil || len(jobs) == 0 || len(jobs) >= 30 || !strings.Contains(partial, "stopped after 15 requests") || !strings.Contains(partial, "2 repositories") {
		t.Fatalf("%d %q %v", len(jobs), partial, err)
	}
	if n := p.count(""); n > 15 {
		t.Errorf("%d requests", n)
	}
	first := len(jobs)
	for range 3 {
		jobs, partial, err = l.Jobs(ctx, build07, since, 100)
	}
	if err != nil || len(jobs) != 30 {
		t.Errorf("asked again: %d jobs, after %d at first; %q %v", len(jobs), first, partial, err)
	}
}

func TestASearchLeavesTheReserveForContainment(t *testing.T) {
	l, p, since := openPast(t)
	p.repos("acme/web")
	for i := range 200 {
		at := since.Add(time.Duration(i+1) * time.Minute)
		p.run("acme/web", int64(900+i), at, nil, on(int64(i+1), "build", at))
	}
	p.change(func(p *past) { p.limit = 100 }) // a fifth of a small limit is kept
	_, partial, err := l.Jobs(context.Background(), build07, since, 300)
	if err != nil || !strings.Contains(partial, "kept for containment") {
		t.Errorf("%q %v", partial, err)
	}
	if n := p.count(""); n < 60 || n > 81 {
		t.Errorf("%d requests of 100", n)
	}
	if _, err := l.act.get(context.Background(), "orgs/acme/actions/runners/23", nil); err != nil {
		t.Errorf("containment was held back: %v", err)
	}
}

func TestAnEndedSearchKeepsWhatItFound(t *testing.T) {
	l, p, since := openPast(t)
	p.repos("acme/web")
	for i := range 5 {
		at := since.Add(time.Duration(i+1) * time.Minute)
		p.run("acme/web", int64(900+i), at, nil, on(int64(i+1), "build", at))
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	n := 0
	p.change(func(p *past) {
		p.hook = func(asked string) {
			if strings.Contains(asked, "/jobs?") {
				n++
			}
			if n == 3 {
				stop()
			}
		}
	})
	jobs, partial, err := l.Jobs(ctx, build07, since, 100)
	if !errors.Is(err, context.Canceled) || len(jobs) == 0 || partial == "" {
		t.Errorf("%d %q %v", len(jobs), partial, err)
	}
}

func TestAPlaceThatCannotBeReadIsSaidAndAllOfThemAreAnError(t *testing.T) {
	l, p, since := openPast(t)
	p.repos("acme/web", "acme/tools")
	at := since.Add(time.Hour)
	p.run("acme/tools", 901, at, nil, on(3, "release", at))
	p.change(func(p *past) { p.deny["repos/acme/web/actions/runs"] = 403 })
	jobs, partial, err := l.Jobs(context.Background(), build07, since, 100)
	if err != nil || len(jobs) != 1 || !strings.Contains(partial, "acme/web") || strings.Contains(partial, l.fake.secrets.note) {
		t.Errorf("%v %q %v", jobIDs(jobs), partial, err)
	}
	p.change(func(p *past) { p.deny["repos/acme/tools/actions/runs"] = 404 })
	if jobs, _, err := l.Jobs(context.Background(), build07, since, 100); !errors.Is(err, providers.ErrForbidden) || len(jobs) != 0 {
		t.Errorf("none could be read: %v %v", jobIDs(jobs), err)
	}
}

func TestHostileRunsAndJobsAreRefused(t *testing.T) {
	at := time.Now().UTC().Add(-time.Hour)
	for name, body := range map[string]string{
		"null":         `null`,
		"no runs":      `{"total_count":0}`,
		"no total":     `{"workflow_runs":[]}`,
		"no id":        `{"total_count":1,"workflow_runs":[{"created_at":"2026-01-01T00:00:00Z"}]}`,
		"no time":      `{"total_count":1,"workflow_runs":[{"id":5}]}`,
		"a page of":    `<html>login</html>`,
		"two":          `{"total_count":0,"workflow_runs":[]}{}`,
		"another type": `{"total_count":"0","workflow_runs":[]}`,
	} {
		if _, err := runRows(answer{Request: "GET x", Status: 200, Body: []byte(body)}); !errors.Is(err, providers.ErrMalformed) {
			t.Errorf("%s: %v", name, err)
		}
	}
	good := fmt.Sprintf(`{"total_count":1,"workflow_runs":[{"id":5,"created_at":%q}]}`, at.Format(time.RFC3339))
	if _, err := runRows(answer{Status: 200, Body: []byte(good)}); err != nil {
		t.Errorf("control: %v", err)
	}
	for name, body := range map[string]string{"of another run": `{"total_count":1,"jobs":[{"id":1,"run_id":6}]}`, "no id": `{"total_count":1,"jobs":[{"run_id":5}]}`, "no list": `{"total_count":1}`} {
		if _, err := jobRows(answer{Request: "GET x", Status: 200, Body: []byte(body)}, 5); !errors.Is(err, providers.ErrMalformed) {
			t.Errorf("jobs, %s: %v", name, err)
		}
	}
}

func TestTheCostIsSaidBeforeItIsPaid(t *testing.T) {
	l, p, since := openPast(t)
	p.repos("acme/web", "acme/tools")
	for i := range 40 {
		at := since.Add(time.Duration(i+1) * time.Minute)
		p.run("acme/web", int64(900+i), at, nil, on(int64(i+1), "build", at))
	}
	c, err := l.JobsCost(context.Background(), build07, since)
	if err != nil || c.Spent > 10 || p.count("/jobs") != 0 || c.AtLeast || c.Left != -1 {
		t.Fatalf("%+v %v", c, err)
	}
	before := p.count("")
	if _, _, err := l.Jobs(context.Background(), build07, since, 1); err != nil {
		t.Fatal(err)
	}
	flags := p.count("contents") + p.count("commits") + p.count("deployments") + p.count("workflows?") + p.count("actor=")
	if paid := p.count("") - before - flags; paid < c.Requests-8 || paid > c.Requests+8 {
		t.Errorf("said %d, paid %d", c.Requests, paid)
	}
}

func TestWhatRunsNowIsLookedForOnlyWhereGitHubCallsItBusyAndThatIsSaid(t *testing.T) {
	l, p, since := openPast(t)
	p.repos("acme/web")
	at := since.Add(23 * time.Hour)
	j := on(1, "build", at)
	j.status = "in_progress"
	p.run("acme/web", 900, at, func(r *pastRun) { r.status = "in_progress" }, j, on(2, "done", at))
	jobs, partial, err := l.RunningJobs(context.Background(), build07)
	if err != nil || partial != "" || !slices.Equal(jobIDs(jobs), []string{"1"}) || jobs[0].Status != "in_progress" {
		t.Errorf("%v %q %v", jobIDs(jobs), partial, err)
	}
	l.fake.change(func(f *fake) { f.runners["orgs/acme"][23].Busy = false })
	before := p.count("")
	_, _, err = l.RunningJobs(context.Background(), build07)
	if !errors.Is(err, providers.ErrNotSearched) || !strings.Contains(err.Error(), "known to be wrong") || p.count("") != before {
		t.Errorf("not searched is not an empty list: %v", err)
	}
}

func TestARunThatChangedIsReadAgainAndOneThatDidNotIsNot(t *testing.T) {
	l, p, since := openPast(t)
	p.repos("acme/web")
	at := since.Add(time.Hour)
	r := p.run("acme/web", 900, at, nil, on(1, "build", at))
	ask := func(want ...string) {
		t.Helper()
		if jobs, _, err := l.Jobs(context.Background(), build07, since, 10); err != nil || !slices.Equal(jobIDs(jobs), want) {
			t.Errorf("%v %v, want %v", jobIDs(jobs), err, want)
		}
	}
	ask("1")
	ask("1")
	if n := p.count("/jobs?"); n != 1 {
		t.Errorf("a run that is over and did not change was read %d times", n)
	}
	second := on(2, "build", at.Add(time.Hour))
	second.attempt = 2
	p.change(func(*past) { r.attempt, r.updated, r.jobs = 2, at.Add(2*time.Hour), append(r.jobs, second) })
	ask("2", "1")
	third := on(3, "late", at.Add(3*time.Hour))
	third.status = "in_progress"
	p.change(func(*past) { r.status, r.jobs = "in_progress", append(r.jobs, third) })
	ask("3", "2", "1")
	fourth := on(4, "later", at.Add(4*time.Hour))
	p.change(func(*past) { r.jobs = append(r.jobs, fourth) })
	ask("4", "3", "2", "1")
}
