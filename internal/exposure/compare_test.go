package exposure

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"cordon/internal/check"
	"cordon/internal/host/snapshot"
	"cordon/internal/target"
	"cordon/internal/untrusted"
	"cordon/providers"
)

func TestWhatOnlyOneOfProviderAndHostHasIsAFinding(t *testing.T) {
	from := time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC)
	w := Window{From: from, Until: from.Add(24 * time.Hour)}
	at := func(h int) time.Time { return from.Add(time.Duration(h) * time.Hour) }
	api := func(id, run, name string, h int) providers.Job {
		return providers.Job{Ref: target.Ref{System: "gh", Kind: target.Job, ID: id}, Run: run, Name: untrusted.Text(name), Project: "acme/web", StartedAt: at(h)}
	}
	worker := func(run, name string, h int) snapshot.Job {
		return snapshot.Job{Source: snapshot.JobWorkerLog, From: "Worker_1.log", RunID: run, Name: untrusted.Text(name), Repository: "Acme/Web", Started: at(h).Add(time.Minute)}
	}
	for name, c := range map[string]struct {
		api     []providers.Job
		partial string
		host    HostJobs
		want    string // severity and part of a title, in order; "": no difference
	}{
		"the same": {[]providers.Job{api("1", "9", "build", 2)}, "", HostJobs{Jobs: []snapshot.Job{worker("9", "build", 2)}, Complete: true}, ""},
		"a run that the provider lost": {
			[]providers.Job{api("1", "9", "build", 2)},
			"",
			HostJobs{Jobs: []snapshot.Job{worker("9", "build", 2), worker("10", "steal", 5)}, Complete: true},
			"high provider does not list",
		},
		"a list that may lack it": {
			[]providers.Job{api("1", "9", "build", 2)},
			"stopped after 1 request",
			HostJobs{Jobs: []snapshot.Job{worker("9", "build", 2), worker("10", "steal", 5)}, Complete: true},
			"medium provider does not list",
		},
		"the same run, another job at another time": {
			[]providers.Job{api("1", "9", "build", 2)},
			"",
			HostJobs{Jobs: []snapshot.Job{worker("9", "build", 2), worker("9", "steal", 5)}, Complete: true},
			"high provider does not list",
		},
		"a log that is gone from the middle": {
			[]providers.Job{api("1", "9", "build", 2), api("2", "10", "deploy", 4), api("3", "11", "test", 6)},
			"",
			HostJobs{Jobs: []snapshot.Job{worker("9", "build", 2), worker("11", "test", 6)}, Complete: true},
			"high no trace of",
		},
		"a log that is gone from the middle of a partial read": {
			[]providers.Job{api("1", "9", "build", 2), api("2", "10", "deploy", 4), api("3", "11", "test", 6)},
			"",
			HostJobs{Jobs: []snapshot.Job{worker("9", "build", 2), worker("11", "test", 6)}},
			"medium no trace of",
		},
		"the newest is not there": {
			[]providers.Job{api("1", "9", "build", 2), api("2", "10", "deploy", 8)},
			"",
			HostJobs{Jobs: []snapshot.Job{worker("9", "build", 2)}, Complete: true},
			"medium no trace of",
		},
		"from before the oldest log":          {[]providers.Job{api("1", "9", "build", 2), api("2", "10", "x", 1)}, "", HostJobs{Jobs: []snapshot.Job{worker("9", "build", 2)}, Complete: true}, ""},
		"no log at all":                       {[]providers.Job{api("1", "9", "build", 2), api("2", "10", "x", 1)}, "", HostJobs{Keeps: true, Complete: true}, "medium no trace of any"},
		"an agent that keeps none":            {[]providers.Job{api("1", "9", "build", 2)}, "", HostJobs{Complete: true}, ""},
		"outside of the window on both sides": {[]providers.Job{api("1", "9", "x", -5)}, "", HostJobs{Jobs: []snapshot.Job{worker("10", "y", -6)}, Complete: true}, ""},
		"a runner log has neither run nor repository": {
			[]providers.Job{api("1", "9", "build", 2)},
			"",
			HostJobs{Jobs: []snapshot.Job{{Source: snapshot.JobRunnerLog, Name: "build", Started: at(2)}}, Complete: true},
			"",
		},
		"the record of repositories knows one": {
			[]providers.Job{api("1", "9", "build", 2)},
			"",
			HostJobs{Jobs: []snapshot.Job{worker("9", "build", 2), {Source: snapshot.JobMapping, Repository: "mallory/x", Started: at(7)}}, Complete: true},
			"high provider does not list",
		},
		"one job in three files is one finding": {
			[]providers.Job{api("1", "9", "build", 2)},
			"",
			HostJobs{Jobs: []snapshot.Job{
				worker("9", "build", 2), worker("10", "steal", 5),
				{Source: snapshot.JobRunnerLog, Name: "steal", Started: at(5)},
				{Source: snapshot.JobMapping, Repository: "acme/web", Started: at(5)},
			}, Complete: true},
			"high provider does not list",
		},
		"without a time it is nowhere": {[]providers.Job{api("1", "9", "build", 2)}, "", HostJobs{Jobs: []snapshot.Job{worker("9", "build", 2), {Source: snapshot.JobWorkerLog, Name: "x"}}, Complete: true}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			c.host.Host = "build-07"
			var got []string
			for _, f := range CompareJobs(c.api, c.partial, c.host, w) {
				got = append(got, string(f.Severity)+" "+f.Title)
				if f.Check != JobsCompared || f.Detail == "" {
					t.Errorf("%+v", f)
				}
			}
			severity, part, _ := strings.Cut(c.want, " ")
			if c.want == "" && len(got) > 0 || c.want != "" && (len(got) != 1 || !strings.HasPrefix(got[0], severity) || !strings.Contains(got[0], part)) {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

func TestAFloodOfInventedJobsDoesNotFloodTheFindings(t *testing.T) {
	from := time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC)
	var jobs []snapshot.Job
	for i := range 2000 {
		jobs = append(jobs, snapshot.Job{Source: snapshot.JobWorkerLog, RunID: fmt.Sprint(i), Name: "x\x1b[31m", Repository: "a/b", Started: from.Add(time.Duration(i) * time.Minute)})
	}
	list := CompareJobs(nil, "", HostJobs{Host: "h", Jobs: jobs, Keeps: true}, Window{From: from, Until: from.Add(2000 * time.Minute)})
	if len(list) != maxDiffersOne+1 || !strings.Contains(list[maxDiffersOne].Title, "1950 more") {
		t.Errorf("%d findings, the last: %+v", len(list), list[len(list)-1])
	}
	if strings.ContainsRune(list[0].Detail.String(), 0x1b) || list[0].Severity != check.High {
		t.Errorf("%q", list[0].Detail)
	}
}
