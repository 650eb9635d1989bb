// Package check says what in a snapshot matters, and what could not be seen.
//
// Every check is a pure function of a snapshot.Snapshot: it reads no host, no clock
// and no environment, so that a reviewer repeats it from the bundle. There is no
// baseline here: a check reports what is wrong on any runner host, and what the
// operating system itself ships is not a finding. All of it rests on what the host
// said about itself. The package may import levels 0 to 2.
package check

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"cordon/internal/host/snapshot"
	"cordon/internal/untrusted"
)

// Schema names the JSON form of a Report.
const Schema = "cordon.findings/1"

// States of a Result.
const (
	Found   = "found"
	Nothing = "nothing found" // everything the check needs was read to its end
	Blind   = "could not look"
	Unasked = "not asked" // the profile of the snapshot does not cover the check
)

// maxFindings is how many findings of one check are kept: a hostile host can plant
// as many files as it likes.
const maxFindings = 200

// Check is one question to a snapshot. ID is stable: cases, policies and scripts
// refer to it.
type Check struct {
	ID    string
	Title string
	Why   string   // why it matters, for a person
	Needs []string // sections that must have ended "ok" before "nothing found" may be said

	Reads string // what it reads, for a person
	Root  string // what stays unseen without root; empty: any account sees all of it

	Attack []string // ATT&CK techniques of its findings, unless a finding names its own
	NIST   []string // NIST SP 800-53 controls

	// Run looks, and nothing else: it fills in neither Check nor the defaults above. It
	// does not change the snapshot.
	Run func(*snapshot.Snapshot) []Finding

	look func(*view) []Finding

	// live: what it asks about is only on a machine that runs; of a disk image it is not
	// asked. Any other check is answered there by what lies on the disk.
	live bool

	// unseen says why the look was partial although the sections ended well; nil and
	// empty: it was not.
	unseen func(*view) string
}

// Result is the answer of one check. With State Found a non-empty Why says that the
// look was partial and more may be there.
type Result struct {
	Check    string    `json:"check"`
	Title    string    `json:"title"`
	State    string    `json:"state"`
	Why      string    `json:"why,omitempty"`
	Findings []Finding `json:"findings,omitempty"` // worst first
}

// Report is the JSON document of a run.
type Report struct {
	Schema  string    `json:"schema"`
	Host    string    `json:"host"`
	Taken   time.Time `json:"taken"`
	Results []Result  `json:"results"`
}

// All returns the checks in the order in which they are shown: what is the runner's
// own first.
func All() []Check {
	all := []Check{
		installationsCheck(), jobHooksCheck(), unitsCheck(), cronCheck(), keysCheck(),
		orphansCheck(), connectionsCheck(), secretsCheck(), profilesCheck(), preloadCheck(),
		hostKeyCheck(), rereadCheck(),
	}
	all = append(all,
		runnerFilesCheck(), memoryCheck(), runnerUserCheck(), runtimeCheck(), bootCheck(), loginCheck(), privilegesCheck(),
		packagesCheck(), servicesCheck(), kernelCheck(), programsCheck(), toolsCheck(), containersCheck(),
		destinationsCheck(), metadataCheck(), reachCheck(), ageCheck(), crossViewCheck(),
	)
	for i := range all {
		all[i] = withLinks(all[i])
		look := all[i].look
		all[i].Run = func(s *snapshot.Snapshot) []Finding { return look(viewOf(s)) }
	}
	return all
}

// Options are what a check may know beside the snapshot. The zero value works.
type Options struct {
	Allow []netip.Prefix // where jobs may talk to; nil: no such list
}

// Run asks every check. It is safe for concurrent use on one snapshot. A nil
// snapshot was never taken: every check is Blind.
func Run(s *snapshot.Snapshot) []Result { return RunWith(s, Options{}) }

// RunWith is Run with what the operator knows.
func RunWith(s *snapshot.Snapshot, o Options) []Result {
	var v *view
	if s != nil {
		v = viewOf(s)
		v.allow = o.Allow
	}
	var out []Result
	for _, c := range All() {
		out = append(out, c.answer(v))
	}
	return out
}

// ReportOf runs every check and wraps the results for --json.
func ReportOf(s *snapshot.Snapshot) Report {
	r := Report{Schema: Schema, Results: Run(s)}
	if s != nil {
		r.Host, r.Taken = s.Host, s.Taken
	}
	return r
}

func (c Check) answer(v *view) Result {
	r := Result{Check: c.ID, Title: c.Title}
	if v == nil {
		r.State, r.Why = Blind, "there is no snapshot of this host"
		return r
	}
	r.Findings = c.finish(c.look(v))
	asked, why := c.looked(v)
	switch {
	case len(r.Findings) > 0:
		r.State = Found
		if why != "" {
			r.Why = "partial: " + why
		}
	case !asked:
		r.State, r.Why = Unasked, why
	case why != "":
		r.State, r.Why = Blind, why
	default:
		r.State = Nothing
	}
	return r
}

// finish fills in what the check says about all its findings, orders and caps them.
func (c Check) finish(found []Finding) []Finding {
	for i := range found {
		f := &found[i]
		f.Check = c.ID
		if len(f.Attack) == 0 {
			f.Attack = c.Attack
		}
		if len(f.NIST) == 0 {
			f.NIST = c.NIST
		}
	}
	sortFindings(found)
	if n := len(found) - maxFindings; n > 0 {
		found = append(found[:maxFindings:maxFindings], Finding{
			Check: c.ID, Severity: found[0].Severity, Attack: c.Attack, NIST: c.NIST,
			Title:  fmt.Sprintf("%d more like these, not listed", n),
			Detail: "The host shows more than a person can read; the snapshot has them all.",
		})
	}
	return found
}

// looked reports whether the snapshot was asked for what the check needs, and why
// the answer is not whole.
func (c Check) looked(v *view) (asked bool, why string) {
	s := v.s
	disk := s.Profile == snapshot.ProfileImage
	if disk && c.live {
		return false, "disk image: nothing runs in it"
	}
	ends := map[string]snapshot.Section{}
	for _, sec := range s.Sections {
		if was, twice := ends[sec.Name]; !twice || was.End == "ok" { // the worse of two ends counts
			ends[sec.Name] = sec
		}
	}
	var absent, bad []string
	for _, need := range c.Needs {
		sec, there := ends[need]
		switch {
		case disk && there && sec.End == snapshot.EndMissing && slices.Contains(running, need):
		case !there || sec.End == "not asked":
			absent = append(absent, need)
		case sec.End != "ok":
			line := need + " " + untrusted.Clean(sec.End, 40)
			if sec.Why != "" {
				line += " (" + untrusted.Clean(sec.Why, 160) + ")"
			}
			bad = append(bad, line)
		}
	}
	if !s.Complete {
		bad = append(bad, "the read of the host did not reach its end")
	}
	if n := cutFiles(s, c.Needs); n > 0 {
		bad = append(bad, fmt.Sprintf("%d file(s) were cut at the size limit", n))
	}
	if c.unseen != nil {
		if u := c.unseen(v); u != "" {
			bad = append(bad, u)
		}
	}
	if len(absent) > 0 {
		bad = append(bad, "not asked for: "+strings.Join(absent, ", "))
	}
	// A read that stopped early never came to the later sections: that is blindness.
	asked = len(absent) == 0 || !s.Complete
	return asked, strings.Join(bad, "; ")
}

// running are the sections that a disk image does not have.
var running = []string{snapshot.SectionProc, snapshot.SectionDetail, snapshot.SectionNet, snapshot.SectionCross, snapshot.SectionKernel}

func cutFiles(s *snapshot.Snapshot, sections []string) int {
	n := 0
	for i := range s.Files {
		for _, sec := range sections {
			if s.Files[i].Truncated && s.Files[i].Section == sec {
				n++
			}
		}
	}
	return n
}
