package app

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"cordon/internal/engine"
	"cordon/internal/evidence"
	"cordon/internal/exposure"
	"cordon/providers"
)

func TestWhatIsExposedSaysWhereItStands(t *testing.T) {
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	list := &exposure.List{Entries: []providers.Credential{
		{Name: "DEPLOY_KEY", Kind: "ci-variable"},
		{Name: "NPM_TOKEN", Kind: "ci-variable", Replaced: now},
		{Name: "the runner's own", Kind: "runner-token", Replaced: now, Dead: now},
	}}
	var out bytes.Buffer
	l := Lines{W: &out}
	l.Prompt(engine.Prompt{Kind: engine.Progress, Exposed: list})
	for _, want := range []string{"exposed: open     ci-variable  DEPLOY_KEY", "exposed: replaced ci-variable  NPM_TOKEN", "exposed: dead     runner-token"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
	end := func() string {
		out.Reset()
		l.Prompt(engine.Prompt{Kind: engine.Finished, Ending: &engine.Ending{Word: engine.Contained}, Exposed: list})
		return out.String()
	}
	if got := end(); !strings.Contains(got, "still open: 1 credential: DEPLOY_KEY\n") {
		t.Errorf("ending:\n%s", got)
	}
	for i := range 14 {
		list.Entries = append(list.Entries, providers.Credential{Name: fmt.Sprintf("V%d", i)})
	}
	if got := end(); !strings.Contains(got, "still open: 15 credentials: DEPLOY_KEY, V0, ") || !strings.Contains(got, ", V10 and 3 more\n") || strings.Contains(got, "V11") {
		t.Errorf("ending:\n%s", got)
	}
	list.Entries = list.Entries[1:3]
	if got := end(); strings.Contains(got, "still open") {
		t.Errorf("control: nothing is open:\n%s", got)
	}
	list.Gaps = []evidence.Gap{{Name: "secrets of acme/web", Why: "HTTP 500"}, {Name: "secrets of acme/shop", Why: "HTTP 500"}}
	if got := end(); !strings.Contains(got, "still open: no credential that was found and 2 gaps, behind which there may be more\n") {
		t.Errorf("what could not be listed is not nothing:\n%s", got)
	}
	list.Entries = append(list.Entries, providers.Credential{Name: "LEFT"})
	if got := end(); !strings.Contains(got, "still open: 1 credential and 2 gaps, behind which there may be more: LEFT\n") {
		t.Errorf("ending:\n%s", got)
	}
}
