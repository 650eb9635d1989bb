package transport

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
)

// Pages of a list are read side by side, and whoever records them is never asked twice at
// once.
func TestOneExchangeIsRecordedAtATime(t *testing.T) {
	var inside, most, all atomic.Int32
	ctx := WithRecorder(t.Context(), func(Exchange) {
		now := inside.Add(1)
		runtime.Gosched() // where another one would come in
		most.Store(max(most.Load(), now))
		inside.Add(-1)
		all.Add(1)
	})
	var wg sync.WaitGroup
	for range 64 {
		wg.Go(func() {
			for range 50 {
				Record(ctx, Exchange{})
			}
		})
	}
	wg.Wait()
	if all.Load() != 64*50 || most.Load() != 1 {
		t.Errorf("%d were recorded, %d at once", all.Load(), most.Load())
	}
}
