package main

import (
	"context"
	"fmt"
	"path/filepath"

	"cordon/tui"
)

// tour is the demo on the screen: the same lab, walked by a person who is guided by
// one line. Where the terminal is lost the lab stays for a while, so that the case can
// be gone on with as after a dropped link.
func (e env) tour(ctx context.Context, dir string, p play) error {
	fmt.Fprintln(e.err, "SIMULATED  starting the lab in "+dir)
	stop, err := startLab(ctx, filepath.Join(dir, "lab"), p, tourLife)
	if err != nil {
		return err
	}
	lost := false
	defer func() {
		if !lost {
			stop()
		}
	}()
	a, err := e.openLab(ctx, dir)
	if err != nil {
		return err
	}
	defer a.Close()
	left, err := e.show(ctx, a, tui.Options{Demo: &tui.Demo{Ref: a.Planted(), Host: a.PlantedHost(), Hosts: p.hosts(a), Title: demoTitle, Dir: dir}})
	if lost = left.Lost != nil && left.Ending == nil && left.Case != ""; lost {
		fmt.Fprintf(e.err, "SIMULATED  the lab stays for a while: cordon --lab %s --state-dir %s case resume %s\n",
			filepath.Join(dir, "lab"), filepath.Join(dir, "state"), left.Case)
	}
	return err
}
