package app

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// StandDown takes a case after a false alarm. Its run then offers to undo, one by one
// and last first, what can be undone and is still in force.
func (a *App) StandDown(ctx context.Context, id, reason string) (*Session, error) {
	if strings.TrimSpace(reason) == "" {
		return nil, fmt.Errorf("%w: stand-down needs --reason: it is kept in the case", ErrUsage)
	}
	s, err := a.Resume(ctx, id)
	if err != nil {
		return nil, err
	}
	if err := s.Run.StandDown(reason); err != nil {
		return nil, fmt.Errorf("stand down %s: %w", id, errors.Join(err, s.Close()))
	}
	return s, nil
}
