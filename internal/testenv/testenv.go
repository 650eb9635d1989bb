// Package testenv answers "is this here?" for tests that need more than Go.
//
// On a developer's machine a test whose tool is missing is skipped, and says what
// is missing. Under CORDON_CI=1 it fails: a suite that skips quietly is green for
// the wrong reason. Only tests import it; it may import the standard library.
package testenv

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// packages says where .ci/run gets a tool from on Debian; other tools are in a
// package of their own name.
var packages = map[string]string{
	"ssh": "openssh-client", "ssh-keygen": "openssh-client", "ssh-agent": "openssh-client", "ssh-add": "openssh-client",
	"sshd": "openssh-server", "gcc": "gcc", "ss": "iproute2", "ip": "iproute2", "ps": "procps",
	"sha256sum": "coreutils", "setpriv": "util-linux", "unshare": "util-linux", "setcap": "libcap2-bin", "getcap": "libcap2-bin", "script": "bsdutils", "diff": "diffutils", "find": "findutils",
}

// Need returns the path of tool, looking in the sbin directories too. Where it is
// missing the test is skipped, or fails under CORDON_CI=1.
func Need(t testing.TB, tool string) string {
	t.Helper()
	path, err := look(tool, "/usr/sbin", "/sbin")
	if err != nil {
		missing(t, os.Getenv("CORDON_CI") == "1", tool)
	}
	return path
}

func look(tool string, also ...string) (string, error) {
	path, err := exec.LookPath(tool)
	for _, dir := range also {
		if err == nil {
			break
		}
		path, err = exec.LookPath(filepath.Join(dir, tool))
	}
	return path, err
}

func missing(t testing.TB, ci bool, tool string) {
	t.Helper()
	from := packages[tool]
	if from == "" {
		from = tool
	}
	why := fmt.Sprintf("%s is not installed; .ci/run installs it on Debian (apt-get install %s)", tool, from)
	if ci {
		t.Fatal(why)
		return
	}
	t.Skip(why)
}

// Root skips a test that only root can run. .ci/run runs the suite as root and
// as an ordinary user, so it is not a failure under CORDON_CI=1.
func Root(t testing.TB) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("needs root; .ci/run runs the suite as root too")
	}
}

// Ordinary skips a test of refused permissions when root, whom nothing refuses,
// runs it. See Root.
func Ordinary(t testing.TB) {
	t.Helper()
	if os.Getuid() == 0 {
		t.Skip("needs an ordinary user; .ci/run runs the suite as one too")
	}
}
