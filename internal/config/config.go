// Package config reads cordon's configuration and says where its tokens come from.
//
// The file holds no secrets, only the places where they are: an environment
// variable, a command, a file, glab or gh. A token is fetched when it is needed and
// stays in memory; nothing here writes or logs one, and no message quotes a value of
// the file, because somebody will paste a token into the wrong line. The package may
// import levels 0 and 1; it opens no connection and builds no system.
package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/adrg/xdg"

	"cordon/internal/yamlfile"
)

// ErrInvalid is wrapped by every error of Load and Parse.
var ErrInvalid = errors.New("configuration")

// Config is the whole file. The zero value is an empty configuration. It is not
// changed after Load and then safe for concurrent use. Paths in it are then absolute.
type Config struct {
	StateDir  string              `yaml:"state_dir"` // "": see StateHome
	Principal string              `yaml:"principal"` // who signs, as in allowed_signers: alice@example.org
	Signing   Signing             `yaml:"signing"`
	Providers map[string]Provider `yaml:"providers"`
	Hosts     map[string]Host     `yaml:"hosts"`
	Rotate    Rotate              `yaml:"rotate"`
	Evidence  Evidence            `yaml:"evidence"`
	Notify    *Notify             `yaml:"notify"`    // nil: nobody is told
	Operator  map[string]Action   `yaml:"operator"`  // by the name that playbooks use
	Approvers map[string]Approver `yaml:"approvers"` // by person
	Approval  Approval            `yaml:"approval"`
	Budget    Budget              `yaml:"budget"`

	// Destinations are where jobs may talk to: addresses and prefixes. Absent: nobody
	// said, and a public address is a note. An empty list allows private networks alone.
	Destinations []string `yaml:"destinations"`

	// Path is the file that was read; empty where there was none.
	Path string `yaml:"-"`
}

// Signing names the key that signs heads and bundles. Both empty: no key of one's
// own, so an ephemeral one is made for each case.
type Signing struct {
	Key   string `yaml:"key"`   // OpenSSH private key file
	Agent string `yaml:"agent"` // SHA256:… of a key that the SSH agent holds
}

// Rotate says where a new runner token may go.
type Rotate struct {
	Destinations map[string]Destination `yaml:"destinations"` // by the name that plans show
	Recipients   []string               `yaml:"recipients"`   // age recipients (age1…), to whom it can be sealed
}

// Evidence says to whom secret-bearing files of hosts are sealed. A case keeps the
// recipients that it was opened with; without any such files are described, not kept.
type Evidence struct {
	Recipients []string `yaml:"recipients"` // age recipients (age1…)
}

// Destination takes the token on its standard input.
type Destination struct {
	Command []string `yaml:"command"` // program and arguments, no shell
}

// Default is the configuration where there is no file.
func Default() *Config { return &Config{} }

// DefaultPath is $XDG_CONFIG_HOME/cordon/config.yaml.
func DefaultPath() string { return filepath.Join(xdg.ConfigHome, "cordon", "config.yaml") }

// Load reads the file at path. An empty path means DefaultPath, and there a missing
// file is not an error but Default: the caller may then try Discover. The error
// wraps ErrInvalid, and yamlfile.Errors where the file could be read.
func Load(path string) (*Config, error) {
	asked := path != ""
	if !asked {
		path = DefaultPath()
	}
	b, err := read(path, os.FileMode(0o002), "written")
	switch {
	case errors.Is(err, fs.ErrNotExist) && !asked:
		return Default(), nil
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%w: %s does not exist; name another file with --config, or leave --config out", ErrInvalid, path)
	case err != nil:
		return nil, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	return Parse(path, b)
}

// Parse reads a configuration that stood at path. Relative paths in it count from
// its directory. The error wraps ErrInvalid and yamlfile.Errors.
func Parse(path string, b []byte) (*Config, error) {
	c := Default()
	doc, err := yamlfile.Decode(path, b, c)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	c.Path = path
	dir, err := filepath.Abs(filepath.Dir(path))
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrInvalid, path, err)
	}
	v := &validator{doc: doc, dir: dir}
	v.config(c)
	if len(v.errs) > 0 {
		return nil, fmt.Errorf("%w: %w", ErrInvalid, v.errs)
	}
	return c, nil
}

// StateHome is the directory of the state: flag if given, else the configuration's
// state_dir, else $XDG_STATE_HOME/cordon. It is absolute and need not exist.
func (c *Config) StateHome(flag string) (string, error) {
	dir := flag
	if dir == "" {
		dir = c.StateDir
	}
	if dir == "" {
		dir = filepath.Join(xdg.StateHome, "cordon")
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("%w: state directory %s: %w", ErrInvalid, dir, err)
	}
	return abs, nil
}

// read returns a regular file that fewer than these others have access to; how is
// the word for what they could do. It never waits: a pipe is refused, not opened.
func read(path string, others os.FileMode, how string) ([]byte, error) {
	f, err := openNow(path)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, unpath(err))
	}
	defer f.Close()
	st, err := f.Stat()
	switch {
	case err != nil:
		return nil, fmt.Errorf("read %s: %w", path, unpath(err))
	case !st.Mode().IsRegular():
		return nil, fmt.Errorf("read %s: not a regular file", path)
	case st.Mode().Perm()&others != 0:
		return nil, fmt.Errorf("%s can be %s by others (mode %04o); run: chmod %04o %s", path, how, st.Mode().Perm(), st.Mode().Perm()&^others, path)
	}
	b, err := io.ReadAll(io.LimitReader(f, yamlfile.MaxBytes+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, unpath(err))
	}
	return b, nil
}

// unpath drops the operation and path that our own message names already.
func unpath(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}
