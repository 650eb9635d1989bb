package tui

import (
	"fmt"
	"os"
	"path/filepath"

	"cordon/internal/app"
)

// crashFile keeps the trace of a panic under the state directory, redacted: a panic
// value may hold what a provider or a person said.
func crashFile(a *app.App) func(v any, stack []byte) string {
	return func(v any, stack []byte) string {
		text := a.Redact(fmt.Sprintf("%v\n\n%s", v, stack))
		path := filepath.Join(a.StateDir(), "crash-"+a.Clock().Now().Format("20060102T150405.000")+".txt")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return "nowhere: " + err.Error()
		}
		return path
	}
}
