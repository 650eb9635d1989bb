package host

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"cordon/internal/evidence"
	"cordon/internal/host/snapshot"
)

// rootRE is what R of the preamble may be: one word that no shell changes (FORMAT.md).
var rootRE = regexp.MustCompile(`^/[A-Za-z0-9._/+-]+$`)

// Image reads a mounted disk image as the host name, which need not be configured. root
// is where it is mounted. The responder's own shell does it: nothing of the image runs,
// and what only a running machine has is said to be missing. Kept as Gather keeps it.
func (h *Hosts) Image(ctx context.Context, name, root string, to evidence.Sink) ([]evidence.Gap, error) {
	root, err := imageRoot(root, mounts)
	if err != nil {
		return nil, fmt.Errorf("read %s from a disk image: %w", name, err)
	}
	x := Host{Name: name, Root: root}
	if err := x.check(); err != nil {
		return nil, err
	}
	return h.gather(ctx, x, ref(name), snapshot.ProfileImage, to)
}

// imageRoot checks where an image is mounted: a directory of its own, under which
// nothing of this machine is.
func imageRoot(root string, mounts func() (io.ReadCloser, error)) (string, error) {
	bad := func(format string, a ...any) (string, error) {
		return "", fmt.Errorf("%w: %s", ErrBadConfig, fmt.Sprintf(format, a...))
	}
	abs, err := filepath.Abs(root)
	if err != nil {
		return bad("%v", err)
	}
	abs, err = filepath.EvalSymlinks(abs)
	if err != nil {
		return bad("%v", err)
	}
	st, err := os.Stat(abs)
	if here, herr := os.Stat("/"); herr == nil && st != nil && os.SameFile(here, st) {
		return bad("that is this machine's own root; write local: true for a host to read the machine itself")
	}
	switch {
	case err != nil:
		return bad("%v", err)
	case !st.IsDir():
		return bad("%s is no directory; mount the image read-only and name the place", abs)
	case !rootRE.MatchString(abs) || strings.Contains(abs, "/../"):
		return bad("the path %q may hold letters, digits and . _ / + - only; mount it somewhere else", abs)
	}
	f, err := mounts()
	if err != nil {
		return abs, nil // no list of mounts here: the script reads nothing under /proc and /sys of an image anyway
	}
	defer f.Close()
	sc := bufio.NewScanner(f)
	for sc.Scan() { // proc_pid_mountinfo(5)
		front, back, _ := strings.Cut(sc.Text(), " - ")
		at := strings.Fields(front)
		kind, _, _ := strings.Cut(back, " ")
		if len(at) < 5 || !strings.HasPrefix(at[4], abs+"/") {
			continue
		}
		switch kind {
		case "proc", "sysfs", "devtmpfs", "devpts", "tmpfs", "cgroup", "cgroup2", "securityfs", "bpf", "overlay":
			return bad("%s is mounted at %s and shows this machine, not the image: unmount it first", kind, at[4])
		}
	}
	return abs, nil
}

func mounts() (io.ReadCloser, error) { return os.Open("/proc/self/mountinfo") }
