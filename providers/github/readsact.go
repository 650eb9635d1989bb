package github

import "cordon/internal/transport"

// readsAct are the reads of plans, their checks and observations.
var readsAct = []transport.Route{}
