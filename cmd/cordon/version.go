package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// version is the module's version, or the commit it was built from, or "unknown".
func version() string {
	bi, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	v, rev, dirty := bi.Main.Version, "", ""
	for _, s := range bi.Settings {
		switch s.Key {
		case "vcs.revision":
			rev = s.Value
		case "vcs.modified":
			if s.Value == "true" {
				dirty = "+changes"
			}
		}
	}
	if v == "" || v == "(devel)" {
		v = "devel"
	}
	if len(rev) >= 12 {
		v += " " + rev[:12] + dirty
	}
	return v
}

func newVersion(e env) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "version", Short: "Say which cordon this is", Args: exactly(),
		RunE: func(*cobra.Command, []string) error {
			if asJSON {
				return e.encode(map[string]string{
					"schema": "cordon.version/1", "version": version(), "go": runtime.Version(), "platform": runtime.GOOS + "/" + runtime.GOARCH,
				})
			}
			_, err := fmt.Fprintf(e.out, "cordon %s (%s, %s/%s)\n", version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return err
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "as JSON")
	return c
}
