package app

import (
	"strings"

	"cordon/internal/untrusted"
)

// Sweep writes what a sweep found, host by host, and what it could not see.
func (l Lines) Sweep(r SweepReport) {
	l.Printf("indicators of %s%s; %s", r.List.Made.UTC().Format("2006-01-02"), dash(untrusted.Clean(r.List.About, 200)), r.List.Signed)
	if r.List.Old {
		l.Printf("the list is past its own end: ask for a newer one")
	}
	for _, p := range r.Places {
		if h := p.Asked; p.Now && h != (AskedHow{}) {
			l.Printf("%s was asked for the listed paths: %d there, %d not there, %d could not be looked at", p.Host, h.There, h.Absent, h.Unseen)
		}
	}
	for _, p := range r.Places {
		if len(p.Matches) == 0 {
			continue
		}
		when := "kept " + p.Taken.UTC().Format("2006-01-02 15:04")
		if p.Now {
			when = "read now"
		}
		l.Printf("%s, %s, case %s:", p.Host, when, p.Case)
		for _, m := range p.Matches {
			l.Printf("  %-8s %s %s %s", m.Kind, untrusted.Clean(m.Indicator, 120), m.How, m.Where)
		}
		if p.More > 0 {
			l.Printf("  and %d more", p.More)
		}
	}
	for _, p := range r.Places {
		for _, why := range p.CouldNot {
			l.Printf("could not look: %s of %s: %s", p.Host, p.Taken.UTC().Format("2006-01-02 15:04"), why)
		}
	}
	for _, why := range r.NotRead {
		l.Printf("not read: %s", why)
	}
	if len(r.Places) == 0 {
		l.Printf("no snapshot of any host is kept here: nothing was looked at")
	}
	if r.List.Names > 0 {
		l.Printf("names count only whole: the name abc finds no file abc.service; list both")
	}
	l.Printf("found on %d: %s", len(r.Found), namedHosts(r.Found))
	if len(r.Partly) > 0 {
		l.Printf("  of those could not look everywhere on %d, more may be there: %s", len(r.Partly), namedHosts(r.Partly))
	}
	l.Printf("could not look everywhere on %d: %s", len(r.CouldNot), namedHosts(r.CouldNot))
	l.Printf("nothing found on %d: %s", len(r.Nothing), namedHosts(r.Nothing))
}

func namedHosts(list []string) string {
	if len(list) == 0 {
		return "none"
	}
	return strings.Join(list, ", ")
}
