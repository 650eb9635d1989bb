package app

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"cordon/internal/casefile"
	"cordon/internal/exposure"
	"cordon/internal/host/snapshot"
	"cordon/internal/target"
)

// keptCase is what a case holds that answers questions without asking anybody.
type keptCase struct {
	sum       casefile.Summary
	runners   []target.Ref
	snaps     []*snapshot.Snapshot // of each host in it the newest, and older ones until one that is whole tells its installations
	failed    []failedRead
	exposed   *exposure.List // the last list
	exposedAt time.Time
}

// kept reads the cases of this kind (a lab's or real ones), newest first. A case that
// is unchanged since it was read is not read again; a broken one is passed over here
// and shown where cases are listed.
func (a *App) kept() ([]keptCase, error) {
	if a.o.ReadOnly {
		if _, err := os.Stat(a.state); errors.Is(err, fs.ErrNotExist) {
			return nil, nil // opening the store would make it
		}
	}
	all, err := a.Cases()
	if err != nil {
		return nil, err
	}
	var out []keptCase
	for _, s := range all {
		if s.Broken != "" || s.Purged != nil || s.Simulated != a.Simulated() {
			continue
		}
		k, ok := a.keptBefore(s)
		if !ok {
			v, err := a.View(s.ID)
			if err != nil {
				continue
			}
			k = readKept(s, v)
			a.invMu.Lock()
			if a.keptCases == nil {
				a.keptCases = map[string]keptCase{}
			}
			a.keptCases[s.ID] = k
			a.invMu.Unlock()
		}
		out = append(out, k)
	}
	slices.SortFunc(out, func(x, y keptCase) int { return y.sum.Last.Compare(x.sum.Last) })
	return out, nil
}

func (a *App) keptBefore(s casefile.Summary) (keptCase, bool) {
	a.invMu.Lock()
	defer a.invMu.Unlock()
	k, ok := a.keptCases[s.ID]
	return k, ok && k.sum.Head == s.Head
}

func readKept(s casefile.Summary, v *casefile.View) keptCase {
	k := keptCase{sum: s}
	for _, t := range v.Opening.Targets {
		if t.Kind == target.Runner {
			k.runners = append(k.runners, t)
		}
	}
	done := map[string]bool{}
	for i := len(v.Items) - 1; i >= 0; i-- {
		name := v.Items[i].Name
		if !strings.HasPrefix(name, "host/") || !strings.HasSuffix(name, "/snapshot.json") || done[name] {
			continue
		}
		snap, err := decoded(v, i)
		if err != nil {
			continue
		}
		k.snaps = append(k.snaps, snap)
		done[name] = snap.Complete && snap.Section(snapshot.SectionRunners).End == snapshot.EndOK
	}
	for _, g := range v.Gaps {
		if name, ok := strings.CutSuffix(g.Name, "/snapshot.json"); ok && strings.HasPrefix(name, "host/") {
			k.failed = append(k.failed, failedRead{strings.TrimPrefix(name, "host/"), FailedRead{g.At, g.Why, s.ID}})
		}
	}
	for _, l := range v.Lines {
		var x exposure.List
		if l.Kind == "exposure" && json.Unmarshal(l.Data, &x) == nil {
			k.exposed, k.exposedAt = &x, l.T
		}
	}
	return k
}

// snapshots are those of all cases.
func snapshots(cases []keptCase) []*snapshot.Snapshot {
	var out []*snapshot.Snapshot
	for _, k := range cases {
		out = append(out, k.snaps...)
	}
	return out
}

// resolveTime bounds asking the resolver of this machine for all hosts together.
const resolveTime = 2 * time.Second

// hostAddresses are the names and numbers under which a provider may have seen each
// configured host: what is configured, and what that resolves to on this machine. Hosts
// are not connected to, and names are asked for once a process, all at the same time.
func (a *App) hostAddresses() map[string][]string {
	a.addrOnce.Do(func() {
		ctx, cancel := context.WithTimeout(context.Background(), resolveTime)
		defer cancel()
		var mu sync.Mutex
		var wg sync.WaitGroup
		a.addrs = map[string][]string{}
		for name, h := range a.cfg.Hosts {
			wg.Add(1)
			go func() {
				defer wg.Done()
				found := addresses(ctx, h.Address)
				mu.Lock()
				defer mu.Unlock()
				a.addrs[name] = found
			}()
		}
		wg.Wait()
	})
	return a.addrs
}

func addresses(ctx context.Context, hostport string) []string {
	h, _, err := net.SplitHostPort(hostport)
	if err != nil {
		h = strings.Trim(hostport, "[]")
	}
	out := []string{h}
	if net.ParseIP(h) == nil {
		if found, err := net.DefaultResolver.LookupHost(ctx, h); err == nil {
			out = append(out, found...)
		}
	}
	return out
}
