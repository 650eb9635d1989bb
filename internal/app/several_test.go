package app

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"cordon/internal/config"
	"cordon/internal/target"
	"cordon/internal/untrusted"
	"cordon/providers"
)

// TestEachHostGoesToItsRunner: of several runners nobody guesses which one a host is of.
func TestEachHostGoesToItsRunner(t *testing.T) {
	w := newWorld(t)
	a := w.open()
	a.cfg.Hosts = map[string]config.Host{"gha-01": {}, "gha-02": {}, "h": {}}
	of := func(system, id, name string) member {
		r := target.Ref{System: system, Scope: target.Scope{Level: "organization", Path: "acme"}, Kind: target.Runner, ID: id}
		return member{r.Short(), providers.Runner{Ref: r, Name: untrusted.Text(name)}, nil}
	}
	two := []member{of("gh", "23", "gha-01"), of("gh", "24", "GHA-02")}
	same := []member{of("gh", "23", "gha-01"), of("ghe", "23", "gha-01")}
	for name, c := range map[string]struct {
		of    []member
		hosts []string
		want  [][]string
		says  string // what it is refused with
		err   error
	}{
		"by name":             {two, []string{"gha-02", "gha-01"}, [][]string{{"gha-01"}, {"gha-02"}}, "", nil},
		"by the form":         {two, []string{"23=gha-02", "24=h", "23=h"}, [][]string{{"gha-02", "h"}, {"h"}}, "", nil},
		"by whole reference":  {same, []string{same[1].runner.Ref.String() + "=h"}, [][]string{nil, {"h"}}, "", nil},
		"one takes any":       {two[:1], []string{"h", "23=gha-01"}, [][]string{{"h", "gha-01"}}, "", nil},
		"nobody knows":        {two, []string{"gha-01", "h"}, nil, "write RUNNER=HOST, as in --host 23=h", ErrUsage},
		"two have the name":   {same, []string{"gha-01"}, nil, "write RUNNER=HOST", ErrUsage},
		"two have the number": {same, []string{"23=h"}, nil, "write the whole reference", ErrUsage},
		"none of the case":    {two, []string{"25=h"}, nil, "about no runner \"25\"", ErrUsage},
		"no such host":        {two, []string{"23=nowhere"}, nil, "nowhere", ErrNoHost},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := a.share(c.of, c.hosts)
			if !errors.Is(err, c.err) || c.says != "" && !strings.Contains(err.Error(), c.says) {
				t.Fatalf("%v, want %v %q", err, c.err, c.says)
			}
			if err == nil && !slices.EqualFunc(got, c.want, slices.Equal) {
				t.Errorf("%v, want %v", got, c.want)
			}
			if err != nil && ExitCode(err) != ExitUsage {
				t.Errorf("exit %d", ExitCode(err))
			}
		})
	}
}
