package app

import (
	"context"
	"fmt"
	"time"

	"cordon/internal/casefile"
	"cordon/internal/exposure"
)

// SetWindow changes the suspect window and records why. Where the exposure list is open
// and the window now begins earlier, the list is opened again and returned; it never
// shrinks. A zero to means: it is not over. Errors: ErrUsage for a window in the
// future, engine.ErrReason without a reason; then nothing was recorded.
func (s *Session) SetWindow(ctx context.Context, from, to time.Time, why string) (*exposure.List, error) {
	now := s.app.clock.Now()
	if from.IsZero() || from.After(now) || to.After(now) {
		return nil, fmt.Errorf("%w: a suspect window begins and ends in the past", ErrUsage)
	}
	if err := s.Run.SetWindow(casefile.Window{From: from, To: to, Why: why}); err != nil {
		return nil, err
	}
	return s.Run.Reopen(ctx)
}
