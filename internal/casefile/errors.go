package casefile

import (
	"errors"
	"fmt"
	"syscall"
)

// Errors that callers test for with errors.Is. The text around them says what was
// being done to what, and what to do next.
var (
	ErrUnsafeState = errors.New("state directory is not safe")           // permissions, owner, network file system
	ErrCaseID      = errors.New("not a case id")                         // see ValidID
	ErrExists      = errors.New("case exists already")                   // Create
	ErrNotFound    = errors.New("no such case")                          // Take, Read
	ErrHeld        = errors.New("case is held by another")               // Take: somebody else writes it
	ErrFenced      = errors.New("another process has taken the case")    // Append, Put, Miss: this handle is over
	ErrBroken      = errors.New("record is broken")                      // integrity: the chain, a blob, a cut tail
	ErrVersion     = errors.New("record was written by a newer version") // a line with another v
	ErrPoisoned    = errors.New("journal could not be written for sure") // reopen, which verifies
	ErrNoSpace     = errors.New("no space left for the record")          // nothing was written
	ErrEvent       = errors.New("event cannot be recorded")              // a defect of the caller: bad kind, bad data
	ErrItemName    = errors.New("not a name for evidence")               // see ValidItemName
	ErrClosed      = errors.New("case is closed here")                   // use after Close
	ErrLocked      = errors.New("file is locked by another open handle") // File.Lock
	ErrNoBlob      = errors.New("no such blob in the case")              // View.Blob
	ErrHandedOver  = errors.New("case was handed over")                  // Take: it goes on elsewhere
	ErrPurged      = errors.New("case was purged")                       // only its tombstone is left
	ErrOnHold      = errors.New("case is on legal hold")                 // Purge
)

const elsewhere = "free some space or name another directory (state_dir)"

// BrokenError says where a record stops being whole. It unwraps to ErrBroken.
type BrokenError struct {
	Line int // journal line, from 1; 0: not a line
	Why  string
}

// Error implements error.
func (e *BrokenError) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("%v: %s", ErrBroken, e.Why)
	}
	return fmt.Sprintf("%v: journal line %d: %s", ErrBroken, e.Line, e.Why)
}

// Unwrap makes errors.Is(err, ErrBroken) true.
func (e *BrokenError) Unwrap() error { return ErrBroken }

func broken(line int, format string, args ...any) error {
	return &BrokenError{Line: line, Why: fmt.Sprintf(format, args...)}
}

// full reports whether err means that the disk or the quota is used up.
func full(err error) bool { return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) }

// noSpace marks a full disk as ErrNoSpace with its hint and leaves other errors alone.
func noSpace(err error) error {
	if err != nil && full(err) && !errors.Is(err, ErrNoSpace) {
		return fmt.Errorf("%w: %w; %s", ErrNoSpace, err, elsewhere)
	}
	return err
}
