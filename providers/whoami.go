package providers

import (
	"context"
	"time"

	"cordon/internal/untrusted"
)

// Knower says who its credentials are. Optional; reads only.
type Knower interface {
	// WhoAmI is one Identity for each credential that is in use: the one for looking, and
	// the one for acting once something was done with it. What the service does not tell is
	// an Identity with CouldNot, not an error; the error is for a finished ctx.
	WhoAmI(ctx context.Context) ([]Identity, error)
}

// Identity is who a credential is, as its provider says, never the credential itself.
type Identity struct {
	Credential string           `json:"credential"` // look, act
	Login      untrusted.Text   `json:"login,omitempty"`
	Kind       string           `json:"kind,omitempty"`  // user, bot, administrator, auditor
	Token      untrusted.Text   `json:"token,omitempty"` // the name that its owner gave it
	Scopes     []untrusted.Text `json:"scopes,omitempty"`
	Expires    time.Time        `json:"expires,omitzero"` // zero: never, or not told
	CouldNot   string           `json:"could_not,omitempty"`
}
