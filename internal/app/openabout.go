package app

import (
	"slices"
	"time"

	"cordon/internal/target"
)

// OpenCase is a case that is open about runners.
type OpenCase struct {
	ID      string
	Runners []target.Ref // all that it is about
	Writer  string       // who wrote last
	Last    time.Time    // when
}

// About reports whether the case is about a runner.
func (c OpenCase) About(ref target.Ref) bool { return slices.ContainsFunc(c.Runners, ref.Same) }

// OpenCases are the cases that are open about runners, the one that was written last
// first. Nobody is asked. Cases that cannot be read are left out.
func (a *App) OpenCases() ([]OpenCase, error) {
	cases, err := a.kept()
	var out []OpenCase
	for _, k := range cases {
		if k.open() && len(k.runners) > 0 {
			out = append(out, OpenCase{ID: k.sum.ID, Runners: k.runners, Writer: k.sum.Writer, Last: k.sum.Last})
		}
	}
	return out, err
}

// OpenAbout are the open cases, but for one, that are about one of these runners: who opens
// another has to know. Nobody is asked.
func (a *App) OpenAbout(runners []target.Ref, but string) ([]string, error) {
	cases, err := a.OpenCases()
	var out []string
	for _, c := range cases {
		if c.ID != but && slices.ContainsFunc(runners, c.About) {
			out = append(out, c.ID)
		}
	}
	return out, err
}

func (k keptCase) open() bool { return !k.sum.Closed }

// about reports whether a case is about a runner, the first of it or another.
func (k keptCase) about(ref target.Ref) bool { return slices.ContainsFunc(k.runners, ref.Same) }
