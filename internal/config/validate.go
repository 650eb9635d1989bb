package config

import (
	"net"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"filippo.io/age"
	"github.com/adrg/xdg"

	"cordon/internal/target"
	"cordon/internal/yamlfile"
)

var (
	// A system's name is part of every reference and of paths in the bundle.
	nameForm        = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$`)
	wordForm        = regexp.MustCompile(`^[a-z]{1,20}$`)
	hostForm        = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9._-]{0,252})$`)
	userForm        = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]{0,31}$`)
	unitForm        = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.@:-]{0,120}\.service$`)
	principalForm   = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._+@-]{0,99}$`)
	fingerprintForm = regexp.MustCompile(`^SHA256:[A-Za-z0-9+/]{43}$`)
)

// DefaultUnit is the unit of a gitlab-runner installed from its packages.
const DefaultUnit = "gitlab-runner.service"

// validator checks what the values mean, completes what was left out and makes
// paths absolute. It collects every problem; none quotes a value.
type validator struct {
	doc  *yamlfile.Doc
	dir  string
	errs yamlfile.Errors
}

func (v *validator) add(at []string, hint, format string, args ...any) {
	v.errs = append(v.errs, v.doc.Errorf(at, hint, format, args...))
}

func at(path ...string) []string { return path }

func (v *validator) config(c *Config) {
	v.path(&c.StateDir)
	v.path(&c.Signing.Key)
	if c.Signing.Key != "" && c.Signing.Agent != "" {
		v.add(at("signing"), "keep one of them", "both key and agent")
	}
	if c.Signing.Agent != "" && !fingerprintForm.MatchString(c.Signing.Agent) {
		v.add(at("signing", "agent"), "ssh-add -l prints it", "not a fingerprint of the form SHA256:… of 43 characters")
	}
	if c.Principal != "" && !principalForm.MatchString(c.Principal) {
		v.add(at("principal"), "use a name such as alice@example.org", "not a principal")
	}
	for _, name := range sorted(c.Providers) {
		p := c.Providers[name]
		v.name("providers", name)
		v.provider(name, &p)
		c.Providers[name] = p
	}
	for _, name := range sorted(c.Hosts) {
		h := c.Hosts[name]
		v.name("hosts", name)
		v.host(name, &h)
		c.Hosts[name] = h
	}
	for _, name := range sorted(c.Rotate.Destinations) {
		v.usable(at("rotate", "destinations", name), name)
		if !runnable(c.Rotate.Destinations[name].Command) {
			v.add(at("rotate", "destinations", name), "write command: [program, argument, …]", "no command to give the token to")
		}
	}
	for _, name := range sorted(c.Operator) {
		x := c.Operator[name]
		v.usable(at("operator", name), name)
		v.action(name, &x)
		c.Operator[name] = x
	}
	v.notify(c.Notify)
	v.approvers(c)
	v.budget(&c.Budget)
	if _, err := c.Allow(); err != nil {
		v.add(at("destinations"), "write addresses or prefixes, such as 192.0.2.0/24", "%s", err)
	}
	v.recipients("rotate", c.Rotate.Recipients)
	v.recipients("evidence", c.Evidence.Recipients)
}

func (v *validator) recipients(of string, all []string) {
	for i, r := range all {
		if one, err := age.ParseRecipients(strings.NewReader(r)); err != nil || len(one) != 1 {
			v.add(at(of, "recipients", strconv.Itoa(i)), "age-keygen -y prints it: age1…", "not an age recipient")
		}
	}
}

func (v *validator) name(kind, name string) {
	v.usable(at(kind, name), name)
	if kind == "providers" && name == "operator" {
		v.add(at(kind, name), "operator actions are planned under that name", "a provider cannot be called operator")
	}
	if kind == "providers" && name == target.SSH {
		v.add(at(kind, name), "hosts are ssh/host/NAME", "a provider cannot be called ssh")
	}
}

func (v *validator) usable(where []string, name string) {
	if !nameForm.MatchString(name) {
		v.add(where, "use A-Z a-z 0-9 . _ -, at most 63, starting with a letter or digit", "not a usable name")
	}
}

// path completes a path: ~/ is the home directory, relative counts from the file.
func (v *validator) path(p *string) {
	switch rest, home := strings.CutPrefix(*p, "~/"); {
	case *p == "":
	case home:
		*p = filepath.Join(xdg.Home, rest)
	case !filepath.IsAbs(*p):
		*p = filepath.Join(v.dir, *p)
	}
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

func sorted[T any](m map[string]T) []string {
	names := make([]string, 0, len(m))
	for n := range m {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}
