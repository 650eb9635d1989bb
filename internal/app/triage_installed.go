package app

import (
	"strings"

	"cordon/internal/check"
	"cordon/internal/fleet"
	"cordon/internal/target"
)

// installed adds what the kept snapshots of hosts have under a name or a path: a planted
// runner is in no list of ours, and the host where it was read is where it is found.
func (t *triage) installed(what string) {
	for _, r := range fleet.ReadsOf(snapshots(t.cases)) {
		for _, in := range r.Installations() {
			how := installedAs(in, what)
			if how == "" {
				continue
			}
			why := t.checked(r.Host, r.Best().Taken).says("%s: %s %q at %s, registered to %s", how, in.Kind, in.Name, in.Root, dashed(string(in.URL)))
			t.addHost(r.Host, why)
			ref, ok := t.refOf(in.URL, in.RunnerID)
			if _, listed := t.row(ref); ok && listed {
				t.found(ref, why)
				continue
			}
			t.stray(r.Host, in)
		}
	}
}

// installedAs says what an installation has to do with what was asked; empty: nothing.
func installedAs(in check.Installation, what string) string {
	root := strings.TrimRight(string(in.Root), "/")
	switch {
	case !strings.HasPrefix(what, "/"):
		if alike(string(in.Name), what) {
			return "an installation on it has that name"
		}
	case root != "" && (strings.TrimRight(what, "/") == root || strings.HasPrefix(what, root+"/")), string(in.Config) == what:
		return "an installation is there"
	}
	return ""
}

// stray says of an installation that no list of ours has it, and what can be done from
// here: its registration may be nobody's that is configured, and its host is.
func (t *triage) stray(host string, in check.Installation) {
	t.planted = true
	t.unknown("%s %q at %s on %s is registered to %s, and no list of ours has it: planted, removed since, or hidden from this credential; its registration may not be ours to end%s",
		in.Kind, in.Name, in.Root, host, dashed(string(in.URL)), t.caseOf(in.URL, in.RunnerID))
	if !t.a.hasHost(host) {
		return
	}
	ref := target.Ref{System: target.SSH, Kind: target.Host, ID: host}.String()
	for _, n := range t.card.Next {
		if strings.HasSuffix(n.Command, ref) {
			return
		}
	}
	t.card.Next = append(t.card.Next, NextStep{
		"cordon contain " + ref, "open a case about the host that it runs on", "whoever is on the host, once it is read",
	})
}
