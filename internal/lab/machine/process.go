package machine

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// hertz is USER_HZ, in which /proc/<pid>/stat counts the start (proc(5)).
const hertz = 100

// Process is one entry of the process table.
type Process struct {
	PID, PPID, UID int
	Comm, Exe, Cwd string
	Args, Env      []string
	Cgroup         string
	Started        time.Time // lab time
}

// Spawn writes a new process under /proc, whole at once. The PID must be free.
func (m *Machine) Spawn(p Process) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	dir := m.Path("/proc/" + strconv.Itoa(p.PID))
	tmp := m.Path("/proc/.new-" + strconv.Itoa(p.PID))
	if err := os.RemoveAll(tmp); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(tmp, "fd"), 0o755); err != nil {
		return err
	}
	for name, text := range map[string]string{
		"stat":    m.stat(p),
		"status":  status(p),
		"cmdline": nulled(p.Args),
		"environ": nulled(p.Env),
		"cgroup":  "0::" + p.Cgroup + "\n",
		"comm":    p.Comm + "\n",
	} {
		if err := os.WriteFile(filepath.Join(tmp, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	links := map[string]string{"exe": p.Exe, "cwd": p.Cwd, "fd/0": "/dev/null", "fd/1": "/dev/null", "fd/2": "/dev/null"}
	for name, to := range links {
		if to == "" {
			continue
		}
		if err := os.Symlink(to, filepath.Join(tmp, name)); err != nil {
			return err
		}
	}
	if err := os.Rename(tmp, dir); err != nil {
		return fmt.Errorf("write process %d: %w", p.PID, err)
	}
	m.procs[p.PID] = p
	return nil
}

// Kill takes the process and its sockets away. An unknown PID is no error.
func (m *Machine) Kill(pid int) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.procs, pid)
	changed := false
	for inode, s := range m.sockets {
		if s.pid == pid {
			delete(m.sockets, inode)
			changed = true
		}
	}
	if changed {
		if err := m.writeTables(); err != nil {
			return err
		}
	}
	return os.RemoveAll(m.Path("/proc/" + strconv.Itoa(pid)))
}

// NextPID gives a number that no process here had before.
func (m *Machine) NextPID() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.pid += 7
	return m.pid
}

// stat is /proc/<pid>/stat: 52 fields, of which the lab knows pid, comm, state, ppid,
// group, session and start; comm may hold anything, also a closing parenthesis.
func (m *Machine) stat(p Process) string {
	f := make([]string, 52)
	for i := range f {
		f[i] = "0"
	}
	pid := strconv.Itoa(p.PID)
	f[0], f[1], f[2], f[3] = pid, "("+p.Comm+")", "S", strconv.Itoa(p.PPID)
	f[4], f[5], f[7] = pid, pid, "-1"
	f[17], f[19] = "20", "1" // priority, threads
	f[21] = strconv.FormatInt(int64(p.Started.Sub(m.boot).Seconds()*hertz), 10)
	f[22], f[23] = "12582912", "2048"
	f[24] = "18446744073709551615"
	f[37] = "17"
	return strings.Join(f, " ") + "\n"
}

func status(p Process) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Name:\t%s\nUmask:\t0022\nState:\tS (sleeping)\nTgid:\t%d\nNgid:\t0\nPid:\t%d\nPPid:\t%d\nTracerPid:\t0\n", p.Comm, p.PID, p.PID, p.PPID)
	for _, k := range []string{"Uid", "Gid"} {
		fmt.Fprintf(&b, "%s:\t%d\t%d\t%d\t%d\n", k, p.UID, p.UID, p.UID, p.UID)
	}
	b.WriteString("FDSize:\t64\nGroups:\t \nVmSize:\t   12288 kB\nVmRSS:\t    8192 kB\nThreads:\t1\n")
	return b.String()
}

func nulled(words []string) string {
	if len(words) == 0 {
		return ""
	}
	return strings.Join(words, "\x00") + "\x00"
}
