package app

import (
	"context"
	"errors"
	"fmt"

	"cordon/internal/casefile"
	"cordon/internal/check"
	"cordon/internal/evidence"
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
	NotRead       string               `json:"not_read,omitempty"` // why nothing was read; then no check ran
	Ident         snapshot.Ident       `json:"ident"`
	Installations []check.Installation `json:"installations"`
	Results       []check.Result       `json:"results"`
	Gaps          []evidence.Gap       `json:"gaps,omitempty"`
}

// Exit is 3 with findings of failOn or worse, 4 where a check could not look, else 0.
func (r HostReport) Exit(failOn check.Severity) int {
	if len(check.AtLeast(r.Results, failOn)) > 0 {
		return ExitFindings
	}
	if !r.Complete {
		return ExitCannotTell
	}
	for _, x := range r.Results {
		if x.State == check.Blind {
			return ExitCannotTell
		}
	}
	return ExitDone
}

// KnowsHost says why a host cannot be checked: ErrNoHost, nil if it is configured.
func (a *App) KnowsHost(name string) error {
	if _, ok := a.cfg.Hosts[name]; !ok {
		return fmt.Errorf("%w: %q; hosts are named in the configuration", ErrNoHost, name)
	}
	return nil
}

// CheckHost logs in to a configured host, reads it once, keeps the read as a case and
// runs every check. An unreachable host is a report with gaps, and exit code 4.
func (a *App) CheckHost(ctx context.Context, name, reason string) (HostReport, error) {
	if err := a.KnowsHost(name); err != nil {
		return HostReport{}, err
	}
	store, err := a.cases()
	if err != nil {
		return HostReport{}, err
	}
	ref := target.Ref{System: target.SSH, Kind: target.Host, ID: name}
	id := fmt.Sprintf("check-%s-%s", name, a.clock.Now().Format("20060102T150405.000"))
	c, err := store.Create(ctx, casefile.Opening{
		ID: id, Title: "check of " + name, Kind: "check", Simulated: a.Simulated(), Targets: []target.Ref{ref}, Tool: a.opened(),
	}, a.actor())
	if err != nil {
		return HostReport{}, err
	}
	r, err := a.checkInto(ctx, c, ref, reason)
	return r, errors.Join(err, c.Close())
}

func (a *App) checkInto(ctx context.Context, c *casefile.Case, ref target.Ref, reason string) (HostReport, error) {
	r := HostReport{Schema: "cordon.host/1", Simulated: a.Simulated(), Host: ref.ID, Case: c.ID()}
	if _, err := c.Append(casefile.Event{Kind: "confirm", Target: ref, OK: true, Msg: "log in and read; " + reason}); err != nil {
		return r, err
	}
	set, err := a.build(a.marker.Derive("case:"+c.ID()), false)
	if err != nil {
		return r, err
	}
	r.Gaps, err = set.hosts.Gather(ctx, ref, providers.Triage, c)
	if err != nil {
		return r, err
	}
	v, err := c.View()
	if err != nil {
		return r, err
	}
	msg := "read"
	if snap, err := kept(v, "host/"+ref.ID+"/snapshot.json"); err == nil {
		r.Complete, r.Ident = snap.Complete, snap.Ident
		r.Results, r.Installations = check.Run(snap), check.Installations(snap)
	} else { // it said nothing: not even who we are there
		msg, r.NotRead, r.Ident.UID = "not read", err.Error(), -1
		if len(r.Gaps) > 0 {
			r.NotRead = r.Gaps[0].Why
		}
		r.Results, r.Installations = []check.Result{}, []check.Installation{}
	}
	_, err = c.Append(casefile.Event{Kind: "close", OK: r.Complete, Target: ref, Msg: msg})
	return r, err
}

// kept reads a snapshot back from a case.
func kept(v *casefile.View, name string) (*snapshot.Snapshot, error) {
	for i := len(v.Items) - 1; i >= 0; i-- {
		if v.Items[i].Name != name {
			continue
		}
		b, err := v.Blob(v.Items[i].Digest)
		if err != nil {
			return nil, err
		}
		defer b.Close()
		return snapshot.Decode(b)
	}
	return nil, fmt.Errorf("%s was not kept", name)
}
