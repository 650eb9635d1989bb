package clock

// Sync is what a machine knows about its own clock. State is "not known" where nobody
// could be asked; then Why says so. Offsets are microseconds.
type Sync struct {
	State      string `json:"state"` // synchronised, not synchronised, not known
	Source     string `json:"source,omitempty"`
	OffsetUS   int64  `json:"offset_us,omitempty"`    // what the kernel still corrects
	MaxErrorUS int64  `json:"max_error_us,omitempty"` // the kernel's own bound
	Why        string `json:"why,omitempty"`
}

// Words of Sync.State.
const (
	Synchronised    = "synchronised"
	NotSynchronised = "not synchronised"
	NotKnown        = "not known"
)
