package github

import (
	"context"
	"strings"
	"testing"
	"time"
)

func TestWhatGitHubDeletesByItselfIsSaidWithItsDate(t *testing.T) {
	l, p, since := openPast(t)
	p.repos("acme/web")
	at := since.Add(time.Hour)
	ends := at.AddDate(0, 0, 5)
	p.run("acme/web", 900, at, nil, on(1, "build", at), on(2, "test", at.Add(time.Hour)))
	p.change(func(p *past) {
		p.lists["repos/acme/web/actions/permissions/artifact-and-log-retention"] = row("days", 30, "maximum_allowed_days", 90)
		p.paged["repos/acme/web/actions/artifacts"] = pagedList{"artifacts", []any{
			row("id", 21, "name", "dist", "created_at", stamp(at), "expires_at", stamp(ends), "workflow_run", row("id", 900)),
			row("id", 22, "name", "of another run", "created_at", stamp(at), "expires_at", stamp(ends), "workflow_run", row("id", 7)),
		}}
	})
	list, err := l.Expiring(context.Background(), build07, since)
	if err != nil || len(list) < 4 {
		t.Fatal(list, err)
	}
	if x := list[0]; !x.At.Equal(ends.Truncate(time.Second)) || !strings.Contains(x.What, "artifact 21") {
		t.Errorf("what goes first does not stand first: %+v", x)
	}
	if x := list[1]; !x.At.Equal(at.AddDate(0, 0, 30)) || x.What != "logs of 2 jobs" {
		t.Errorf("%+v", x)
	}
	all := ""
	for _, x := range list {
		all += x.What + ": " + x.Why + "\n"
		if x.At.IsZero() && x.Why == "" {
			t.Errorf("without a date and a reason: %+v", x)
		}
	}
	for _, want := range []string{"14 days", "180 days", "7 days after their last use"} {
		if !strings.Contains(all, want) {
			t.Errorf("no %q in\n%s", want, all)
		}
	}
	if strings.Contains(all, "artifact 22") {
		t.Error("an artifact of a run that had no job here")
	}
	p.change(func(p *past) {
		p.deny["repos/acme/web/actions/permissions"] = 403
		p.deny["repos/acme/web/actions/artifacts"] = 403
	})
	list, err = l.Expiring(context.Background(), build07, since)
	if err != nil || list[0].Why == "" || !strings.HasPrefix(list[0].Why, "not known: ") || !list[0].At.IsZero() {
		t.Errorf("refused: %+v %v", list, err)
	}
}
