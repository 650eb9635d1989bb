package github

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"time"

	"cordon/internal/untrusted"
)

// Flags of a job. Each is a fact that GitHub tells, none is proof of anything:
//
//   - fork pull request: the run's event is a pull request and its commit is of another
//     repository, or of one that is gone.
//   - first-time actor: nobody of that name started a run in this repository before the
//     window began, and somebody else did. A renamed account is a new name.
//   - new workflow, changed workflow: GitHub knows the workflow since the window began, or
//     a commit since then, on the way to the commit that ran, touched its file.
//   - odd hour: it began in an hour of the day (UTC) in which none of the repository's
//     runs of the 35 days before the window did, of at least oddNeeds. Scheduled runs
//     count for neither side.
//   - foreign ref: outside of a pull request, the commit is of another repository, or is
//     the ref of somebody's pull request; or the workflow uses one of another owner.
//   - deployment: its workflow names an environment for the job, or GitHub has a deployment
//     of the commit since the window began.
//   - id-token: write: its workflow lets the job have an OpenID Connect token, with which
//     clouds and registries let it in without any secret.
//   - by name: another registration's id with this runner's name.
//   - by id alone: its id, and nothing tells that the name is its own; each scope has ids of
//     its own.
const (
	flagFork       = "fork pull request"
	flagFirst      = "first-time actor"
	flagNew        = "new workflow"
	flagChanged    = "changed workflow"
	flagHour       = "odd hour"
	flagForeign    = "foreign ref"
	flagDeployment = "deployment"
	flagToken      = "id-token: write"
	flagByName     = "by name"
	flagByID       = "by id alone"
)

// oddNeeds is how many runs there must have been before an hour can be called odd.
const oddNeeds = 50

// history is what the runs of a repository say of its habits.
type history struct {
	seen      map[int64]bool
	actors    map[string]time.Time // first run that was seen, by who started it
	workflows map[int64]time.Time
	hours     [24]int // of unscheduled runs before the window
	before    int     // how many those are
	whole     bool    // the time before the window was read to its end
}

// add takes a run once; false: it was taken before.
func (h *history) add(r wireRun, since time.Time) bool {
	if h.seen[r.ID] {
		return false
	}
	h.seen[r.ID] = true
	h.did(r.Actor.Login, r.CreatedAt)
	if r.Attempt != 1 { // who ran it again did so later
		h.did(r.last(), r.StartedAt)
	}
	if t, ok := h.workflows[r.Workflow]; !ok || r.CreatedAt.Before(t) {
		h.workflows[r.Workflow] = r.CreatedAt
	}
	if r.CreatedAt.Before(since) && r.Event != "schedule" {
		h.hours[r.CreatedAt.UTC().Hour()]++
		h.before++
	}
	return true
}

// did is that somebody started something.
func (h *history) did(who string, at time.Time) {
	who = strings.ToLower(who)
	if t, ok := h.actors[who]; who != "" && !at.IsZero() && (!ok || at.Before(t)) {
		h.actors[who] = at
	}
}

// flags says of each job what is odd about it, in the order above, and what of that was
// not looked at.
func (s *search) flags(ctx context.Context, list []hit) [][]string {
	f := flagger{s: s, ctx: ctx, known: map[string]fact{}}
	out := make([][]string, len(list))
	for i, h := range list {
		out[i] = f.of(h)
	}
	return out
}

// fact is an answer that several jobs share.
type fact struct {
	yes bool
	is  string
	wf  workflow
	err error
}

type flagger struct {
	s     *search
	ctx   context.Context
	known map[string]fact
	out   []string
	not   []string // looked at
}

func (f *flagger) ask(key string, read func() fact) fact {
	if x, ok := f.known[key]; ok {
		return x
	}
	x := read()
	f.known[key] = x
	return x
}

func (f *flagger) flag(name, detail string) {
	if detail != "" {
		name += " (" + untrusted.Clean(detail, 100) + ")"
	}
	f.out = append(f.out, name)
}

func (f *flagger) blind(name, why string) { f.not = append(f.not, name+" ("+why+")") }

func (f *flagger) of(h hit) []string {
	f.out, f.not = nil, nil
	f.origin(h)
	f.actor(h)
	f.changed(h)
	f.hour(h)
	f.file(h)
	f.deployed(h)
	if h.byName {
		f.flag(flagByName, fmt.Sprintf("runner id %d", h.job.RunnerID))
	}
	if h.byID {
		f.flag(flagByID, fmt.Sprintf("runner %q", f.s.p.text(h.job.RunnerName)))
	}
	if len(f.not) > 0 {
		f.out = append(f.out, "not looked: "+strings.Join(f.not, ", "))
	}
	return f.out
}

func (r wireRun) pullRequest() bool { return strings.HasPrefix(r.Event, "pull_request") }

func (f *flagger) origin(h hit) {
	r := h.run
	from := ""
	if r.Head != nil {
		from = strings.ToLower(r.Head.Full)
	}
	foreign := from != h.repo
	if from == "" {
		from = "a repository that is gone"
	}
	from = f.s.p.text(from).String()
	if r.pullRequest() && foreign {
		f.flag(flagFork, word(r.Event)+" from "+from)
	}
	owner, _, _ := strings.Cut(h.repo, "/")
	switch {
	case !r.pullRequest() && foreign:
		f.flag(flagForeign, "the commit is of "+from)
	case !r.pullRequest() && (strings.HasPrefix(r.Branch, "refs/pull/") || strings.HasPrefix(r.Branch, "pull/")):
		f.flag(flagForeign, string(f.s.p.text(r.Branch)))
	}
	for _, x := range r.Referenced {
		if o, _, _ := strings.Cut(strings.ToLower(x.Path), "/"); o != owner {
			f.flag(flagForeign, "it uses "+f.s.p.text(x.Path).String())
			break
		}
	}
}

// actor goes by the runs that the search has seen, and asks for older ones only where
// there are none.
func (f *flagger) actor(h hit) {
	who := h.who()
	if who == "" {
		f.blind(flagFirst, "GitHub does not say who")
		return
	}
	if hist := f.s.history[h.repo]; hist != nil {
		if first, ok := hist.actors[strings.ToLower(who)]; ok && first.Before(f.s.since) {
			return
		}
	}
	x := f.ask("actor "+h.repo+" "+strings.ToLower(who), func() fact {
		n, err := countRuns(f.ctx, f.s.b, h.repo, url.Values{"actor": {who}}, "<"+f.s.since.UTC().Format(time.RFC3339))
		return fact{yes: n == 0, err: err}
	})
	switch {
	case x.err != nil:
		f.blind(flagFirst, f.why(x.err))
	case x.yes:
		others := f.ask("actors "+h.repo, func() fact { return f.anybody(h.repo) })
		switch {
		case others.err != nil:
			f.blind(flagFirst, f.why(others.err))
		case others.yes:
			f.flag(flagFirst, "")
		default:
			f.blind(flagFirst, "nobody ran anything before the window")
		}
	}
}

// anybody reports whether a repository had a run before the window: without one, everyone
// in it is there for the first time, which says nothing.
func (f *flagger) anybody(repo string) fact {
	if hist := f.s.history[repo]; hist != nil {
		for _, first := range hist.actors {
			if first.Before(f.s.since) {
				return fact{yes: true}
			}
		}
	}
	n, err := countRuns(f.ctx, f.s.b, repo, nil, "<"+f.s.since.UTC().Format(time.RFC3339))
	return fact{yes: n > 0, err: err}
}

func (f *flagger) hour(h hit) {
	hist := f.s.history[h.repo]
	switch {
	case h.run.Event == "schedule" || h.job.began().IsZero():
	case hist == nil || !hist.whole:
		f.blind(flagHour, "the time before the window was not read")
	case hist.before < oddNeeds:
		f.blind(flagHour, fmt.Sprintf("%d runs before the window, %d are needed", hist.before, oddNeeds))
	case hist.hours[h.job.began().UTC().Hour()] == 0:
		f.flag(flagHour, h.job.began().UTC().Format("15:04Z Mon"))
	}
}

// why is short: it stands in a list of jobs.
func (f *flagger) why(err error) string {
	if ends(f.ctx, err) {
		return "no requests left for it"
	}
	_, cause, _ := strings.Cut(err.Error(), ": ")
	if cause == "" {
		cause = err.Error()
	}
	return untrusted.Clean(cause, 60)
}

func isSHA(s string) bool {
	return (len(s) == 40 || len(s) == 64) && strings.Trim(s, "0123456789abcdef") == ""
}

func shortSHA(s string) string {
	if !isSHA(s) {
		return ""
	}
	return s[:12]
}
