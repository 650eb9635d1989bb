package main

import (
	"errors"

	"cordon/internal/app"
)

// errSaid ends a command whose message is already on the screen.
var errSaid = errors.New("already said")

// coded is an error with an exit code of its own.
type coded struct {
	error
	code int
}

func (c coded) Unwrap() error { return c.error }

// exitCode maps an error to the design's table.
func exitCode(err error) int {
	var c coded
	if errors.As(err, &c) {
		return c.code
	}
	return app.ExitCode(err)
}

// usage marks a mistake in how the command was called.
func usage(err error) error { return coded{err, app.ExitUsage} }
