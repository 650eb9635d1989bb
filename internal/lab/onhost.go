package lab

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"sync"
)

// onHost is what the process of an agent holds on its host, whichever agent it is: its
// connections and the processes of its jobs. All of it shows under /proc until clear.
type onHost struct {
	host   *host
	pid    int
	cancel context.CancelFunc
	done   chan struct{}

	mu    sync.Mutex
	conns map[netip.AddrPort]uint64
	jobs  map[string][]int // job to its processes
	over  bool
}

func (h *host) holding(pid int) *onHost {
	return &onHost{host: h, pid: pid, done: make(chan struct{}), conns: map[netip.AddrPort]uint64{}, jobs: map[string][]int{}}
}

func (o *onHost) number() int { return o.pid }

// clear takes its processes away, and those that came with it.
func (o *onHost) clear(with ...int) error {
	o.mu.Lock()
	o.over = true
	pids := slices.Concat([]int{o.pid}, with)
	for _, list := range o.jobs {
		pids = append(pids, list...)
	}
	o.mu.Unlock()
	for _, pid := range pids {
		if err := o.host.m.Kill(pid); err != nil {
			return fmt.Errorf("end process %d on %s: %w", pid, o.host.spec.Name, err)
		}
	}
	return nil
}

// Connected implements runner.Host and ghrunner.Host.
func (o *onHost) Connected(local, remote netip.AddrPort) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.over {
		return
	}
	inode, err := o.host.m.Connect(o.pid, local, remote)
	o.host.lab.must(err)
	o.conns[local] = inode
}

// Disconnected implements runner.Host and ghrunner.Host.
func (o *onHost) Disconnected(local netip.AddrPort) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.over {
		return
	}
	o.host.lab.must(o.host.m.Disconnect(o.conns[local]))
	delete(o.conns, local)
}

func (o *onHost) jobEnded(job string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, pid := range o.jobs[job] {
		o.host.lab.must(o.host.m.Kill(pid))
	}
	delete(o.jobs, job)
}
