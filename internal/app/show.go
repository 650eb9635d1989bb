package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"cordon/internal/bundle"
	"cordon/internal/casefile"
	"cordon/internal/fleet"
	"cordon/internal/plainfile"
	"cordon/internal/report"
	"cordon/internal/signing"
	"cordon/internal/witness"
)

// Cases lists the cases of the state directory, each with what is owed to it as of now.
func (a *App) Cases() ([]casefile.Summary, error) {
	s, err := a.cases()
	if err != nil {
		return nil, err
	}
	now := a.clock.Now()
	return s.ListWith(func(v *casefile.View) []string { return report.Remarks(v, now) })
}

// View reads one case, verified.
func (a *App) View(id string) (*casefile.View, error) {
	s, err := a.cases()
	if err != nil {
		return nil, err
	}
	return s.Read(id)
}

// Exported is a written bundle and what is needed to check it.
type Exported struct {
	Schema  string `json:"schema"`
	Path    string `json:"path"`
	SHA256  string `json:"sha256"`
	Files   int    `json:"files"`
	Signer  string `json:"signer"`
	Allowed string `json:"allowed_signers"` // hand this over by another way than the bundle

	Lost []bundle.Lost `json:"lost,omitempty"` // evidence that is not whole here any more, and not in the bundle
}

// Export writes the signed bundle of a case. An existing file is never replaced.
func (a *App) Export(_ context.Context, id, path string) (Exported, error) {
	v, err := a.View(id)
	if err != nil {
		return Exported{}, err
	}
	if path == "" {
		path = id + ".tar"
	}
	if path, err = filepath.Abs(path); err != nil {
		return Exported{}, err
	}
	signer, err := a.sign()
	if err != nil {
		return Exported{}, err
	}
	line, err := signing.AllowedLine(a.principal(), signer)
	if err != nil {
		return Exported{}, err
	}
	r, err := bundle.Export(v, bundle.Options{Path: path, Signer: signer, Principal: a.principal()})
	if err != nil {
		return Exported{}, fmt.Errorf("export %s: %w", id, err)
	}
	return Exported{"cordon.export/1", r.Path, r.SHA256, r.Files, signer.Fingerprint(), line, r.Lost}, nil
}

// misnamed is err as a mistake of whoever named the file, where it is not there or not to
// be opened.
func misnamed(err error) error {
	var file *fs.PathError
	if errors.As(err, &file) {
		return fmt.Errorf("%w: %w", ErrUsage, err)
	}
	return err
}

// Verify checks a bundle, against a list of allowed signers where one is given, and
// against heads that others saw.
func Verify(path, allowed string, seen ...bundle.SeenHead) (bundle.Report, error) {
	o, err := verifyOptions(allowed, seen)
	if err != nil {
		return bundle.Report{}, err
	}
	r, err := bundle.VerifyFile(path, o)
	if err = misnamed(err); err == nil {
		err = bundle.Whole(r.Lost)
	}
	return r, err
}

// maxAllowed bounds a file of allowed signers, in bytes.
const maxAllowed = 1 << 20

func verifyOptions(allowed string, seen []bundle.SeenHead) (bundle.VerifyOptions, error) {
	o := bundle.VerifyOptions{Seen: seen}
	if allowed == "" {
		return o, nil
	}
	f, err := plainfile.Open(allowed, maxAllowed)
	if err != nil {
		return o, fmt.Errorf("%w: allowed signers: %w", ErrUsage, err)
	}
	defer f.Close()
	if o.Allowed, err = signing.ParseAllowed(f); err != nil {
		return o, fmt.Errorf("%w: %s: %w", ErrUsage, allowed, err)
	}
	return o, nil
}

// ShowCase writes a case line by line, as its journal has it.
func ShowCase(l Lines, v *casefile.View) error {
	l.Printf("case %s: %s", v.ID, v.Opening.Title)
	l.Printf("head %s, %d lines, %d items kept, %d gaps", v.Head, len(v.Lines), len(v.Items), len(v.Gaps))
	for _, x := range v.Lines {
		l.CaseLine(x)
	}
	if len(v.Torn) > 0 {
		l.Printf("a torn last line of %d bytes is not part of the record", len(v.Torn))
	}
	return nil
}

// CaseLine writes one line of a journal. Exchanges and plans are left out: case show
// --json has them.
func (l Lines) CaseLine(x casefile.Line) {
	if x.Kind == "exchange" || x.Kind == "plan" {
		return
	}
	word := "  "
	if !x.OK && (x.Kind == "result" || x.Kind == "step" || x.Kind == "verdict") {
		word = "! "
	}
	l.Printf("%4d %s %s%-9s %-11s %s %s", x.Seq, x.T.UTC().Format("15:04:05"), word, x.Kind, x.Step, x.Msg, about(x))
}

func about(l casefile.Line) string {
	if l.Target.IsZero() {
		return ""
	}
	return "(" + l.Target.Short() + ")"
}

// maxRemarks is how many remarks a line of a list shows.
const maxRemarks = 3

// CaseLine is one row of a list of cases.
func CaseLine(s casefile.Summary) string {
	if s.Broken != "" {
		return fmt.Sprintf("%-36s BROKEN: %s", s.ID, s.Broken)
	}
	if p := s.Purged; p != nil {
		return fmt.Sprintf("%-36s purged %s  by %s, %d lines, head %.16s: %s", s.ID, p.Purged.UTC().Format(time.RFC3339), p.By, p.Lines, p.Head, p.Reason)
	}
	state := "open"
	if s.Closed {
		state = "closed"
	}
	if s.HandedOver != "" {
		state = "handed over " + s.HandedOver + ","
	}
	if s.Hold != "" {
		state += " ON HOLD"
	}
	if s.Simulated {
		state += " SIMULATED"
	}
	line := fmt.Sprintf("%-36s %-6s %s  %s", s.ID, state, s.Opened.UTC().Format(time.RFC3339), s.Title)
	if n := len(s.Remarks); n > maxRemarks {
		line += fmt.Sprintf(": %s; and %d more, see case brief", strings.Join(s.Remarks[:maxRemarks], "; "), n-maxRemarks)
	} else if n > 0 {
		line += ": " + strings.Join(s.Remarks, "; ")
	}
	return line
}

// Fleet writes one line a runner and one for each installation that no runner claims,
// with what speaks against it and how old it is, and one for each hole in the list.
func (l Lines) Fleet(f fleet.Fleet) {
	rows := [][]string{{"RUNNER", "NAME", "STATUS", "PAUSED", "SEEN", "OWNER", "NOTE"}}
	n := 0
	for _, r := range f.Rows {
		if r.Runner.Ref.IsZero() {
			in := r.Installations[0]
			rows = append(rows, []string{"(" + strings.ToUpper(r.State) + " on " + in.Host + ")", note(f, r)})
			continue
		}
		n++
		seen := "-"
		if !r.Runner.LastContact.IsZero() {
			seen = ago(f.At.Sub(r.Runner.LastContact))
		}
		rows = append(rows, []string{
			r.Runner.Ref.String(), r.Runner.Name.String(), r.Runner.Status, word(r.Runner.Paused), seen, dashed(r.Runner.Owner.String()), note(f, r),
		})
	}
	l.columns(rows, 36, 22, 8, 7, 5, 18)
	for _, g := range f.Gaps {
		l.Printf("NOT LISTED  %s: %s", g.Name, g.Why)
	}
	lost := ""
	if len(f.Gaps) > 0 {
		lost = "; " + count(len(f.Gaps), "", "1 scope", "scopes") + " NOT listed"
	}
	l.Printf("%s%s; no host was contacted", count(n, "0 runners", "1 runner", "runners"), lost)
}

// note is what a reader of a list must know about a row: its age where it is not of
// now, its state, and where it is.
func note(f fleet.Fleet, r fleet.Row) string {
	var out []string
	if at, ok := r.SeenAt["provider"]; ok && at.Before(f.At) {
		out = append(out, "NOT LISTED NOW, as of "+ago(f.At.Sub(at))+" ago")
	}
	if r.State != fleet.Agreed {
		out = append(out, strings.ToUpper(r.State)+": "+r.Why)
	}
	if len(r.Hosts) > 0 && !r.Runner.Ref.IsZero() {
		out = append(out, "on "+strings.Join(r.Hosts, ", "))
	}
	return strings.Join(append(out, AgentWords(r.Runner, f.At)...), "; ")
}

func dashed(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// HostReport writes what a check of one host found.
func (l Lines) HostReport(r HostReport) {
	l.hostReport(r)
	if r.NotRead == "" {
		l.notLooked()
	}
}

func (l Lines) hostReport(r HostReport) {
	if r.NotRead != "" {
		l.Printf("host %s NOT READ: %s; case %s", r.Host, r.NotRead, r.Case)
		l.Findings(r.Results)
		return
	}
	l.Printf("host %s (as told by the host): %s, %s, uid %d; case %s", r.Host, r.Ident.Hostname, r.Ident.OS, r.Ident.UID, r.Case)
	l.manifest(r.Ident)
	if way := byWay(r.Carried); way != "" {
		l.Printf("  read%s", way)
	}
	for _, i := range r.Installations {
		runs := "no process of it runs"
		switch {
		case len(i.PIDs) > 0:
			runs = "processes " + strings.Trim(fmt.Sprint(i.PIDs), "[]")
		case !r.processes:
			runs = "whether it runs was not seen"
		}
		l.Printf("  installation %s at %s for %s, runner %s %s, %s", i.Kind, i.Root, i.URL, i.RunnerID, i.Name, runs)
	}
	l.Findings(r.Results)
	for _, g := range r.Gaps {
		l.Printf("  could not have %s: %s", g.Name, g.Why)
	}
	if !r.Complete {
		l.Printf("  the answer is not complete: what is absent from it means nothing")
	}
}

func word(t witness.Tri) string {
	if t == witness.Unknown {
		return "?"
	}
	return string(t)
}

// ago is a duration in one unit, for narrow columns.
func ago(d time.Duration) string {
	switch {
	case d < 0:
		return "0s"
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	}
	return fmt.Sprintf("%dd", int(d.Hours()/24))
}
