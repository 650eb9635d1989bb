package app

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
	"time"

	"cordon/internal/casefile"
	"cordon/internal/importer"
	"cordon/internal/plainfile"
	"cordon/internal/target"
	"cordon/internal/witness"
)

// Bounds of what an imported log adds to a journal.
const (
	logBatch   = 200    // entries on one line of the journal
	maxLogged  = 10_000 // entries in all
	logMargin  = 24 * time.Hour
	logsSchema = "cordon.foreign/1"
)

// foreignData is the data of a foreign line: entries of a log of another system.
type foreignData struct {
	Schema  string           `json:"schema"`
	Format  string           `json:"format"`
	SHA256  string           `json:"sha256"` // of the file, which is not kept
	Entries []importer.Entry `json:"entries"`
}

// LogFormats are what ImportLog takes.
func LogFormats() []string { return importer.Formats() }

// ImportedLog is what became of a log.
type ImportedLog struct {
	Schema   string                `json:"schema"`
	Case     string                `json:"case"`
	Format   string                `json:"format"`
	SHA256   string                `json:"sha256"`
	Kept     int                   `json:"kept"`    // entries that are in the journal now
	Outside  int                   `json:"outside"` // of another time than the case's
	Skipped  int                   `json:"skipped"` // not understood
	Cut      int                   `json:"cut"`     // too many
	Problems []string              `json:"problems,omitempty"`
	From     time.Time             `json:"from,omitzero"` // first and last entry of the whole file
	To       time.Time             `json:"to,omitzero"`
	Seen     []witness.Observation `json:"seen,omitempty"` // what it says of the runner's polling
}

// ImportLog reads a log of another system into the timeline of a case: what lies in its
// suspect window, a day before that, and everything since. The file itself is not kept,
// only its digest. Lines of a proxy from a host's address to the provider, since the
// watch began, become an observation.
func (a *App) ImportLog(ctx context.Context, id, format, path string) (ImportedLog, error) {
	im := ImportedLog{Schema: "cordon.log/1", Case: id, Format: format}
	b, err := plainfile.Read(path, importer.MaxBytes)
	if err != nil {
		return im, fmt.Errorf("%w: %w", ErrUsage, err)
	}
	sum := sha256.Sum256(b)
	im.SHA256 = hex.EncodeToString(sum[:])
	l, err := importer.Read(format, strings.NewReader(string(b)))
	if im.Skipped, im.Problems = l.Skipped, l.Problems; err != nil {
		if errors.Is(err, importer.ErrFormat) {
			err = fmt.Errorf("%w: %w", ErrUsage, err)
		}
		return im, fmt.Errorf("import %s: %w", path, err)
	}
	im.From, im.To = l.Entries[0].At, l.Entries[len(l.Entries)-1].At
	err = a.hold(ctx, id, "import a log into", func(c *casefile.Case) error { return a.importLog(ctx, c, l, &im) })
	return im, err
}

func (a *App) importLog(ctx context.Context, c *casefile.Case, l importer.Log, im *ImportedLog) error {
	v, err := c.View()
	if err != nil {
		return err
	}
	m := a.marker.Derive("case:" + c.ID())
	var keep []importer.Entry
	for _, e := range l.Entries {
		if from := v.Opening.Window.From; !from.IsZero() && e.At.Before(from.Add(-logMargin)) {
			im.Outside++
			continue
		}
		for _, f := range []*string{&e.Actor, &e.Action, &e.Subject, &e.Where, &e.From, &e.To} {
			*f, _ = m.Text(*f)
		}
		keep = append(keep, e)
	}
	if n := len(keep); n > maxLogged {
		im.Cut, keep = n-maxLogged, keep[n-maxLogged:] // the newest
	}
	im.Kept = len(keep)
	for part := range slices.Chunk(keep, logBatch) {
		if err := ctx.Err(); err != nil {
			return err
		}
		d, err := json.Marshal(foreignData{logsSchema, im.Format, im.SHA256, part})
		if err != nil {
			return err
		}
		_, err = c.Append(casefile.Event{
			Kind: "foreign", OK: true, Data: d,
			Msg: fmt.Sprintf("%d entries of a log (%s), %s to %s", len(part), im.Format, part[0].At.Format(time.RFC3339), part[len(part)-1].At.Format(time.RFC3339)),
		})
		if err != nil {
			return err
		}
	}
	if why := im.lacks(l); why != "" {
		if _, err := c.Append(casefile.Event{Kind: "note", Msg: "of the imported log (" + im.Format + ") " + why}); err != nil {
			return err
		}
	}
	if im.Format != importer.Proxy {
		return nil
	}
	return a.egress(c, v, l, im)
}

// lacks says what of the log is not in the journal.
func (im ImportedLog) lacks(l importer.Log) string {
	var out []string
	for _, x := range []struct {
		n    int
		what string
	}{{im.Outside, "are older than the case's window"}, {im.Skipped, "were not understood"}, {im.Cut, "are too many"}} {
		if x.n > 0 {
			out = append(out, fmt.Sprintf("%d entries %s", x.n, x.what))
		}
	}
	if l.Cut {
		out = append(out, fmt.Sprintf("nothing behind the first %d entries was read", importer.MaxEntries))
	}
	return strings.Join(out, ", ")
}

// egress records what the log says of each host's calls to the provider since the watch
// began. It speaks only for the time that it covers.
func (a *App) egress(c *casefile.Case, v *casefile.View, l importer.Log, im *ImportedLog) error {
	var task string
	var since time.Time
	for _, x := range v.Lines {
		var d struct {
			Task string    `json:"task"`
			From time.Time `json:"from"`
		}
		switch {
		case x.Kind == "watch" && json.Unmarshal(x.Data, &d) == nil:
			since = d.From
		case x.Kind == "observe" && json.Unmarshal(x.Data, &d) == nil:
			task = d.Task
		}
	}
	if since.IsZero() {
		return nil // nothing is watched yet: the entries are in the timeline
	}
	var runners, hosts []target.Ref
	for _, t := range v.Opening.Targets {
		switch t.Kind {
		case target.Runner:
			runners = append(runners, t)
		case target.Host:
			hosts = append(hosts, t)
		}
	}
	provider := map[string]bool{}
	for _, r := range runners {
		if u, err := url.Parse(a.cfg.Providers[r.System].URL); err == nil {
			provider[strings.ToLower(u.Hostname())] = true
		}
	}
	for _, h := range hosts {
		im.Seen = append(im.Seen, spoke(h, a.hostAddresses()[h.ID], provider, since, a.clock.Now(), l.Entries, im.SHA256))
	}
	if len(im.Seen) == 0 {
		return nil
	}
	d, err := json.Marshal(struct {
		Task string                `json:"task"`
		Seen []witness.Observation `json:"seen"`
	}{task, im.Seen})
	if err != nil {
		return err
	}
	e := casefile.Event{Kind: "observe", OK: true, Msg: "from an imported log of a proxy", Data: d}
	if len(runners) == 1 {
		e.Target = runners[0]
	}
	_, err = c.Append(e)
	return err
}

// spoke is what the entries say of one host. Only a status tells whether it was answered;
// what goes through a tunnel was sent, and more is not known.
func spoke(h target.Ref, from []string, provider map[string]bool, since, now time.Time, all []importer.Entry, sum string) witness.Observation {
	o := witness.Observation{Subject: h, Source: witness.Egress, At: now, Evidence: []string{sum}}
	if len(from) == 0 {
		o.CouldNot = "no address of this host is known"
		return o
	}
	first, last := all[0].At, all[len(all)-1].At
	n := 0
	for _, e := range all {
		if e.At.Before(since) || !provider[hostPart(e.To)] || !slices.Contains(from, hostPart(e.From)) {
			continue
		}
		n++
		o.LastContact, o.Clock = e.At, witness.ClockEvent
		switch {
		case e.Status == 401 || e.Status == 403:
			o.Rejected = witness.Yes
		case e.Status >= 200 && e.Status < 300 && e.Action != "CONNECT":
			o.Polling = witness.Yes
		}
	}
	switch {
	case n > 0:
		o.Says = fmt.Sprintf("the proxy saw %d calls from it to the provider since the watch began, the last at %s", n, o.LastContact.UTC().Format(time.RFC3339))
	case first.After(since):
		o.CouldNot = fmt.Sprintf("the log begins at %s, after the watch did", first.Format(time.RFC3339))
	default:
		o.Polling = witness.No
		o.Says = fmt.Sprintf("the proxy saw no call from it to the provider between %s and %s, where its log ends", since.UTC().Format(time.RFC3339), last.Format(time.RFC3339))
	}
	return o
}

func hostPart(s string) string {
	if h, _, err := net.SplitHostPort(s); err == nil {
		return h
	}
	return strings.Trim(s, "[]")
}

// ImportedLog writes what became of a log.
func (l Lines) ImportedLog(im ImportedLog) {
	l.Printf("read: %s, %s to %s, sha256 %s", im.Format, im.From.UTC().Format(time.RFC3339), im.To.UTC().Format(time.RFC3339), im.SHA256)
	l.Printf("%d entries are in the timeline of %s; %d outside its window, %d not understood, %d too many", im.Kept, im.Case, im.Outside, im.Skipped, im.Cut)
	for _, p := range im.Problems {
		l.Printf("  not understood, line %s", p)
	}
	for _, o := range im.Seen {
		l.Observation("saw", o)
	}
}
