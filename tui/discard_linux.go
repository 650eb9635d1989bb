package tui

import (
	"os"

	"golang.org/x/sys/unix"
)

// discard throws away what was typed and not read: it was meant for the screen, and the
// shell that comes next would run it. A file that is no terminal has nothing to lose.
func discard(in *os.File) {
	if in != nil {
		_ = unix.IoctlSetInt(int(in.Fd()), unix.TCFLSH, unix.TCIFLUSH)
	}
}
