package machine

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// Put writes a file of the host as it was at a time, making its directories. What was
// there is replaced whole.
func (m *Machine) Put(p, text string, mode fs.FileMode, at time.Time) error {
	clean, err := clean(p)
	if err != nil {
		return err
	}
	full := m.Path(clean)
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		return fmt.Errorf("make the directory of %s: %w", p, err)
	}
	if err := replace(full, []byte(text)); err != nil {
		return fmt.Errorf("write %s of %s: %w", p, m.Name, err)
	}
	if err := os.Chmod(full, mode); err != nil {
		return err
	}
	return touch(full, at)
}
