package providers

import (
	"context"
	"errors"
	"fmt"
)

// Malformed says that an answer is not one that its call has. What names the fault in our
// own words: nothing foreign may be in it. It wraps ErrMalformed.
func Malformed(request string, status int, what string) error {
	return fmt.Errorf("%s: %w (HTTP %d): %s", request, ErrMalformed, status, what)
}

// Doubtful reports whether an answer to a change leaves open what it did: there was none
// (status 0), or err says that it cannot be trusted or was not waited for.
func Doubtful(status int, err error) bool {
	return status == 0 || errors.Is(err, ErrUnavailable) || errors.Is(err, ErrMalformed) ||
		errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}
