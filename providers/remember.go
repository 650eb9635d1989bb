package providers

// Rememberer is told what a registration was that the service can no longer tell about,
// so that what else it could reach can be looked for and ended after it was removed.
// Optional. It may be called at any time and contacts nobody.
type Rememberer interface {
	// Remember takes a registration as an earlier case read it. What the service itself
	// tells counts before it.
	Remember(r Runner)
}
