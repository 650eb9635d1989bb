package report

import (
	"fmt"
	"strings"

	"cordon/internal/casefile"
	"cordon/internal/untrusted"
)

// next is what to do now, in one line, with the command.
func (f *fold) next(v *casefile.View, perr error, at standing) string {
	over := "hand over: cordon case export " + v.ID
	switch {
	case perr != nil:
		return "go on with the version of cordon that opened it"
	case f.handed != "":
		return "whoever it went to: cordon case import FILE; back to here: cordon case resume " + v.ID + " --take-over --reason WHY"
	case f.falsely && f.closed == "":
		return "go on undoing what can be undone: cordon case resume " + v.ID
	case f.falsely && f.repair() != "":
		return fit([]string{f.repair(), over}, maxLine-10)
	case f.stillRuns():
		return "isolate the host, and have its registration removed by whoever has it; " + over
	case f.closed == "" && at.waits && len(f.owed()) > 0:
		return untrusted.Clean(f.owed()[0].says(f.asOf), 140) + "; then: cordon case resume " + v.ID
	case f.closed == "" && len(at.done) > 0:
		return fmt.Sprintf("do not repeat %s, which took effect; the rest of %q: cordon case resume %s", strings.Join(at.done, ", "), untrusted.Clean(at.title, 60), v.ID)
	case f.closed == "" && at.n > 0:
		return at.title + ": cordon case resume " + v.ID
	}
	var first []string
	if f.worse > 0 && f.book {
		first = append(first, "isolate "+named(f.grave)+" or rebuild it: what was found there does not end with the runner")
	}
	switch {
	case f.falsely:
	case f.exposed != nil && (f.left() > 0 || f.debts() != "" || len(f.strays) > 0):
		first = append(first, "replace what is open, then "+over)
	}
	if n := len(first); n == 0 || !strings.HasSuffix(first[n-1], over) {
		first = append(first, over)
	}
	return fit(first, maxLine-10)
}
