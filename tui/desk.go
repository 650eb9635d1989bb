package tui

import (
	"fmt"
	"sync"

	"cordon/internal/app"
)

// desk holds the cases that are open in this process. Leaving the page of a case does
// not end its run; leaving the program does, in good order.
type desk struct {
	mu    sync.Mutex
	open  []*stepper
	paths map[*driver]string // bundles that were written
}

// add puts a case on the desk.
func (d *desk) add(s *stepper) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.open = append(d.open, s)
}

// pages are the open cases as pages, for messages that arrive while another is on top.
func (d *desk) pages() []page {
	d.mu.Lock()
	defer d.mu.Unlock()
	var ps []page
	for _, s := range d.open {
		ps = append(ps, s)
	}
	return ps
}

// find is the open case with an id whose run goes on here, or nil.
func (d *desk) find(id string) *stepper {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, s := range d.open {
		if s.drv.id() == id && s.drv.alive() {
			return s
		}
	}
	return nil
}

// wrote keeps the path of a bundle for after the screen.
func (d *desk) wrote(drv *driver, h app.Handed) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.paths == nil {
		d.paths = map[*driver]string{}
	}
	d.paths[drv] = h.Path
}

// leave brings every run to a safe point, closes the cases and says how the last one
// stands. say is told what it waits for.
func (d *desk) leave(say func(string)) Left {
	d.mu.Lock()
	open := d.open
	d.mu.Unlock()
	var all sync.WaitGroup
	for _, s := range open {
		if s.drv.inFlight() {
			say(fmt.Sprintf("waiting at most %s for the call in flight, so that what became of it is on record", waitForEffect))
		}
		all.Go(s.drv.detach)
	}
	all.Wait()
	var l Left
	for _, s := range open {
		if id := s.drv.id(); id != "" {
			d.mu.Lock()
			l.Case, l.Ending, l.Bundle = id, s.drv.ended(), d.paths[s.drv]
			d.mu.Unlock()
			l.Kept = l.Ending == nil && s.drv.kept()
		}
	}
	return l
}
