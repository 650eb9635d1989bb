// Package dial makes the HTTP clients of simulated agents: their connections leave
// from their host's address and show there. Standard library only.
package dial

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"
)

// Seen is told of each connection, once when it is there and once when it is not.
type Seen interface {
	Connected(local, remote netip.AddrPort)
	Disconnected(local netip.AddrPort)
}

// Client dials from one address (the zero one: any) and tells seen, which may be nil.
// Timeout is in real time and bounds one request: it guards the lab, not the simulation.
func Client(from netip.Addr, seen Seen, perHost int, timeout time.Duration) *http.Client {
	d := &net.Dialer{Timeout: 10 * time.Second}
	if from.IsValid() {
		d.LocalAddr = net.TCPAddrFromAddrPort(netip.AddrPortFrom(from, 0))
	}
	return &http.Client{
		Timeout: timeout,
		Transport: &http.Transport{
			MaxConnsPerHost: perHost,
			DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
				c, err := d.DialContext(ctx, network, addr)
				if err != nil || seen == nil {
					return c, err
				}
				return track(c, seen), nil
			},
		},
	}
}

// tracked is a connection whose end shows on the host, once.
type tracked struct {
	net.Conn
	once sync.Once
	gone func()
}

func track(c net.Conn, seen Seen) net.Conn {
	local, remote := addrPort(c.LocalAddr()), addrPort(c.RemoteAddr())
	seen.Connected(local, remote)
	return &tracked{Conn: c, gone: func() { seen.Disconnected(local) }}
}

func (t *tracked) Close() error {
	t.once.Do(t.gone)
	return t.Conn.Close()
}

func addrPort(a net.Addr) netip.AddrPort {
	if t, ok := a.(*net.TCPAddr); ok {
		return t.AddrPort()
	}
	return netip.AddrPort{}
}
