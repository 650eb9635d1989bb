package main

import (
	"context"
	"fmt"
	"os"

	"cordon/internal/app"
	"cordon/tui"
)

// onScreen reports whether there is a terminal to draw on and nobody asked for lines.
func (e env) onScreen() bool {
	return !e.flags.json && isTerminal(e.in) && isTerminal(e.out) && e.redraws()
}

// redraws reports whether a terminal takes more than lines, and nobody asked for lines.
func (e env) redraws() bool {
	term := os.Getenv("TERM")
	return !e.flags.plain && term != "" && term != "dumb"
}

// show runs the screen, says afterwards what outlives it and sets the exit code.
func (e env) show(ctx context.Context, a *app.App, o tui.Options) (tui.Left, error) {
	o.In, _ = e.in.(*os.File)
	o.Out, _ = e.out.(*os.File)
	o.Asker = e.asker
	o.ASCII = e.flags.ascii || tui.ASCII(os.Getenv)
	left, err := tui.Run(ctx, a, o)
	lines := e.lines(a)
	switch {
	case left.Ending != nil:
		lines.Printf("case %s ended: %s (exit %d)", left.Case, left.Ending.Word, left.Ending.Exit)
		*e.code = left.Ending.Exit
	case left.Kept:
		lines.Printf("case %s stays open; go on with: %s", left.Case, e.resume(left.Case))
		*e.code = app.ExitNeeds
	case left.Lost != nil:
		*e.code = app.ExitFailed
	}
	if err == nil && left.Lost != nil {
		err = coded{fmt.Errorf("the screen is gone (%w); what was sent is on record", left.Lost), max(*e.code, app.ExitFailed)}
	}
	if left.Bundle != "" {
		fmt.Fprintln(e.out, left.Bundle)
	}
	return left, err
}
