package runner_test

import (
	"context"
	"net/netip"
	"sync"
	"time"
)

// jumping is a clock on which waiting takes no time. Events happen at their time, in
// the goroutine that waits; the context it gives ends at End.
type jumping struct {
	mu     sync.Mutex
	now    time.Time
	events []event
	end    time.Time
	cancel context.CancelFunc
}

type event struct {
	at time.Time
	do func()
}

var epoch = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func newJumping(length time.Duration) (*jumping, context.Context) {
	ctx, cancel := context.WithCancel(context.Background())
	return &jumping{now: epoch, end: epoch.Add(length), cancel: cancel}, ctx
}

// after has do happen that long after the start; in order of time only.
func (j *jumping) after(d time.Duration, do func()) {
	j.events = append(j.events, event{epoch.Add(d), do})
}

func (j *jumping) Now() time.Time {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.now
}

func (j *jumping) set(t time.Time) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.now = t
}

func (j *jumping) Wait(ctx context.Context, d time.Duration) error {
	until := j.Now().Add(d)
	for len(j.events) > 0 && !j.events[0].at.After(until) {
		e := j.events[0]
		j.events = j.events[1:]
		j.set(e.at)
		e.do()
	}
	j.set(until)
	if until.After(j.end) {
		j.cancel()
	}
	return ctx.Err()
}

// notebook is a host that only keeps what is said on it.
type notebook struct {
	mu    sync.Mutex
	lines [][]byte
	open  map[netip.AddrPort]bool
	jobs  map[int][]string
	ever  int
}

func newNotebook() *notebook {
	return &notebook{open: map[netip.AddrPort]bool{}, jobs: map[int][]string{}}
}

func (n *notebook) Log(line []byte) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.lines = append(n.lines, line)
}

func (n *notebook) Connected(local, _ netip.AddrPort) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.open[local] = true
	n.ever++
}

func (n *notebook) Disconnected(local netip.AddrPort) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.open, local)
}

func (n *notebook) JobStarted(id int, env []string) { n.jobs[id] = env }
func (n *notebook) JobEnded(id int)                 { delete(n.jobs, id) }
