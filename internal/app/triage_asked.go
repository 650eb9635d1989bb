package app

import (
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"cordon/internal/target"
	"cordon/providers"
)

// tokenLike errs towards refusing: what is refused can still be asked with -.
func (a *App) tokenLike(s string) bool {
	if _, n := a.marker.Text(s); n > 0 {
		return true
	}
	if len(s) < 20 || strings.ContainsAny(s, "./:@ ") {
		return false
	}
	var upper, lower, digit bool
	turns, last := 0, 0
	for _, r := range s {
		kind := 0
		switch {
		case unicode.IsUpper(r):
			upper, kind = true, 1
		case unicode.IsLower(r):
			lower, kind = true, 2
		case unicode.IsDigit(r):
			digit, kind = true, 3
		}
		if kind != last && kind != 0 && last != 0 {
			turns++
		}
		last = kind
	}
	return upper && lower && digit && turns >= len(s)/4
}

// runnerRef reads SYSTEM/runner/ID and SYSTEM/ID of a configured provider.
func (a *App) runnerRef(s string) (target.Ref, bool) {
	r, err := target.Parse(s)
	if err != nil || r.Kind != target.Runner {
		return target.Ref{}, false
	}
	_, ok := a.fleet.all[r.System].(providers.Provider)
	return r, ok
}

// looksRef tells SYSTEM/runner/ID of an unknown system from a path or a name.
func (a *App) looksRef(s string) bool {
	r, err := target.Parse(s)
	return err == nil && slices.Contains([]string{target.Runner, target.Manager, target.Job, target.Host}, r.Kind) && strings.Count(s, "/") >= 2
}

func because(err error) string {
	if err == nil {
		return "; cordon fleet lists them"
	}
	return ": " + err.Error()
}

func (a *App) hasHost(name string) bool {
	_, ok := a.cfg.Hosts[name]
	return ok
}

// pageOf is the address of a web page, also as people copy it without its scheme.
func pageOf(s string) *url.URL {
	if !strings.Contains(s, "://") {
		if !strings.Contains(s, "/-/") {
			return nil
		}
		s = "https://" + s
	}
	u, err := url.Parse(s)
	if err != nil || u.Host == "" {
		return nil
	}
	u.User, u.RawQuery, u.Fragment = nil, "", ""
	return u
}

func addressOf(s string) netip.Addr {
	if ap, err := netip.ParseAddrPort(s); err == nil {
		return ap.Addr().Unmap()
	}
	ip, err := netip.ParseAddr(strings.Trim(s, "[]"))
	if err != nil {
		return netip.Addr{}
	}
	return ip.Unmap().WithZone("")
}
