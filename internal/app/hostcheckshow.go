package app

import (
	"strings"

	"cordon/internal/check"
	"cordon/internal/host"
	"cordon/internal/host/snapshot"
)

// byWay says how an answer came, "" where that was not recorded.
func byWay(c *snapshot.Carried) string {
	if c == nil {
		return ""
	}
	s := " by " + c.Transport
	if c.Transport == snapshot.ByHand {
		s = ""
	}
	if c.Carrier != "" {
		s += " " + c.Carrier
	}
	if k := c.HostKey; k != nil {
		s += ", host key " + k.Shown + " (" + k.State
		if k.Why != "" {
			s += ": " + k.Why
		}
		s += ")"
	}
	return s
}

// Looking writes what reading hosts would do, before anything is contacted.
func (l Lines) Looking(all []host.Looking) {
	touches := 0
	var effects []string
	hosts := map[string][]string{}
	for _, x := range all {
		l.Printf("%s: %s %s%s", x.Host, x.Transport, x.Way, offers(x.Keys))
		if x.Problem != "" {
			l.Printf("  would fail before any contact: %s", x.Problem)
		}
		touches += x.Touches
		for _, e := range x.Effects {
			if hosts[e] == nil {
				effects = append(effects, e)
			}
			hosts[e] = append(hosts[e], x.Host)
		}
	}
	l.Printf("looking is not free:")
	for _, e := range effects {
		on := ""
		if len(hosts[e]) < len(all) {
			on = " (" + strings.Join(hosts[e], ", ") + ")"
		}
		l.Printf("  %s%s", e, on)
	}
	if touches > 0 {
		l.Printf("YOUR SECURITY KEY WILL ASK: %s", count(touches, "", "1 touch", "touches"))
	}
}

func offers(keys string) string {
	if keys == "" {
		return ""
	}
	return ", with key " + keys
}

// HostProgress writes how far a read of several hosts is.
func (l Lines) HostProgress(p HostProgress) {
	l.Printf("%d/%d %s: %s  (so far %d with findings, %d not wholly seen, %d with lesser findings, %d clean)",
		p.Done, p.Of, p.Host, p.Word, p.Findings, p.Lost, p.Lesser, p.Clean)
}

// HostsReport writes every host and then which are which.
func (l Lines) HostsReport(r HostsReport) {
	for _, h := range r.Hosts {
		l.hostReport(h)
	}
	l.notLooked()
	s := r.Summary
	l.Printf("%d hosts", s.Asked)
	for _, x := range []struct {
		word  string
		names []string
	}{
		{"findings of " + string(s.FailOn) + " or worse", s.Findings},
		{"of those not wholly seen, more may be there", s.Partly},
		{notSeen, s.CouldNot},
		{notAsked + ", the work was interrupted", s.NotAsked},
		{"findings below " + string(s.FailOn) + " alone, everything seen", s.Lesser},
		{"clean: everything seen, nothing above info", s.Clean},
	} {
		if len(x.names) == 0 && (x.word == notAsked+", the work was interrupted" || strings.HasPrefix(x.word, "of those")) {
			continue
		}
		l.Printf("  %s: %d %s", x.word, len(x.names), strings.Join(x.names, " "))
	}
}

// notLooked writes what no check asks of any host: "nothing found" is not about that.
func (l Lines) notLooked() { l.Printf("not looked at: %s", strings.Join(check.NotCovered(), "; ")) }
