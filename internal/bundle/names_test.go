package bundle

import (
	"fmt"
	"testing"

	"cordon/internal/evidence"
)

type placedInput struct {
	name string
	n    int
}

func asItems(in []placedInput) []evidence.Item {
	out := make([]evidence.Item, len(in))
	for i, x := range in {
		out[i] = evidence.Item{Name: x.name, Digest: fmt.Sprintf("%064x", x.n)}
	}
	return out
}

func TestOnlyPlainNamesAreClean(t *testing.T) {
	for _, ok := range []string{"a", "data/a-b_c.d", ".env", "a/.b", "a..b"} {
		if !cleanName(ok) {
			t.Errorf("%q refused", ok)
		}
	}
	for _, bad := range []string{"", "/a", "a/", "a//b", "..", "a/../b", "./a", "a/.", "a/...", "a b", "a\nb", "ä", "a\\b", "a:b", "a\x00", "a*", string(make([]byte, maxName+1))} {
		if cleanName(bad) {
			t.Errorf("%q accepted", bad)
		}
	}
}
