package host

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"cordon/internal/evidence"
	"cordon/internal/host/snapshot"
	"cordon/internal/target"
	"cordon/internal/untrusted"
	"cordon/providers"
)

// maxGaps is how many gaps of one snapshot are written one by one; all of them are
// in the snapshot.
const maxGaps = 40

// Read logs in to the host once and reads it. The snapshot is nil only where nothing
// was answered; with an error it holds what came before it (snapshot.ErrForged,
// ErrCut, ErrTooLarge, or one of this package).
func (h *Hosts) Read(ctx context.Context, name, profile string) (*snapshot.Snapshot, error) {
	x, err := h.find(ref(name))
	if err != nil {
		return nil, err
	}
	if snapshot.SectionsOf(profile) == nil {
		return nil, fmt.Errorf("read host %s: no profile %q; use %s or %s", name, profile, snapshot.ProfileTriage, snapshot.ProfileWatch)
	}
	return h.read(ctx, x, profile)
}

// read is Read of a host that was found.
func (h *Hosts) read(ctx context.Context, x Host, profile string) (*snapshot.Snapshot, error) {
	var s *snapshot.Snapshot
	j := job{
		script: collector(), nonce: newNonce(), third: "P=" + profile, profile: profile,
		idle: h.o.Timeouts.Idle, total: h.o.Timeouts.Total,
	}
	list := listed(ctx)
	if profile != snapshot.ProfileTriage {
		list = asking{}
	}
	j.third += list.line()
	if n := len(list.sent); n > 0 {
		j.profile += fmt.Sprintf(", asked for %d listed paths", n)
	}
	sent := h.o.Clock.Now()
	j.read = func(r io.Reader) error {
		got, err := snapshot.Parse(r, snapshot.Expect{
			Host: x.Name, Nonce: j.nonce, Profile: profile, Sent: sent, Now: h.o.Clock.Now, Marker: h.marker(ctx), Limits: h.o.Limits,
			Asked: list.sent, Hashes: list.hashes, Entered: h.entered(ctx, x.Name, profile, len(list.sent) > 0),
		})
		got.Asked = append(got.Asked, list.unsent...)
		if got.Complete || len(got.Sections) > 0 && got.Ident.UID >= 0 {
			s = got
		}
		return err
	}
	if x.Reread && profile == snapshot.ProfileTriage {
		j.again = func(g *guard, way second) int {
			if s == nil || !s.Complete {
				return 0
			}
			return h.reread(ctx, s, g, way)
		}
	}
	ex, err := h.run(ctx, x, j)
	if s != nil {
		s.Carried = ex.carried()
		if ex.Trust != nil {
			s.Sections = append(s.Sections, snapshot.Section{Name: snapshot.SectionHostKey, End: snapshot.EndOK})
		}
	}
	return s, err
}

// Gather implements providers.System: one read, kept as host/NAME/snapshot.json
// (triage) or host/NAME/watch-TIME.json (watch). A host that cannot be read is a gap.
func (h *Hosts) Gather(ctx context.Context, t target.Ref, profile string, to evidence.Sink) ([]evidence.Gap, error) {
	x, err := h.find(t)
	if err != nil && !errors.Is(err, ErrBadConfig) {
		return nil, err
	}
	if profile != providers.Triage && profile != providers.Watch {
		return nil, fmt.Errorf("gather %s: no profile %q; use %s or %s", t, profile, providers.Triage, providers.Watch)
	}
	x.Name = t.ID
	if err != nil {
		gaps := []evidence.Gap{{Name: itemName(t.ID, profile, h.o.Clock.Now()), Why: untrusted.Clean(err.Error(), 500), At: h.o.Clock.Now()}}
		return gaps, miss(ctx, to, gaps, t)
	}
	return h.gather(ctx, x, t, profile, to)
}

// gather reads x and keeps what it said, and what it could not be asked.
func (h *Hosts) gather(ctx context.Context, x Host, t target.Ref, profile string, to evidence.Sink) ([]evidence.Gap, error) {
	s, err := h.read(ctx, x, profile)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	name := itemName(t.ID, profile, h.o.Clock.Now())
	var gaps []evidence.Gap
	if err != nil {
		gaps = append(gaps, evidence.Gap{Name: name, Why: untrusted.Clean(err.Error(), 500), At: h.o.Clock.Now()})
	}
	var hk *HostKeyError
	switch {
	case s != nil:
		if _, err := keep(ctx, to, s, name); err != nil {
			return gaps, err
		}
		gaps = append(gaps, named(s, t.ID)...)
	case errors.As(err, &hk): // nothing was asked, but what it showed is worth keeping
		if _, err := keep(ctx, to, h.refused(x, profile, hk), RefusedName(t.ID)); err != nil {
			return gaps, err
		}
	}
	return gaps, miss(ctx, to, gaps, t)
}

// refused is the snapshot of a host that was not asked anything because of its key.
func (h *Hosts) refused(x Host, profile string, hk *HostKeyError) *snapshot.Snapshot {
	key := hk.Key
	return &snapshot.Snapshot{
		Schema: snapshot.Schema, Host: x.Name, Profile: profile, Taken: h.o.Clock.Now().UTC(), Ident: snapshot.Ident{UID: -1},
		Carried:  &snapshot.Carried{Transport: x.transport(), HostKey: &key},
		Sections: []snapshot.Section{{Name: snapshot.SectionHostKey, End: snapshot.EndOK}},
		Gaps:     []evidence.Gap{{Name: "snapshot", Why: untrusted.Clean(hk.Error(), 500), At: h.o.Clock.Now().UTC()}},
	}
}

// RefusedName is the item that holds what a host showed whose key was not taken.
func RefusedName(host string) string { return "host/" + host + "/refused.json" }

func itemName(host, profile string, at time.Time) string {
	if profile == providers.Watch {
		return watchName(host, at)
	}
	return "host/" + host + "/snapshot.json"
}

func miss(ctx context.Context, to evidence.Sink, gaps []evidence.Gap, t target.Ref) error {
	for _, g := range gaps {
		if err := to.Miss(ctx, g); err != nil {
			return fmt.Errorf("record what could not be had of %s: %w", t, err)
		}
	}
	return nil
}

func watchName(host string, at time.Time) string {
	return "host/" + host + "/watch-" + at.UTC().Format("20060102T150405.000Z") + ".json"
}

// keep stores the snapshot and returns its digest.
func keep(ctx context.Context, to evidence.Sink, s *snapshot.Snapshot, name string) (string, error) {
	var b bytes.Buffer
	if err := s.Encode(&b); err != nil {
		return "", err
	}
	it, err := to.Put(ctx, evidence.Item{
		Name: name, Source: source(s), Media: "application/json",
		At: s.Taken, Truncated: !s.Complete, Redacted: s.Redacted,
	}, &b)
	if err != nil {
		return "", fmt.Errorf("keep %s: %w", name, err)
	}
	return it.Digest, nil
}

// source says by which way a snapshot came.
func source(s *snapshot.Snapshot) string {
	c := s.Carried
	switch {
	case c == nil:
		return "collector, profile " + s.Profile
	case c.Transport == snapshot.ByHand:
		return "collector, " + c.Carrier + ", profile " + s.Profile
	case c.Transport == snapshot.BySSH:
		return "collector over SSH, profile " + s.Profile
	}
	return "collector by " + c.Transport + " (" + untrusted.Clean(c.Carrier, 200) + "), profile " + s.Profile
}

// named are the snapshot's gaps with the host before them, at most maxGaps.
func named(s *snapshot.Snapshot, host string) []evidence.Gap {
	var out []evidence.Gap
	for i, g := range s.Gaps {
		g.Name = "host/" + host + ": " + g.Name
		if i == maxGaps {
			g.Name = "host/" + host
			g.Why = fmt.Sprintf("%d more, listed in the snapshot", len(s.Gaps)-i)
			return append(out, g)
		}
		out = append(out, g)
	}
	return out
}
