package app

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"cordon/internal/casefile"
	"cordon/internal/check"
	"cordon/internal/evidence"
	"cordon/internal/host"
	"cordon/internal/host/snapshot"
	"cordon/internal/target"
	"cordon/providers"
)

// HostReport is one read of a host with every check's word.
type HostReport struct {
	Schema        string               `json:"schema"`
	Simulated     bool                 `json:"simulated,omitempty"`
	Host          string               `json:"host"`
	Case          string               `json:"case"`
	Complete      bool                 `json:"complete"`
	Carried       *snapshot.Carried    `json:"carried,omitempty"`  // by which way the answer came
	NotRead       string               `json:"not_read,omitempty"` // why nothing was read; then a refused host key is the only finding there can be
	Ident         snapshot.Ident       `json:"ident"`
	Installations []check.Installation `json:"installations"`
	Results       []check.Result       `json:"results"`
	Gaps          []evidence.Gap       `json:"gaps,omitempty"`

	processes bool // the process table was wholly seen

	unasked bool // of several hosts: nobody went to this one
}

// Exit is 3 with findings of failOn or worse, 4 where something was not seen, else 0.
func (r HostReport) Exit(failOn check.Severity) int {
	if len(check.AtLeast(r.Results, failOn)) > 0 {
		return ExitFindings
	}
	if !r.wholly() {
		return ExitCannotTell
	}
	return ExitDone
}

// wholly reports whether every check that was asked saw all that it needs. A look that
// found something and was partial is none: there may be more. What the profile leaves
// out was not asked.
func (r HostReport) wholly() bool {
	return r.Complete && !slices.ContainsFunc(r.Results, func(x check.Result) bool {
		return x.State == check.Blind || x.State != check.Unasked && x.Why != ""
	})
}

// KnowsHost says why a host cannot be checked: ErrNoHost, nil if it is configured.
func (a *App) KnowsHost(name string) error {
	if _, ok := a.cfg.Hosts[name]; !ok {
		return fmt.Errorf("%w: %q; hosts are named in the configuration", ErrNoHost, name)
	}
	return nil
}

// CheckHost reads a configured host once, keeps the read as a case and runs every
// check. An unreachable host is a report with gaps, and exit code 4; one that shows
// another key than the known one was not logged in to, which is a finding.
func (a *App) CheckHost(ctx context.Context, name, reason string) (HostReport, error) {
	if err := a.KnowsHost(name); err != nil {
		return HostReport{}, err
	}
	return a.checkCase(ctx, name, "log in and read; "+reason, func(set *systems, ref target.Ref, c *casefile.Case) ([]evidence.Gap, error) {
		return set.hosts.Gather(ctx, ref, providers.Triage, c)
	})
}

// CheckImage reads the mounted disk of a host, which need not be configured. Nothing is
// contacted; what only a running machine has could not be looked at.
func (a *App) CheckImage(ctx context.Context, name, root, reason string) (HostReport, error) {
	if a.Simulated() { // a lab has no disks, and a report of this one's would say SIMULATED
		return HostReport{}, fmt.Errorf("read %s: %w: a lab has no disk images", root, ErrUsage)
	}
	return a.checkCase(ctx, name, "read the disk image mounted at "+root+"; "+reason, func(set *systems, _ target.Ref, c *casefile.Case) ([]evidence.Gap, error) {
		return set.hosts.Image(ctx, name, root, c)
	})
}

// checkCase opens a case of its own, has it filled, and judges what is in it.
func (a *App) checkCase(ctx context.Context, name, what string, fill func(*systems, target.Ref, *casefile.Case) ([]evidence.Gap, error)) (HostReport, error) {
	store, err := a.cases()
	if err != nil {
		return HostReport{}, err
	}
	ref := target.Ref{System: target.SSH, Kind: target.Host, ID: name}
	id := a.hostCase("check", name)
	c, err := store.Create(ctx, casefile.Opening{
		ID: id, Title: "check of " + name, Kind: "check", Simulated: a.Simulated(), Targets: []target.Ref{ref}, Tool: a.opened(), Recipients: a.cfg.Evidence.Recipients,
	}, a.actor())
	if err != nil {
		return HostReport{}, err
	}
	r, err := a.checkInto(c, ref, what, fill)
	return r, errors.Join(err, c.Close())
}

// hostCase is the id of a new case about a host: what it is for, the name, the time. An
// id holds 64 characters; a name that is too long for that keeps its beginning, and
// enough of its digest that two such names stay two.
func (a *App) hostCase(kind, name string) string {
	at := a.clock.Now().Format("20060102T150405.000")
	if room := 64 - len(kind) - len(at) - 2; len(name) > room {
		sum := sha256.Sum256([]byte(name))
		name = name[:room-9] + "-" + hex.EncodeToString(sum[:4])
	}
	return kind + "-" + name + "-" + at
}

func (a *App) checkInto(c *casefile.Case, ref target.Ref, what string, fill func(*systems, target.Ref, *casefile.Case) ([]evidence.Gap, error)) (HostReport, error) {
	r := HostReport{Schema: "cordon.host/1", Simulated: a.Simulated(), Host: ref.ID, Case: c.ID()}
	if _, err := c.Append(casefile.Event{Kind: "confirm", Target: ref, OK: true, Msg: what}); err != nil {
		return r, err
	}
	set, err := a.build(a.marker.Derive("case:"+c.ID()), false)
	if err != nil {
		return r, err
	}
	r.Gaps, err = fill(set, ref, c)
	if err != nil {
		return r, err
	}
	v, err := c.View()
	if err != nil {
		return r, err
	}
	r.judge(v, a.checks())
	msg := "read"
	if r.NotRead != "" {
		msg = "not read"
	}
	way, err := json.Marshal(r.Carried)
	if err != nil {
		return r, err
	}
	_, err = c.Append(casefile.Event{Kind: "close", OK: r.Complete, Target: ref, Msg: msg + byWay(r.Carried), Data: way})
	return r, err
}

// judge runs the checks on what the case holds of the host.
func (r *HostReport) judge(v *casefile.View, o check.Options) {
	snap, err := kept(v, "host/"+r.Host+"/snapshot.json")
	if err == nil {
		r.Complete, r.Ident, r.Carried = snap.Complete, snap.Ident, snap.Carried
		r.processes = snap.Seen(snapshot.SectionProc)
		r.Results, r.Installations = check.RunWith(snap, o), check.Installations(snap)
		return
	}
	// It said nothing: not even who we are there.
	r.NotRead, r.Ident.UID = err.Error(), -1
	if len(r.Gaps) > 0 {
		r.NotRead = r.Gaps[0].Why
	}
	r.Results, r.Installations = []check.Result{}, []check.Installation{}
	if snap, err := kept(v, host.RefusedName(r.Host)); err == nil {
		r.Carried = snap.Carried
		for _, x := range check.Run(snap) {
			if len(x.Findings) > 0 {
				r.Results = append(r.Results, x)
			}
		}
	}
}

// kept reads a snapshot back from a case, the newest of that name.
func kept(v *casefile.View, name string) (*snapshot.Snapshot, error) {
	for i := len(v.Items) - 1; i >= 0; i-- {
		if v.Items[i].Name == name {
			return decoded(v, i)
		}
	}
	return nil, fmt.Errorf("%s was not kept", name)
}

// decoded reads item i of a case, a snapshot.
func decoded(v *casefile.View, i int) (*snapshot.Snapshot, error) {
	b, err := v.Blob(v.Items[i].Digest)
	if err != nil {
		return nil, err
	}
	defer b.Close()
	return snapshot.Decode(b)
}
