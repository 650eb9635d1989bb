package app

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"cordon/internal/bundle"
	"cordon/internal/check"
	"cordon/internal/host"
	"cordon/internal/host/snapshot"
	"cordon/internal/plainfile"
	"cordon/internal/signing"
	"cordon/internal/untrusted"
)

// IndicatorsNamespace is what an indicator file is signed for:
// ssh-keygen -Y sign -n cordon-indicators@v1 -f KEY FILE writes FILE.sig.
const IndicatorsNamespace = "cordon-indicators@v1"

// SweepReport says where else something is.
type SweepReport struct {
	Schema    string       `json:"schema"`
	Simulated bool         `json:"simulated,omitempty"`
	List      SweptList    `json:"list"`
	Places    []SweptPlace `json:"places"` // every snapshot that was looked through, newest first
	NotRead   []string     `json:"not_read,omitempty"`
	Found     []string     `json:"found"`          // hosts with a match
	Partly    []string     `json:"found_partly"`   // of those, where more may be hidden
	CouldNot  []string     `json:"could_not_look"` // else: hosts that may hide one
	Nothing   []string     `json:"nothing_found"`  // else
}

// SweptList is the indicator file and who stands behind it.
type SweptList struct {
	File   string    `json:"file"`
	SHA256 string    `json:"sha256"`
	Made   time.Time `json:"made"`
	By     string    `json:"by,omitempty"`
	About  string    `json:"about,omitempty"`
	Old    bool      `json:"old,omitempty"` // past its own end
	Signed string    `json:"signed"`        // by whom, or why nobody can say
	Names  int       `json:"names"`         // how many names it holds: they count only whole
}

// SweptPlace is one snapshot.
type SweptPlace struct {
	Host  string    `json:"host"`
	Case  string    `json:"case"`
	Taken time.Time `json:"taken"`
	Now   bool      `json:"now,omitempty"` // read for this sweep
	Asked AskedHow  `json:"asked,omitzero"`
	check.Swept
}

// AskedHow counts the paths of lists that the host was asked for when it was read.
type AskedHow struct {
	There  int `json:"there"`
	Absent int `json:"not_there"`
	Unseen int `json:"could_not_look"` // those that could not be asked for, too
}

func askedHow(s *snapshot.Snapshot) AskedHow {
	var h AskedHow
	for _, a := range s.Asked {
		switch a.State {
		case snapshot.AskedThere:
			h.There++
		case snapshot.AskedAbsent:
			h.Absent++
		default:
			h.Unseen++
		}
	}
	return h
}

// Exit is 3 with a match, 4 where a place may hide one or nothing was looked at, else 0.
func (r SweepReport) Exit() int {
	switch {
	case len(r.Found) > 0:
		return ExitFindings
	case len(r.CouldNot) > 0 || len(r.NotRead) > 0 || len(r.Places) == 0:
		return ExitCannotTell
	}
	return ExitDone
}

// Indicators reads an indicator file and its signature. With allowed, a file of allowed
// signers, a missing, wrong or foreign signature is an integrity error.
func (a *App) Indicators(file, allowed string) (*check.Indicators, SweptList, error) {
	b, err := plainfile.Read(file, check.MaxIndicators)
	if err != nil {
		return nil, SweptList{}, fmt.Errorf("%w: indicators: %w", ErrUsage, err)
	}
	sum := sha256.Sum256(b)
	l := SweptList{File: file, SHA256: hex.EncodeToString(sum[:])}
	if l.Signed, err = signedBy(file, b, allowed); err != nil {
		return nil, l, err
	}
	in, err := check.ParseIndicators(file, b)
	if err != nil {
		return nil, l, fmt.Errorf("%w: %w", ErrUsage, err)
	}
	l.Names = len(in.Names)
	l.Made, l.Old = in.MadeAt(), in.Old(a.clock.Now())
	l.By, l.About = untrusted.Clean(in.By, 200), untrusted.Clean(in.About, 400)
	return in, l, nil
}

func signedBy(file string, b []byte, allowed string) (string, error) {
	sig, err := plainfile.Read(file+".sig", 64<<10)
	if errors.Is(err, fs.ErrNotExist) && allowed == "" {
		return "not signed: anybody may have written it", nil
	} else if err != nil {
		return "", fmt.Errorf("%w: signature of %s: %w", bundle.ErrIntegrity, file, err)
	}
	if allowed == "" {
		print, err := signing.Check(IndicatorsNamespace, b, sig)
		if err != nil {
			return "", fmt.Errorf("%w: %s.sig: %w", bundle.ErrIntegrity, file, err)
		}
		return "signed by the key " + print + "; nobody said whose that is (--allowed-signers)", nil
	}
	o, err := verifyOptions(allowed, nil)
	if err != nil {
		return "", err
	}
	who, print, err := signing.Verify(IndicatorsNamespace, b, sig, o.Allowed, time.Time{})
	if err != nil {
		return "", fmt.Errorf("%w: %s.sig: %w", bundle.ErrIntegrity, file, err)
	}
	return "signed by " + untrusted.Clean(who, 200) + ", key " + print, nil
}

// checks are what the configuration tells the checks.
func (a *App) checks() check.Options {
	allow, err := a.cfg.Allow()
	if err != nil { // the configuration was validated
		return check.Options{}
	}
	return check.Options{Allow: allow}
}

// Sweep looks for the indicators in every kept snapshot, and first reads the named
// hosts, each as a case of its own, and asks them for the listed paths in the same
// session. It contacts nobody else. An error is of this
// machine; a host that cannot be read is in the report.
func (a *App) Sweep(ctx context.Context, in *check.Indicators, l SweptList, hosts []string, reason string, parallel int, told func(HostProgress)) (SweepReport, error) {
	r := SweepReport{Schema: "cordon.sweep/1", Simulated: a.Simulated(), List: l, Places: []SweptPlace{}, Found: []string{}, Partly: []string{}, CouldNot: []string{}, Nothing: []string{}}
	fresh := map[string]bool{}
	if len(hosts) > 0 {
		if n := len(in.Paths); n > 0 {
			reason += fmt.Sprintf("; sweep with %s (sha256 %s): %d listed paths are asked for", untrusted.Clean(l.File, 200), l.SHA256, n)
		}
		ctx = host.WithListed(ctx, host.Listed{Paths: in.Paths, SHA256: in.SHA256})
		read, err := a.CheckHosts(ctx, hosts, reason, check.Critical, parallel, told)
		if err != nil {
			return r, err
		}
		for _, h := range read.Hosts {
			fresh[h.Case] = true
			if h.NotRead != "" {
				r.NotRead = append(r.NotRead, untrusted.Clean(h.Host+": "+h.NotRead, 300))
			}
		}
	}
	cases, err := a.kept()
	if err != nil {
		return r, err
	}
	for _, k := range cases {
		for _, s := range k.snaps {
			r.Places = append(r.Places, SweptPlace{Host: s.Host, Case: k.sum.ID, Taken: s.Taken, Now: fresh[k.sum.ID], Asked: askedHow(s), Swept: check.Sweep(in, s)})
		}
	}
	slices.SortStableFunc(r.Places, func(x, y SweptPlace) int { return y.Taken.Compare(x.Taken) })
	r.sort()
	return r, nil
}

// sort puts every host into one of the three lists. A match of any time counts; else
// the newest look at the host decides.
func (r *SweepReport) sort() {
	matched, done := map[string]bool{}, map[string]bool{}
	for _, p := range r.Places {
		matched[p.Host] = matched[p.Host] || len(p.Matches) > 0
	}
	for _, p := range r.Places {
		if done[p.Host] {
			continue
		}
		done[p.Host] = true
		switch {
		case matched[p.Host]:
			r.Found = append(r.Found, p.Host)
			if len(p.CouldNot) > 0 {
				r.Partly = append(r.Partly, p.Host)
			}
		case len(p.CouldNot) > 0:
			r.CouldNot = append(r.CouldNot, p.Host)
		default:
			r.Nothing = append(r.Nothing, p.Host)
		}
	}
	for _, list := range [][]string{r.Found, r.Partly, r.CouldNot, r.Nothing} {
		slices.Sort(list)
	}
}
