package tui

import (
	"bytes"
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// canSuspend reports whether somebody is there to wake this process up again: a shell
// with job control above it, in its session and in another process group. In an
// orphaned group (ssh -t HOST cordon, a tmux pane of its own) the kernel discards the
// stop (POSIX 2.4.4), and bubbletea would wait for a continue that never comes.
func canSuspend() bool {
	group, err := unix.Getpgid(0)
	if err != nil {
		return false
	}
	session, err := unix.Getsid(0)
	if err != nil {
		return false
	}
	pid := os.Getppid()
	for range 16 { // sudo and the like stand between, in our group
		sid, err := unix.Getsid(pid)
		if err != nil || sid != session {
			return false
		}
		if g, err := unix.Getpgid(pid); err != nil || g != group {
			return err == nil
		}
		if pid = parent(pid); pid <= 1 {
			return false
		}
	}
	return false
}

// parent of a process by /proc, 0 where there is none to be had.
func parent(pid int) int {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	f := bytes.Fields(b[bytes.LastIndexByte(b, ')')+1:]) // the name before may hold anything
	if len(f) < 2 {
		return 0
	}
	n, _ := strconv.Atoi(string(f[1]))
	return n
}
