package app

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"cordon/internal/evidence"
	"cordon/internal/statedir"
	"cordon/internal/target"
	"cordon/providers"
)

// inventorySchema names the file's form. The file is a cache: a process that cannot
// read it goes on without, and nothing in it is ever shown as if it were read now.
const inventorySchema = "cordon.inventory/1"

// maxInventory bounds what is read back, in bytes.
const maxInventory = 256 << 20

// inventory is what providers said when they were asked last. A value is immutable
// once it is in App.inv.
type inventory struct {
	Schema    string                `json:"schema"`
	Simulated bool                  `json:"simulated,omitempty"`
	Systems   map[string]*lastKnown `json:"systems"`
}

// lastKnown is one provider's part. URL tells a provider from another one that had its
// name before.
type lastKnown struct {
	URL     string         `json:"url"`
	Listed  time.Time      `json:"listed,omitzero"` // when the last listing began
	Gaps    []evidence.Gap `json:"gaps,omitempty"`  // of that listing, a scope each
	Runners []knownRunner  `json:"runners"`
}

// knownRunner is one registration with the time of each part.
type knownRunner struct {
	Runner     providers.Runner    `json:"runner"` // as it was listed
	Listed     time.Time           `json:"listed"`
	Detail     *providers.Runner   `json:"detail,omitempty"` // as it was read alone
	DetailAt   time.Time           `json:"detail_at,omitzero"`
	Managers   []providers.Manager `json:"managers,omitempty"`
	ManagersAt time.Time           `json:"managers_at,omitzero"` // zero: never asked
}

// merged is the listed runner with what only details have and a person sets. What moves
// by itself (contact, jobs) is left out: it would pass for as new as the list.
func (k knownRunner) merged() providers.Runner {
	r, d := k.Runner, k.Detail
	if d == nil {
		return r
	}
	if k.DetailAt.After(k.Listed) {
		return *d
	}
	if len(r.Labels) == 0 {
		r.Labels = d.Labels
	}
	if len(r.Projects) == 0 {
		r.Projects = d.Projects
	}
	if r.Owner == "" {
		r.Owner = d.Owner
	}
	if r.Version == "" {
		r.Version = d.Version
	}
	if r.Web == "" {
		r.Web = d.Web
	}
	if r.VersionEnds.IsZero() && r.Version == d.Version {
		r.VersionEnds = d.VersionEnds
	}
	if r.Locked == "" {
		r.Locked = d.Locked
	}
	if r.Untagged == "" {
		r.Untagged = d.Untagged
	}
	return r
}

// read is the time of each part, for fleet.Input.
func (k knownRunner) read() map[string]time.Time {
	at := map[string]time.Time{"provider": k.Listed}
	if !k.DetailAt.IsZero() {
		at["details"] = k.DetailAt
	}
	if !k.ManagersAt.IsZero() {
		at["managers"] = k.ManagersAt
	}
	return at
}

func (a *App) inventoryPath() string {
	name := "inventory.json"
	if a.Simulated() {
		name = "inventory-simulated.json" // a lab's facts never meet real ones
	}
	return filepath.Join(a.state, name)
}

// lastKnown is what is known of a provider without asking it; never nil.
func (a *App) lastKnown(system string) *lastKnown {
	a.invMu.Lock()
	defer a.invMu.Unlock()
	if a.inv == nil {
		a.inv = a.readInventory()
	}
	return a.inv.of(system, a.cfg.Providers[system].URL)
}

func (i *inventory) of(system, url string) *lastKnown {
	if l := i.Systems[system]; l != nil && l.URL == url {
		return l
	}
	return &lastKnown{URL: url}
}

// readInventory is an empty inventory where there is none that can be used.
func (a *App) readInventory() *inventory {
	none := &inventory{Schema: inventorySchema, Simulated: a.Simulated(), Systems: map[string]*lastKnown{}}
	f, err := os.Open(a.inventoryPath())
	if err != nil {
		return none
	}
	defer f.Close()
	var i inventory
	err = json.NewDecoder(io.LimitReader(f, maxInventory)).Decode(&i)
	if err != nil || i.Schema != inventorySchema || i.Simulated != a.Simulated() || i.Systems == nil {
		return none
	}
	return &i
}

// remember changes what is known of one provider and keeps it. What another process
// wrote in between is read first. A read-only process keeps it in memory alone.
func (a *App) remember(system string, edit func(*lastKnown)) error {
	a.invMu.Lock()
	defer a.invMu.Unlock()
	was := a.inv
	if was == nil || !a.o.ReadOnly {
		was = a.readInventory()
	}
	next := &inventory{Schema: inventorySchema, Simulated: a.Simulated(), Systems: map[string]*lastKnown{}}
	for name, l := range was.Systems {
		next.Systems[name] = l
	}
	l := *was.of(system, a.cfg.Providers[system].URL)
	l.Runners = slices.Clone(l.Runners)
	edit(&l)
	next.Systems[system] = &l
	a.inv = next
	if a.o.ReadOnly {
		return nil
	}
	return a.writeInventory(next)
}

func (a *App) writeInventory(i *inventory) error {
	b, err := json.Marshal(i)
	if err != nil {
		return fmt.Errorf("keep the inventory: %w", err)
	}
	if _, err := a.cases(); err != nil { // makes the directory, or says why it is not safe
		return fmt.Errorf("keep the inventory: %w", err)
	}
	if err := statedir.Replace(a.inventoryPath(), b); err != nil {
		return fmt.Errorf("keep the inventory: %w", err)
	}
	return nil
}

// listed takes a listing. A runner that a whole listing no longer has is dropped; after
// a listing with a gap it stays, as of when it was seen.
func (l *lastKnown) listed(rs []providers.Runner, at time.Time, gaps []evidence.Gap) {
	was := map[target.Ref]knownRunner{}
	for _, k := range l.Runners {
		was[k.Runner.Ref] = k
	}
	l.Listed, l.Gaps, l.Runners = at, gaps, nil
	seen := map[target.Ref]bool{}
	for _, r := range rs {
		if seen[r.Ref] {
			continue
		}
		seen[r.Ref] = true
		k := was[r.Ref]
		k.Runner, k.Listed = r, at
		l.Runners = append(l.Runners, k)
	}
	if len(gaps) == 0 {
		return
	}
	for ref, k := range was {
		if !seen[ref] {
			l.Runners = append(l.Runners, k)
		}
	}
	slices.SortFunc(l.Runners, func(x, y knownRunner) int { return compareIDs(x.Runner.Ref, y.Runner.Ref) })
}

func compareIDs(x, y target.Ref) int {
	if d := len(x.ID) - len(y.ID); d != 0 {
		return d
	}
	if x.ID < y.ID {
		return -1
	} else if x.ID > y.ID {
		return 1
	}
	return 0
}

// put changes what is known of one runner, which need not have been listed.
func (l *lastKnown) put(ref target.Ref, edit func(*knownRunner)) {
	i := slices.IndexFunc(l.Runners, func(k knownRunner) bool { return k.Runner.Ref == ref })
	if i < 0 {
		l.Runners = append(l.Runners, knownRunner{Runner: providers.Runner{Ref: ref}})
		i = len(l.Runners) - 1
	}
	edit(&l.Runners[i])
}
