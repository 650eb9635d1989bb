package app

import (
	"context"
	"errors"
	"slices"
	"strings"

	"cordon/internal/bundle"
	"cordon/internal/casefile"
	"cordon/internal/change"
	"cordon/internal/config"
	"cordon/internal/engine"
	"cordon/internal/fleet"
	"cordon/internal/host"
	"cordon/internal/signing"
	"cordon/internal/target"
	"cordon/internal/transport"
)

// Exit codes of the command line (design, "Command line").
const (
	ExitDone       = engine.ExitDone
	ExitFailed     = engine.ExitFailed
	ExitUsage      = engine.ExitUsage
	ExitFindings   = engine.ExitFindings
	ExitCannotTell = engine.ExitCannotTell
	ExitPolls      = engine.ExitPolls
	ExitNeeds      = engine.ExitNeeds
	ExitHeld       = engine.ExitHeld
	ExitIntegrity  = engine.ExitIntegrity
)

// Errors of this package that commands decide on.
var (
	ErrUsage     = errors.New("usage")
	ErrAmbiguous = errors.New("more than one runner has that name")
	ErrNoRunner  = errors.New("no such runner")
	ErrNoHost    = errors.New("no such host in the configuration")
)

// ExitCode maps an error to its exit code.
func ExitCode(err error) int {
	is := func(targets ...error) bool {
		for _, t := range targets {
			if errors.Is(err, t) {
				return true
			}
		}
		return false
	}
	switch {
	case err == nil:
		return ExitDone
	case is(bundle.ErrLost):
		return ExitCannotTell
	case is(bundle.ErrIntegrity, casefile.ErrBroken):
		return ExitIntegrity
	case is(casefile.ErrHeld, casefile.ErrFenced, casefile.ErrHandedOver):
		return ExitHeld
	case is(ErrNeeds, change.ErrNoPermit, engine.ErrReadOnly, engine.ErrGuarded, engine.ErrReason, casefile.ErrOnHold):
		return ExitNeeds
	case is(ErrUsage, bundle.ErrExists, signing.ErrKey, signing.ErrPassphrase, ErrAmbiguous, ErrNoRunner, ErrNoHost, ErrNotLab, host.ErrBadConfig, host.ErrNotOurs, host.ErrUsed, config.ErrInvalid, config.ErrToken, transport.ErrNoCredential, target.ErrSyntax,
		casefile.ErrUnsafeState, casefile.ErrCaseID, casefile.ErrNotFound, casefile.ErrExists, casefile.ErrPurged):
		return ExitUsage
	}
	return ExitFailed
}

// FleetExit is the exit code of a list: a list with a hole in it is not the list. Where
// nothing is in it because no credential could be had, the configuration is at fault.
func FleetExit(f fleet.Fleet) int {
	if len(f.Gaps) == 0 {
		return ExitDone
	}
	for _, g := range f.Gaps {
		if len(f.Rows) > 0 || !strings.Contains(g.Why, transport.ErrNoCredential.Error()) { // a gap is text; ours begins so
			return ExitCannotTell
		}
	}
	return ExitUsage
}

// Hint is the one line that a person gets for an error; errors that were joined stand
// behind each other in it.
func Hint(err error) string {
	if errors.Is(err, context.Canceled) {
		return "interrupted"
	}
	var said []string
	for line := range strings.SplitSeq(err.Error(), "\n") {
		if !slices.Contains(said, line) { // one cause may have stopped several things
			said = append(said, line)
		}
	}
	return strings.Join(said, "; ")
}
