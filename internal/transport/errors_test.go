package transport

import (
	"errors"
	"fmt"
	"testing"

	"cordon/internal/change"
)

// What was answered and cannot be used, what was not answered, and what was never asked are
// three kinds, and each keeps its cause.
func TestAFailureGoesUnderTheKindThatItIs(t *testing.T) {
	wrong, silent := errors.New("wrong"), errors.New("silent")
	for cause, want := range map[error]error{
		ErrTooLarge: wrong, ErrRedirect: wrong, ErrNoAnswer: silent, ErrSilent: silent,
		ErrNoCredential: nil, ErrElsewhere: nil, change.ErrNoPermit: nil, change.ErrCaptured: nil,
	} {
		got := As(&Error{System: "gh", Method: "GET", Path: "/x", Err: fmt.Errorf("deeper: %w", cause)}, wrong, silent)
		if !errors.Is(got, cause) || errors.Is(got, wrong) != (want == wrong) || errors.Is(got, silent) != (want == silent) {
			t.Errorf("%v: %v", cause, got)
		}
	}
}
