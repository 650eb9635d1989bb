package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"golang.org/x/term"

	"cordon/internal/app"
	"cordon/internal/secret"
)

// askSecret reads one secret without echo from the terminal. Without a terminal it
// fails: secrets are never taken as arguments. An interruption ends the asking, and the
// terminal echoes again.
func (e env) askSecret(ctx context.Context, what string) (secret.Secret, error) {
	f, ok := e.in.(*os.File)
	if !ok || !isTerminal(f) {
		return secret.Secret{}, fmt.Errorf("%s: %w: no terminal to ask at; configure a source for it", what, app.ErrNeeds)
	}
	before, err := term.GetState(int(f.Fd()))
	if err != nil {
		return secret.Secret{}, fmt.Errorf("%s: %w", what, err)
	}
	type got struct {
		b   []byte
		err error
	}
	defer e.live.Hold()()
	typed := make(chan got, 1)
	fmt.Fprintf(e.err, "%s: ", what)
	go func() {
		b, err := term.ReadPassword(int(f.Fd()))
		typed <- got{b, err}
	}()
	select {
	case g := <-typed:
		fmt.Fprintln(e.err)
		if g.err != nil {
			return secret.Secret{}, fmt.Errorf("%s: %w", what, g.err)
		}
		return secret.New(string(g.b)), nil
	case <-ctx.Done(): // the read is left behind; the process ends
		fmt.Fprintln(e.err)
		return secret.Secret{}, errors.Join(ctx.Err(), term.Restore(int(f.Fd()), before))
	}
}
