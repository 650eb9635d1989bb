package gitlab

import (
	"context"
	"strings"
	"testing"
	"time"

	"cordon/providers/providertest"
)

func TestWhatGoesByItselfIsListedAndWhatIsNotToldIsNotKnown(t *testing.T) {
	l := open(t, providertest.Wait)
	at := l.fake.now.Add(36 * time.Hour)
	l.fake.change(func(f *fake) { f.jobs[499].expires = at })
	since := l.fake.now.Add(-24 * time.Hour)
	out, err := l.Expiring(context.Background(), runner(42, Project), since)
	if err != nil || len(out) < 4 {
		t.Fatalf("%+v %v", out, err)
	}
	if x := out[0]; !x.At.Equal(at.Truncate(time.Millisecond)) || !strings.Contains(x.What, "job 499") || x.Why != "artifacts_expire_at" {
		t.Errorf("%+v", x)
	}
	for _, want := range []string{"job logs", "audit events", "the runner and its managers"} {
		found := false
		for _, x := range out {
			found = found || x.What == want && x.At.IsZero() && !x.Never && strings.HasPrefix(x.Why, "not known: ")
		}
		if !found {
			t.Errorf("%s is not said to be unknown: %+v", want, out)
		}
	}
	l.fake.change(func(f *fake) { f.deny["projects/8/jobs"] = 403 })
	if out, err = l.Expiring(context.Background(), runner(42, Project), since); err != nil {
		t.Fatal(err)
	}
	for _, x := range out {
		if strings.Contains(x.What, "job 499") && (!x.At.IsZero() || !strings.HasPrefix(x.Why, "not known: ")) {
			t.Errorf("a refused job: %+v", x)
		}
	}
	ctx, stop := context.WithCancel(context.Background())
	stop()
	if _, err := l.Expiring(ctx, runner(42, Project), since); err == nil {
		t.Error("a finished context is no answer")
	}
}
