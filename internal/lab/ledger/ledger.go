// Package ledger is the lab's own record of what really happened in it.
//
// It judges tests: an effect stands here once for each time something changed, no
// matter what cordon's journal or an HTTP answer said. It imports internal/clock only.
package ledger

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"sync"
	"time"

	"cordon/internal/clock"
)

// Keep is how many of the last entries stay in memory; the file has all of them.
const Keep = 4096

// Entry is one effect. Seq starts at 1 and has no holes.
type Entry struct {
	Seq    int       `json:"seq"`
	Time   time.Time `json:"t"` // lab time
	Effect string    `json:"effect"`
	Actor  string    `json:"actor"` // kind of credential: act, look, runner-token, job-token, registration-token, ssh, lab
	Target string    `json:"target"`
	Detail string    `json:"detail,omitempty"`
}

// Counters counts traffic, effects or not.
type Counters struct {
	Requests map[string]int `json:"requests"` // by method and route, and by status: "GET /api/v4/version 200"
	Conns    map[string]int `json:"ssh_connections"`
	Sessions map[string]int `json:"ssh_sessions"`
}

// Ledger is safe for concurrent use. Each line of its file is written by one write
// call, so that a reader never sees half of one followed by another.
type Ledger struct {
	clock clock.Clock

	mu      sync.Mutex
	file    *os.File
	seq     int
	last    []Entry
	counter Counters
}

// Open makes (or empties) the file at path, mode 0600.
func Open(path string, c clock.Clock) (*Ledger, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the lab's ledger: %w", err)
	}
	return &Ledger{clock: c, file: f, counter: Counters{
		Requests: map[string]int{}, Conns: map[string]int{}, Sessions: map[string]int{},
	}}, nil
}

// Effect records that something changed. A ledger that cannot be written would
// make every test that reads it worthless, so it stops the process.
func (l *Ledger) Effect(effect, actor, target, detail string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.seq++
	e := Entry{Seq: l.seq, Time: l.clock.Now(), Effect: effect, Actor: actor, Target: target, Detail: detail}
	if len(l.last) == Keep {
		l.last = append(l.last[:0], l.last[1:]...)
	}
	l.last = append(l.last, e)
	b, err := json.Marshal(e)
	if err == nil {
		_, err = l.file.Write(append(b, '\n'))
	}
	if err != nil {
		panic(fmt.Sprintf("lab ledger: write entry %d: %v", e.Seq, err))
	}
}

// Entries is a copy of the last Keep entries, oldest first.
func (l *Ledger) Entries() []Entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]Entry{}, l.last...)
}

// Request counts one answered request.
func (l *Ledger) Request(method, route string, status int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.counter.Requests[method+" "+route]++
	l.counter.Requests[fmt.Sprintf("%s %s %d", method, route, status)]++
}

// Conn counts one SSH connection to host, also one that does not log in.
func (l *Ledger) Conn(host string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.counter.Conns[host]++
}

// Session counts one SSH command on host, also one that is refused.
func (l *Ledger) Session(host string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.counter.Sessions[host]++
}

// Counters is a copy.
func (l *Ledger) Counters() Counters {
	l.mu.Lock()
	defer l.mu.Unlock()
	return Counters{
		Requests: maps.Clone(l.counter.Requests),
		Conns:    maps.Clone(l.counter.Conns),
		Sessions: maps.Clone(l.counter.Sessions),
	}
}

// Close closes the file. No Effect may follow.
func (l *Ledger) Close() error { return l.file.Close() }
