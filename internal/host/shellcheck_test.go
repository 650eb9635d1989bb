package host

import (
	"os/exec"
	"strings"
	"testing"

	"cordon/internal/testenv"
)

// Every text that is sent to a host is clean by shellcheck, as a whole and as plain sh.
// SC1007: X= Y= is how this code empties several at once. SC2154: N, R, P, A and U come from
// the preamble. SC2034, for the short ones: what only the collector uses of the part they share.
func TestTheScriptsAreCleanByShellcheck(t *testing.T) {
	tool := testenv.Need(t, "shellcheck")
	if testing.Short() {
		t.Skip("seconds of work that the whole run has done")
	}
	for _, s := range Scripts() {
		except := "SC1007,SC2154"
		if s.Kind != KindCollect {
			except += ",SC2034"
		}
		cmd := exec.Command(tool, "-s", "sh", "-e", except, "-f", "gcc", "-")
		cmd.Stdin = strings.NewReader(s.Text)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", s.Name, err, out)
		}
	}
}
