package app

import (
	"fmt"
	"slices"
	"strings"

	"cordon/internal/check"
	"cordon/internal/fleet"
	"cordon/internal/host"
	"cordon/internal/host/snapshot"
	"cordon/internal/target"
	"cordon/internal/untrusted"
	"cordon/providers"
)

// addHost puts a host on the card with what its kept snapshots say: the newest one that
// tells its installations, however a later one ended.
func (t *triage) addHost(name string, why Fact) {
	if slices.ContainsFunc(t.card.Hosts, func(h KnownHost) bool { return h.Name == name }) {
		return
	}
	h := KnownHost{Name: name, Found: why}
	reads := fleet.ReadsOf(snapshots(t.cases))
	i := slices.IndexFunc(reads, func(r fleet.HostReads) bool { return r.Host == name })
	if i < 0 {
		h.Answers = []Answer{answer("checked", Fact{Text: "it was never read from here", Known: "not asked"})}
		t.card.Hosts = append(t.card.Hosts, h)
		return
	}
	r := reads[i]
	known := t.checked(name, r.Best().Taken)
	state := found(known, r.Best(), t.a.checks())
	if r.Last != r.Best() {
		state.Text += fmt.Sprintf("; a later read, %s ago, did not get as far as the installations", ago(t.a.clock.Now().Sub(r.Last.Taken)))
	}
	list := r.Installations()
	in := known.says("%d installations", len(list))
	if r.Told == nil {
		in.Text = fmt.Sprintf("could not look to the end; seen until then: %d installations", len(list))
	}
	for _, x := range list {
		in.Items = append(in.Items, untrusted.Clean(fmt.Sprintf("%s at %s for %s, runner %s %q", x.Kind, x.Root, x.URL, dashed(string(x.RunnerID)), x.Name), 240))
	}
	h.Answers = append(h.Answers, answer("checked", state), answer("installed", in))
	t.card.Hosts = append(t.card.Hosts, h)
}

func found(known Fact, snap *snapshot.Snapshot, o check.Options) Fact {
	results := check.RunWith(snap, o)
	worst := check.AtLeast(results, check.Medium)
	out := known.says("%d findings of medium or worse", len(worst))
	blind, unasked := 0, 0
	for _, r := range check.Unknown(results) {
		if r.State == check.Unasked {
			unasked++
		} else {
			blind++
		}
	}
	if blind > 0 {
		out.Text += fmt.Sprintf("; %d checks could not say", blind)
	}
	if unasked > 0 {
		out.Text += fmt.Sprintf("; %d checks were not asked", unasked)
	}
	if !snap.Complete {
		out.Text += "; the read was not complete, so what is absent means nothing"
	}
	for _, f := range worst {
		if len(out.Items) == 5 {
			out.Items = append(out.Items, fmt.Sprintf("and %d more", len(worst)-5))
			break
		}
		out.Items = append(out.Items, untrusted.Clean(fmt.Sprintf("%s: %s (%s)", f.Severity, f.Title, f.Where), 200))
	}
	return out
}

// doubts says where the card could mislead: a name is no identity, and what a host has
// that no provider lists is on no runner's part of it.
func (t *triage) doubts() {
	for _, c := range t.card.Runners {
		if !slices.ContainsFunc(c.Found, func(f Fact) bool { return !strings.HasPrefix(f.Known, byName) }) {
			t.unknown("only a name leads to %s, and anybody can give a name: look whether it is the one", short(c.Ref))
		}
	}
	t.recall()
	if t.rows == nil {
		return
	}
	for _, row := range t.rows.Rows {
		if !row.Runner.Ref.IsZero() || len(row.Installations) == 0 {
			continue
		}
		in := row.Installations[0]
		if slices.ContainsFunc(t.card.Hosts, func(h KnownHost) bool { return h.Name == in.Host }) {
			t.unknown("%s has an installation at %s that no listed runner claims (%s: %s)%s", in.Host, in.Root, row.State, row.Why, t.caseOf(in.URL, in.RunnerID))
		}
	}
}

// caseOf names the case of the runner that an installation says it is, which may be why
// nobody lists it: the case may have removed it.
func (t *triage) caseOf(url, id untrusted.Text) string {
	ref, ok := t.refOf(url, id)
	if !ok {
		return ""
	}
	for _, k := range t.cases {
		if k.about(ref) {
			return fmt.Sprintf("; case %s is about that runner (%s) and may have removed it: cordon case show %s", k.sum.ID, short(ref), k.sum.ID)
		}
	}
	return ""
}

// next says what to do now, with what each command lets others see.
func (t *triage) next() {
	unseen := "nobody on a host"
	var steps []NextStep
	if c := t.card.Only(); c != nil {
		ref := short(c.Ref)
		if k := t.openCase(c.Ref); k != nil {
			steps = append(steps, NextStep{"cordon case resume " + k.sum.ID, "go on with the open case", unseen + " by that alone"})
		} else {
			steps = append(steps, NextStep{"cordon contain " + ref + withHosts(c.With), "open a case: keep what the provider says, then confirm a pause", unseen + " by keeping and pausing"})
		}
	}
	if len(t.card.Runners) > 1 {
		for _, c := range t.card.Runners {
			steps = append(steps, NextStep{"cordon triage " + short(c.Ref), "read this one in full", unseen})
		}
	}
	for _, h := range t.card.Hosts {
		if t.a.hasHost(h.Name) {
			steps = append(steps, t.a.checkStep(h.Name))
		}
	}
	t.card.Next = append(steps, t.card.Next...)
}

// short is a reference as it is typed: without a scope that is filled in, and with one
// that tells runners of the same number apart.
func short(r target.Ref) string {
	if r.Scope.Path != "" {
		return r.String()
	}
	return target.Ref{System: r.System, Kind: r.Kind, ID: r.ID}.String()
}

// with are the hosts that a new case does not find by itself: a case asks the provider
// where a runner's machines come from. An installation that was read names its host; what
// the alert named counts only where the provider says nothing, so that no case is opened
// on a host that its runner is not on.
func (t *triage) with(row fleet.Row, f facts) []string {
	said, _ := fleet.HostsOf(f.runner, f.managers, t.a.hostAddresses())
	var out []string
	add := func(name string) {
		if t.a.hasHost(name) && !slices.Contains(said, name) && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	for _, in := range row.Installations {
		add(in.Host)
	}
	silent := !slices.ContainsFunc(f.managers, func(m providers.Manager) bool { return m.Address != "" })
	if len(out) == 0 && silent && len(t.card.Hosts) == 1 { // of several, none is the one
		add(t.card.Hosts[0].Name)
	}
	if name := t.namesake(f.runner); len(out) == 0 && name != "" {
		add(name)
	}
	return out
}

func withHosts(hosts []string) string {
	s := ""
	for _, h := range hosts {
		s += " --host " + h
	}
	return s
}

// checkStep is the read of a host, in the words of the way that the configuration names.
func (a *App) checkStep(name string) NextStep {
	l := host.Looking{Host: name, Transport: snapshot.BySSH}
	switch h := a.cfg.Hosts[name]; {
	case h.Local:
		l.Transport = snapshot.ByLocal
	case len(h.Exec) > 0:
		l.Transport = snapshot.ByExec
	}
	r := ReachOf(l)
	return NextStep{"cordon host check " + name, r.Title + ", and run every check", r.Seen}
}
