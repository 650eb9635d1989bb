package main

import (
	"strings"
	"testing"

	"cordon/internal/host"
)

// An answer that is carried by hand holds secrets in clear: the command that makes it
// keeps others out, and whoever runs it is told.
func TestWhoRunsAPrintedScriptIsToldWhatItsAnswerHolds(t *testing.T) {
	const command = "(umask 077; sh s.sh > answer.txt)"
	script, ingest := newHostScript(env{flags: &flags{}}).Long, newHostIngest(env{flags: &flags{}}).Long
	if !strings.Contains(script, command) || !strings.Contains(script, "secrets of the host in clear") || !strings.Contains(ingest, "delete it") {
		t.Errorf("the help says nothing of it:\n%s\n%s", script, ingest)
	}
	for _, s := range host.Scripts() {
		if head := strings.Join(strings.Split(s.Text, "\n")[:4], "\n"); s.Kind == host.KindCollect && !strings.Contains(head, "umask 077") {
			t.Errorf("the head of the script says nothing of it:\n%s", head)
		}
	}
}
