package app

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"cordon/internal/casefile"
	"cordon/internal/host/snapshot"
	"cordon/internal/transport"
	"cordon/internal/untrusted"
	"cordon/providers"
)

// IdentityPage is who wrote a case, with which program, and by whose clocks. All of it is
// read from the record; times are UTC as they were written, and no clock is corrected.
type IdentityPage struct {
	Schema    string            `json:"schema"` // cordon.identity/1
	Simulated bool              `json:"simulated,omitempty"`
	Case      string            `json:"case"`
	Opened    time.Time         `json:"opened"`
	Tool      map[string]string `json:"tool,omitempty"` // as the case was opened with
	Playbook  PlaybookID        `json:"playbook"`
	Writers   []Writer          `json:"writers"`
	Who       []Credentials     `json:"credentials"` // as the providers say
	Clocks    []ClockOffset     `json:"clocks"`
	Brought   *casefile.Origin  `json:"imported,omitempty"`
}

// PlaybookID is the playbook that ran. Replaces is the digest of the built-in of the
// same id where the bytes are others.
type PlaybookID struct {
	Name     string `json:"name,omitempty"`
	SHA256   string `json:"sha256,omitempty"`
	Replaces string `json:"replaces,omitempty"`
}

// Writer is one who took the case.
type Writer struct {
	Line     int                `json:"line"`
	At       time.Time          `json:"at"`
	Actor    string             `json:"actor"`
	Key      string             `json:"key,omitempty"`
	Host     string             `json:"host,omitempty"`
	PID      int                `json:"pid,omitempty"`
	Over     string             `json:"over,omitempty"`
	Identity *casefile.Identity `json:"identity,omitempty"`
}

// Credentials is who a system says that we are.
type Credentials struct {
	At     time.Time            `json:"at"`
	System string               `json:"system"`
	Who    []providers.Identity `json:"who"`
}

// ClockOffset is another clock minus ours, in milliseconds, plus or minus Uncertainty.
type ClockOffset struct {
	Of            string `json:"of"` // provider NAME, host NAME
	Known         bool   `json:"known"`
	OffsetMS      int64  `json:"offset_ms,omitempty"`
	UncertaintyMS int64  `json:"uncertainty_ms,omitempty"`
	Samples       int    `json:"samples,omitempty"`
	Why           string `json:"why,omitempty"`
}

// Identity reads the page of a case from its record. Nobody is asked.
func (a *App) Identity(id string) (IdentityPage, error) {
	v, err := a.View(id)
	if err != nil {
		return IdentityPage{}, err
	}
	return identityOf(v), nil
}

func identityOf(v *casefile.View) IdentityPage {
	p := IdentityPage{
		Schema: "cordon.identity/1", Simulated: v.Simulated, Case: v.ID, Opened: v.Lines[0].T, Tool: v.Opening.Tool,
		Writers: []Writer{}, Who: []Credentials{}, Clocks: []ClockOffset{},
	}
	if len(v.Opening.Playbook) > 0 {
		p.Playbook = PlaybookID{v.Opening.PlaybookName, v.PlaybookSum(), v.Opening.Replaces}
	}
	dates := map[string][]sample{}
	for _, l := range v.Lines {
		switch l.Kind {
		case "take":
			if t, ok := casefile.TakenBy(l); ok {
				p.Writers = append(p.Writers, Writer{l.Seq, l.T, l.Actor, l.Key, t.Host, t.PID, t.Over, t.Identity})
			}
		case "identity":
			c := Credentials{At: l.T}
			if json.Unmarshal(l.Data, &c) == nil {
				c.At = l.T
				p.Who = append(p.Who, c)
			}
		case "exchange":
			var x transport.Exchange
			if json.Unmarshal(l.Data, &x) == nil && !x.Date.IsZero() && !x.Reused {
				dates[x.System] = append(dates[x.System], sampleOf(x, l.T))
			}
		case "import":
			o := casefile.Brought(v)
			p.Brought = &o
		}
	}
	for _, name := range slices.Sorted(maps.Keys(dates)) {
		p.Clocks = append(p.Clocks, offsetOf("provider "+name, dates[name]))
	}
	p.Clocks = append(p.Clocks, hostClocks(v)...)
	return p
}

// sample is one look at another clock: it was between lo and hi ahead of ours.
type sample struct{ lo, hi time.Duration }

// sampleOf bounds a service's clock by one answer. Its Date has whole seconds and was
// written after the request left and before the answer was on record.
func sampleOf(x transport.Exchange, recorded time.Time) sample {
	if recorded.Before(x.At) {
		recorded = x.At // our own clock was set back in between; the sample is then too narrow, and disagrees
	}
	return sample{x.Date.Sub(recorded), x.Date.Add(time.Second).Sub(x.At)}
}

// offsetOf is what all samples agree on. Where they do not, one of the clocks was set, and
// the narrowest sample is given with a word about it.
func offsetOf(of string, all []sample) ClockOffset {
	o := ClockOffset{Of: of, Known: true, Samples: len(all)}
	both, best := all[0], all[0]
	for _, s := range all[1:] {
		both.lo, both.hi = max(both.lo, s.lo), min(both.hi, s.hi)
		if s.hi-s.lo < best.hi-best.lo {
			best = s
		}
	}
	if both.lo > both.hi {
		o.Why = "the answers do not agree on one offset: a clock was set, or runs at another speed"
		both = best
	}
	o.OffsetMS = ((both.lo + both.hi) / 2).Milliseconds()
	o.UncertaintyMS = ((both.hi-both.lo)/2 + time.Millisecond - 1).Milliseconds()
	return o
}

// hostClocks are the offsets that the snapshots of a case measured, the last of each host.
func hostClocks(v *casefile.View) []ClockOffset {
	last := map[string]ClockOffset{}
	for _, it := range v.Items {
		host, ok := strings.CutPrefix(it.Name, "host/")
		host, snap := strings.CutSuffix(host, "/snapshot.json")
		if !ok || !snap {
			continue
		}
		o := ClockOffset{Of: "host " + host, Why: "the host did not tell its time, or it could not be read"}
		if s, err := kept(v, it.Name); err == nil {
			o = hostOffset(host, s)
		}
		last[host] = o
	}
	var out []ClockOffset
	for _, host := range slices.Sorted(maps.Keys(last)) {
		out = append(out, last[host])
	}
	return out
}

func hostOffset(host string, s *snapshot.Snapshot) ClockOffset {
	o := ClockOffset{Of: "host " + host, Known: s.Offset.Known, Why: "the host did not tell its time"}
	if o.Known {
		o.Samples, o.Why = 1, "as told by the host"
		o.OffsetMS, o.UncertaintyMS = s.Offset.Value.Milliseconds(), s.Offset.Uncertainty.Milliseconds()
	}
	return o
}

// Identity writes the page.
func (l Lines) Identity(p IdentityPage) {
	l.Printf("case %s, opened %s; all times are UTC, as they were written", p.Case, p.Opened.UTC().Format(time.RFC3339))
	for _, k := range slices.Sorted(maps.Keys(p.Tool)) {
		l.Printf("  tool      %-16s %s", k, p.Tool[k])
	}
	if p.Playbook.Name != "" {
		l.Printf("  playbook  %-16s sha256:%s%s", p.Playbook.Name, p.Playbook.SHA256, dash(prefixed("NOT THE BUILT-IN, in place of sha256:", p.Playbook.Replaces)))
	}
	if p.Brought != nil {
		l.Printf("  imported  %d lines, head %.16s, bundle sha256:%.16s, signed by %s%s", p.Brought.Lines, p.Brought.Head, p.Brought.Bundle, p.Brought.Signer, dash(allowedWord(p.Brought.Allowed)))
	}
	for _, w := range p.Writers {
		l.Printf("writer at line %d, %s: %s on %s, pid %d%s", w.Line, w.At.UTC().Format(time.RFC3339), w.Actor, w.Host, w.PID, dash(prefixed("taken over: ", w.Over)))
		i := w.Identity
		if i == nil {
			l.Printf("  more is not known: the build that wrote it did not say")
			continue
		}
		l.Printf("  user      %s, uid %d", known(i.User), i.UID)
		l.Printf("  ssh from  %s", orElse(i.SSH, "no SSH session"))
		l.Printf("  signs by  %s %s", known(i.Key), i.KeyKind)
		l.Printf("  program   %s %s", i.Tool["cordon"], i.Tool["binary"])
		c := i.Clock
		if c.State == "not known" {
			l.Printf("  clock     not known%s", dash(c.Why))
		} else {
			l.Printf("  clock     %s says the %s, correcting %d us, error at most %d us%s", c.State, c.Source, c.OffsetUS, c.MaxErrorUS, dash(c.Why))
		}
	}
	for _, c := range p.Who {
		for _, w := range c.Who {
			until := "no end is told"
			if !w.Expires.IsZero() {
				until = "until " + w.Expires.UTC().Format(time.DateOnly)
			}
			l.Printf("%s says at %s that the credential for %s is %s %s, token %q, scopes %s, %s%s", c.System, c.At.UTC().Format(time.RFC3339),
				credentialUse(w.Credential), orElse(w.Kind, "of unknown kind"), known(string(w.Login)), w.Token, scopesOf(w.Scopes), until, dash(w.CouldNot))
		}
	}
	if len(p.Who) == 0 {
		l.Printf("who the credentials are was not asked of any provider yet")
	}
	for _, c := range p.Clocks {
		if !c.Known {
			l.Printf("clock of %s minus ours: not known%s", c.Of, dash(c.Why))
			continue
		}
		l.Printf("clock of %s minus ours: %+d ms, plus or minus %d ms, from %d answers%s", c.Of, c.OffsetMS, c.UncertaintyMS, c.Samples, dash(c.Why))
	}
}

func allowedWord(who string) string {
	if who == "" {
		return "the signer was not checked"
	}
	return "allowed as " + who
}

func credentialUse(s string) string { return map[string]string{"look": "looking", "act": "acting"}[s] }

func scopesOf(s []untrusted.Text) string {
	var out []string
	for _, x := range s {
		out = append(out, string(x))
	}
	return orElse(strings.Join(out, ","), "not known")
}

func prefixed(prefix, s string) string {
	if s == "" {
		return ""
	}
	return prefix + s
}

func known(s string) string { return orElse(s, "not known") }

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}
