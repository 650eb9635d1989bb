package machine

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/netip"
	"os"
	"slices"
	"strings"
)

// TCP states as /proc/net/tcp writes them (include/net/tcp_states.h).
const (
	established = "01"
	listening   = "0A"
)

type socket struct {
	local, remote netip.AddrPort
	state         string
	uid, pid, fd  int
}

// Connect shows an established TCP connection held by pid and returns its inode.
func (m *Machine) Connect(pid int, local, remote netip.AddrPort) (uint64, error) {
	return m.open(pid, socket{local: local, remote: remote, state: established})
}

// Listen shows a listening TCP socket held by pid and returns its inode.
func (m *Machine) Listen(pid int, local netip.AddrPort) (uint64, error) {
	any4 := netip.AddrPortFrom(netip.IPv4Unspecified(), 0)
	return m.open(pid, socket{local: local, remote: any4, state: listening})
}

func (m *Machine) open(pid int, s socket) (uint64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	p, ok := m.procs[pid]
	if !ok {
		return 0, fmt.Errorf("socket of process %d on %s: no such process", pid, m.Name)
	}
	m.inode += 3
	s.pid, s.uid, s.fd = pid, p.UID, m.freeFD(pid)
	m.sockets[m.inode] = s
	if err := m.writeTables(); err != nil {
		return 0, err
	}
	return m.inode, os.Symlink(fmt.Sprintf("socket:[%d]", m.inode), m.fdPath(s))
}

func (m *Machine) fdPath(s socket) string {
	return m.Path(fmt.Sprintf("/proc/%d/fd/%d", s.pid, s.fd))
}

// freeFD is the lowest descriptor above the standard three that pid does not use.
func (m *Machine) freeFD(pid int) int {
	used := map[int]bool{}
	for _, s := range m.sockets {
		if s.pid == pid {
			used[s.fd] = true
		}
	}
	fd := 3
	for used[fd] {
		fd++
	}
	return fd
}

// Disconnect takes a socket away. An unknown inode is no error.
func (m *Machine) Disconnect(inode uint64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	s, ok := m.sockets[inode]
	if !ok {
		return nil
	}
	delete(m.sockets, inode)
	if err := m.writeTables(); err != nil {
		return err
	}
	if err := os.Remove(m.fdPath(s)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

const tableHead = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"

// writeTables writes /proc/net/{tcp,tcp6,udp,udp6} as fs/proc and net/ipv4/tcp_ipv4.c do.
func (m *Machine) writeTables() error {
	var b strings.Builder
	b.WriteString(tableHead)
	for i, inode := range slices.Sorted(maps.Keys(m.sockets)) {
		s := m.sockets[inode]
		line := fmt.Sprintf("%4d: %s %s %s 00000000:00000000 00:00000000 00000000 %5d        0 %d 1 0000000000000000 20 4 30 10 -1",
			i, hexAddr(s.local), hexAddr(s.remote), s.state, s.uid, inode)
		fmt.Fprintf(&b, "%-149s\n", line)
	}
	return replace(m.Path("/proc/net/tcp"), []byte(b.String()))
}

// hexAddr is an IPv4 address as the kernel prints it: the word in host order
// (little endian on every machine the lab runs on), the port in network order.
func hexAddr(a netip.AddrPort) string {
	b := a.Addr().Unmap().As4()
	return fmt.Sprintf("%08X:%04X", binary.LittleEndian.Uint32(b[:]), a.Port())
}
