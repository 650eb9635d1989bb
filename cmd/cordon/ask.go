package main

import (
	"context"
	"fmt"
	"os"

	"golang.org/x/term"

	"cordon/internal/app"
	"cordon/internal/secret"
)

// askSecret reads one secret without echo from the terminal. Without a terminal it
// fails: secrets are never taken as arguments.
func (e env) askSecret(_ context.Context, what string) (secret.Secret, error) {
	f, ok := e.in.(*os.File)
	if !ok || !isTerminal(f) {
		return secret.Secret{}, fmt.Errorf("%s: %w: no terminal to ask at; configure a source for it", what, app.ErrNeeds)
	}
	fmt.Fprintf(e.err, "%s: ", what)
	b, err := term.ReadPassword(int(f.Fd()))
	fmt.Fprintln(e.err)
	if err != nil {
		return secret.Secret{}, fmt.Errorf("%s: %w", what, err)
	}
	return secret.New(string(b)), nil
}
