package app

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"cordon/internal/casefile"
	"cordon/internal/change"
	"cordon/internal/exposure"
	"cordon/internal/target"
	"cordon/providers"
)

// cardReads is how old, in real time, an answer may be that the parts of one card share.
const cardReads = 30 * time.Second

// provider is the configured one that a runner is registered with.
func (a *App) provider(ref target.Ref) (providers.Provider, error) {
	p, ok := a.fleet.all[ref.System].(providers.Provider)
	if !ok {
		return nil, fmt.Errorf("%w: %s: no provider called %q is configured", ErrNoRunner, ref, ref.System)
	}
	return p, nil
}

// Managers lists the processes that use a registration, as its provider tells.
func (a *App) Managers(ctx context.Context, ref target.Ref) ([]providers.Manager, error) {
	p, err := a.provider(ref)
	if err != nil {
		return nil, err
	}
	ms, err := p.Managers(providers.WithRecent(ctx, cardReads), ref)
	if err != nil {
		return nil, fmt.Errorf("read managers of %s: %w", ref, err)
	}
	return ms, nil
}

// Jobs lists at most most jobs of a runner since a time, newest first; partial says why
// there may be more.
func (a *App) Jobs(ctx context.Context, ref target.Ref, since time.Time, most int) (jobs []providers.Job, partial string, err error) {
	p, err := a.provider(ref)
	if err != nil {
		return nil, "", err
	}
	l, ok := p.(providers.JobLister)
	if !ok {
		return nil, "", fmt.Errorf("jobs of %s: %w: this provider does not list them", ref, errors.ErrUnsupported)
	}
	return l.Jobs(providers.WithCalls(ctx, providers.CallsFrom(ctx, cardCalls)), ref, since, most)
}

// ByHand is how a runner is paused and its jobs are canceled without cordon: exact
// addresses and commands. It reads; nothing is sent.
func (a *App) ByHand(ctx context.Context, ref target.Ref) ([]change.Link, error) {
	p, err := a.provider(ref)
	if err != nil {
		return nil, err
	}
	var out []change.Link
	for _, verb := range []string{providers.Pause, providers.Cancel} {
		plans, err := p.Plan(providers.WithRecent(ctx, cardReads), verb, ref, nil)
		if err != nil {
			return out, fmt.Errorf("plan %s of %s: %w", verb, ref, err)
		}
		for _, pl := range plans {
			for _, l := range pl.ByHand {
				l.Title = verb + ": " + l.Title
				out = append(out, l)
			}
		}
	}
	return out, nil
}

// RunnerRecord is what the cases of this machine say about a runner. Nobody is asked.
type RunnerRecord struct {
	Cases     []casefile.Summary // about it, newest first
	Exposed   *exposure.List     // the last list; nil: no case has one
	ExposedAt time.Time
	ExposedIn string // the case
}

// RunnerRecord reads the cases.
func (a *App) RunnerRecord(ref target.Ref) (RunnerRecord, error) {
	var r RunnerRecord
	cases, err := a.kept()
	if err != nil {
		return r, err
	}
	for _, k := range cases {
		if !k.about(ref) {
			continue
		}
		r.Cases = append(r.Cases, k.sum)
		if r.Exposed == nil && k.exposed != nil {
			r.Exposed, r.ExposedAt, r.ExposedIn = k.exposed, k.exposedAt, k.sum.ID
		}
	}
	return r, nil
}

// Command is the exact command line that does args with this configuration, ready to
// be pasted into a POSIX shell. A process that has to read the configuration by other
// means than files (tokens in the environment) needs them there too.
func (a *App) Command(args ...string) string {
	all := []string{"cordon"}
	for _, f := range [][2]string{{"--lab", a.o.Lab}, {"--config", a.o.Config}, {"--state-dir", a.o.State}} {
		if f[1] != "" {
			all = append(all, f[0], f[1])
		}
	}
	all = append(all, args...)
	for i, s := range all {
		all[i] = shellWord(s)
	}
	return strings.Join(all, " ")
}

// shellWord quotes a word where a shell would read anything else in it.
func shellWord(s string) string {
	safe := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:@%+,=", r)
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !safe(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
