package host

import (
	"context"

	"cordon/internal/host/snapshot"
)

// Reading is how far the read of a host is: which section it came to, of how many, and
// how much of its answer was taken, of how much at most. Both are in bytes. The answer
// about one file has no sections: then Section is empty, and N and Of are 0.
type Reading struct {
	Host, Section string
	N, Of         int
	Bytes, Most   int64
}

type readingKey struct{}

// WithReading has reads below ctx tell told whenever a section begins, and of one file
// whenever more of it came. It is called in the middle of reading, also for several hosts
// at once, and has to return at once.
func WithReading(ctx context.Context, told func(Reading)) context.Context {
	return context.WithValue(ctx, readingKey{}, told)
}

// entered is what a parser calls, nil where nobody asked.
func (h *Hosts) entered(ctx context.Context, name, profile string, asked bool) func(string, int64) {
	told, ok := ctx.Value(readingKey{}).(func(Reading))
	if !ok {
		return nil
	}
	n, of := 0, len(snapshot.SectionsOf(profile))
	if asked {
		of++
	}
	return func(section string, read int64) {
		n++
		told(Reading{Host: name, Section: section, N: n, Of: of, Bytes: read, Most: h.o.Limits.Most()})
	}
}

// came is what tells how much of one file came, nil where nobody asked.
func came(ctx context.Context, name string, most int64) func(int64) {
	told, ok := ctx.Value(readingKey{}).(func(Reading))
	if !ok {
		return nil
	}
	return func(read int64) { told(Reading{Host: name, Bytes: read, Most: most}) }
}
