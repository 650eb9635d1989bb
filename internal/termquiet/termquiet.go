// Package termquiet keeps the program from asking the terminal questions at start.
//
// Importing bubbletea asks the terminal for its background colour in an init
// function, in every command of the program, and waits up to five seconds for an
// answer (bubbletea v1.3.10 tea_init.go, termenv v0.16 OSCTimeout). Giving the answer
// first keeps it quiet. That works only while this package's import path sorts before
// github.com/charmbracelet/bubbletea, because Go runs the init functions of packages
// that do not depend on each other in the order of their paths. It imports lipgloss
// and nothing else; import it for its effect.
package termquiet

import "github.com/charmbracelet/lipgloss"

func init() { lipgloss.SetHasDarkBackground(true) }
