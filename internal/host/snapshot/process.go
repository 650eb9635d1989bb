package snapshot

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"cordon/internal/untrusted"
)

// hertz is USER_HZ, the unit of times in /proc/<pid>/stat: 100 on every Linux
// architecture that runners come for (proc_pid_stat(5)).
const hertz = 100

const (
	maxProcesses = 10_000
	maxSockets   = 50_000
	maxInodes    = 4096 // of one process
	maxArgs      = 8192
	maxNames     = 512 // of one environment
	maxPath      = 4200
)

// process takes one frame about one pid.
func (p *parser) process(fr Frame) error {
	pid, err := decimal(fr.Name)
	if err != nil {
		return fmt.Errorf("%w: pid %s", ErrForged, untrusted.Clean(fr.Name, 20))
	}
	once := fr.Kind + " " + fr.Name
	if p.seen[once] {
		return fmt.Errorf("%w: a second %s of pid %d", ErrForged, fr.Kind, pid)
	}
	p.seen[once] = true
	if fr.Kind == "pstat" {
		if len(p.pids) >= maxProcesses {
			p.broken("more processes than the cap")
			return nil
		}
		q, ticks, err := parseStat(fr.Body)
		if err == nil && q.PID != pid {
			err = fmt.Errorf("its table says %d", q.PID)
		}
		if err != nil {
			p.broken(fmt.Sprintf("process %d was not understood: %v", pid, err))
			return nil
		}
		if p.ticks == nil {
			p.ticks = map[int]uint64{}
		}
		q.Comm = p.text(string(q.Comm), 64)
		p.procs[pid], p.ticks[pid] = &q, ticks
		p.pids = append(p.pids, pid)
		return nil
	}
	q := p.procs[pid]
	if q == nil {
		return nil // its stat was not understood, and that is noted
	}
	switch fr.Kind {
	case "pstatus":
		if f := strings.Fields(string(fr.Body)); len(f) > 0 {
			if n, err := decimal(f[0]); err == nil {
				q.UID = n
			}
			if len(f) > 4 {
				if n, err := decimal(f[4]); err == nil {
					q.Tracer = n
				}
			}
		}
	case "pcgroup":
		_, path, _ := strings.Cut(string(fr.Body), "::")
		if path == "" {
			_, path, _ = strings.Cut(string(fr.Body), "name=systemd:")
		}
		q.Cgroup = p.text(path, maxPath)
	case "pargs":
		q.Args = p.args(q.Comm, parseCmdline(fr.Body), len(fr.Body) >= argsCap)
	case "penv":
		q.Env = p.environ(fr.Body)
	}
	return nil
}

// parseStat reads /proc/<pid>/stat. The name in parentheses is the process's own
// choice and may hold anything, so fields are counted from the last ")".
func parseStat(b []byte) (Process, uint64, error) {
	open, shut := bytes.IndexByte(b, '('), bytes.LastIndexByte(b, ')')
	if open < 2 || shut < open {
		return Process{}, 0, errors.New("no name in parentheses")
	}
	pid, err := decimal(strings.TrimSpace(string(b[:open])))
	if err != nil {
		return Process{}, 0, errors.New("no pid")
	}
	f := strings.Fields(string(b[shut+1:]))
	if len(f) < 20 {
		return Process{}, 0, fmt.Errorf("%d fields after the name", len(f))
	}
	ppid, err := decimal(f[1])
	if err != nil {
		return Process{}, 0, errors.New("no parent")
	}
	ticks, err := strconv.ParseUint(f[19], 10, 63)
	if err != nil {
		return Process{}, 0, errors.New("no start time")
	}
	return Process{PID: pid, PPID: ppid, UID: -1, Comm: untrusted.Text(b[open+1 : shut])}, ticks, nil
}

// parseCmdline splits /proc/<pid>/cmdline, NUL-terminated words.
func parseCmdline(b []byte) []string {
	b = bytes.TrimRight(b, "\x00")
	if len(b) == 0 {
		return nil
	}
	var out []string
	for _, w := range bytes.SplitN(b, []byte{0}, maxArgs+1) {
		if len(out) == maxArgs {
			break
		}
		out = append(out, string(w))
	}
	return out
}

var memLink = regexp.MustCompile(`^/proc/([0-9]{1,9})/mem$`)

// maxMemory is how many others one process is said to read.
const maxMemory = 64

var socketLink = regexp.MustCompile(`^socket:\[([0-9]{1,18})\]$`)

// links takes NUL-separated pairs of path and target.
func (p *parser) links(b []byte) {
	part := bytes.Split(b, []byte{0})
	if len(part)%2 != 1 || len(part[len(part)-1]) != 0 {
		p.broken("links of processes were cut")
	}
	for i := 0; i+1 < len(part); i += 2 {
		name, target := string(part[i]), string(part[i+1])
		num, what, _ := strings.Cut(name, "/")
		pid, err := decimal(num)
		q := p.procs[pid]
		if err != nil || q == nil {
			continue // started after the table was read
		}
		switch {
		case what == "exe":
			q.Exe = p.text(target, maxPath)
		case what == "cwd":
			q.Cwd = p.text(target, maxPath)
		case strings.HasPrefix(what, "fd/"):
			q.memory(target)
			m := socketLink.FindStringSubmatch(target)
			if m == nil || len(q.Inodes) >= maxInodes {
				continue
			}
			if n, err := strconv.ParseUint(m[1], 10, 64); err == nil && !slices.Contains(q.Inodes, n) {
				q.Inodes = append(q.Inodes, n)
			}
		}
	}
}

// joinProcesses puts the table into the snapshot, in the order of pids.
func (p *parser) joinProcesses() {
	slices.Sort(p.pids)
	boot := p.s.Ident.BootTime
	for _, pid := range p.pids {
		q := p.procs[pid]
		if t := p.ticks[pid]; !boot.IsZero() && t < 1<<40 {
			q.Started = boot.Add(time.Duration(t) * (time.Second / hertz))
		}
		slices.Sort(q.Inodes)
		p.s.Processes = append(p.s.Processes, *q)
	}
}
