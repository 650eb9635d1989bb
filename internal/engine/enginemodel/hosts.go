package enginemodel

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"cordon/internal/change"
	"cordon/internal/evidence"
	"cordon/internal/host/snapshot"
	"cordon/internal/target"
	"cordon/internal/witness"
	"cordon/providers"
)

type jsonRaw = json.RawMessage

const start = "start"

// Hosts are the machines of a world, and their applier.
type Hosts struct{ w *World }

var (
	_ providers.System  = (*Hosts)(nil)
	_ providers.Applier = (*Hosts)(nil)
	_ providers.Settler = (*Hosts)(nil)
)

var errAway = errors.New("no route to host")

// Name implements providers.System.
func (h *Hosts) Name() string { return target.SSH }

func (h *Hosts) away(t target.Ref) bool {
	h.w.mu.Lock()
	defer h.w.mu.Unlock()
	return h.w.hosts[t.ID].Away
}

// Plan implements providers.System.
func (h *Hosts) Plan(ctx context.Context, verb string, t target.Ref, _ json.RawMessage) ([]change.Plan, error) {
	if verb == providers.Collect {
		return []change.Plan{{Verb: verb, Option: "only", Title: "read " + t.ID, Contacts: []target.Ref{t}, TipsOff: "a login"}}, nil
	}
	c, err := h.w.planned(ctx, verb, t)
	if err != nil {
		return nil, err
	}
	undo, err := h.w.planned(ctx, start, t)
	if err != nil {
		return nil, err
	}
	undo.Before = raw(state{})
	c.Undo = &undo
	c.Destroys, c.TipsOff = []string{"host/" + t.ID + "/snapshot.json"}, "the agent stops"
	return []change.Plan{{Verb: verb, Option: "only", Title: c.Title, Changes: []change.Change{c}}}, nil
}

// Observe implements providers.System.
func (h *Hosts) Observe(_ context.Context, t target.Ref) ([]witness.Observation, error) {
	now := h.w.Clock.Now()
	mk := func(src witness.Source) witness.Observation {
		return witness.Observation{Subject: t, Source: src, At: now}
	}
	if h.away(t) {
		o := mk(witness.HostProcess)
		o.CouldNot, o.Says = errAway.Error(), errAway.Error()
		return []witness.Observation{o}, nil
	}
	h.w.mu.Lock()
	defer h.w.mu.Unlock()
	x, r := h.w.hosts[t.ID], h.w.runners[h.w.owner[t.ID]]
	if x.Running {
		x.Last = now
	}
	proc, sock, log := mk(witness.HostProcess), mk(witness.HostSocket), mk(witness.HostLog)
	proc.Exists, proc.Says = witness.Of(x.Running), fmt.Sprintf("agent runs: %v", x.Running)
	sock.Polling, sock.Says = witness.Of(x.Running), "sockets"
	log.LastContact, log.Clock, log.Says = x.Last, witness.ClockEvent, "the agent's log"
	if r.Gone && (x.Running || r.Knocks) {
		log.Rejected, log.LastContact = witness.Yes, now
	} else if x.Running {
		log.Polling = witness.Yes
	}
	all := []witness.Observation{proc, sock, log}
	for i, root := range x.Beside {
		o := mk(witness.HostProcess)
		o.Exists, o.Says = witness.Yes, fmt.Sprintf("another runner agent runs on %s: Runner.Listener as process %d", t.ID, i+7)
		if root != "" { // else whose file it runs could not be read
			o.Says += ", from " + root
		}
		o.Subject = target.Ref{System: target.SSH, Scope: target.Scope{Level: target.Host, Path: t.ID}, Kind: target.Installation, ID: fmt.Sprintf("Runner.Listener-%d", i+7)}
		all = append(all, o)
	}
	return all, nil
}

// Gather implements providers.System.
func (h *Hosts) Gather(ctx context.Context, t target.Ref, profile string, to evidence.Sink) ([]evidence.Gap, error) {
	name := "host/" + t.ID + "/snapshot.json"
	if h.away(t) {
		g := evidence.Gap{Name: name, Why: errAway.Error(), At: h.w.Clock.Now()}
		return []evidence.Gap{g}, to.Miss(ctx, g)
	}
	s := snapshot.Snapshot{Schema: snapshot.Schema, Host: t.ID, Profile: profile, Taken: h.w.Clock.Now(), Complete: true}
	h.w.mu.Lock()
	s.Jobs = h.w.hosts[t.ID].Jobs
	h.w.mu.Unlock()
	var b bytes.Buffer
	if err := s.Encode(&b); err != nil {
		return nil, err
	}
	_, err := to.Put(ctx, evidence.Item{Name: name, Source: "collector"}, &b)
	return nil, err
}

// Apply implements providers.Applier.
func (h *Hosts) Apply(ctx context.Context, c change.Change) (change.Outcome, error) {
	op, err := opOf(c)
	if err != nil {
		return change.Outcome{State: change.Refused}, err
	}
	if h.away(c.Target) {
		return change.Outcome{State: change.Refused, Why: errAway.Error()}, errAway
	}
	return h.w.apply(ctx, op, c)
}

// Settle implements providers.Settler.
func (h *Hosts) Settle(_ context.Context, c change.Change) (string, string, error) {
	if h.away(c.Target) {
		return change.Unknown, errAway.Error(), nil
	}
	op, err := opOf(c)
	if err != nil {
		return change.Unknown, err.Error(), err
	}
	return h.w.settle(op, c)
}
