package tui

// Demo is the guided tour of a lab.
type Demo struct {
	Ref   string // the planted runner
	Title string // of the case
	Dir   string // where the bundle goes
}
