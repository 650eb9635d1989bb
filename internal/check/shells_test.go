package check_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"cordon/internal/host/snapshot"
	"cordon/internal/testenv"
)

// Which shell a host has as /bin/sh must not decide what is found there.
func TestEveryShellReadsTheSame(t *testing.T) {
	tr := newTree(t)
	for _, r := range slices.Concat(panixRows, otherRows) {
		if !r.root {
			r.plant(tr)
		}
		if strings.HasPrefix(r.id, "containers-return") {
			break // enough of every section
		}
	}
	shells := [][]string{{testenv.Need(t, "dash"), "-s"}, {testenv.Need(t, "bash"), "--posix", "-s"}}
	if p, err := exec.LookPath("busybox"); err == nil {
		shells = append(shells, []string{p, "sh", "-s"})
	}
	first := encoded(t, tr.readWith(shells[0]...))
	for _, sh := range shells[1:] {
		if got := encoded(t, tr.readWith(sh...)); got != first {
			a, b := strings.Split(first, "\n"), strings.Split(got, "\n")
			for i := range min(len(a), len(b)) {
				if a[i] != b[i] {
					t.Errorf("%v reads something else than %v at line %d: %.200s, not %.200s", sh, shells[0], i+1, b[i], a[i])
					break
				}
			}
		}
	}
}

func encoded(t *testing.T, s *snapshot.Snapshot) string {
	t.Helper()
	var b strings.Builder
	if err := s.Encode(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
