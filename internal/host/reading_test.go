package host

import (
	"path/filepath"
	"slices"
	"testing"
)

// Whoever looks on is told how much of a file came; where nobody looks on, nobody is asked.
func TestHowMuchOfAFileCameIsTold(t *testing.T) {
	b := make([]byte, 1<<20+4711) // two pieces
	path := write(t, filepath.Join(t.TempDir(), "big"), b)
	var got []int64
	ctx := WithReading(t.Context(), func(r Reading) {
		if r.Host != "b7" || r.Most != DefaultFetch || r.Section != "" || r.N != 0 || r.Of != 0 {
			t.Errorf("%+v", r)
		}
		got = append(got, r.Bytes)
	})
	if _, err := here(shells(t)[0]).Fetch(ctx, "b7", Wanted{Path: path}, &sink{}); err != nil {
		t.Fatal(err)
	}
	if len(got) < 2 || !slices.IsSorted(got) || got[len(got)-1] != int64(len(b)) {
		t.Errorf("told %v of %d bytes", got, len(b))
	}
}
