package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"cordon/internal/casefile"
	"cordon/internal/evidence"
	"cordon/internal/host"
	"cordon/internal/host/snapshot"
	"cordon/internal/target"
)

// nonces is the list of the scripts that were printed with this state directory.
func (a *App) nonces() host.Nonces {
	return host.Nonces{Path: filepath.Join(a.state, "printed-scripts.jsonl")}
}

// PrintScript makes a script for somebody else to run, with a nonce of its own that is
// kept, read-only or not: it is a record of ours, and changes nothing outside. name may
// be empty; root is empty on a machine, else where an image is mounted.
func (a *App) PrintScript(name, profile, root string) (host.Printed, error) {
	if root != "" {
		profile = snapshot.ProfileImage
	}
	p, err := a.fleet.hosts.Print(name, profile, root)
	if err != nil {
		return p, err
	}
	if _, err := a.cases(); err != nil { // makes the state directory, or says why it is not safe
		return p, err
	}
	return p, a.nonces().Add(p.Issued)
}

// IngestHost takes the answer to a printed script that somebody brought in a file. name
// is whose answer it is; empty: the host that the script was printed for. The nonce is
// used up by a whole answer.
func (a *App) IngestHost(ctx context.Context, file, name, by, reason string) (HostReport, error) {
	f, err := host.OpenAnswer(file)
	if err != nil {
		return HostReport{}, fmt.Errorf("%w: %w", ErrUsage, err)
	}
	defer f.Close()
	nonce, err := host.NonceOf(f)
	if err != nil {
		return HostReport{}, fmt.Errorf("%s: %w", file, err)
	}
	is, err := a.nonces().Find(nonce)
	if err != nil {
		return HostReport{}, fmt.Errorf("%s: %w", file, err)
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return HostReport{}, err
	}
	switch {
	case name == "":
		name = is.Host
	case is.Host != "" && is.Host != name:
		return HostReport{}, fmt.Errorf("%s: %w: that script was printed for %s, not %s", file, host.ErrNotOurs, is.Host, name)
	}
	if name == "" {
		return HostReport{}, fmt.Errorf("%w: whose answer is it? say --host NAME", ErrUsage)
	}
	if by == "" {
		by = a.principal()
	}
	whole := false
	r, err := a.checkCase(ctx, name, "take what was brought by hand by "+by+"; "+reason, func(set *systems, _ target.Ref, c *casefile.Case) (gaps []evidence.Gap, err error) {
		gaps, whole, err = set.hosts.Ingest(ctx, name, by, is, f, c)
		return gaps, err
	})
	if err == nil && whole {
		is.Used, is.Host = true, name
		err = a.nonces().Add(is)
	}
	return r, err
}

// AcceptKey takes a host's key into the state directory's own known_hosts, if the host
// shows one with that fingerprint. Not read-only: which hosts are talked to changes by it.
func (a *App) AcceptKey(ctx context.Context, name, fingerprint, source string) (snapshot.HostKey, error) {
	if err := a.KnowsHost(name); err != nil {
		return snapshot.HostKey{}, err
	}
	if a.ReadOnly() {
		return snapshot.HostKey{}, fmt.Errorf("accept a key of %s: %w: with --read-only it stays as it was which hosts are trusted; reads, scripts and their answers are kept all the same", name, ErrNeeds)
	}
	store, err := a.cases()
	if err != nil {
		return snapshot.HostKey{}, err
	}
	id := a.hostCase("accept", name)
	c, err := store.Create(ctx, casefile.Opening{
		ID: id, Title: "host key of " + name, Kind: "check", Simulated: a.Simulated(), Targets: []target.Ref{hostRef(name)}, Tool: a.opened(),
	}, a.actor())
	if err != nil {
		return snapshot.HostKey{}, err
	}
	k, err := a.acceptInto(ctx, c, name, fingerprint, source)
	return k, errors.Join(err, c.Close())
}

func (a *App) acceptInto(ctx context.Context, c *casefile.Case, name, fingerprint, source string) (snapshot.HostKey, error) {
	on := hostRef(name)
	msg := fmt.Sprintf("accept the host key %s of %s, source: %s", fingerprint, name, source)
	if _, err := c.Append(casefile.Event{Kind: "confirm", Target: on, OK: true, Msg: msg}); err != nil {
		return snapshot.HostKey{}, err
	}
	k, err := a.fleet.hosts.Accept(ctx, name, fingerprint, source, a.principal())
	msg = "host key " + k.Shown + ": " + k.State
	if err != nil {
		msg = "not accepted: " + err.Error()
	}
	_, aerr := c.Append(casefile.Event{Kind: "close", Target: on, OK: err == nil, Msg: msg})
	return k, errors.Join(err, aerr)
}
