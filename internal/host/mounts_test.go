package host

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"cordon/internal/host/snapshot"
	"cordon/internal/testenv"
)

// A file system beside the root is searched too, and one where setuid does not count is not.
func TestSetuidFilesOnWhatIsMountedAreFound(t *testing.T) {
	unshare := testenv.Need(t, "unshare")
	testenv.Root(t) // to mount
	for options, want := range map[string]bool{"rw,relatime": true, "rw,nosuid": false} {
		tr := newTree(t)
		tr.file("/proc/self/mountinfo", "22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n40 22 0:40 / /data "+options+" shared:2 - tmpfs tmpfs rw\n", 0o444)
		tr.file("/data/under", "", 0o644)
		for _, sh := range shells(t) {
			in := `mount -t tmpfs tmpfs "$1/data" && cp /bin/true "$1/data/tool" && chmod 4755 "$1/data/tool" && shift && exec "$@"`
			cmd := exec.Command(unshare, append([]string{"-m", "sh", "-c", in, "sh", tr.root}, sh.argv...)...)
			cmd.Stdin = strings.NewReader("N=" + testNonce + "\nR=" + tr.root + "\nP=" + snapshot.ProfileTriage + "\n" + collector().Text)
			var errs bytes.Buffer
			cmd.Stderr = &errs
			out, err := cmd.Output()
			if err != nil {
				t.Fatalf("%v: %s", err, errs.String())
			}
			s := read(t, out, snapshot.ProfileTriage)
			if got := at(s, "/data/tool") != nil; got != want {
				t.Errorf("%s, mounted %s: found %v", sh.name, options, got)
			}
			if _, err := os.Stat(filepath.Join(tr.root, "data/tool")); err == nil {
				t.Fatal("the mount is not in a namespace of its own")
			}
		}
	}
}
