package main

import (
	"context"

	"cordon/internal/app"
	"cordon/internal/host"
)

// reading has slow reads of hosts tell how far they are, where a person looks on.
func (e env) reading(ctx context.Context, simulated bool) context.Context {
	if !isTerminal(e.err) {
		return ctx
	}
	return host.WithReading(ctx, app.Lines{W: e.err, Simulated: simulated}.Reading())
}
