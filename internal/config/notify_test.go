package config

import (
	"strings"
	"testing"
	"time"
)

func TestWhoIsToldIsAProgramAndNeverAShell(t *testing.T) {
	c, err := Parse("c.yaml", []byte("notify: {command: [/usr/local/bin/tell, '#incident; rm -rf /'], on: [paused, verdict], timeout: 3s}\n"))
	if err != nil {
		t.Fatal(err)
	}
	if n := c.Notify; !n.Wants("paused") || n.Wants("unknown") || n.Wait() != 3*time.Second || len(n.Command) != 2 {
		t.Errorf("%+v", n)
	}
	if c, err = Parse("c.yaml", []byte("notify: {command: [tell]}\n")); err != nil {
		t.Fatal(err)
	}
	for _, e := range NotifyEvents() {
		if !c.Notify.Wants(e) {
			t.Errorf("%s is not told, and nothing was left out", e)
		}
	}
	if c.Notify.Wait() != DefaultNotifyTimeout || (*Notify)(nil).Wants("paused") {
		t.Error("the defaults")
	}
	for in, want := range map[string]string{
		"notify: {on: [paused]}":                      "no command",
		"notify: {command: []}":                       "no command",
		"notify: {command: [tell], on: [pause]}":      "did you mean paused?",
		"notify: {command: [tell], on: [everything]}": "one of paused",
		"notify: {command: [tell], timeout: 2h}":      "at most 1m",
		"notify: {command: [tell], timeout: soon}":    "at most 1m",
		"notify: {command: [tell], comand: [x]}":      "comand",
		"notify: {command: tell}":                     "c.yaml:1:",
	} {
		if _, err := Parse("c.yaml", []byte(in+"\n")); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", in, err)
		}
	}
}
