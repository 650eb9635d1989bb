package app

import (
	"fmt"
	"net/url"
	"strings"

	"cordon/internal/casefile"
	"cordon/internal/target"
)

// Keys of an opening's Tool beside programs and scripts: which lab, and where each
// system that is called by a name is reached.
const (
	toolLab    = "lab"
	toolSystem = "system "
)

// opened is tool with what the names of a new case stand for.
func (a *App) opened() map[string]string {
	t := a.tool()
	for name, p := range a.cfg.Providers {
		t[toolSystem+name] = place(p.URL)
	}
	if a.sim != nil {
		t[toolLab] = a.sim.ID
	}
	return t
}

// belongs refuses a case that was opened against other systems than those that are
// configured: a runner's number at another GitLab of the same name is another runner,
// and "gone" there says nothing. Cases of builds that did not write it down pass.
func (a *App) belongs(v *casefile.View) error {
	other := func(what, then, now string) error {
		return fmt.Errorf("%w: resume %s: the case was opened on %s %s, and here that is %s; resume it with the configuration it was opened with",
			ErrUsage, v.ID, what, then, now)
	}
	if id := v.Opening.Tool[toolLab]; id != "" && a.sim != nil && id != a.sim.ID {
		return other("lab", id, "lab "+a.sim.ID)
	}
	for _, t := range v.Opening.Targets {
		then := v.Opening.Tool[toolSystem+t.System]
		p, ok := a.cfg.Providers[t.System]
		if t.System == target.SSH || then == "" || !ok { // one that is not configured is missed when the run is built
			continue
		}
		if now := place(p.URL); now != then {
			return other(t.System, then, now)
		}
	}
	return nil
}

// place is a base URL in one spelling, without what is not part of the place.
func place(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return raw
	}
	port := ""
	if p := u.Port(); p != "" && (u.Scheme != "https" || p != "443") && (u.Scheme != "http" || p != "80") {
		port = ":" + p
	}
	return strings.ToLower(u.Scheme+"://"+u.Hostname()) + port + strings.TrimRight(u.EscapedPath(), "/")
}
