package github

import (
	"context"

	"cordon/internal/change"
	"cordon/providers"
)

var _ providers.Settler = (*Provider)(nil)

// Settle implements providers.Settler.
func (p *Provider) Settle(ctx context.Context, c change.Change) (state, why string, err error) {
	op, err := p.belongs(c)
	if err != nil {
		return change.Unknown, err.Error(), err
	}
	return op.settle(ctx, p, c)
}
