package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"cordon/internal/app"
	"cordon/internal/untrusted"
)

// failure is an error for a program that asked for JSON. Code is the exit code.
type failure struct {
	Schema  string `json:"schema"`
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// complain writes an error as the last line of the error stream: for a person, or with
// --json as one object. The output stays what the command wrote, which may be a report.
func complain(errw io.Writer, err error, asJSON bool) {
	say := untrusted.Clean(app.Hint(err), 0)
	if !asJSON {
		fmt.Fprintln(errw, "cordon: "+say)
		return
	}
	b, jerr := json.Marshal(failure{"cordon.error/1", exitCode(err), say})
	if jerr != nil { // a string and a number always can be
		b = []byte("{}")
	}
	fmt.Fprintln(errw, string(untrusted.EscapeJSON(b)))
}

// wantsJSON reports whether --json was given. Where the command line was not understood,
// the flag may stand behind the mistake, or at a command that does not have it.
func wantsJSON(ran *cobra.Command, args []string) bool {
	if f := ran.Flags().Lookup("json"); f != nil && f.Changed {
		return f.Value.String() == "true"
	}
	if end := slices.Index(args, "--"); end >= 0 {
		args = args[:end]
	}
	return slices.Contains(args, "--json") || slices.Contains(args, "--json=true")
}
