package host

import (
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"path"
	"strings"

	"cordon/internal/change"
	"cordon/internal/evidence"
	"cordon/internal/host/snapshot"
	"cordon/internal/target"
	"cordon/internal/untrusted"
)

// How much is read of one file, in bytes.
const (
	DefaultFetch = 16 << 20
	MaxFetch     = 48 << 20 // sealed it still is one item of a case
)

// VerbFetch is the verb of a fetch's plan. No playbook has it.
const VerbFetch = "fetch"

// Wanted is one file of a host that is asked for by its path.
type Wanted struct {
	Path       string   // absolute and clean; /proc/PID/exe is the executable of a process, also a deleted one
	Max        int64    // bytes that are read at most; 0: DefaultFetch
	Recipients []string // age recipients that the file is sealed to; none: it is described, not kept

	came func(read int64) // told how many bytes of it came so far; may be nil
}

// ParseWanted understands PATH, and proc:PID for the executable of a process.
func ParseWanted(s string) (Wanted, error) {
	bad := func(why string) (Wanted, error) {
		return Wanted{}, fmt.Errorf("%w: %s: %s", ErrBadConfig, untrusted.Clean(s, 200), why)
	}
	if pid, ok := strings.CutPrefix(s, "proc:"); ok {
		if pid == "" || len(pid) > 9 || strings.Trim(pid, "0123456789") != "" {
			return bad("a process is proc:NUMBER")
		}
		return Wanted{Path: "/proc/" + pid + "/exe"}, nil
	}
	switch {
	case !strings.HasPrefix(s, "/"):
		return bad("name the file by its absolute path on the host, or a process by proc:NUMBER")
	case len(s) > 4095 || strings.IndexByte(s, 0) >= 0:
		return bad("no path is longer than 4095 bytes or has a zero byte in it")
	case path.Clean(s) != s || s == "/":
		return bad("write the path without . and .. and doubled slashes, and of a file")
	}
	return Wanted{Path: s}, nil
}

// shown is the file for a person.
func (w Wanted) shown() string { return untrusted.Clean(w.Path, 300) }

// limit is Max, filled in and bounded.
func (w Wanted) limit() int64 {
	if w.Max <= 0 {
		return DefaultFetch
	}
	return min(w.Max, MaxFetch)
}

// PlanFetch is what Fetch would do. It contacts nothing.
func (h *Hosts) PlanFetch(name string, w Wanted) (change.Plan, error) {
	x, err := h.find(ref(name))
	if err != nil {
		return change.Plan{}, err
	}
	p := change.Plan{
		Verb: VerbFetch, Option: option(x), Title: title(x) + ": " + w.shown(), Contacts: []target.Ref{ref(name)}, TipsOff: tipsOff(x), Made: h.o.Clock.Now(),
		Covers: fmt.Sprintf("the file is sealed to %s as it is read, at most %d bytes of it, and described", strings.Join(w.Recipients, ", "), w.limit()),
		Limits: append([]string{
			"script " + fetcher().Name + ", sha256 " + fetcher().SHA256,
			"as told by the host: whoever is root there can show another file than the one that runs",
		}, looking(x)...),
	}
	if len(w.Recipients) == 0 {
		p.Covers = fmt.Sprintf("the file is described (size, mode, times, type, hash, whether it looks secret-bearing), not kept: at most %d bytes of it are read into memory", w.limit())
	}
	return p, nil
}

// Fetch reads one file of a host once. What came is described as
// host/NAME/fetched-TIME.json and, where recipients are named, sealed to them as
// host/NAME/fetched-TIME.age; clear bytes are in memory alone, and their name on the
// host is in the description alone. What could not be had is a gap, and Why says why:
// then the error is nil.
func (h *Hosts) Fetch(ctx context.Context, name string, w Wanted, to evidence.Sink) (Fetched, error) {
	x, err := h.find(ref(name))
	if err != nil {
		return Fetched{}, err
	}
	seals, err := sealer(w.Recipients)
	if err != nil {
		return Fetched{}, fmt.Errorf("fetch from %s: %w", name, err)
	}
	j := job{
		script: fetcher(), nonce: newNonce(), profile: "one file", idle: h.o.Timeouts.Idle, total: h.o.Timeouts.Total,
		third: fmt.Sprintf("A=%d:%s", w.limit(), base64.StdEncoding.EncodeToString([]byte(w.Path))),
	}
	f := Fetched{Schema: "cordon.fetched/1", Host: name, Path: untrusted.Text(w.Path), Max: w.limit(), Started: h.o.Clock.Now().UTC()}
	var got answer
	w.came = came(ctx, name, w.limit())
	j.read = func(r io.Reader) (err error) {
		got, err = readFetch(snapshot.NewFrames(r, j.nonce, snapshot.Limits{Total: 2*w.limit() + 1<<20}), w, h.o.Clock.Now)
		return err
	}
	ex, err := h.run(ctx, x, j)
	if ctx.Err() != nil {
		return f, ctx.Err()
	}
	f.Ended, f.Carried = h.o.Clock.Now().UTC(), ex.carried()
	f.tell(got, h.marker(ctx))
	if err != nil {
		f.Why = untrusted.Clean(err.Error(), 500)
	}
	return f, h.keepFetched(ctx, to, &f, got.data, seals, w.Recipients)
}
