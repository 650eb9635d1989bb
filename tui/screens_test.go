package tui

import (
	"errors"
	"strconv"
	"time"

	"cordon/internal/app"
	"cordon/internal/bundle"
	"cordon/internal/casefile"
	"cordon/internal/change"
	"cordon/internal/engine"
	"cordon/internal/fleet"
	"cordon/internal/target"
	"cordon/internal/witness"
)

var (
	theRunner = target.Ref{System: "gitlab-lab", Scope: target.Scope{Level: "project"}, Kind: target.Runner, ID: "42"}
	theHost   = target.Ref{System: target.SSH, Kind: target.Host, ID: "build-07"}
)

func startFresh(e env) page {
	rows := make([]fleet.Row, 5)
	for i := range 4 { // the fifth is an installation that no runner claims
		rows[i].Runner.Ref.ID = strconv.Itoa(i)
	}
	return &start{e: e, typed: true, fleet: &fleet.Fleet{Rows: rows}}
}

func startCases(e env) page {
	p := startFresh(e).(*start)
	p.typed = false
	p.cases = []app.CaseState{{
		Summary: casefile.Summary{ID: "contain-17-20261101T221400", Last: still.Add(-40 * time.Minute)},
		Runner:  target.Ref{System: "gitlab-lab", Kind: target.Runner, ID: "17"},
		Steps:   steps("rotate"),
	}, {
		Summary: casefile.Summary{ID: "contain-9-20261030T101500", Broken: "line 17 does not follow line 16"},
	}}
	return p
}

func triaged(e env) page {
	p := &triage{e: e, what: "build-07"}
	c := app.Card{
		Asked: "build-07", Kind: app.AskedHost, At: still,
		Runners: []app.Candidate{{
			Ref: theRunner, Name: "build-07", Hosts: []string{"build-07"},
			Found: []app.Fact{{Text: "it came from 127.0.0.11, the address of build-07", Known: "provider now"}},
			Answers: []app.Answer{
				{Question: "what it is", Fact: app.Fact{Text: "online, shell executor, tags shell and release", Known: "provider now"}},
				{Question: "what runs now", Fact: app.Fact{Text: "1 job", Known: "provider now", Items: []string{"8951 deploy on main of acme/shop"}}},
				{Question: "what ran before", Fact: app.Fact{Known: "not asked"}},
				{Question: "what it could reach", Fact: app.Fact{Known: "could not look"}},
				{Question: "would the host notice", Fact: app.Fact{Text: "a pause: no, the agent is told nothing", Known: "how GitLab and gitlab-runner work"}},
			},
		}},
		Unknown: []string{"no snapshot of build-07 is kept: what is on it is not known"},
		Next:    []app.NextStep{{Command: "cordon contain gitlab-lab/runner/42", Does: "opens a case and asks before each change", Notice: "nobody"}},
	}
	p.Update(triageMsg{page: p, card: c})
	return p
}

func triagedSeveral(e env) page {
	p := triaged(e).(*triage)
	other := theRunner
	other.ID = "45"
	p.card.Runners = append(p.card.Runners, app.Candidate{Ref: other, Name: "build-07", Found: []app.Fact{{Text: "has that name", Known: "by name only"}}})
	p.card.Next = nil
	return p
}

// steps are those of the playbook contain, standing at one of them; "": all done.
func steps(now string) []engine.StepState {
	all := []string{"snapshot", "pause", "rotate", "collect", "deregister", "confirm"}
	var out []engine.StepState
	done := true
	for _, id := range all {
		s := engine.StepState{ID: id, Now: id == now}
		if done = done && !s.Now; done {
			s.End = engine.Done
		}
		out = append(out, s)
	}
	return out
}

func caseAt(e env, step string, pr engine.Prompt) *stepper {
	p := &stepper{e: e, drv: &driver{}}
	p.take(event{opened: &app.Opened{
		ID: "contain-42-20261102T030000", Runner: theRunner, Hosts: []string{"build-07"}, Kept: true,
		Window: casefile.Window{From: still.Add(-30 * 24 * time.Hour), Why: "not known: the last 30 days"},
	}, steps: steps(step), at: still})
	if pr.Kind != "" {
		pr.N, pr.Step, pr.Of = 1, step, 6
		p.take(event{prompt: &pr, steps: steps(step), at: still})
	}
	return p
}

func pausePlan() change.Plan {
	call := func(v string) change.Call {
		return change.Call{Method: "PUT", URL: "http://127.0.0.1:8080/api/v4/runners/42", Body: `{"paused":` + v + `}`}
	}
	return change.Plan{
		Verb: "pause", Option: "registration", Title: `pause runner 42 "build-07" (project)`,
		Covers: "GitLab hands it no new job; the agent goes on polling, is answered 204 and logs nothing",
		Changes: []change.Change{{
			ID: "pause/42/1.1", System: "gitlab-lab", Target: theRunner, Call: call("true"),
			Hits:     []target.Ref{{System: "gitlab-lab", Kind: target.Manager, ID: "901"}, {System: "gitlab-lab", Kind: target.Project, ID: "11"}},
			Capacity: "no other online runners carry all of its tags (shell, release): such jobs wait",
			Undo:     &change.Change{Call: call("false")},
		}},
		Limits: []string{"a job that runs goes on to its end, with its secrets: cancel it", "the token still works"},
		ByHand: []change.Link{{Title: "with glab", Command: "GITLAB_HOST=127.0.0.1:8080 glab api --method PUT runners/42 -F paused=true"}},
	}
}

func removePlan() change.Plan {
	p := pausePlan()
	p.Verb, p.Title, p.Covers = "deregister", `remove runner 42 "build-07" (project)`, "no token of this registration is ever accepted again"
	c := &p.Changes[0]
	c.ID, c.Undo, c.TipsOff = "deregister/42/1.1", nil, `the agent logs "Checking for jobs... forbidden" three times`
	c.Call = change.Call{Method: "DELETE", URL: "http://127.0.0.1:8080/api/v4/runners/42"}
	c.Destroys = []string{"provider/gitlab-lab/runner.json", "host/*/snapshot.json"}
	return p
}

var choices = []string{engine.Apply, engine.Skip, engine.Again, engine.Stop}

func casePause(e env) page {
	return caseAt(e, "pause", engine.Prompt{
		Kind: engine.Choose, Index: 2, Title: "Give it no more jobs", Why: "A paused runner gets no new job.", Target: theRunner,
		Choices: choices, Plans: []change.Plan{pausePlan()}, Guards: [][]engine.Guard{nil},
	})
}

func caseConfirm(e env) page {
	p := casePause(e).(*stepper)
	p.confirm()
	return p
}

func caseGuarded(e env) page {
	pl := removePlan()
	pl.Option, pl.Title = "discard", `give runner 42 "build-07" (project) a new token and discard it`
	p := caseAt(e, "rotate", engine.Prompt{
		Kind: engine.Choose, Index: 3, Title: "Make the stolen runner token worthless", Target: theRunner, Choices: choices,
		Plans:  []change.Plan{pl},
		Guards: [][]engine.Guard{{{ID: engine.TipsOff, Class: engine.GuardAsk, Text: "the other side would notice and nothing is collected from its hosts yet"}}},
	})
	p.confirm()
	p.dialog.reason.text = "the token is in use by others"
	return p
}

func casePlans(e env) page {
	hand := change.Plan{Verb: "deregister", Option: "by-hand", Title: "remove it by hand", Manual: []string{"an administrator removes it on its page"}}
	return caseAt(e, "deregister", engine.Prompt{
		Kind: engine.Choose, Index: 5, Title: "End its jobs, stop the agent, remove the runner", Target: theRunner, Choices: choices,
		Plans: []change.Plan{removePlan(), hand}, Guards: [][]engine.Guard{nil, nil},
	})
}

func caseReadOnly(e env) page {
	return caseAt(e, "pause", engine.Prompt{
		Kind: engine.Choose, Index: 2, Title: "Give it no more jobs", Target: theRunner, Choices: choices[1:],
		CannotDo: engine.ErrReadOnly.Error(), Plans: []change.Plan{pausePlan()}, Guards: [][]engine.Guard{nil},
	})
}

func caseWorking(e env) page {
	p := casePause(e).(*stepper)
	p.cur, p.busy = nil, doing(pausePlan())
	return p
}

func caseDoubt(e env) page {
	return caseAt(e, "deregister", engine.Prompt{
		Kind: engine.Doubt, Index: 5, Title: "End its jobs, stop the agent, remove the runner", Target: theRunner,
		Text:    "UNKNOWN whether it took effect: remove runner 42 (sent; the answer never came)",
		Choices: []string{engine.Again, engine.Anew, engine.Leave, engine.Stop},
	})
}

func poll(state, why string) witness.Verdict {
	return witness.Verdict{
		Question: "can it poll", State: state, Why: why, Needs: 65 * time.Minute,
		For: []witness.Observation{
			{Subject: theRunner, Source: witness.ProviderAPI, Says: "GitLab answers 404 for it: the registration is gone"},
			{Subject: theHost, Source: witness.HostProcess, Says: "no runner agent among 5 processes"},
		},
		Missing: []string{"nobody watched the network"},
	}
}

func caseWatching(e env) page {
	p := caseAt(e, "confirm", engine.Prompt{
		Kind: engine.Progress, Index: 6, Title: "See that it stays silent", Target: theRunner, Text: "can it poll: waiting (quiet for 11m0s of 1h5m0s)",
		Verdicts: []witness.Verdict{poll(witness.Waiting, "quiet for 11m0s of 1h5m0s")},
	})
	return p
}

func caseEnded(e env) page {
	p := caseAt(e, "", engine.Prompt{
		Kind: engine.Finished, Text: engine.Contained, Target: theRunner,
		Ending: &engine.Ending{Word: engine.Contained, Notes: []string{"open: another runner agent runs on build-07: Runner.Listener as process 17801", "21 credentials, 1 replaced, 6 dead"}},
		Verdicts: []witness.Verdict{
			poll(witness.Silent, "no contact by independent witnesses in 1h6m0s"),
			{Question: "can it fetch secrets", State: witness.Open, Why: "4 credentials it could reach are not known to be replaced"},
			{Question: "can it deploy", State: witness.Open, Why: "10 credentials it could reach are not known to be replaced"},
		},
	})
	p.found = []string{"13 high", "7 medium", "1 low"}
	p.handed = &app.Handed{
		Exported: app.Exported{Path: "/tmp/cordon-demo/contain-42-20261102T030000.tar", SHA256: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", Files: 38},
		Signers:  "/tmp/cordon-demo/contain-42-20261102T030000.allowed_signers", Report: bundle.Report{Checks: make([]bundle.Check, 13)},
	}
	return p
}

func caseStuck(e env) page {
	p := casePause(e).(*stepper)
	p.cur, p.busy = nil, ""
	p.take(event{err: errors.New("append to the journal: no space left on device; nothing was sent"), dead: true})
	return p
}
