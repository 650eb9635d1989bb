package tui

import (
	"context"
	"errors"
	"strings"
	"time"

	"cordon/internal/app"
	"cordon/internal/casefile"
	"cordon/internal/change"
	"cordon/internal/check"
	"cordon/internal/exposure"
	"cordon/internal/fleet"
	"cordon/internal/host"
	"cordon/internal/host/snapshot"
	"cordon/internal/target"
	"cordon/internal/untrusted"
	"cordon/internal/witness"
	"cordon/providers"
)

const cardRef = "gitlab-prod/project/runner/42"

func init() {
	screens["card"] = func(e env) page { return settled(cardOn(e, fullCard())) }
	screens["card-partly"] = func(e env) page {
		d := fullCard()
		d.fail = map[string]error{"jobs": errors.New("503 from gitlab-prod"), "managers": errors.New("403: the credential lacks a role")}
		p := settled(cardOn(e, d))
		p.View(80, 21)
		pressed(p, "ctrl+d")
		return p
	}
	screens["host-card"] = func(e env) page { return settled(hostOn(e, fullCard())) }
	screens["host-card-failed"] = func(e env) page {
		d := fullCard()
		d.host.Failed = &app.FailedRead{At: still.Add(-2 * time.Hour), Why: "read host build-07: dial tcp 192.0.2.7:22: no route to host", Case: "check-build-07-20261102T010000.000"}
		return settled(hostOn(e, d))
	}
	screens["host-card-confirm"] = func(e env) page {
		p := settled(hostOn(e, fullCard()))
		pressed(p, "l")
		return p
	}
}

// cardFake answers from fields; a part named in fail does not.
type cardFake struct {
	runner  providers.Runner
	fail    map[string]error
	jobs    []providers.Job
	partial string
	ms      []providers.Manager
	hand    []change.Link
	record  app.RunnerRecord
	host    app.HostRecord
	look    host.Looking
	checked []string
	calls   int
}

func (d *cardFake) Runner(context.Context, string) (providers.Runner, error) {
	d.calls++
	return d.runner, d.fail["runner"]
}

func (d *cardFake) Managers(context.Context, target.Ref) ([]providers.Manager, error) {
	return d.ms, d.fail["managers"]
}

func (d *cardFake) Jobs(context.Context, target.Ref, time.Time, int) ([]providers.Job, string, error) {
	return d.jobs, d.partial, d.fail["jobs"]
}

func (d *cardFake) ByHand(context.Context, target.Ref) ([]change.Link, error) {
	return d.hand, d.fail["hand"]
}

func (d *cardFake) HostsOf(context.Context, providers.Runner, []string) ([]target.Ref, string, error) {
	return []target.Ref{theHost}, "gitlab-prod/42 came from 192.0.2.7, the address of build-07", d.fail["hosts"]
}

func (d *cardFake) KnownFleet() (fleet.Fleet, error) {
	row := someRow("42", "build-07", "online")
	row.State, row.Why, row.Hosts = fleet.Disagreement, "the provider says it is online, and no process of it runs on build-07", []string{"build-07"}
	return fleet.Fleet{Rows: []fleet.Row{row}}, nil
}

func (d *cardFake) RunnerRecord(target.Ref) (app.RunnerRecord, error) {
	return d.record, d.fail["record"]
}

func (d *cardFake) LookAt(context.Context, []string) ([]host.Looking, error) {
	return []host.Looking{d.look}, d.fail["look"]
}

func (d *cardFake) HostRecord(string) (app.HostRecord, error) { return d.host, d.fail["host"] }
func (d *cardFake) Command(args ...string) string             { return "cordon " + strings.Join(args, " ") }

func (d *cardFake) CheckHost(_ context.Context, name, _ string) (app.HostReport, error) {
	d.checked = append(d.checked, name)
	d.host.Read, d.host.Taken = true, still
	return app.HostReport{}, d.fail["check"]
}

func fullCard() *cardFake {
	ref := target.Ref{System: "gitlab-prod", Scope: target.Scope{Level: "project"}, Kind: target.Runner, ID: "42"}
	job := func(id, status string, at time.Duration) providers.Job {
		return providers.Job{
			Ref:  target.Ref{System: "gitlab-prod", Scope: target.Scope{Level: "project", Path: "acme/shop"}, Kind: target.Job, ID: id},
			Name: "publish", Project: "acme/shop", Branch: "main", Actor: "rosa", Status: status, StartedAt: still.Add(-at),
			Web: "https://gitlab.example.org/acme/shop/-/jobs/" + id,
		}
	}
	return &cardFake{
		runner: providers.Runner{
			Ref: ref, Name: "build-07", Owner: "acme/shop", Status: "online", Paused: witness.No, Labels: []untrusted.Text{"shell", "release"},
			Shared: true, Untagged: witness.No, Version: "18.6.0", CreatedAt: still.Add(-90 * 24 * time.Hour), LastContact: still.Add(-40 * time.Second),
			Clock: witness.ClockLagging, Projects: []untrusted.Text{"acme/shop", "acme/infra"}, Web: "https://gitlab.example.org/acme/shop/-/runners/42",
		},
		jobs:    []providers.Job{job("9003", "running", time.Hour), job("9002", "success", 5*time.Hour), job("9001", "failed", 50*time.Hour)},
		partial: "GitLab lists only jobs of projects where this credential has at least Reporter",
		ms: []providers.Manager{{
			Ref: target.Ref{System: "gitlab-prod", Kind: target.Manager, ID: "7"}, SystemID: "s_5b1c7a90e3d4", Address: "192.0.2.7", Version: "18.6.0", Status: "online", LastContact: still,
		}},
		hand: []change.Link{{Title: "pause: with glab", Command: "GITLAB_HOST=gitlab.example.org glab api --method PUT runners/42 -F paused=true"}},
		record: app.RunnerRecord{
			Cases:   []casefile.Summary{{ID: "contain-42-20261101T221400", Last: still.Add(-4 * time.Hour)}},
			Exposed: &exposure.List{Entries: []providers.Credential{{Name: "DEPLOY_KEY", Kind: "ci-variable", Where: "acme/shop", Deploys: true}}}, ExposedAt: still.Add(-4 * time.Hour), ExposedIn: "contain-42-20261101T221400",
		},
		look: host.Looking{
			Host: "build-07", Transport: snapshot.BySSH, Way: "ir@build-07.example.org:22 via ops@jump.example.org:22",
			Effects: []string{"a login is written: utmp, wtmp and lastlog", "a login on the jump host jump.example.org:22"},
		},
		host: app.HostRecord{
			Name: "build-07", Configured: true, Address: "build-07.example.org:22", User: "ir", Unit: "gitlab-runner.service", Read: true, Taken: still.Add(-3 * 24 * time.Hour),
			Report: app.HostReport{
				Host: "build-07", Case: "check-build-07-20261030T030000.000", Complete: true,
				Ident:         snapshot.Ident{Hostname: "build-07", OS: "Debian GNU/Linux 12", Kernel: "6.1.0", BootTime: still.Add(-240 * time.Hour)},
				Installations: []check.Installation{{Host: "build-07", Kind: "gitlab-runner", Root: "/etc/gitlab-runner", URL: "https://gitlab.example.org", RunnerID: "42", Name: "build-07", SystemID: "s_5b1c7a90e3d4", PIDs: []int{1204}}},
				Results: []check.Result{
					{Check: "cron", State: check.Found, Findings: []check.Finding{{
						Check: "cron", Severity: check.Critical, Title: "a job fetches and runs code", Where: "/etc/cron.d/sync", Detail: "curl | sh, every five minutes", Attack: []string{"T1053.003"},
					}}},
					{Check: "keys", State: check.Blind, Why: "denied: /root/.ssh"},
				},
			},
		},
	}
}
