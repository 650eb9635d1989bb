package operator

import (
	"os/exec"
	"runtime"
	"syscall"
)

// attributes put a command into a process group of its own and have the kernel kill it
// when cordon dies, however that dies: nobody would end it at its limit any more. What
// the command itself started is not reached by that.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// startAndWait runs cmd to its end. The kernel counts the end of the thread that started
// it as the death of its parent (prctl(2), PR_SET_PDEATHSIG), so that one is kept until then.
func startAndWait(cmd *exec.Cmd) (started bool, err error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := cmd.Start(); err != nil {
		return false, err
	}
	return true, cmd.Wait()
}
