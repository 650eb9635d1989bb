package check

import (
	"fmt"
	"strings"
	"time"

	"cordon/internal/evidence"
	"cordon/internal/host/snapshot"
)

// sameStart is how far two reads may differ about when one process started: it is counted
// from the boot, in ticks.
const sameStart = 5 * time.Second

// Still names the processes behind findings of min or worse that a later look at the same
// host shows too, each once and worst first: "process 512 (kworkerd)". A number that was
// given to another process since is not one. What last did not see is not told as gone by
// this: it is only not among them. A nil snapshot shows nothing.
func Still(results []Result, min Severity, first, last *snapshot.Snapshot) []string {
	if first == nil || last == nil {
		return nil
	}
	was := map[int]*snapshot.Process{}
	for i := range first.Processes {
		was[first.Processes[i].PID] = &first.Processes[i]
	}
	runs := map[string]bool{}
	for i := range last.Processes {
		if p := &last.Processes[i]; same(was[p.PID], p) {
			runs[evidenceProc(p)[0]] = true
		}
	}
	var out []string
	for _, f := range AtLeast(results, min) {
		for _, e := range f.Evidence {
			var pid int
			if _, err := fmt.Sscanf(e, "processes:%d", &pid); err != nil || !runs[e] {
				continue
			}
			delete(runs, e)
			out = append(out, string(text("process %d (%s)", pid, quote(string(was[pid].Comm)))))
		}
	}
	return out
}

func same(a, b *snapshot.Process) bool {
	if a == nil || a.Comm != b.Comm {
		return false
	}
	return a.Started.IsZero() || b.Started.IsZero() || a.Started.Sub(b.Started).Abs() <= sameStart
}

// Looks are the digests of what a case kept of a host: of the read that the checks judged
// last, and of the last look of a watch after it. Empty where there is none.
func Looks(items []evidence.Item, host string) (read, last string) {
	for _, it := range items {
		switch rest, ok := strings.CutPrefix(it.Name, "host/"+host+"/"); {
		case ok && rest == "snapshot.json":
			read, last = it.Digest, ""
		case ok && strings.HasPrefix(rest, "watch-") && strings.HasSuffix(rest, ".json"):
			last = it.Digest
		}
	}
	return read, last
}
