package providers

import "context"

// Look is which of several looks of a watch a reading belongs to. A service where looking
// everywhere costs a request for each place leaves something out between the ends, and
// says so in Observation.Brief.
type Look string

// Looks. Without one a reading is whole: nothing is left out that can be read.
const (
	LookWhole   Look = ""        // the last, which a verdict rests on
	LookFirst   Look = "first"   // every list, so that an alarm comes early
	LookBetween Look = "between" // what changes soonest, in few requests
)

type lookKey struct{}

// WithLook says which look readings below ctx belong to.
func WithLook(ctx context.Context, l Look) context.Context {
	return context.WithValue(ctx, lookKey{}, l)
}

// LookFrom is the look below ctx.
func LookFrom(ctx context.Context) Look {
	l, _ := ctx.Value(lookKey{}).(Look)
	return l
}
