package app

import (
	"net/http"

	"cordon/internal/change"
	"cordon/internal/engine"
	"cordon/providers"
)

// refused reports whether a prompt is about a refused change that no standing answer may
// leave behind: later steps rest on it and cannot be taken back, and who was asked to slow
// down, or refuses this credential, will refuse them as well. Only a refused removal is
// left, for that is the ending itself; and what is taken back one by one after a false
// alarm. Where it was not sent at all, or for want of a credential, not even those are.
func refused(p engine.Prompt) bool {
	o := p.Outcome
	switch {
	case o == nil || o.State != change.Refused:
		return false
	case o.Status == 0 || o.Status == http.StatusUnauthorized:
		return true
	}
	return p.Verb != providers.Deregister && p.Verb != engine.Undo
}
