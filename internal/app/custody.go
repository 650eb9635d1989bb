package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"cordon/internal/bundle"
	"cordon/internal/casefile"
	"cordon/internal/engine"
)

// takeOverWait is how long a live holder has to give way, in real time. An effect of
// his that is under way ends within the transport's own limit, which is longer: then the
// answer is that he did not, and one asks again.
const takeOverWait = 10 * time.Second

// TakeOver resumes a case that another holds, or that was handed over, on explicit order.
func (a *App) TakeOver(ctx context.Context, id, why string) (*Session, error) {
	if strings.TrimSpace(why) == "" {
		return nil, fmt.Errorf("%w: --take-over needs --reason: it is kept with who took the case from whom", ErrUsage)
	}
	return a.resume(ctx, id, why)
}

func (a *App) takeOver(ctx context.Context, store *casefile.Store, id, why string) (*casefile.Case, error) {
	ask, cancel := context.WithTimeout(ctx, takeOverWait)
	defer cancel()
	c, err := store.TakeOver(ask, id, a.actor(), why)
	if ctx.Err() != nil {
		return nil, errors.Join(ctx.Err(), err)
	}
	return c, err
}

// Follow hands every line of a case to emit as it comes; see casefile.Store.Follow.
func (a *App) Follow(ctx context.Context, id string, emit func(*casefile.View, casefile.Line) error) error {
	s, err := a.cases()
	if err != nil {
		return err
	}
	return s.Follow(ctx, id, emit)
}

// hold takes a case for one act on its record. It is refused in a read-only process.
func (a *App) hold(ctx context.Context, id, what string, act func(*casefile.Case) error) error {
	if a.o.ReadOnly {
		return fmt.Errorf("%s case %s: %w", what, id, engine.ErrReadOnly)
	}
	s, err := a.cases()
	if err != nil {
		return err
	}
	c, err := s.Take(ctx, id, a.actor())
	if err != nil {
		return err
	}
	return errors.Join(act(c), c.Close())
}

// HandOverCase marks a case as handed over and writes everything of it into one signed
// archive. If that fails, the mark is taken back. An existing file is never replaced.
func (a *App) HandOverCase(ctx context.Context, id, path, to, why string) (Exported, error) {
	var x Exported
	if path == "" {
		path = id + ".handover.tar"
	}
	if to == "" {
		to = "whoever has " + path
	}
	err := a.hold(ctx, id, "hand over", func(c *casefile.Case) error {
		signer, err := a.sign()
		if err != nil {
			return err
		}
		if _, err := c.HandOver(to, why, false); err != nil {
			return err
		}
		if err = c.SignHead(signer); err == nil {
			x, err = a.Export(ctx, id, path)
		}
		if err != nil {
			_, undo := c.HandOver(to, "it did not come about: "+Hint(err), true)
			return errors.Join(err, undo)
		}
		return nil
	})
	x.Schema = "cordon.handover/1"
	return x, err
}

// Imported is a case that was brought here.
type Imported struct {
	Schema    string        `json:"schema"`
	Case      string        `json:"case"`
	Simulated bool          `json:"simulated,omitempty"`
	Lines     int           `json:"lines"` // that came along
	Head      string        `json:"head"`
	Lost      int           `json:"lost,omitempty"`
	Report    bundle.Report `json:"report"`
}

// ImportCase verifies a handover archive, or any bundle, and makes a case of it. Without
// a list of allowed signers it does so only where anySigner says so, and the journal
// says that nobody checked who signed.
// Evidence that was lost before is missed only where incomplete says so.
func (a *App) ImportCase(ctx context.Context, path, allowed, why string, anySigner, incomplete bool, seen []bundle.SeenHead) (Imported, error) {
	im := Imported{Schema: "cordon.import/1"}
	if a.o.ReadOnly {
		return im, fmt.Errorf("import: %w", engine.ErrReadOnly)
	}
	if allowed == "" && !anySigner {
		return im, fmt.Errorf("%w: import goes on with what somebody else wrote: say who may have signed it (--allowed-signers FILE, from whoever handed it over), or --any-signer", ErrUsage)
	}
	o, err := verifyOptions(allowed, seen)
	if err != nil {
		return im, err
	}
	p, rep, err := bundle.OpenParcel(path, o)
	if im.Report = rep; err != nil {
		return im, misnamed(err)
	}
	defer p.Close()
	if err := bundle.Whole(rep.Lost); err != nil && !incomplete {
		return im, fmt.Errorf("import: %w; get the whole of it from whoever has it, or go on without: --incomplete", err)
	}
	s, err := a.cases()
	if err != nil {
		return im, err
	}
	im.Case, im.Simulated, im.Lines, im.Head = rep.Case, rep.Simulated, rep.Events, rep.Head
	c, err := s.Import(ctx, rep.Case, a.actor(), casefile.Origin{
		Bundle: p.SHA256, Signer: rep.Signer.Key, Allowed: rep.Signer.Principal, Head: rep.Head, Lines: rep.Events, Why: why,
	}, func(to *casefile.Arrival) error {
		return p.Each(func(name string, r io.Reader) error { return arrive(ctx, to, name, r) })
	})
	if err != nil {
		return im, err
	}
	v, err := c.View()
	if err == nil {
		im.Lost = casefile.Brought(v).Lost
	}
	return im, errors.Join(err, c.Close())
}

// arrive puts one file of a bundle where it belongs in a case. What follows from the
// journal is not kept; everything that is not a part of the record by name is evidence,
// and lies under its digest.
func arrive(ctx context.Context, to *casefile.Arrival, name string, r io.Reader) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	var seq int
	switch {
	case name == "journal.jsonl":
		return to.Journal(r)
	case name == "journal.torn":
		return to.Torn(r)
	case name == "case.json", name == "gaps.json", name == "timeline.jsonl", name == "report.md":
		return nil
	case strings.HasPrefix(name, "heads/"):
		if _, err := fmt.Sscanf(name, "heads/%d.sig", &seq); err != nil {
			return fmt.Errorf("%w: %s is not the signature of a head", bundle.ErrIntegrity, name)
		}
		return to.Head(seq, r)
	}
	return to.Blob(r)
}

// Purge removes the journal and the evidence of a case, and approvals that were left for
// it, and leaves a tombstone.
func (a *App) Purge(ctx context.Context, id, why string) (casefile.Tombstone, error) {
	if a.o.ReadOnly {
		return casefile.Tombstone{}, fmt.Errorf("purge case %s: %w", id, engine.ErrReadOnly)
	}
	s, err := a.cases()
	if err != nil {
		return casefile.Tombstone{}, err
	}
	t, err := s.Purge(ctx, id, a.actor(), why)
	if err == nil || errors.Is(err, casefile.ErrPurged) { // of one that was purged, by the crash of another
		err = errors.Join(err, os.RemoveAll(a.inboxDir(id)))
	}
	return t, err
}
