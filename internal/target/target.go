// Package target names the things cordon acts on and looks at.
//
// A Ref is the only way a runner, manager, job, host or unit is selected anywhere
// in the program: by system, scope and id, never by display name. It may import
// only the standard library.
package target

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// Kinds of target.
const (
	Runner  = "runner"  // a registration at a provider
	Manager = "manager" // one process that uses a registration
	Job     = "job"     // one run of one job
	Host    = "host"    // a machine
	Unit    = "unit"    // a service unit on a host
	// Installation is a runner found on a host.
	Installation = "installation"
	Token        = "token"   // a credential, named by its fingerprint or place, never by its value
	Project      = "project" // a repository or project at a provider
)

// SSH is the system under which hosts are named: "ssh/host/build-07".
const SSH = "ssh"

// ErrSyntax is wrapped by every error of Parse.
var ErrSyntax = errors.New("not a reference")

// Scope says where a target is registered: instance, group or project at a
// GitLab, enterprise, organization or repository at a GitHub, a host for units.
// Path is empty where the level needs none.
type Scope struct{ Level, Path string }

// Ref identifies one target. It is comparable and safe as a map key. The zero
// value identifies nothing.
type Ref struct {
	System string // configured provider name, or "ssh"
	Scope  Scope
	Kind   string
	ID     string
}

// IsZero reports whether the reference identifies nothing.
func (r Ref) IsZero() bool { return r == Ref{} }

// String gives the command-line form: SYSTEM/[LEVEL[:PATH]/]KIND/ID, each part
// path-escaped, so that Parse(r.String()) == r.
func (r Ref) String() string {
	parts := []string{url.PathEscape(r.System)}
	if r.Scope.Level != "" {
		s := url.PathEscape(r.Scope.Level)
		if r.Scope.Path != "" {
			s += ":" + url.PathEscape(r.Scope.Path)
		}
		parts = append(parts, s)
	}
	return strings.Join(append(parts, url.PathEscape(r.Kind), url.PathEscape(r.ID)), "/")
}

// Short is the form for narrow places: SYSTEM/ID, of a runner with what it is registered
// to where that has a name, since a GitHub counts its runners anew in each:
// SYSTEM/ID@acme/shop. Of an installation it is the host that it is on: that is what one
// looks for.
func (r Ref) Short() string {
	if r.Kind == Installation && r.Scope.Path != "" {
		return url.PathEscape(r.Scope.Path)
	}
	s := url.PathEscape(r.System) + "/" + url.PathEscape(r.ID)
	if r.Kind != Runner || r.Scope.Path == "" {
		return s
	}
	s += "@"
	if r.Scope.Level == "enterprise" { // which may be called as an organization is
		s += "enterprise:"
	}
	return s + strings.ReplaceAll(url.PathEscape(r.Scope.Path), "%2F", "/")
}

// Same reports whether two references are of the same thing: the same system, kind and
// id, and the same scope, where both name one by its path. One without a path leaves it
// open, as a GitLab does, whose ids are unique.
func (r Ref) Same(o Ref) bool {
	return r.System == o.System && r.Kind == o.Kind && r.ID == o.ID &&
		(r.Scope.Path == "" || o.Scope.Path == "" || r.Scope.Level == o.Scope.Level && strings.EqualFold(r.Scope.Path, o.Scope.Path))
}

// MarshalText implements encoding.TextMarshaler with the form of String. The
// zero Ref is the empty text.
func (r Ref) MarshalText() ([]byte, error) {
	if r.IsZero() {
		return nil, nil
	}
	return []byte(r.String()), nil
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (r *Ref) UnmarshalText(b []byte) error {
	if len(b) == 0 {
		*r = Ref{}
		return nil
	}
	v, err := Parse(string(b))
	if err == nil {
		*r = v
	}
	return err
}

// Parse reads the form that String writes, and SYSTEM/ID as short for a runner
// without a scope. Errors wrap ErrSyntax.
func Parse(s string) (Ref, error) {
	fail := func(why string) (Ref, error) {
		return Ref{}, fmt.Errorf("%w: %q: %s; write SYSTEM/runner/ID or ssh/host/NAME", ErrSyntax, s, why)
	}
	raw := strings.Split(s, "/")
	part := make([]string, len(raw))
	for i, p := range raw {
		if p == "" {
			return fail("empty part")
		}
		if len(raw) == 4 && i == 1 {
			continue // the scope is unescaped after its colon is found
		}
		u, err := url.PathUnescape(p)
		if err != nil {
			return fail("bad escape")
		}
		part[i] = u
	}
	switch len(raw) {
	case 2:
		return Ref{System: part[0], Kind: Runner, ID: part[1]}, nil
	case 3:
		return Ref{System: part[0], Kind: part[1], ID: part[2]}, nil
	case 4:
		level, path, _ := strings.Cut(raw[1], ":")
		l, err1 := url.PathUnescape(level)
		p, err2 := url.PathUnescape(path)
		if err1 != nil || err2 != nil || l == "" {
			return fail("bad scope")
		}
		return Ref{System: part[0], Scope: Scope{Level: l, Path: p}, Kind: part[2], ID: part[3]}, nil
	}
	if len(raw) == 5 && strings.Contains(raw[1], ":") {
		return fail("the slash in a path is written %2F, as in gh/repository:acme%2Fweb/runner/7")
	}
	return fail("wrong number of parts")
}
