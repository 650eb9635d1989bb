package machine

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// LogCap is how large a log may grow, in bytes, before its older half is dropped. What
// a collector reads of its end stays.
const LogCap = 1 << 20

// Machine is one host's tree. It is safe for concurrent use.
type Machine struct {
	Name string
	root string
	boot time.Time

	mu      sync.Mutex
	procs   map[int]Process
	sockets map[uint64]socket
	pid     int
	inode   uint64
}

// New builds the tree under root, which must not exist yet. seed makes ids of the
// machine that do not change between runs.
func New(root string, man Manifest, v Vars, seed uint64) (*Machine, error) {
	m := &Machine{
		Name: v.Host, root: root, boot: v.Start.Add(-11*24*time.Hour - 7*time.Minute).Truncate(time.Second),
		procs: map[int]Process{}, sockets: map[uint64]socket{}, pid: 21000, inode: 90000,
	}
	if err := os.Mkdir(root, 0o755); err != nil {
		return nil, fmt.Errorf("make the tree of %s: %w", v.Host, err)
	}
	if err := build(root, man.Entries, v); err != nil {
		return nil, err
	}
	if err := m.kernel(seed); err != nil {
		return nil, fmt.Errorf("make /proc of %s: %w", v.Host, err)
	}
	for _, s := range man.Processes {
		if err := m.standing(s, v); err != nil {
			return nil, fmt.Errorf("make process %d of %s: %w", s.PID, v.Host, err)
		}
	}
	return m, m.Tick(v.Start)
}

// Root is the directory that stands for "/".
func (m *Machine) Root() string { return m.root }

// Path is where p of the host is on this machine.
func (m *Machine) Path(p string) string { return filepath.Join(m.root, p) }

// kernel writes what of /proc does not belong to a process.
func (m *Machine) kernel(seed uint64) error {
	id := sha256.Sum256(fmt.Appendf(nil, "%d boot %s", seed, m.Name))
	h := hex.EncodeToString(id[:16])
	files := map[string]string{
		"/proc/stat":                      fmt.Sprintf("cpu  184313 0 52123 9876543 1200 0 310 0 0 0\nctxt 1234567\nbtime %d\nprocesses 21000\nprocs_running 1\nprocs_blocked 0\n", m.boot.Unix()),
		"/proc/loadavg":                   "0.21 0.17 0.11 1/137 21000\n",
		"/proc/net/tcp6":                  tableHead,
		"/proc/net/udp":                   tableHead,
		"/proc/net/udp6":                  tableHead,
		"/proc/sys/kernel/hostname":       m.Name + "\n",
		"/proc/sys/kernel/osrelease":      "6.1.0-28-amd64\n",
		"/proc/sys/kernel/random/boot_id": strings.Join([]string{h[:8], h[8:12], h[12:16], h[16:20], h[20:]}, "-") + "\n",
	}
	for p, text := range files {
		if err := os.MkdirAll(filepath.Dir(m.Path(p)), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(m.Path(p), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return m.writeTables()
}

func (m *Machine) standing(s ProcessSpec, v Vars) error {
	where := fmt.Sprintf("/proc/%d", s.PID)
	p := Process{
		PID: s.PID, PPID: s.PPID, UID: s.UID, Comm: s.Comm, Exe: s.Exe, Cwd: s.Cwd, Cgroup: s.Cgroup,
		Started: v.Start.Add(-s.Age),
	}
	if s.Age == 0 {
		p.Started = m.boot
	}
	for _, part := range []struct {
		name string
		from []string
		to   *[]string
	}{{"cmdline", s.Args, &p.Args}, {"environ", s.Env, &p.Env}} {
		for _, text := range part.from {
			x, err := v.expand(where+"/"+part.name, text)
			if err != nil {
				return err
			}
			*part.to = append(*part.to, x)
		}
	}
	if err := m.Spawn(p); err != nil {
		return err
	}
	if s.Listen != "" {
		a, err := netip.ParseAddrPort(s.Listen)
		if err != nil {
			return err
		}
		if _, err := m.Listen(s.PID, a); err != nil {
			return err
		}
	}
	if s.Connect != "" {
		to, err := netip.ParseAddrPort(s.Connect)
		if err != nil {
			return err
		}
		from, err := netip.ParseAddr(v.Address)
		if err != nil {
			return err
		}
		if _, err := m.Connect(s.PID, netip.AddrPortFrom(from, uint16(40000+s.PID%20000)), to); err != nil {
			return err
		}
	}
	return nil
}

// Tick makes /proc/uptime say now; who reads the tree takes btime plus uptime for
// the host's clock.
func (m *Machine) Tick(now time.Time) error {
	up := now.Sub(m.boot).Seconds()
	return replace(m.Path("/proc/uptime"), fmt.Appendf(nil, "%.2f %.2f\n", up, up*1.9))
}

// Log appends one line to the log at p.
func (m *Machine) Log(p string, line []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	full := m.Path(p)
	if st, err := os.Stat(full); err == nil && st.Size() > LogCap {
		if err := dropHalf(full); err != nil {
			return err
		}
	}
	f, err := os.OpenFile(full, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o640)
	if err != nil {
		return err
	}
	_, err = f.Write(append(line, '\n'))
	if e := f.Close(); err == nil {
		err = e
	}
	return err
}

func dropHalf(full string) error {
	b, err := os.ReadFile(full)
	if err != nil {
		return err
	}
	b = b[len(b)/2:]
	return replace(full, b[bytes.IndexByte(b, '\n')+1:])
}
