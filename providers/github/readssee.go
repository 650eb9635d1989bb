package github

import "cordon/internal/transport"

// readsSee are the reads of jobs, exposure, the audit log and addresses.
var readsSee = []transport.Route{}
