package bundle

import (
	"fmt"
	"strings"
	"testing"

	"cordon/internal/casefile"
)

func TestTheReportTellsWhatIsKnownAndWhatIsNot(t *testing.T) {
	m := fullCase(t, nil)
	m.say(t, "intent", lostReset)
	report := unpacked(t, m.export(t))[reportName]
	for _, want := range []string{
		"**`can it poll`: `silent`** (final", "for: `provider-api`, 2026-11-30 13:05:00Z: `404`", "missing: `egress`",
		"| `pause runner 42` | `PUT https://gitlab.example/api/v4/runners/42 paused=true` | `applied` (200): `read back: paused` |",
		"`reset the token of runner 42` was sent or about to be sent (line ", "| `unknown` |",
		"**`high`** `a job that fetches and runs`", "`T1053.003`", "host `build-07`, `Authorized keys`: `could not look`: `denied`",
		"1 findings; 1 of 3 checks looked everywhere they must and found nothing; 1 could not say",
		"`host/build-07/memory`: could not be had: `not reachable`", "`nobody else is awake`", "| Ended | `contained`",
	} {
		if !strings.Contains(report, want) {
			t.Errorf("no %q in\n%s", want, report)
		}
	}
}

func TestTheReportListsWhatTheRunnerCouldReach(t *testing.T) {
	m := newCase(t, nil)
	m.say(t, "exposure", `{"schema":"cordon.exposure/1","entries":[{"name":"DEPLOY_KEY","kind":"ci-variable","where":"acme/web","why":"job"}],"gaps":[]}`)
	m.say(t, "exposure", `{"schema":"cordon.exposure/1","entries":[{"name":"DEPLOY_KEY","kind":"ci-variable","where":"acme/web","why":"job","replaced":"2026-11-30T13:00:00Z"}],"gaps":[{"name":"group variables","why":"403","at":"2026-11-30T13:00:00Z"}]}`)
	r := unpacked(t, m.export(t))[reportName]
	if !strings.Contains(r, "| `DEPLOY_KEY` | `ci-variable` | `acme/web` | - | 2026-11-30 13:00:00Z | not known |") || !strings.Contains(r, "may be too short: `group variables`: `403`") {
		t.Error(r)
	}
}

func TestAnOutcomeThatIsSettledLaterCounts(t *testing.T) {
	m := newCase(t, nil)
	m.say(t, "intent", pauseIntent)
	m.say(t, "result", strings.Replace(pauseDone, `"applied"`, `"unknown"`, 1))
	if r := unpacked(t, m.export(t))[reportName]; !strings.Contains(r, "nobody knows whether it took effect") {
		t.Error(r)
	}
	m.say(t, "settle", pauseDone)
	if r := unpacked(t, m.export(t))[reportName]; strings.Contains(r, "nobody knows whether") || !strings.Contains(r, "`applied` (200) settled later") {
		t.Error(r)
	}
}

func TestALineThatIsNotUnderstoodIsUnknownNotNothing(t *testing.T) {
	m := newCase(t, nil)
	m.say(t, "verdict", `{"verdicts":"all fine"}`)
	m.say(t, "result", `{"outcome":{"change":"x/1","state":"applied"}}`)
	r := unpacked(t, m.export(t))[reportName]
	if strings.Count(r, "is not understood by this version") != 2 || !strings.Contains(r, "no verdict is in the journal") {
		t.Error(r)
	}
}

// What a host or a provider wrote stays inside its code span: no link, no markup, no
// table cell, no heading, no control character.
func TestForeignTextCannotActInTheReport(t *testing.T) {
	evil := "x` [click](https://evil.example) <script>|\n# Heading \x1b[31m \u202e**bold**"
	m := newCase(t, func(o *casefile.Opening) { o.Title = evil; o.Window.Why = evil; o.PlaybookName = evil })
	q := fmt.Sprintf("%q", evil)
	q = strings.NewReplacer(`\x1b`, `\u001b`).Replace(q)
	m.say(t, "verdict", `{"verdicts":[{"question":`+q+`,"state":`+q+`,"why":`+q+`,"missing":[`+q+`],"for":[{"source":`+q+`,"says":`+q+`}],"against":[{"could_not":`+q+`}]}]}`)
	m.say(t, "intent", `{"change":{"id":"a","title":`+q+`,"call":{"method":`+q+`,"url":`+q+`}}}`)
	m.say(t, "result", `{"outcome":{"change":"a","state":`+q+`,"why":`+q+`}}`)
	m.say(t, "finding", `{"host":`+q+`,"results":[{"check":"c","title":`+q+`,"state":"found","why":`+q+`,"findings":[{"severity":`+q+`,"title":`+q+`,"where":`+q+`,"detail":`+q+`,"attack":[`+q+`]}]}]}`)
	m.say(t, "exposure", `{"entries":[{"name":`+q+`,"kind":`+q+`,"where":`+q+`,"dead_says":`+q+`}],"gaps":[{"name":`+q+`,"why":`+q+`,"at":"2026-11-30T12:00:00Z"}]}`)
	m.say(t, "note", `{}`, func(e *casefile.Event) { e.Msg = evil })
	m.say(t, "step", `{"task":`+q+`,"end":`+q+`,"why":`+q+`}`)
	m.say(t, "close", `{}`, func(e *casefile.Event) { e.Msg = evil })
	files := unpacked(t, m.export(t))
	n := strings.Count(files[reportName], "evil.example")
	if n < 20 {
		t.Fatalf("the test shows only %d places", n)
	}
	for _, line := range strings.Split(files[reportName], "\n") {
		if strings.HasPrefix(line, "# Heading") {
			t.Errorf("a heading: %q", line)
		}
		out := ""
		for i, part := range strings.Split(line, "`") {
			if i%2 == 0 {
				out += part
			}
		}
		if strings.HasPrefix(line, "|") && strings.Count(line, "|") != strings.Count(out, "|") {
			t.Errorf("a table cell: %q", line)
		}
		if strings.Count(line, "`")%2 != 0 || strings.ContainsAny(out, "<>[\x1b\u202e") || strings.Contains(out, "evil") {
			t.Errorf("outside of a code span: %q", line)
		}
	}
	for name, body := range files {
		if strings.HasPrefix(name, dataDir) && strings.ContainsAny(body, "\x1b\u202e") {
			t.Errorf("%s can act on a terminal", name)
		}
	}
	if strings.Contains(files[infoName], "\n# Heading") {
		t.Error("a title wrote a line of bag-info.txt")
	}
}

func TestTimelineFieldsStayUnderTheIndexLimit(t *testing.T) {
	m := newCase(t, nil)
	m.say(t, "note", `{}`, func(e *casefile.Event) {
		e.Msg = strings.Repeat("é", 20000)
		e.Req = &casefile.Request{Method: "GET", Path: "/" + strings.Repeat("ü", 40000)}
	})
	for _, l := range strings.Split(unpacked(t, m.export(t))[timelineName], "\n") {
		if len(l) > 32766 {
			t.Errorf("a line of %d bytes", len(l))
		}
	}
}
