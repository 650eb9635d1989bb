package machine

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

const (
	unitDir  = "/etc/systemd/system/"
	wantsDir = "/etc/systemd/system/multi-user.target.wants/"
)

// HasUnit reports whether the host has a unit file of that name.
func (m *Machine) HasUnit(unit string) bool {
	_, err := os.Lstat(m.Path(unitDir + unit))
	return err == nil
}

// Enabled reports whether the unit starts at boot.
func (m *Machine) Enabled(unit string) bool {
	_, err := os.Lstat(m.Path(wantsDir + unit))
	return err == nil
}

// SetEnabled makes or removes the link that starts the unit at boot, and reports
// whether that changed anything.
func (m *Machine) SetEnabled(unit string, on bool) (changed bool, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !on {
		err = os.Remove(m.Path(wantsDir + unit))
		if errors.Is(err, fs.ErrNotExist) {
			return false, nil
		}
		return err == nil, err
	}
	if err := os.MkdirAll(filepath.Dir(m.Path(wantsDir+unit)), 0o755); err != nil {
		return false, err
	}
	err = os.Symlink(unitDir+unit, m.Path(wantsDir+unit))
	if errors.Is(err, fs.ErrExist) {
		return false, nil
	}
	return err == nil, err
}
