package providers

import "cordon/internal/target"

// Scoped says where the runners of a system are looked for. Optional; it asks nobody.
type Scoped interface {
	// Scopes are as configured, each once: some hold runners, others stand for several that do.
	Scopes() []target.Scope
}
