package config

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"cordon/internal/yamlfile"
)

// Notify is a program that is told of what happens in a case: a few words as JSON on
// its standard input, never a secret and nothing foreign but references.
type Notify struct {
	Command []string `yaml:"command"` // program and arguments, no shell
	On      []string `yaml:"on"`      // of NotifyEvents; absent: all of them
	Timeout string   `yaml:"timeout"` // of one run, as 10s; absent: DefaultNotifyTimeout, at most MaxNotifyTimeout
}

// NotifyEvents are what can be told.
func NotifyEvents() []string {
	return []string{"paused", "unknown", "verdict", "resurrection", "approval-wanted"}
}

// Bounds of one run of the program, in real time.
const (
	DefaultNotifyTimeout = 10 * time.Second
	MaxNotifyTimeout     = time.Minute
)

// Wants reports whether an event is to be told.
func (n *Notify) Wants(event string) bool {
	return n != nil && (len(n.On) == 0 || slices.Contains(n.On, event))
}

// Wait is how long one run may take.
func (n *Notify) Wait() time.Duration {
	d, err := time.ParseDuration(n.Timeout)
	if err != nil {
		return DefaultNotifyTimeout
	}
	return d
}

func (v *validator) notify(n *Notify) {
	if n == nil {
		return
	}
	if !runnable(n.Command) {
		v.add(at("notify"), "write command: [program, argument, …]", "no command to tell")
	}
	for i, on := range n.On {
		if !slices.Contains(NotifyEvents(), on) {
			hint := "one of " + strings.Join(NotifyEvents(), ", ")
			if near := yamlfile.Nearest(on, NotifyEvents()); near != "" {
				hint = "did you mean " + near + "?"
			}
			v.add(at("notify", "on", strconv.Itoa(i)), hint, "not something that is told")
		}
	}
	if n.Timeout == "" {
		return
	}
	if d, err := time.ParseDuration(n.Timeout); err != nil || d <= 0 || d > MaxNotifyTimeout {
		v.add(at("notify", "timeout"), "write 10s, at most 1m", "not a time that one run may take")
	}
}
