// Package casefile keeps cases on disk: one directory a case, an append-only,
// hash-chained journal in it, and the evidence as content-addressed blobs.
//
// The files are the truth; there is no index beside them. One process writes a case
// at a time (flock, and a fencing line that names it); anybody who may read the
// directory can verify it without a lock. What Append, Put and Miss return has been
// synced. When a sync fails, nothing more is written through that handle: the case
// has to be opened again, which verifies it (see FORMAT.md for the exact bytes).
//
// The package knows nothing of engines, bundles or screens. It may import levels 0
// and 1. File systems are told apart by Linux's magic numbers.
package casefile

import "cordon/internal/evidence"

var _ evidence.Sink = (*Case)(nil)
