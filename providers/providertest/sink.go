package providertest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"sync"

	"cordon/internal/evidence"
)

// Sink keeps evidence in memory, for tests.
type Sink struct {
	mu    sync.Mutex
	Items []evidence.Item
	Files map[string]string // by name, the last one put
	Gaps  []evidence.Gap
	Fail  error // what every Put ends with, for a full disk
}

// Put implements evidence.Sink.
func (s *Sink) Put(_ context.Context, it evidence.Item, r io.Reader) (evidence.Item, error) {
	b, err := io.ReadAll(r)
	if err != nil {
		return it, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.Fail != nil {
		return it, s.Fail
	}
	sum := sha256.Sum256(b)
	it.Digest, it.Size = hex.EncodeToString(sum[:]), int64(len(b))
	if s.Files == nil {
		s.Files = map[string]string{}
	}
	s.Files[it.Name] = string(b)
	s.Items = append(s.Items, it)
	return it, nil
}

// Miss implements evidence.Sink.
func (s *Sink) Miss(_ context.Context, g evidence.Gap) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Gaps = append(s.Gaps, g)
	return nil
}
