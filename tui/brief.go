package tui

import tea "github.com/charmbracelet/bubbletea"

func (p *stepper) brief() tea.Cmd { return say("soon") }
