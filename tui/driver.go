package tui

// driver owns one run.
type driver struct{}

func (d *driver) id() string { return "" }
