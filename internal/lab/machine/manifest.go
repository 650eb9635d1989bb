// Package machine keeps the file tree that stands for one host of the lab.
//
// The tree is built from a manifest, because git and go:embed lose dotfiles, links,
// modes and times. Processes, sockets and logs are written into it as the simulated
// agents change, so that what stops looks stopped everywhere. Nothing in a tree is
// ever executed. Standard library, x/sys and goccy/go-yaml only.
package machine

import (
	"bytes"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"
	"text/template"
	"time"

	"github.com/goccy/go-yaml"
)

// Kinds of entry.
const (
	KindFile = "file" // the zero value means this too
	KindDir  = "dir"
	KindLink = "link"
)

// Manifest is everything of a host that does not move.
type Manifest struct {
	Entries   []Entry       `yaml:"entries"`
	Processes []ProcessSpec `yaml:"processes"`
}

// Entry is one path. Mode is octal, 0644 for a file and 0755 for a directory where
// it is empty. Age is how long before the lab's start it was last changed. Content
// and To are text/templates. Size stretches a file with zeros to so many bytes, which
// take no room on the disk: programs are told by their size as well.
type Entry struct {
	Path    string        `yaml:"path"`
	Kind    string        `yaml:"kind"`
	Mode    string        `yaml:"mode"`
	To      string        `yaml:"to"`
	Age     time.Duration `yaml:"age"`
	Content string        `yaml:"content"`
	Size    int64         `yaml:"size"`
}

// ProcessSpec is a process that stands there from the start and is no agent's.
// Args and Env are text/templates. Connect makes it hold an established connection.
type ProcessSpec struct {
	PID     int           `yaml:"pid"`
	PPID    int           `yaml:"ppid"`
	UID     int           `yaml:"uid"`
	Comm    string        `yaml:"comm"`
	Exe     string        `yaml:"exe"`
	Cwd     string        `yaml:"cwd"`
	Args    []string      `yaml:"args"`
	Env     []string      `yaml:"env"`
	Cgroup  string        `yaml:"cgroup"`
	Age     time.Duration `yaml:"age"`
	Connect string        `yaml:"connect"` // ADDRESS:PORT, ESTABLISHED
	Listen  string        `yaml:"listen"`  // ADDRESS:PORT, LISTEN
}

// ParseManifest reads YAML strictly: an unknown key is an error with its place.
func ParseManifest(b []byte) (Manifest, error) {
	var m Manifest
	if err := yaml.UnmarshalWithOptions(b, &m, yaml.Strict()); err != nil {
		return Manifest{}, fmt.Errorf("read a host manifest: %s", yaml.FormatError(err, false, true))
	}
	return m, nil
}

// Vars are what templates may ask for. Funcs must have everything the manifest uses.
type Vars struct {
	Host, Address string
	GitLab        string // base URL; empty where the lab has none
	GitHub        string // the same
	Start         time.Time
	Funcs         func(where string) template.FuncMap // functions for the entry at that place
}

func (v Vars) expand(where, text string) (string, error) {
	if !strings.Contains(text, "{{") {
		return text, nil
	}
	t, err := template.New(where).Option("missingkey=error").Funcs(v.Funcs(where)).Parse(text)
	if err != nil {
		return "", fmt.Errorf("template of %s: %w", where, err)
	}
	var b bytes.Buffer
	if err := t.Execute(&b, v); err != nil {
		return "", fmt.Errorf("template of %s: %w", where, err)
	}
	return b.String(), nil
}

// mode gives permission and setuid bits, or the default of the kind.
func (e Entry) mode() (fs.FileMode, error) {
	if e.Mode == "" {
		if e.Kind == KindDir {
			return 0o755, nil
		}
		return 0o644, nil
	}
	n, err := strconv.ParseUint(e.Mode, 8, 12)
	if err != nil {
		return 0, fmt.Errorf("mode %q of %s: %w", e.Mode, e.Path, err)
	}
	m := fs.FileMode(n) & fs.ModePerm
	for bit, flag := range map[uint64]fs.FileMode{0o4000: fs.ModeSetuid, 0o2000: fs.ModeSetgid, 0o1000: fs.ModeSticky} {
		if n&bit != 0 {
			m |= flag
		}
	}
	return m, nil
}

// clean refuses what could leave the tree.
func clean(p string) (string, error) {
	if !path.IsAbs(p) || path.Clean(p) != p || p == "/" {
		return "", fmt.Errorf("path %q of the manifest is not a clean absolute path", p)
	}
	return p, nil
}
