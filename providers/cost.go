package providers

import (
	"context"
	"time"

	"cordon/internal/target"
)

// Coster says what JobLister.Jobs will cost before it is asked, where a service has no
// list of a runner's jobs and every place that may use it has to be searched. Optional.
type Coster interface {
	// JobsCost reads a little itself, which is in Cost.Spent.
	JobsCost(ctx context.Context, t target.Ref, since time.Time) (Cost, error)
}

// Cost is an estimate in requests.
type Cost struct {
	Requests int    `json:"requests"`
	AtLeast  bool   `json:"at_least,omitempty"` // more is possible; Why says when
	Spent    int    `json:"spent"`              // requests that the estimate itself took
	Left     int    `json:"left"`               // what the service still allows; -1: not told
	Why      string `json:"why"`
}

type callsKey struct{}

// WithCalls bounds, in requests, one reading that only widens the picture (Jobs,
// Exposure, Published, Returned, Audit). Zero is the provider's own bound. What was left
// out is said in the answer, never dropped.
func WithCalls(ctx context.Context, most int) context.Context {
	return context.WithValue(ctx, callsKey{}, most)
}

// CallsFrom is the bound below ctx, or def where there is none.
func CallsFrom(ctx context.Context, def int) int {
	if n, _ := ctx.Value(callsKey{}).(int); n > 0 {
		return n
	}
	return def
}
