package main

import (
	"context"
	"io"
	"os"

	"golang.org/x/term"

	"cordon/internal/app"
	"cordon/internal/host"
)

// newLive is the line at the foot of the terminal that tells how far reads are; nil where
// nobody looks on.
func newLive(errw io.Writer) *app.Live {
	f, ok := errw.(*os.File)
	if !ok || !isTerminal(f) {
		return nil
	}
	return &app.Live{W: f, Width: func() int {
		w, _, err := term.GetSize(int(f.Fd()))
		if err != nil {
			return 80
		}
		return w
	}}
}

// reading has reads of n hosts tell how far they are where a person looks on: on one line
// that is written again, or with --plain, or where a terminal cannot do that, on lines of
// their own. end takes the line away.
func (e env) reading(ctx context.Context, simulated bool, n int) (_ context.Context, end func()) {
	switch {
	case e.live == nil:
		return ctx, func() {}
	case !e.redraws():
		return host.WithReading(ctx, app.Lines{W: e.err, Simulated: simulated}.Reading()), func() {}
	}
	e.live.Begin(n, simulated)
	return host.WithReading(ctx, e.live.Reading), e.live.Clear
}

// progress writes a line for each of several hosts. It goes to the error stream, so that
// the report can be piped.
func (e env) progress(simulated bool) func(app.HostProgress) {
	lines := app.Lines{W: e.live.Above(e.err), Simulated: simulated}
	return func(p app.HostProgress) {
		lines.HostProgress(p)
		e.live.Done(p.Host)
	}
}
