package ghrunner

import "time"

// utc is a time as .NET's format "u" writes it.
func (l *Listener) utc() string { return l.c.Clock.Now().UTC().Format("2006-01-02 15:04:05Z") }

// log writes a line of _diag as HostTraceListener.cs does: time, kind, component.
func (l *Listener) log(kind, from, text string) {
	l.host.Log("[" + l.utc() + " " + kind + " " + from + "] " + text)
}

// say writes to the terminal, which is traced as well.
func (l *Listener) say(text string) {
	l.host.Say(text)
	l.log("INFO", "Terminal", "WRITE LINE: "+text)
}

// complain writes an error to the terminal, which is traced as well.
func (l *Listener) complain(text string) {
	l.host.Say(text)
	l.log("ERR ", "Terminal", "WRITE ERROR: "+text)
}

// cheer is a success message: it goes to the terminal alone, never to _diag.
func (l *Listener) cheer(text string) { l.host.Say("√ " + text) }

// LogName is the name of a log that was begun at a time: kind is Runner or Worker.
func LogName(kind string, at time.Time) string {
	return kind + "_" + at.UTC().Format("20060102-150405") + "-utc.log"
}
