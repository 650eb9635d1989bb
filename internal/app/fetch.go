package app

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"cordon/internal/casefile"
	"cordon/internal/change"
	"cordon/internal/engine"
	"cordon/internal/host"
)

// FetchSpec is one file of a host that is wanted for a case.
type FetchSpec struct {
	Case, Host string
	What       string // PATH, or proc:PID
	Max        int64  // bytes; 0: host.DefaultFetch
	Reason     string
}

// FetchedFile is what came of a fetch.
type FetchedFile struct {
	host.Fetched
	Case      string `json:"case"`
	Simulated bool   `json:"simulated,omitempty"`
	Described string `json:"described"` // item that holds the description
}

// Exit is 4 where the file could not be read, else 0.
func (f FetchedFile) Exit() int {
	if f.Why != "" {
		return ExitCannotTell
	}
	return ExitDone
}

// noRecipients is said wherever a file is described only.
const noRecipients = "described, not kept: to have files sealed, add  evidence: {recipients: [age1…]}  to the configuration before a case is opened"

// wanted checks what is asked for against the case, which says to whom files are sealed.
func (a *App) wanted(spec FetchSpec) (host.Wanted, error) {
	w, err := host.ParseWanted(spec.What)
	if err != nil {
		return w, err
	}
	if spec.Max < 0 || spec.Max > host.MaxFetch {
		return w, fmt.Errorf("%w: --max is 1 to %d bytes", ErrUsage, int64(host.MaxFetch))
	}
	if a.o.ReadOnly {
		return w, fmt.Errorf("fetch from %s: %w: it contacts the host, and that is kept in the case", spec.Host, engine.ErrReadOnly)
	}
	if err := a.KnowsHost(spec.Host); err != nil {
		return w, err
	}
	v, err := a.View(spec.Case)
	switch {
	case err != nil:
		return w, err
	case v.Opening.Simulated != a.Simulated():
		return w, fmt.Errorf("%w: case %s belongs to %s", ErrUsage, spec.Case, simWord(v.Opening.Simulated))
	case !slices.Contains(v.Opening.Targets, hostRef(spec.Host)):
		return w, fmt.Errorf("%w: case %s is not about host %s; cordon host check %s opens one that is", ErrUsage, spec.Case, spec.Host, spec.Host)
	}
	w.Max, w.Recipients = spec.Max, v.Opening.Recipients
	return w, a.belongs(v)
}

// PlanFetch is what Fetch would do; nothing is contacted.
func (a *App) PlanFetch(spec FetchSpec) (change.Plan, error) {
	w, err := a.wanted(spec)
	if err != nil {
		return change.Plan{}, err
	}
	p, err := a.fleet.hosts.PlanFetch(spec.Host, w)
	if err == nil && len(w.Recipients) == 0 {
		p.Limits = append(p.Limits, noRecipients)
	}
	return p, err
}

// Fetch logs in to a host of a case once and reads one file, under the plan that was
// confirmed: its hash. A host that cannot be reached, or will not give the file, is a
// gap of the case and no error.
func (a *App) Fetch(ctx context.Context, spec FetchSpec, confirmed string) (FetchedFile, error) {
	f := FetchedFile{Case: spec.Case, Simulated: a.Simulated()}
	if strings.TrimSpace(spec.Reason) == "" {
		return f, fmt.Errorf("%w: --reason: the host is contacted, and why is kept with it", ErrUsage)
	}
	plan, err := a.PlanFetch(spec)
	if err != nil {
		return f, err
	}
	if plan.Hash() != confirmed {
		return f, fmt.Errorf("fetch from %s: %w", spec.Host, change.ErrStale)
	}
	w, err := a.wanted(spec)
	if err != nil {
		return f, err
	}
	why, err := a.noteText(spec.Case, spec.Reason)
	if err != nil {
		return f, err
	}
	err = a.hold(ctx, spec.Case, "fetch", func(c *casefile.Case) error {
		return a.fetchInto(ctx, c, spec.Host, why, plan, w, &f)
	})
	return f, err
}

// fetchInto journals the plan, what came, and how it ended.
func (a *App) fetchInto(ctx context.Context, c *casefile.Case, name, why string, plan change.Plan, w host.Wanted, f *FetchedFile) error {
	data, err := json.Marshal(plan)
	if err != nil {
		return err
	}
	on := hostRef(name)
	if _, err := c.Append(casefile.Event{Kind: "fetch-plan", Target: on, OK: true, Msg: "confirmed: " + plan.Title + "; " + why, Data: data}); err != nil {
		return err
	}
	set, err := a.build(a.marker.Derive("case:"+c.ID()), false)
	if err == nil {
		f.Fetched, err = set.hosts.Fetch(ctx, name, w, c)
	}
	msg := "could not be fetched: "
	switch {
	case err != nil:
		msg += err.Error()
	case f.Why != "":
		msg += f.Why
	case f.Sealed != "":
		msg = fmt.Sprintf("fetched and sealed: %d bytes, %s, in %s", f.Read, f.Fetched.Kind, f.Sealed)
	default:
		msg = fmt.Sprintf("fetched and described, not kept: %d bytes, %s", f.Read, f.Fetched.Kind)
	}
	f.Described = f.Item
	_, aerr := c.Append(casefile.Event{Kind: "fetch", Target: on, OK: err == nil && f.Why == "", Msg: msg})
	if err != nil {
		return err
	}
	return aerr
}

// FetchPlan writes what would be done, before a person confirms it.
func (l Lines) FetchPlan(p change.Plan) { l.plan("", p, nil) }

// Fetched writes what came of a fetch.
func (l Lines) Fetched(f FetchedFile) {
	if f.Why != "" {
		l.Printf("could not be read: %s: %s", f.Path, f.Why)
		if f.Link != "" {
			l.Printf("  it leads to %s", f.Link)
		}
		return
	}
	l.Printf("%s on %s, as told by the host%s", f.Path, f.Host, byWay(f.Carried))
	if f.Link != "" {
		l.Printf("  runs from  %s", f.Link)
	}
	l.Printf("  %d bytes, mode %04o, owner %d:%d, changed %s, %s", f.Size, f.Mode, f.UID, f.GID, f.Mtime.UTC().Format("2006-01-02 15:04:05Z"), count(int(f.Names), "deleted: no name", "1 name", "names"))
	l.Printf("  type       %s", f.Fetched.Kind)
	l.Printf("  secrets    %s (%d bytes searched)", f.Secrets, f.Searched)
	switch {
	case f.SHA256 == "":
		l.Printf("  sha256     withheld, as a short secret can be guessed from it; fingerprint %s", f.Print)
	case f.Truncated:
		l.Printf("  sha256     %s of the first %d bytes", f.SHA256, f.Read)
	default:
		l.Printf("  sha256     %s", f.SHA256)
	}
	if f.Truncated {
		l.Printf("  TRUNCATED: %d of %d bytes were read", f.Read, f.Size)
	}
	if f.Changed {
		l.Printf("  CHANGED while it was read")
	}
	if f.Sealed == "" {
		l.Printf("  %s", noRecipients)
	} else {
		l.Printf("  sealed     %s, sha256 %s, to %s", f.Sealed, f.SealedSum, strings.Join(f.Recipients, ", "))
	}
	l.Printf("  described  %s", f.Described)
}
