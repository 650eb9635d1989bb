package main

import "strings"

// resume is the whole command that goes on with a case, with what says where it is.
func (e env) resume(id string) string {
	out := "cordon"
	for _, f := range []struct{ name, value string }{{"config", e.flags.config}, {"lab", e.flags.lab}, {"state-dir", e.flags.state}} {
		if f.value != "" {
			out += " --" + f.name + " " + quoted(f.value)
		}
	}
	return out + " case resume " + id
}

// quoted is a word as a shell takes it.
func quoted(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+:@%,=", r)
	}
	if strings.TrimLeftFunc(s, plain) == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
