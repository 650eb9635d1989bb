package transport

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"

	"cordon/internal/change"
	"cordon/internal/untrusted"
)

// Errors that callers test for with errors.Is. change.ErrCaptured, ErrNoPermit,
// ErrMismatch and ErrSpent come through as they are.
var (
	ErrElsewhere    = errors.New("not an address of this service")
	ErrRedirect     = errors.New("the service sent us elsewhere; nothing was followed")
	ErrTooLarge     = errors.New("larger than allowed")
	ErrNoCredential = errors.New("no credential")
	ErrNoAnswer     = errors.New("no complete answer") // silence, refused or broken connection, certificate
	ErrSilent       = errors.New("no complete answer in time")
)

// Error is what every failure here looks like.
type Error struct {
	System, Method, Path string
	Err                  error
}

// Error names what was being done; it has no query, body or credential. Foreign text is
// in it only where a certificate is not trusted: what it says of itself, cut and cleaned.
func (e *Error) Error() string {
	return e.System + ": " + e.Method + " " + e.Path + ": " + e.Err.Error()
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// wireError is a broken connection in our own words. net/http quotes the bytes that
// it could not parse and URLs with their queries; neither may be shown or kept.
type wireError struct {
	kind error
	why  string
}

func (e *wireError) Error() string { return e.kind.Error() + ": " + e.why }
func (e *wireError) Unwrap() error { return e.kind }

func classify(ctx context.Context, err error) error {
	var dns *net.DNSError
	var notTrusted *tls.CertificateVerificationError
	var unknownCA x509.UnknownAuthorityError
	var timeout net.Error
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return context.Canceled
	case ctx.Err() != nil:
		return &wireError{ErrSilent, "the service was silent or too slow"}
	case errors.As(err, &notTrusted), errors.As(err, &unknownCA):
		return &wireError{errNotTrusted, untrusted.Clean(err.Error(), 200) + "; set ca_file if the service has its own authority"}
	case errors.As(err, &dns):
		return &wireError{ErrNoAnswer, "the host name was not found; check url in the configuration"}
	case errors.Is(err, syscall.ECONNREFUSED):
		return &wireError{ErrNoAnswer, "connection refused"}
	case errors.Is(err, syscall.ENETUNREACH), errors.Is(err, syscall.EHOSTUNREACH):
		return &wireError{ErrNoAnswer, "no route to the service"}
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return &wireError{ErrNoAnswer, "the connection was closed before the answer was complete"}
	case errors.As(err, &timeout) && timeout.Timeout():
		return &wireError{ErrSilent, "the service was silent or too slow"}
	}
	return &wireError{ErrNoAnswer, "the answer was not HTTP, or the connection broke"}
}

// errNotTrusted is an ErrNoAnswer that repeating cannot help.
var errNotTrusted = &wireError{ErrNoAnswer, "certificate not trusted"}

// NeverSent reports whether err itself says that its call was not sent.
func NeverSent(err error) bool {
	for _, e := range []error{
		change.ErrCaptured, change.ErrNoPermit, change.ErrSpent, change.ErrMismatch,
		ErrNoCredential, ErrElsewhere,
	} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// As puts a failure under a kind of the caller's: wrong for what was answered and cannot be
// used, silent for what was not answered. All else comes back as it is, a missing credential
// or permit among it: the service was not asked, and has refused nothing.
func As(err, wrong, silent error) error {
	switch {
	case errors.Is(err, ErrTooLarge), errors.Is(err, ErrRedirect):
		return fmt.Errorf("%w: %w", wrong, err)
	case errors.Is(err, ErrNoAnswer), errors.Is(err, ErrSilent):
		return fmt.Errorf("%w: %w", silent, err)
	}
	return err
}
