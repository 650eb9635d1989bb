// Command cordon contains compromised CI runners from a terminal.
//
// This package is wiring only: one file a command, each of which opens the app,
// calls it and prints. It may import app, tui and lab.
package main

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"syscall"
)

func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

// streams are the process's three files, passed down so that nothing else reaches
// for them.
type streams struct {
	in  io.Reader
	out io.Writer
	err io.Writer
}

// run is the whole program as a function: arguments in, exit code out.
func run(args []string, in io.Reader, out, errw io.Writer) int {
	// A lost terminal ends the call in flight in good order, as SIGTERM does.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	code := 0
	cmd := newRoot(streams{in, out, errw}, &code)
	cmd.SetArgs(args)
	ran, err := cmd.ExecuteContextC(ctx)
	if err == nil {
		return code
	}
	if !errors.Is(err, errSaid) {
		complain(errw, err, wantsJSON(ran, args))
	}
	return exitCode(err)
}
