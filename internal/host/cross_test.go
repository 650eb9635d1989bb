package host

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
)

// crossed runs the cross-view on this machine, where a kernel's table says what the test
// puts there. It returns its facts by name.
func crossed(t *testing.T, sh shell, most, counted, budget string, list string) map[string]string {
	t.Helper()
	dir := t.TempDir()
	write(t, dir+"/max", []byte(most+"\n"))
	write(t, dir+"/load", []byte("0.1 0.2 0.3 1/"+counted+" 77\n"))
	text := strings.NewReplacer("/proc/sys/kernel/pid_max", dir+"/max", "/proc/loadavg", dir+"/load", "V + 15", "V + "+budget, "set -- /proc/[0-9]*", "set -- "+list, "up=65536", "up=300").Replace(procSh)
	out := decoded(t, []byte(pipe(t, sh, "N="+testNonce+"\nR=\nP=triage\n"+framesSh+openSh+filesSh+text+"\ntools\nALL=' 1'\ncross\n")))
	facts := map[string]string{}
	part := strings.Split(out, "\x00")
	for i := 0; i+1 < len(part); i += 2 {
		facts[part[i]] = part[i+1]
	}
	return facts
}

// What answers under a number and is not in the list is told, with up to which number was
// asked; the kernel's count of tasks decides whether the numbers beyond are asked for too.
func TestNumbersOfProcessesAreAskedForAsFarAsIsTold(t *testing.T) {
	sleep := exec.Command("sleep", "300")
	if err := sleep.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = sleep.Process.Kill(); _ = sleep.Wait() })
	pid := sleep.Process.Pid
	for _, sh := range shells(t) {
		hides := func(f map[string]string) bool { return strings.Contains(" "+f["hidden"]+" ", fmt.Sprintf(" %d ", pid)) }
		f := crossed(t, sh, strconv.Itoa(pid+9), "9999999", "60", "/proc/1")
		if f["probed"] != strconv.Itoa(pid+9) || f["pidmax"] != f["probed"] || !hides(f) {
			t.Errorf("%s: all numbers: %v", sh.name, f)
		}
		if f = crossed(t, sh, strconv.Itoa(pid+9), "9999999", "60", "/proc/[0-9]*"); hides(f) {
			t.Errorf("%s: what is in the list counts as hidden: %v", sh.name, f)
		}
		if f = crossed(t, sh, "4194304", "9999999", "0", "/proc/1"); f["probed"] != "300" || f["pidmax"] != "4194304" || !strings.HasPrefix(f["tasks"], "9999999 ") || strings.Contains(f["tasks"], "moving") {
			t.Errorf("%s: no time for the rest: %v", sh.name, f)
		}
		// With as many tasks in the list as the kernel counts there is nothing to look for.
		if f = crossed(t, sh, "4194304", "1", "60", "/proc/1"); f["probed"] != "300" || f["tasks"] == "" {
			t.Errorf("%s: all are in the list: %v", sh.name, f)
		}
		if _, err := os.Stat(fmt.Sprintf("/proc/%d", pid)); err != nil {
			t.Fatal(err)
		}
	}
}
