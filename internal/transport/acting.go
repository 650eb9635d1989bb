package transport

import "context"

type actingKey struct{}

// AsActing sends the reads below ctx with the credential for acting: only to ask whose it
// is. It lets nothing through that is not on the table of reads.
func AsActing(ctx context.Context) context.Context {
	return context.WithValue(ctx, actingKey{}, true)
}

// Acting reports whether reads below ctx are sent with the credential for acting.
func Acting(ctx context.Context) bool {
	on, _ := ctx.Value(actingKey{}).(bool)
	return on
}
