package faultfs

import "strings"

// Op is a kind of operation that changes something. Reading is not counted.
type Op string

// Operations. Any stands for all of them in a Rule.
const (
	Any        Op = ""
	OpCreate   Op = "create"
	OpMkdir    Op = "mkdir"
	OpChmod    Op = "chmod"
	OpRename   Op = "rename"
	OpRemove   Op = "remove"
	OpWrite    Op = "write"
	OpSync     Op = "sync"
	OpTruncate Op = "truncate"
	OpSyncDir  Op = "syncdir"
)

// Rule makes operations fail.
type Rule struct {
	Op    Op     // Any: every kind
	Path  string // only where the path ends so; empty: everywhere
	Nth   int    // the n-th that matches from now, from 1
	Every bool   // and all after it
	Keep  int    // of a write: how many bytes get through before it fails; -1: as the seed says
	Err   error  // nil with Stop: ErrStopped
	Stop  bool   // the power goes in the middle of it
	seen  int
}

// Inject adds a rule. Rules are asked in the order they came; the first that fires counts.
func (f *FS) Inject(r Rule) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.rules = append(f.rules, &r)
}

// Clear removes all rules.
func (f *FS) Clear() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.rules = nil
}

// Count is how many operations of a kind there were; Any: of all kinds.
func (f *FS) Count(op Op) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	if op == Any {
		return f.ops
	}
	return f.count[op]
}

// rule counts the operation and returns the rule that makes it fail, or nil.
func (f *FS) rule(op Op, path string) *Rule {
	f.ops++
	f.count[op]++
	var hit *Rule
	for _, r := range f.rules {
		if (r.Op != Any && r.Op != op) || !strings.HasSuffix(path, r.Path) {
			continue
		}
		r.seen++
		if hit == nil && (r.seen == r.Nth || r.Every && r.seen > r.Nth) {
			hit = r
		}
	}
	return hit
}

// step is asked before an operation that either happens or does not.
func (f *FS) step(op Op, path string) error {
	if f.stopped {
		return ErrStopped
	}
	r := f.rule(op, path)
	if r == nil {
		return nil
	}
	return f.fire(r)
}

func (f *FS) fire(r *Rule) error {
	if r.Stop {
		f.stopped = true
	}
	if r.Err == nil {
		return ErrStopped
	}
	return r.Err
}
