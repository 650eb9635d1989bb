package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"cordon/internal/check"
	"cordon/internal/host"
	"cordon/internal/target"
)

// MaxParallel is how many hosts may be read at the same time.
const MaxParallel = 32

// HostsReport is one read of each of several hosts.
type HostsReport struct {
	Schema    string       `json:"schema"`
	Simulated bool         `json:"simulated,omitempty"`
	Hosts     []HostReport `json:"hosts"` // in the order that was asked for
	Summary   HostsSummary `json:"summary"`
}

// HostsSummary names every host once, by the worst that can be said of it. FailOn is the
// severity that counts.
type HostsSummary struct {
	Asked    int            `json:"asked"`
	FailOn   check.Severity `json:"fail_on"`
	Findings []string       `json:"findings"`                       // of that severity or worse
	Partly   []string       `json:"findings_partly_seen,omitempty"` // those of Findings that were not wholly seen: more may be there
	CouldNot []string       `json:"could_not_look"`                 // else: not read, or not wholly seen
	NotAsked []string       `json:"not_asked,omitempty"`            // the work was interrupted before
	Lesser   []string       `json:"lesser"`                         // else: findings below it, above info
	Clean    []string       `json:"clean"`                          // everything seen, nothing above info
}

// Exit is 3 where a host has findings, 4 where one could not be wholly looked at, else 0.
func (r HostsReport) Exit() int {
	switch {
	case len(r.Summary.Findings) > 0:
		return ExitFindings
	case len(r.Summary.CouldNot)+len(r.Summary.NotAsked) > 0:
		return ExitCannotTell
	}
	return ExitDone
}

// HostProgress is how far a read of several hosts is, after one of them ended.
type HostProgress struct {
	Host           string
	Word           string // which part of HostsSummary it is in
	Done, Of       int
	Findings, Lost int // not wholly seen
	Lesser, Clean  int
}

// LookAt tells what reading the hosts would do, and contacts nobody.
func (a *App) LookAt(ctx context.Context, names []string) ([]host.Looking, error) {
	var out []host.Looking
	for _, n := range names {
		if err := a.KnowsHost(n); err != nil {
			return nil, err
		}
		if a.fleet.hosts == nil {
			return nil, fmt.Errorf("%w: hosts are not looked at offline", ErrNeeds)
		}
		l, err := a.fleet.hosts.Look(ctx, n)
		if err != nil {
			return nil, err
		}
		out = append(out, l)
	}
	return out, nil
}

// CheckHosts reads several hosts, parallel of them at a time, each with one connection
// and as a case of its own. told, if not nil, is called after each, one call at a time.
// A host that cannot be read is a report, never an error; an error is of this machine,
// and then the hosts that were read are in the report.
func (a *App) CheckHosts(ctx context.Context, names []string, reason string, failOn check.Severity, parallel int, told func(HostProgress)) (HostsReport, error) {
	r := HostsReport{Schema: "cordon.hosts/1", Simulated: a.Simulated(), Hosts: make([]HostReport, len(names))}
	for _, n := range names {
		if err := a.KnowsHost(n); err != nil {
			return r, err
		}
	}
	began, read := make([]bool, len(names)), make([]bool, len(names))
	var mu sync.Mutex
	at := HostProgress{Of: len(names)}
	var g errgroup.Group
	g.SetLimit(min(max(parallel, 1), MaxParallel))
	var errs []error
	for i, n := range names {
		g.Go(func() error {
			if ctx.Err() != nil {
				return nil
			}
			mu.Lock()
			began[i] = true
			mu.Unlock()
			one, err := a.CheckHost(ctx, n, reason)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				errs = append(errs, fmt.Errorf("check %s: %w", n, err))
				return nil
			}
			r.Hosts[i], read[i] = one, true
			at.Host = n
			at.count(one.word(failOn))
			if told != nil {
				told(at)
			}
			return nil
		})
	}
	_ = g.Wait() // its functions keep their errors themselves: one host's end is not the others'
	for i, n := range names {
		if !read[i] {
			r.Hosts[i] = HostReport{
				Schema: "cordon.host/1", Simulated: a.Simulated(), Host: n, NotRead: "the work ended before its answer was kept",
				Results: []check.Result{}, Installations: []check.Installation{},
			}
			if r.Hosts[i].unasked = !began[i]; !began[i] {
				r.Hosts[i].NotRead = neverAsked
			}
		}
	}
	r.Summary = summary(r.Hosts, failOn)
	return r, errors.Join(append(errs, ctx.Err())...)
}

// Words for a host in a list of several.
const (
	hasFindings = "findings"
	notSeen     = "could not look, or not at everything"
	notAsked    = "not asked"
	hasLesser   = "lesser findings"
	allClean    = "clean"
)

// neverAsked is why a host has no read that nobody went to.
const neverAsked = "not asked: the work ended before"

// word is the worst that can be said of the host.
func (r HostReport) word(failOn check.Severity) string {
	if r.unasked {
		return notAsked
	}
	switch r.Exit(failOn) {
	case ExitFindings:
		return hasFindings
	case ExitCannotTell:
		return notSeen
	}
	if len(check.AtLeast(r.Results, check.Low)) > 0 {
		return hasLesser
	}
	return allClean
}

func (p *HostProgress) count(word string) {
	p.Word = word
	p.Done++
	switch word {
	case hasFindings:
		p.Findings++
	case notSeen:
		p.Lost++
	case hasLesser:
		p.Lesser++
	default:
		p.Clean++
	}
}

func summary(all []HostReport, failOn check.Severity) HostsSummary {
	s := HostsSummary{Asked: len(all), FailOn: failOn, Clean: []string{}, Lesser: []string{}, Findings: []string{}, CouldNot: []string{}}
	into := map[string]*[]string{hasFindings: &s.Findings, notSeen: &s.CouldNot, notAsked: &s.NotAsked, hasLesser: &s.Lesser, allClean: &s.Clean}
	for _, h := range all {
		word := h.word(failOn)
		*into[word] = append(*into[word], h.Host)
		if word == hasFindings && !h.wholly() {
			s.Partly = append(s.Partly, h.Host)
		}
	}
	return s
}

// hostRef is the reference of a host by its name.
func hostRef(name string) target.Ref {
	return target.Ref{System: target.SSH, Kind: target.Host, ID: name}
}

// Twice returns the first name that is asked for more than once.
func Twice(names []string) (string, bool) {
	for i, n := range names {
		if slices.Contains(names[:i], n) {
			return n, true
		}
	}
	return "", false
}
