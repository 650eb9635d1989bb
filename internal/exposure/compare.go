package exposure

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"cordon/internal/check"
	"cordon/internal/host/snapshot"
	"cordon/internal/untrusted"
	"cordon/providers"
)

// JobsCompared is the check that findings of CompareJobs name.
const JobsCompared = "jobs-by-provider-and-host"

const (
	jobSkew       = 10 * time.Minute // between two clocks, and between handing out and beginning
	maxDiffersOne = 50               // findings in one direction
)

// HostJobs is what one host's own files say that it ran. The host may lie, in both
// directions; so may a provider from which a run was deleted.
type HostJobs struct {
	Host     string
	Jobs     []snapshot.Job
	Keeps    bool      // an agent is there that writes such files
	Complete bool      // all of them were read
	Taken    time.Time // when they were; zero: at the end of the window
}

// CompareJobs compares the jobs of a runner that its provider lists with those that a
// host's files tell, inside the window, and says what only one of the two has. partial is
// why the provider's list may lack some, empty: it is whole. It is a pure function.
func CompareJobs(api []providers.Job, partial string, h HostJobs, w Window) []check.Finding {
	if !h.Keeps && len(h.Jobs) == 0 {
		return nil // nothing to compare with
	}
	if !h.Taken.IsZero() && h.Taken.Before(w.Until) {
		w.Until = h.Taken // what ran after that cannot be there
	}
	c := comparison{api: api, partial: partial, h: h, w: w}
	return append(c.onHostAlone(), c.atProviderAlone()...)
}

type comparison struct {
	api     []providers.Job
	partial string
	h       HostJobs
	w       Window
}

// inWindow: a job without a time is nowhere.
func (c comparison) inWindow(at time.Time) bool {
	return !at.IsZero() && !at.Before(c.w.From) && !at.After(c.w.Until.Add(jobSkew))
}

// onHostAlone are jobs in the host's files that the provider does not list.
func (c comparison) onHostAlone() []check.Finding {
	var out []check.Finding
	var told []snapshot.Job // one job is in up to three files
	severity, more := check.High, ""
	if c.partial != "" {
		severity, more = check.Medium, "; but the provider's list may lack some: "+untrusted.Clean(c.partial, 200)
	}
	cut := 0
	for _, j := range c.h.Jobs {
		if !c.inWindow(j.Started) || slices.ContainsFunc(c.api, func(a providers.Job) bool { return sameJob(a, j) }) ||
			slices.ContainsFunc(told, func(o snapshot.Job) bool { return twice(o, j) }) {
			continue
		}
		told = append(told, j)
		if len(out) == maxDiffersOne {
			cut++
			continue
		}
		out = append(out, check.Finding{
			Check: JobsCompared, Severity: severity, Title: "a job is in the host's files that its provider does not list", Where: j.From,
			Detail: untrusted.Text(fmt.Sprintf("%s, by the %s of %s: its run was deleted, its repository is hidden from this credential, or it came from elsewhere%s",
				hostJob(j), j.Source, untrusted.Clean(c.h.Host, 80), more)),
			Attack: []string{"T1070.009"}, NIST: []string{"AU-10"},
		})
	}
	return c.andMore(out, cut, severity, "jobs in the host's files that its provider does not list")
}

// atProviderAlone are jobs that the provider lists and the host has no trace of. Files are
// rotated, so that before the oldest trace nothing can be said.
func (c comparison) atProviderAlone() []check.Finding {
	oldest, newest := time.Time{}, time.Time{}
	for _, j := range c.h.Jobs {
		if j.Started.IsZero() || j.Source == snapshot.JobMapping {
			continue // the record of repositories has the last job of each alone
		}
		if oldest.IsZero() || j.Started.Before(oldest) {
			oldest = j.Started
		}
		if j.Started.After(newest) {
			newest = j.Started
		}
	}
	var out []check.Finding
	cut, none := 0, 0
	for _, a := range c.api {
		if !c.inWindow(a.StartedAt) || slices.ContainsFunc(c.h.Jobs, func(j snapshot.Job) bool { return sameJob(a, j) }) {
			continue
		}
		severity := check.Medium
		switch {
		case oldest.IsZero():
			none++
			continue
		case a.StartedAt.Before(oldest.Add(-jobSkew)):
			continue
		case a.StartedAt.Before(newest):
			severity = check.High // files from before and after it are there
		}
		if len(out) == maxDiffersOne {
			cut++
			continue
		}
		more := ""
		if !c.h.Complete {
			severity, more = check.Medium, "; but not all of the host's files were read"
		}
		out = append(out, check.Finding{
			Check: JobsCompared, Severity: severity, Title: "the provider lists a job here that the host has no trace of", Where: untrusted.Text(a.Ref.String()),
			Detail: untrusted.Text(fmt.Sprintf("job %s %q of %s, begun %s: its log was removed from %s, or it ran on another machine with this runner's credential%s",
				a.Ref.ID, a.Name, a.Project, a.StartedAt.UTC().Format(time.RFC3339), untrusted.Clean(c.h.Host, 80), more)),
			Attack: []string{"T1070.002", "T1078"}, NIST: []string{"AU-9"},
		})
	}
	if none > 0 {
		out = append(out, check.Finding{
			Check: JobsCompared, Severity: check.Medium, Title: "the host has no trace of any job that its provider lists", Where: untrusted.Text(c.h.Host),
			Detail: untrusted.Text(fmt.Sprintf("%d jobs in the window, and no log of one is on the host: the logs were removed, are kept elsewhere, or could not be read", none)),
			Attack: []string{"T1070.002"}, NIST: []string{"AU-9"},
		})
	}
	return c.andMore(out, cut, check.Medium, "jobs at the provider that the host has no trace of")
}

func (c comparison) andMore(out []check.Finding, cut int, s check.Severity, what string) []check.Finding {
	if cut == 0 {
		return out
	}
	return append(out, check.Finding{
		Check: JobsCompared, Severity: s, Title: fmt.Sprintf("%d more %s", cut, what), Where: untrusted.Text(c.h.Host), NIST: []string{"AU-9"},
	})
}

// sameJob goes by the run where both have it, else by repository and name, and by time.
// What one of the two does not tell is no difference.
func sameJob(a providers.Job, j snapshot.Job) bool {
	near := near(a.StartedAt, j.Started)
	repo := j.Repository == "" || strings.EqualFold(string(a.Project), string(j.Repository))
	name := j.Name == "" || strings.EqualFold(strings.TrimSpace(string(a.Name)), strings.TrimSpace(string(j.Name)))
	switch {
	case j.Source == snapshot.JobMapping: // the last job of a repository, whatever its name
		return repo && j.Repository != "" && (near || j.RunID != "" && j.RunID == a.Run)
	case j.RunID != "" && a.Run != "":
		return j.RunID == a.Run && (name || near)
	}
	return repo && name && near && (j.Name != "" || j.Repository != "")
}

func near(x, y time.Time) bool {
	return !x.IsZero() && !y.IsZero() && x.Sub(y).Abs() <= jobSkew
}

// twice reports whether two files tell of one job.
func twice(x, y snapshot.Job) bool {
	if x.RunID != "" && y.RunID != "" && x.RunID != y.RunID {
		return false
	}
	same := func(a, b untrusted.Text) bool { return a == "" || b == "" || strings.EqualFold(string(a), string(b)) }
	return x.Source != y.Source && near(x.Started, y.Started) && same(x.Name, y.Name) && same(x.Repository, y.Repository)
}

func hostJob(j snapshot.Job) string {
	s := "job"
	if j.Name != "" {
		s += fmt.Sprintf(" %q", j.Name)
	}
	if j.Repository != "" {
		s += " of " + j.Repository.String()
	}
	if j.RunID != "" {
		s += ", run " + untrusted.Clean(j.RunID, 20)
	}
	if j.Actor != "" {
		s += ", by " + j.Actor.String()
	}
	return s + ", begun " + j.Started.UTC().Format(time.RFC3339)
}
