//go:build !linux

package operator

import (
	"os/exec"
	"syscall"
)

// attributes put a command into a process group of its own. This system cannot end it
// with cordon.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// startAndWait runs cmd to its end.
func startAndWait(cmd *exec.Cmd) (started bool, err error) {
	if err := cmd.Start(); err != nil {
		return false, err
	}
	return true, cmd.Wait()
}
