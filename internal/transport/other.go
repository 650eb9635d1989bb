package transport

import "context"

// Record hands x to the recorder of ctx. It is for contacts that do not go through a
// Transport, such as one with a host over SSH.
func Record(ctx context.Context, x Exchange) { record(ctx, x) }
