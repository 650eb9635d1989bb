package operator

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// runs reports whether a process is there and is more than an entry that nobody reaped.
func runs(pid int) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, rest, _ := strings.Cut(string(b), ") ")
	return !strings.HasPrefix(rest, "Z") && !strings.HasPrefix(rest, "X")
}

// TestACommandEndsWithCordon kills a process that has a command under way: nobody is left
// to end it at its limit.
func TestACommandEndsWithCordon(t *testing.T) {
	const where = "CORDON_TEST_OPERATOR_DIR"
	if dir := os.Getenv(where); dir != "" { // the one that is killed
		w := newWorld(t)
		w.action(Action{Do: []string{w.program(t, "do", "echo $$ >"+dir+"/new && mv "+dir+"/new "+dir+"/pid && exec sleep 300")}})
		_, _ = w.apply(t, w.plan(t))
		return
	}
	dir := t.TempDir()
	cordon := exec.Command(os.Args[0], "-test.run=^TestACommandEndsWithCordon$")
	cordon.Env = append(os.Environ(), where+"="+dir)
	if err := cordon.Start(); err != nil {
		t.Fatal(err)
	}
	var pid int
	for range 2000 {
		if b, err := os.ReadFile(filepath.Join(dir, "pid")); err == nil {
			pid, _ = strconv.Atoi(strings.TrimSpace(string(b)))
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	if pid == 0 || !runs(pid) {
		t.Error("the command does not run")
	}
	if err := cordon.Process.Kill(); err != nil {
		t.Error(err)
	}
	_ = cordon.Wait() // it was killed
	for range 1000 {
		if pid == 0 || !runs(pid) {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Errorf("process %d outlives who started it", pid)
	if p, err := os.FindProcess(pid); err == nil {
		_ = p.Kill()
	}
}
