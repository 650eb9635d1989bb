package snapshot

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"cordon/internal/evidence"
	"cordon/internal/redact"
	"cordon/internal/untrusted"
)

// Expect is what the reader knows of the stream before it comes.
type Expect struct {
	Host    string           // the name we asked for
	Nonce   string           // 32 hex digits that our preamble carried
	Profile string           // ProfileTriage or ProfileWatch
	Sent    time.Time        // our clock, when the script was sent
	Now     func() time.Time // our clock; nil: the offset of the host's stays unknown
	Marker  redact.Marker    // replaces secrets while they are read
	Limits  Limits
	Asked   []Listed                         // paths of a list that were sent with the script; they add the section asked
	Hashes  map[string]bool                  // SHA-256 of a list, lower-case hex: only one of these is kept of a file that looks secret-bearing
	Entered func(section string, read int64) // told when a section begins, and how many bytes came so far; may be nil
}

// Parse reads a collector's stream to its end. The snapshot is never nil: with an
// error (ErrForged, ErrCut, ErrTooLarge, or the reader's) it holds what came before,
// is not Complete, and says for each section what is missing. Secrets are replaced
// before they are stored in it.
func Parse(r io.Reader, x Expect) (*Snapshot, error) {
	p := &parser{
		x:     x,
		s:     &Snapshot{Schema: Schema, Host: x.Host, Profile: x.Profile, Taken: x.Sent.UTC(), Ident: Ident{UID: -1}},
		order: SectionsOf(x.Profile),
		procs: map[int]*Process{},
		seen:  map[string]bool{},
		spoil: map[string]string{},
	}
	if len(p.order) == 0 {
		return p.s, fmt.Errorf("read host %s: no profile %q; use %s or %s", x.Host, x.Profile, ProfileTriage, ProfileWatch)
	}
	if len(x.Asked) > 0 {
		p.order = append(p.order, SectionAsked)
		p.asked = answersTo(x.Asked)
	}
	f := NewFrames(r, x.Nonce, x.Limits)
	err := p.run(f)
	if f.Noise() > 0 {
		p.gap("login", fmt.Sprintf("%d bytes were written before our script ran: the start-up files of the account's shell", f.Noise()))
	}
	p.finish(err)
	if err != nil {
		return p.s, fmt.Errorf("read host %s: %w", x.Host, err)
	}
	return p.s, nil
}

// parser turns frames into one snapshot.
type parser struct {
	x        Expect
	s        *Snapshot
	order    []string // sections of the profile
	at       int      // the next one that may be entered
	section  string   // the open one
	procs    map[int]*Process
	pids     []int
	ticks    map[int]uint64
	seen     map[string]bool // kind and pid, to refuse a second one
	file     *File           // the last lstat, which link and data belong to
	fileName string          // its path as it came
	spoil    map[string]string
	asked    map[string]*string // what was said of each line of the list; nil: nothing yet
}

func (p *parser) run(f *Frames) error {
	for {
		fr, err := f.Next()
		if errors.Is(err, io.EOF) {
			return ErrCut
		} else if err != nil {
			return err
		}
		if (fr.Seq == 1) != (fr.Kind == "begin") {
			return fmt.Errorf("frame %d: %w: %s out of place", fr.Seq, ErrForged, fr.Kind)
		}
		if fr.Kind == "end" {
			return p.end(f, fr)
		}
		if err := p.take(fr); err != nil {
			return fmt.Errorf("frame %d (%s): %w", fr.Seq, fr.Kind, err)
		}
		if fr.Kind == "enter" && p.x.Entered != nil {
			p.x.Entered(fr.Name, f.Read())
		}
	}
}

// end accepts the last frame: the profile, the count, all sections closed, nothing behind it.
func (p *parser) end(f *Frames, fr Frame) error {
	if fr.Name != p.x.Profile || string(fr.Body) != fmt.Sprint(fr.Seq-1) || p.section != "" || p.at != len(p.order) {
		return fmt.Errorf("frame %d: %w: an end that does not fit", fr.Seq, ErrForged)
	}
	if _, err := f.Next(); err == nil || errors.Is(err, ErrForged) || errors.Is(err, ErrCut) || errors.Is(err, ErrTooLarge) {
		return fmt.Errorf("frame %d: %w: something follows the end", fr.Seq, ErrForged)
	}
	p.s.Complete = true
	return nil
}

func (p *parser) take(fr Frame) error {
	if want, ok := homeOf[fr.Kind]; ok && want != p.section {
		return fmt.Errorf("%w: in section %q", ErrForged, p.section)
	}
	switch fr.Kind {
	case "begin":
		if fr.Name != p.x.Profile || string(fr.Body) != "cordon-collector 1" {
			return fmt.Errorf("%w: another script or profile", ErrForged)
		}
	case "enter":
		if p.section != "" || p.at >= len(p.order) || fr.Name != p.order[p.at] {
			return fmt.Errorf("%w: section %s out of place", ErrForged, untrusted.Clean(fr.Name, 20))
		}
		p.section, p.file = fr.Name, nil
		p.at++
	case "section":
		return p.leave(fr)
	case "gap":
		p.gap(fr.Name, string(fr.Body))
	case "value":
		p.value(fr.Name, string(fr.Body))
	case "pstat", "pstatus", "pcgroup", "pargs", "penv":
		return p.process(fr)
	case "plinks":
		p.links(fr.Body)
	case "table":
		p.table(fr.Name, fr.Body)
	case "log":
		p.log(fr.Name, fr.Body)
	case "lstat", "link", "data", "nodata", "sum":
		return p.files(fr)
	case "asked":
		return p.askedLine(fr)
	case "fact":
		return p.fact(fr)
	case "job":
		return p.workerJob(fr.Name, fr.Body)
	}
	return nil
}

// homeOf says which section a kind may come in; kinds of files may come in several.
var homeOf = map[string]string{
	"value": SectionIdent, "pstat": SectionProc, "pstatus": SectionProc, "pcgroup": SectionProc, "pargs": SectionProc,
	"penv": SectionDetail, "plinks": SectionDetail, "table": SectionNet, "log": SectionLog, "job": SectionJobs, "begin": "",
	"sum": SectionAsked, "asked": SectionAsked,
}

func (p *parser) leave(fr Frame) error {
	if fr.Name != p.section || p.section == "" {
		return fmt.Errorf("%w: section %s was not open", ErrForged, untrusted.Clean(fr.Name, 20))
	}
	end, why, _ := strings.Cut(string(fr.Body), " ")
	switch end {
	case EndOK, EndDenied, EndCut, EndMissing:
	default:
		return fmt.Errorf("%w: section ended %s", ErrForged, untrusted.Clean(end, 20))
	}
	if s := p.spoil[p.section]; s != "" && end == EndOK {
		end, why = EndCut, s
	}
	p.s.Sections = append(p.s.Sections, Section{Name: p.section, End: end, Why: p.clean(why, 300)})
	p.section, p.file = "", nil
	return nil
}

// broken notes that part of the open section was not understood, so that it cannot end ok.
func (p *parser) broken(why string) { p.spoiled(p.section, why) }

// spoiled is broken for a section that is open or still to come.
func (p *parser) spoiled(section, why string) {
	if p.spoil[section] == "" {
		p.spoil[section] = why
	}
}

func (p *parser) gap(name, why string) {
	if len(p.s.Gaps) < 1000 {
		p.s.Gaps = append(p.s.Gaps, evidence.Gap{Name: p.clean(name, 300), Why: p.clean(why, 300), At: p.s.Taken})
	}
}

// text takes secrets out and then cuts: the other way round would leave the front of
// one that no longer has its shape.
func (p *parser) text(s string, n int) untrusted.Text {
	if len(s) > maxText {
		return untrusted.Text(fmt.Sprintf("[%d bytes, not kept]", len(s)))
	}
	out, k := p.x.Marker.Text(s)
	p.s.Redacted += k
	return untrusted.Text(cutTo(out, n))
}

// clean makes foreign text safe to store as ours: secrets out, one line, cut.
func (p *parser) clean(s string, n int) string {
	return untrusted.Clean(string(p.text(s, maxText)), n)
}

// maxText is the longest single text that is searched for secrets, a path, a word or
// a line of a log: searching is slow, and nothing honest is longer.
const maxText = 16 << 10

// finish joins what came in parts and says how every section of the profile ended.
func (p *parser) finish(err error) {
	p.joinProcesses()
	p.joinSockets()
	p.mappedJobs()
	p.listenerJobs()
	p.askedAll()
	why := "the stream ended before it"
	if errors.Is(err, ErrForged) {
		why = "the stream was forged before its end"
	}
	if !p.s.Complete {
		for _, name := range p.order {
			if p.s.Section(name).End == EndNotAsked {
				p.s.Sections = append(p.s.Sections, Section{Name: name, End: EndCut, Why: why})
			}
		}
		text := why
		if err != nil {
			text = untrusted.Clean(err.Error(), 300)
		}
		p.gap("snapshot", text)
	}
	for _, sec := range p.s.Sections {
		if sec.End != EndOK {
			p.gap("section "+sec.Name, strings.TrimSpace(sec.End+" "+sec.Why))
		}
	}
}
