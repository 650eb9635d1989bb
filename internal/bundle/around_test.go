package bundle

import (
	"strings"
	"testing"
)

func TestTheReportSaysWhatWasOddWhatCameOutAndWhatDiffered(t *testing.T) {
	m := newCase(t, nil)
	m.say(t, "exposure", `{"entries":[{"name":"NPM_TOKEN","kind":"secret","where":"acme/web","owner":"@acme/web | x"}],
		"jobs":[{"ref":"gh/repository:acme%2Fweb/job/7","name":"build","project":"acme/web","actor":"mallory","started_at":"2026-11-30T03:00:00Z","flags":["odd hour (03:00Z Mon)"]},
			{"ref":"gh/repository:acme%2Fweb/job/8","name":"quiet","flags":["not looked: odd hour (few runs)"]}],
		"outputs":[{"kind":"release","name":"v2 | <b>","where":"acme/web","by":"mallory","at":"2026-11-30T03:30:00Z","why":"published in the window"}],
		"output_gaps":[{"name":"packages of acme","why":"not asked"}],
		"differences":[{"host":"build-07","severity":"high","title":"a job is in the host's files that its provider does not list","detail":"run 9"}]}`)
	r := unpacked(t, m.export(t))[reportName]
	for _, want := range []string{
		"| `acme/web` | `@acme/web \\x7c x` |", "## Odd jobs", "| `7 build` | `acme/web` | `mallory` | `odd hour (03:00Z Mon)` |",
		"## What came out where its jobs ran", "`published in the window`", "more may have come out of it: `packages of acme`: `not asked`",
		"## What the provider and the hosts tell differently", "| `high` | `build-07` |",
	} {
		if !strings.Contains(r, want) {
			t.Errorf("no %q in\n%s", want, r)
		}
	}
	if strings.Contains(r, "8 quiet") {
		t.Error("a job with nothing odd is listed as odd")
	}
	plain := newCase(t, nil)
	plain.say(t, "exposure", `{"entries":[]}`)
	if r = unpacked(t, plain.export(t))[reportName]; strings.Contains(r, "Odd jobs") || strings.Contains(r, "came out where") {
		t.Error(r)
	}
}
