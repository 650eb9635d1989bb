// Package tui is the screen: a start page, the fleet, cards, and the page that walks a
// case.
//
// It decides nothing: it shows the prompts of internal/engine and hands back decisions
// that carry the hash of what was shown; the guards sit below it. It may import
// internal/app and everything below, and it is the only package that knows tea types.
// No page does I/O in Update, no command changes a page, no style or key is a package
// variable. All foreign text passes untrusted.Clean before it is styled.
package tui

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	_ "cordon/internal/termquiet" // before bubbletea, see there

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/lipgloss"

	"cordon/internal/app"
	"cordon/internal/engine"
)

// framesPerSecond is enough for a person and halves what a slow link carries.
const framesPerSecond = 15

// Options say how to show. In and Out are the terminal.
type Options struct {
	In    *os.File
	Out   *os.File
	ASCII bool // no glyph outside ASCII

	Asker *Asker // the one that the app asks through; nil: secrets are asked elsewhere

	Contain string       // reference of a runner: begin on the page of a new case for it
	Spec    app.CaseSpec // for Contain
	Resume  string       // id of a case: begin on its page
	Demo    *Demo        // guided tour
}

// Left says how a screen was left, for what is printed after it.
type Left struct {
	Case   string         // the case that was open last, "" if none was
	Kept   bool           // it can be gone on with: it has no ending and is no dry run
	Ending *engine.Ending // how its run ended, nil while it has not
	Bundle string         // path of the bundle that was written, verified
	Lost   error          // the terminal or the process was taken away; nil: the person left
	Crash  string         // file with the redacted trace of a panic
}

// Run shows the screen until the person leaves, ctx ends or the terminal is gone. The
// run of an open case is brought to a safe point before it returns. The error is for
// what kept the screen from being shown.
func Run(ctx context.Context, a *app.App, o Options) (Left, error) {
	screen, end := context.WithCancelCause(ctx)
	defer end(nil)
	r := lipgloss.NewRenderer(o.Out)
	r.SetHasDarkBackground(true)
	out := output{o.Out, &sync.Mutex{}}
	in := &input{File: o.In, gone: func() { end(errGone) }}
	e := env{
		alone: in.alone, raw: out, getenv: os.Getenv,
		ctx: screen, app: a, th: newTheme(r, o.ASCII), keys: NewKeyMap(), desk: &desk{}, wall: time.Now, clock: a.Clock(), state: a.StateDir(),
		simulated: a.Simulated(), readOnly: a.ReadOnly(), crash: crashFile(a), demo: o.Demo,
	}
	if o.Asker != nil {
		var detach func()
		e.questions, detach = o.Asker.attach()
		defer detach()
	}
	first, then := firstPage(e, o)
	m := newModel(e, first, then)
	p := tea.NewProgram(m,
		tea.WithContext(screen), tea.WithAltScreen(), tea.WithFPS(framesPerSecond), tea.WithOutput(out),
		tea.WithInput(in),
		tea.WithoutSignalHandler(), // the command's context ends on SIGHUP, SIGTERM and SIGINT
	)
	_, err := p.Run()
	discard(o.In)
	left := e.desk.leave(func(text string) { fmt.Fprintf(out, "%s\r\n", text) })
	left.Crash = m.crash
	switch {
	case err == nil:
	case errors.Is(err, tea.ErrProgramPanic):
		left.Crash = "the terminal" // bubbletea has printed it after restoring the screen
	case screen.Err() != nil:
		left.Lost = context.Cause(screen)
		err = nil
	}
	if left.Crash != "" {
		return left, errors.New("cordon failed; the case is safe; trace in " + left.Crash)
	}
	return left, err
}

// errGone means that nobody is at the other end of the terminal any more.
var errGone = errors.New("the terminal is gone")

// firstPage is the start page, with the page of a case on top where one was asked for.
func firstPage(e env, o Options) (page, tea.Cmd) {
	first := newStart(e)
	switch {
	case o.Contain != "":
		return first, openAsked(e, o.Contain, o.Spec)
	case o.Resume != "":
		return first, resumeCase(e, o.Resume)
	}
	return first, nil
}

// ASCII reports whether an environment cannot be trusted to show more than ASCII.
func ASCII(getenv func(string) string) bool {
	for _, k := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := strings.ToLower(getenv(k)); v != "" {
			return !strings.Contains(v, "utf-8") && !strings.Contains(v, "utf8")
		}
	}
	return true
}
