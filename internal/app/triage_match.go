package app

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode"

	"cordon/internal/fleet"
	"cordon/internal/target"
	"cordon/internal/untrusted"
	"cordon/internal/witness"
	"cordon/providers"
)

// byName marks what nothing but a name says.
const byName = "by name only"

// known says how old a fact of a row is.
func (t *triage) known(row fleet.Row, part string) Fact {
	at, ok := row.SeenAt[part]
	switch {
	case !ok || at.IsZero(): // a case knows a runner that no list ever had
		return Fact{Known: "not asked"}
	case at.Before(t.card.At):
		return Fact{Known: "last known " + ago(t.a.clock.Now().Sub(at)) + " ago", At: at}
	}
	return Fact{Known: "provider now", At: at}
}

func (t *triage) checked(host string, at time.Time) Fact {
	return Fact{Known: fmt.Sprintf("last check of %s %s ago", host, ago(t.a.clock.Now().Sub(at))), At: at}
}

func (f Fact) says(format string, args ...any) Fact {
	f.Text = untrusted.Clean(fmt.Sprintf(format, args...), 300)
	return f
}

// host adds the runners of a configured host: by its last check, by the addresses that
// managers came from, and by name.
func (t *triage) host(ctx context.Context, name string, why Fact) error {
	if err := t.list(ctx); err != nil {
		return err
	}
	t.addHost(name, why)
	t.onHost(name)
	t.named(name)
	return nil
}

// onHost adds the runners that are known to be on a host.
func (t *triage) onHost(name string) {
	if t.rows == nil {
		return
	}
	for _, row := range t.rows.Rows {
		if row.Runner.Ref.IsZero() || !slices.Contains(row.Hosts, name) {
			continue
		}
		why := t.known(row, "managers")
		why.Known = "by address, " + why.Known
		why = why.says("a machine that uses it came from the address of %s", name)
		for _, in := range row.Installations {
			if in.Host == name {
				why = t.checked(name, row.SeenAt["host/"+name]).says("installed at %s", in.Root)
			}
		}
		t.found(row.Runner.Ref, why)
	}
}

// name adds what has a name: runners, and configured hosts whose name or address is like it.
func (t *triage) name(ctx context.Context, name string) error {
	if err := t.list(ctx); err != nil {
		return err
	}
	t.named(name)
	t.installed(name)
	for host, h := range t.a.cfg.Hosts {
		if at, _, _ := strings.Cut(h.Address, ":"); strings.EqualFold(at, name) || alike(host, name) {
			t.addHost(host, Fact{Text: "a configured host is called or reached like that", Known: byName})
			t.onHost(host)
		}
	}
	if strings.HasPrefix(name, "/") && t.rows != nil {
		for _, row := range t.rows.Rows {
			for _, in := range row.Installations {
				if in.Root == untrusted.Text(name) || in.Config == untrusted.Text(name) {
					t.addHost(in.Host, t.checked(in.Host, row.SeenAt["host/"+in.Host]).says("an installation is there"))
					if !row.Runner.Ref.IsZero() {
						t.found(row.Runner.Ref, t.checked(in.Host, row.SeenAt["host/"+in.Host]).says("installed at %s", in.Root))
					}
				}
			}
		}
	}
	return nil
}

// named adds runners by their name, which anybody can give to anything.
func (t *triage) named(name string) {
	if t.rows == nil {
		return
	}
	for _, row := range t.rows.Rows {
		if !row.Runner.Ref.IsZero() && alike(string(row.Runner.Name), name) {
			why := t.known(row, "provider")
			why.Known = byName + ", " + why.Known
			t.found(row.Runner.Ref, why.says("the provider calls it %q", row.Runner.Name))
		}
	}
}

// alike reports whether name, or the first label of a full host name, is a whole word
// of have.
func alike(have, name string) bool {
	have, name = strings.ToLower(have), strings.ToLower(name)
	short, _, dotted := strings.Cut(name, ".")
	return have == name || wholeWord(have, name) || dotted && len(short) > 2 && wholeWord(have, short)
}

func wholeWord(have, name string) bool {
	part := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '-' || r == '_' }
	return len(name) > 2 && slices.Contains(strings.FieldsFunc(have, func(r rune) bool { return !part(r) }), name)
}

// address adds what came from an address. Managers are only known where they were
// asked for: to ask all of them is a call for each runner, and not done unasked.
func (t *triage) address(ctx context.Context, ip netip.Addr) error {
	if err := t.list(ctx); err != nil {
		return err
	}
	for host, known := range t.a.hostAddresses() {
		if slices.ContainsFunc(known, func(s string) bool { return addressOf(s) == ip }) {
			t.addHost(host, Fact{Text: "its configured address", Known: "as configured"})
			t.onHost(host)
		}
	}
	if t.rows == nil {
		return nil
	}
	unasked := 0
	for _, row := range t.rows.Rows {
		if row.Runner.Ref.IsZero() {
			continue
		}
		if _, ok := row.SeenAt["managers"]; !ok && t.a.tellsMachines(row.Runner.Ref.System) {
			unasked++
		}
		for _, m := range row.Managers {
			if addressOf(string(m.Address)) == ip {
				why := t.known(row, "managers")
				why.Known = "by address, " + why.Known
				t.found(row.Runner.Ref, why.says("machine %s that uses it came from there", m.SystemID))
			}
		}
	}
	if unasked > 0 {
		t.unknown("the addresses of %d runners are not known here; cordon fleet --managers asks for them, with one call each", unasked)
	}
	return nil
}

// page asks the provider whose page it is; a page of nobody may still name a host.
func (t *triage) page(ctx context.Context, u *url.URL) error {
	for _, p := range t.a.fleet.providers {
		f, ok := p.(providers.Finder)
		if !ok {
			continue
		}
		found, err := f.Find(ctx, u)
		switch {
		case errors.Is(err, providers.ErrNotYours):
			continue
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			t.unknown("%s: %v", p.Name(), err)
			return nil
		}
		for _, r := range found.Runners {
			why := Fact{Known: "provider now", At: t.card.At}
			if r.Status == "" { // nothing was read for it
				why = Fact{Known: "from the address"}
			}
			c := t.found(r.Ref, why.says("%s: %s", found.What, found.Why))
			c.Name = r.Name
			if r.Status != "" {
				c.Answers = []Answer{{"identity", "what it is", Fact{Text: describe(r, t.card.At), Known: "provider now", At: t.card.At}}}
			}
		}
		if len(found.Runners) == 0 {
			t.unknown("%s: %s", found.What, found.Why)
		}
		return nil
	}
	if name := t.a.serves(u); name != "" {
		t.unknown("%s is a page of %s that leads to no runner or job; it is looked up as a host", u.Path, name)
	} else {
		t.unknown("%s is no page of a configured provider; it is looked up as a host", u.Host)
	}
	host := u.Hostname()
	if ip := addressOf(host); ip.IsValid() {
		return t.address(ctx, ip)
	}
	if t.a.hasHost(host) {
		return t.host(ctx, host, Fact{Text: "configured under that name", Known: "as configured"})
	}
	return t.name(ctx, host)
}

func describe(r providers.Runner, now time.Time) string {
	s := fmt.Sprintf("%q, %s, the provider's word: %s, paused: %s", r.Name, r.Ref, r.Status, word(r.Paused))
	if !r.LastContact.IsZero() {
		s += ", last contact " + r.LastContact.UTC().Format("2006-01-02 15:04Z")
		if r.Clock == witness.ClockLagging {
			s += " (may lag by an hour)"
		}
	}
	for _, w := range AgentWords(r, now) {
		s += ", " + w
	}
	return untrusted.Clean(s, 400)
}

// refOf is the runner that an installation says it is, where its service is configured.
func (t *triage) refOf(url, id untrusted.Text) (target.Ref, bool) {
	for _, p := range t.a.fleet.providers {
		if id != "" && sameService(t.a.cfg.Providers[p.Name()].URL, string(url)) {
			ref := target.Ref{System: p.Name(), Kind: target.Runner, ID: string(id)}
			if t.github(ref) { // which counts its runners anew in each account
				ref.Scope = accountOf(string(url))
			}
			return ref, true
		}
	}
	return target.Ref{}, false
}

// accountOf is what GitHub's runner is registered to, from the address that it keeps;
// zero where that names no account.
func accountOf(page string) target.Scope {
	u, err := url.Parse(page)
	if err != nil {
		return target.Scope{}
	}
	switch part := strings.Split(strings.Trim(u.Path, "/"), "/"); {
	case len(part) == 2 && part[0] == "enterprises":
		return target.Scope{Level: "enterprise", Path: part[1]}
	case len(part) == 2:
		return target.Scope{Level: "repository", Path: part[0] + "/" + part[1]}
	case len(part) == 1 && part[0] != "":
		return target.Scope{Level: "organization", Path: part[0]}
	}
	return target.Scope{}
}

func sameService(a, b string) bool {
	x, err1 := url.Parse(a)
	y, err2 := url.Parse(b)
	return err1 == nil && err2 == nil && x.Host != "" && strings.EqualFold(x.Host, y.Host) && strings.EqualFold(x.Scheme, y.Scheme)
}

// serves is the provider whose web pages u is among, "" for none.
func (a *App) serves(u *url.URL) string {
	for name, p := range a.cfg.Providers {
		if base, err := url.Parse(p.URL); err == nil && strings.EqualFold(base.Host, u.Host) {
			return name
		}
	}
	return ""
}

// tellsMachines reports whether a provider knows which machines use a registration.
// GitHub does not.
func (a *App) tellsMachines(system string) bool { return a.cfg.Providers[system].Type != "github" }

func (a *App) anyTellsMachines() bool {
	return slices.ContainsFunc(a.fleet.providers, func(p providers.Provider) bool { return a.tellsMachines(p.Name()) })
}
