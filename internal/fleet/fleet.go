// Package fleet joins what providers say about runners with what hosts say about
// installations.
//
// A runner with no installation is a ghost, an installation with no runner a rogue, one
// identity in two places a clone; where the two sides differ both are shown, nothing
// is averaged. A host that nobody looked at makes no ghost. The join is a pure
// function of what was read before; the package may import levels 0 to 3 and no
// concrete provider.
package fleet

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"cordon/internal/check"
	"cordon/internal/evidence"
	"cordon/internal/host/snapshot"
	"cordon/internal/target"
	"cordon/providers"
)

// Schema names the JSON form of a Fleet.
const Schema = "cordon.fleet/1"

// States of a Row; Agreed is the zero value.
const (
	Agreed       = ""             // nothing speaks against it; see Looked for whether anybody looked
	Ghost        = "ghost"        // registered, and not on the hosts that should have it
	Rogue        = "rogue"        // on a host, and not in the list of the account that it names
	NotOurs      = "not ours"     // on a host, and registered to a service or an account that is not configured
	NoProvider   = "no provider"  // on a host, of a kind for which cordon has no provider
	Leftover     = "leftover"     // a root on a host whose registration is gone from the disk
	Clone        = "clone"        // one identity in two places
	Disagreement = "disagreement" // provider and host tell different things
	CannotTell   = "cannot tell"  // on a host; the list it would be on could not be read whole
)

// Words of Row.Looked.
const (
	NotAsked    = "not asked"      // no host of this runner was read
	Looked      = "looked"         // its hosts were read to the end
	CouldNot    = "could not look" // a host was asked and the answer is not whole
	UnknownHost = "host unknown"   // nothing says which host it runs on
)

// Input is what was read, in any order. Everything but Runners may be empty.
type Input struct {
	At        time.Time // when the providers were read
	Runners   []providers.Runner
	Managers  map[target.Ref][]providers.Manager // by runner
	Gaps      []evidence.Gap                     // scopes that could not be listed
	Services  map[string]string                  // provider's name to its base URL
	Hosts     map[string][]string                // configured host to its addresses
	Snapshots []*snapshot.Snapshot               // of each host the newest counts whose list of installations has its end (ReadsOf)

	// Listed are the scopes that providers were asked for, by the provider's name, and
	// whether each was read to its end. Where a provider registers runners to accounts
	// (GitHub), what is not in it was not looked at.
	Listed map[string]map[target.Scope]bool

	// Configured are the scopes that the configuration names for a provider that registers
	// runners to accounts; one of the level "mine", or none, stands for all that its
	// credential sees, and then only Listed tells whose an account is.
	Configured map[string][]target.Scope

	// Read is when parts were read that were not read At: "provider", "details" and
	// "managers" by runner. It ends up in Row.SeenAt.
	Read map[target.Ref]map[string]time.Time
}

// Fleet is immutable once built: share it freely, change nothing in it.
type Fleet struct {
	Schema string         `json:"schema"`
	At     time.Time      `json:"at"`
	Rows   []Row          `json:"rows"` // runners by reference, then what no runner claims by host and root
	Gaps   []evidence.Gap `json:"gaps,omitempty"`
}

// Row is one runner with the installations of it, or an installation that no runner
// claims (Runner.Ref is then zero).
type Row struct {
	Runner        providers.Runner     `json:"runner,omitzero"`
	Managers      []providers.Manager  `json:"managers,omitempty"`
	Installations []check.Installation `json:"installations,omitempty"`
	Hosts         []string             `json:"hosts,omitempty"` // where it is, or where its managers say it is
	Known         string               `json:"known,omitempty"` // how the hosts are known
	State         string               `json:"state"`
	Why           string               `json:"why,omitempty"`
	Looked        string               `json:"looked"`
	Differ        []string             `json:"differ,omitempty"` // every disagreement, both sides
	SeenAt        map[string]time.Time `json:"seen_at"`          // "provider", "details", "managers" and "host/NAME" to when it was read
}

// Build joins. It reads its input and keeps no reference to the maps in it.
func Build(in Input) Fleet {
	f := Fleet{Schema: Schema, At: in.At, Gaps: slices.Clone(in.Gaps)}
	j := newJoin(in)
	for _, r := range j.runners {
		f.Rows = append(f.Rows, j.row(r))
	}
	f.Rows = append(f.Rows, j.unclaimed()...)
	j.contested(f.Rows)
	j.clones(f.Rows)
	slices.SortStableFunc(f.Rows, compareRows)
	return f
}

func compareRows(a, b Row) int {
	az, bz := a.Runner.Ref.IsZero(), b.Runner.Ref.IsZero()
	if az != bz {
		if az {
			return 1
		}
		return -1
	}
	if az {
		x, y := a.Installations[0], b.Installations[0]
		return cmp.Or(strings.Compare(x.Host, y.Host), strings.Compare(string(x.Root), string(y.Root)), strings.Compare(string(x.RunnerID), string(y.RunnerID)))
	}
	return compareRefs(a.Runner.Ref, b.Runner.Ref)
}

// compareRefs orders by system and scope as text and by id as the number it is, so
// that runner 9 comes before runner 10.
func compareRefs(a, b target.Ref) int {
	return cmp.Or(
		strings.Compare(a.System, b.System),
		strings.Compare(a.Scope.Level, b.Scope.Level), strings.Compare(a.Scope.Path, b.Scope.Path),
		strings.Compare(a.Kind, b.Kind),
		cmp.Compare(len(a.ID), len(b.ID)), strings.Compare(a.ID, b.ID),
	)
}

// Count returns how many rows are in each state other than Agreed.
func (f Fleet) Count() map[string]int {
	out := map[string]int{}
	for _, r := range f.Rows {
		if r.State != Agreed {
			out[r.State]++
		}
	}
	return out
}
