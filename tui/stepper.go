package tui

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"cordon/internal/app"
	"cordon/internal/engine"
	"cordon/internal/host"
	"cordon/internal/witness"
)

// staleAfter is how old the reading under a plan may be, by the wall clock, before
// what cannot be undone has to be read again.
const staleAfter = time.Minute

// stepper is the page of one case: the steps on the left, on the right what the
// engine asks.
type stepper struct {
	e       env
	drv     *driver
	started bool

	about app.Opened
	wants string // id of the case that was asked for, "" for a new one
	steps []engine.StepState
	grid  engine.Matrix
	cur   *engine.Prompt // what waits for an answer, nil while cordon works
	looks []host.Looking // how the hosts of its plans are reached
	read  time.Time      // when cur was made, wall clock
	busy  string         // what cordon does while cur is nil
	reads *host.Reading  // how far the read of a host is, nil while none goes on
	watch *witness.Verdict
	log   []string // what was done so far, as the plain lines have it
	last  string   // the last of it
	alarm []string // what must not be overlooked: drift, a late job; the newest last
	found []string // how many findings of what severity the last read of a host brought
	err   error    // what went wrong last
	dead  bool     // the run is over without an ending; the case stays open

	plan, off, lastOff int // plan on screen, first line shown and the last that makes sense
	dialog             *dialog
	form               *form
	onScreen           string // which question cur is
	handed             *app.Handed
	exporting          bool
}

// runMsg carries what happened in a run to its page.
type runMsg struct {
	drv    *driver
	events []event
	more   bool
}

// handedMsg is the end of an export.
type handedMsg struct {
	drv *driver
	h   app.Handed
	err error
}

// openCase opens a case for a runner and shows its page. Nothing is changed by it.
func openCase(e env, ref string, spec app.CaseSpec) tea.Cmd {
	return showCase(e, "", "opening a case for "+clean(ref), func(ctx context.Context) (*app.Session, error) { return e.app.NewCase(ctx, ref, spec) })
}

// resumeCase goes on with a case and shows its page; one that is open here is shown
// as it is.
func resumeCase(e env, id string) tea.Cmd {
	if s := e.desk.find(id); s != nil {
		return push(s)
	}
	return showCase(e, id, "taking case "+clean(id), func(ctx context.Context) (*app.Session, error) { return e.app.Resume(ctx, id) })
}

func showCase(e env, id, busy string, open func(context.Context) (*app.Session, error)) tea.Cmd {
	return func() tea.Msg {
		s := &stepper{e: e, wants: id, busy: busy, drv: e.start(open)}
		e.desk.add(s)
		return pushMsg{s}
	}
}

// Init begins to listen to the run, once, however often the page is shown.
func (p *stepper) Init() tea.Cmd {
	if p.started {
		return nil
	}
	p.started = true
	return p.listen()
}

func (p *stepper) listen() tea.Cmd {
	return p.e.safe(func(ctx context.Context) tea.Msg {
		evs, more := p.drv.events(ctx)
		return runMsg{p.drv, evs, more}
	})
}

// Update implements page.
func (p *stepper) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case runMsg:
		if msg.drv != p.drv {
			return nil
		}
		for _, ev := range msg.events {
			p.take(ev)
		}
		if msg.more {
			return p.listen()
		}
	case handedMsg:
		if msg.drv == p.drv {
			p.exporting, p.err = false, msg.err
			if msg.err == nil {
				p.handed, p.off = &msg.h, 0
				p.e.desk.wrote(p.drv, msg.h)
			}
		}
	case tea.KeyMsg:
		return p.key(msg)
	}
	return nil
}

// take folds one event into the page.
func (p *stepper) take(ev event) {
	if ev.steps != nil {
		p.steps = ev.steps
	}
	if len(ev.grid.Steps) > 0 {
		p.grid = ev.grid
	}
	if p.reads = ev.reading; p.reads != nil {
		return // of the same work as before
	}
	switch {
	case ev.opened != nil:
		p.about = *ev.opened
		if p.cur == nil {
			p.busy = "reading the provider"
		}
	case ev.err != nil:
		p.err, p.dead, p.busy = ev.err, p.dead || ev.dead, ""
		p.note("failed: " + app.Hint(ev.err))
	case ev.note != "":
		p.note(ev.note)
	case ev.prompt != nil && ev.prompt.Kind == engine.Progress:
		p.progress(*ev.prompt)
	case ev.prompt != nil:
		p.ask(*ev.prompt, ev.at)
		p.looks = ev.looks
	}
}

func (p *stepper) progress(pr engine.Prompt) {
	p.cur, p.busy = nil, "reading the provider"
	var b bytes.Buffer
	app.Lines{W: &b}.Prompt(pr)
	p.log = append(p.log, strings.Split(strings.TrimRight(b.String(), "\n"), "\n")...)
	p.last, p.err = clean(pr.Text), nil
	if pr.Word != "" {
		p.alarm = append(p.alarm, clean(pr.Word+": "+pr.Text))
	}
	p.watch = nil
	if len(pr.Verdicts) > 0 {
		p.watch = &pr.Verdicts[0]
		p.busy = "watching; the next look comes by itself"
	}
	if len(pr.Findings) > 0 {
		p.found = findings(pr)
	}
}

func (p *stepper) note(text string) {
	p.last = clean(text)
	p.log = append(p.log, p.last)
}

// ask takes a prompt that waits. The same question read again keeps the plan that the
// person was looking at.
func (p *stepper) ask(pr engine.Prompt, at time.Time) {
	keep := p.cur == nil && p.plan < len(pr.Plans) && pr.Step != "" && p.onScreen == key(pr)
	p.cur, p.read, p.busy = &pr, at, ""
	if !keep {
		p.plan, p.off = max(0, slices.IndexFunc(pr.Plans, appliable)), 0
	}
	p.onScreen = key(pr)
	// What a confirmation showed may no longer be what stands there.
	p.dialog, p.form = nil, nil
}
