package bundle

import (
	"bytes"
	"strings"
	"testing"
)

func TestEachEntryOfAnImportedLogHasItsOwnTimeInTheTimeline(t *testing.T) {
	m := newCase(t, nil)
	m.say(t, "foreign", `{"schema":"cordon.foreign/1","format":"proxy","sha256":"x","entries":[{"at":"2026-11-30T11:59:00Z","from":"192.0.2.7","to":"gitlab.example.org","action":"POST","status":403,"line":1},{"at":"2026-11-30T11:59:30Z","subject":"a \u001b[31m title","line":2}]}`)
	m.say(t, "foreign", `{"entries":"another build's"}`)
	out, err := timeline(m.view(t))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(lines) != len(m.view(t).Lines)+2 {
		t.Fatalf("%d lines", len(lines))
	}
	for i, want := range []string{`"message":"proxy POST 192.0.2.7 gitlab.example.org","datetime":"2026-11-30T11:59:00.000000+00:00"`, `"datetime":"2026-11-30T11:59:30.000000+00:00"`} {
		if l := lines[3+i]; !strings.Contains(l, want) || !strings.Contains(l, `"data_type":"cordon:foreign:entry"`) || !strings.Contains(l, `"seq":3`) {
			t.Errorf("%s", l)
		}
	}
	if bytes.ContainsRune(out, 0x1b) {
		t.Error("a control character is in the timeline")
	}
}
