package snapshot

import (
	"encoding/hex"
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
)

// tcpStates are the numbers of include/net/tcp_states.h.
var tcpStates = map[string]string{
	"01": "ESTABLISHED", "02": "SYN_SENT", "03": "SYN_RECV", "04": "FIN_WAIT1", "05": "FIN_WAIT2", "06": "TIME_WAIT",
	"07": "CLOSE", "08": "CLOSE_WAIT", "09": "LAST_ACK", "0A": "LISTEN", "0B": "CLOSING", "0C": "NEW_SYN_RECV",
}

// tableCap is what the collector reads of one table at most.
const tableCap = 2 << 20

// table takes one file of /proc/net.
func (p *parser) table(proto string, b []byte) {
	switch proto {
	case "tcp", "tcp6", "udp", "udp6":
	default:
		p.broken("a table of another name")
		return
	}
	if len(b) >= tableCap {
		p.broken("/proc/net/" + proto + " is larger than the cap")
	}
	for i, line := range strings.Split(string(b), "\n") {
		if i == 0 || strings.TrimSpace(line) == "" {
			continue // the first line is the heading
		}
		s, err := parseSocket(proto, line)
		if err != nil {
			p.broken("a line of /proc/net/" + proto + " was not understood")
			continue
		}
		if len(p.s.Sockets) >= maxSockets {
			p.broken("more sockets than the cap")
			return
		}
		p.s.Sockets = append(p.s.Sockets, s)
	}
}

// parseSocket reads one line of a table (proc_pid_net(5)): sl, local, remote, state,
// queues, timer, retransmits, uid, timeout, inode.
func parseSocket(proto, line string) (Socket, error) {
	f := strings.Fields(line)
	if len(f) < 10 {
		return Socket{}, fmt.Errorf("%d fields", len(f))
	}
	local, err := parseAddr(f[1])
	if err != nil {
		return Socket{}, err
	}
	remote, err := parseAddr(f[2])
	if err != nil {
		return Socket{}, err
	}
	state := tcpStates[strings.ToUpper(f[3])]
	if state == "" {
		return Socket{}, errors.New("unknown state")
	}
	uid, err := strconv.ParseUint(f[7], 10, 32)
	if err != nil {
		return Socket{}, errors.New("no uid")
	}
	inode, err := strconv.ParseUint(f[9], 10, 64)
	if err != nil {
		return Socket{}, errors.New("no inode")
	}
	return Socket{Proto: proto, Local: local, Remote: remote, State: state, UID: int(uid), Inode: inode}, nil
}

// parseAddr reads 0100007F:1F90: 32-bit words in the byte order of the machine,
// which is little-endian wherever runners are built for, and a port.
func parseAddr(s string) (string, error) {
	addr, port, ok := strings.Cut(s, ":")
	b, err := hex.DecodeString(addr)
	if !ok || err != nil || (len(b) != 4 && len(b) != 16) {
		return "", errors.New("not an address")
	}
	n, err := strconv.ParseUint(port, 16, 16)
	if err != nil || len(port) != 4 {
		return "", errors.New("not a port")
	}
	for i := 0; i < len(b); i += 4 {
		b[i], b[i+1], b[i+2], b[i+3] = b[i+3], b[i+2], b[i+1], b[i]
	}
	ip, _ := netip.AddrFromSlice(b)
	return netip.AddrPortFrom(ip.Unmap(), uint16(n)).String(), nil
}

// joinSockets names the owner of each socket that a process holds.
func (p *parser) joinSockets() {
	owner := map[uint64]int{}
	for _, q := range p.s.Processes {
		for _, n := range q.Inodes {
			if owner[n] == 0 {
				owner[n] = q.PID
			}
		}
	}
	for i := range p.s.Sockets {
		if n := p.s.Sockets[i].Inode; n != 0 {
			p.s.Sockets[i].PID = owner[n]
		}
	}
}
