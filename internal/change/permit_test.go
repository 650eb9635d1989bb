package change

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"cordon/internal/target"
)

var reset = Call{Method: "POST", URL: "https://git.example.org/api/v4/runners/42/reset_authentication_token"}

func planned() Change {
	return Change{
		ID: "rotate/1", System: "gl", Op: "gitlab.runner.rotate@1",
		Target: target.Ref{System: "gl", Kind: target.Runner, ID: "42"},
		Args:   json.RawMessage(`{"runner":42}`), Call: reset,
	}
}

func TestACallWithoutAPermitIsRefused(t *testing.T) {
	if err := Admit(context.Background(), reset); !errors.Is(err, ErrNoPermit) {
		t.Fatalf("Admit without a permit: %v", err)
	}
	if Left(context.Background()) {
		t.Error("nothing can have left without a permit")
	}
}

func TestReadOnlyMeansThatNoPermitCanExist(t *testing.T) {
	c := planned()
	for name, i := range map[string]*Issuer{"nil": nil, "zero": {}} {
		if _, err := i.Permit(c, c.Digest()); !errors.Is(err, ErrNoPermit) {
			t.Errorf("%s issuer: %v", name, err)
		}
	}
	if _, err := NewIssuer().Permit(c, c.Digest()); err != nil {
		t.Errorf("control: a live issuer gives none: %v", err)
	}
}

func TestAPermitLetsItsCallThroughOnce(t *testing.T) {
	c := planned()
	p, err := NewIssuer().Permit(c, c.Digest())
	if err != nil {
		t.Fatal(err)
	}
	ctx := WithPermit(context.Background(), p)
	if p.Used() || Left(ctx) {
		t.Error("used before use")
	}
	if err := Check(ctx, reset); err != nil || p.Used() {
		t.Errorf("Check: %v, used %v; it must spend nothing", err, p.Used())
	}
	if err := Admit(ctx, reset); err != nil {
		t.Fatal(err)
	}
	if !p.Used() || !Left(ctx) {
		t.Error("not marked used")
	}
	if err := Admit(ctx, reset); !errors.Is(err, ErrSpent) {
		t.Errorf("second use: %v", err)
	}
	if err := Check(ctx, reset); !errors.Is(err, ErrSpent) {
		t.Errorf("Check after use: %v", err)
	}
}

func TestAmongManyAtOnceExactlyOneGetsThrough(t *testing.T) {
	c := planned()
	p, _ := NewIssuer().Permit(c, c.Digest())
	ctx := WithPermit(context.Background(), p)
	var through atomic.Int32
	var wg sync.WaitGroup
	for range 64 {
		wg.Go(func() {
			if Admit(ctx, reset) == nil {
				through.Add(1)
			}
		})
	}
	wg.Wait()
	if n := through.Load(); n != 1 {
		t.Errorf("%d calls got through", n)
	}
}

func TestAnyOtherCallIsRefusedAndSpendsNothing(t *testing.T) {
	c := planned()
	p, _ := NewIssuer().Permit(c, c.Digest())
	ctx := WithPermit(context.Background(), p)
	for name, other := range map[string]Call{
		"method": {Method: "DELETE", URL: reset.URL},
		"id":     {Method: reset.Method, URL: strings.Replace(reset.URL, "42", "43", 1)},
		"host":   {Method: reset.Method, URL: strings.Replace(reset.URL, "git.", "evil.", 1)},
		"query":  {Method: reset.Method, URL: reset.URL + "?token=x"},
		"body":   {Method: reset.Method, URL: reset.URL, Body: "{}"},
	} {
		if err := Admit(ctx, other); !errors.Is(err, ErrMismatch) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := Admit(ctx, reset); err != nil {
		t.Errorf("the approved call was spent by refused ones: %v", err)
	}
}

func TestAnEditAfterApprovalIsRefused(t *testing.T) {
	approved := planned().Digest()
	for name, edit := range map[string]func(*Change){
		"args":     func(c *Change) { c.Args = json.RawMessage(`{"runner":43}`) },
		"call":     func(c *Change) { c.Call.URL = strings.Replace(c.Call.URL, "42", "43", 1) },
		"op":       func(c *Change) { c.Op = "gitlab.runner.rotate@2" },
		"target":   func(c *Change) { c.Target.ID = "43" },
		"before":   func(c *Change) { c.Before = json.RawMessage(`{}`) },
		"destroys": func(c *Change) { c.Destroys = []string{"x"} },
		"hits":     func(c *Change) { c.Hits = []target.Ref{{System: "x", Kind: "y", ID: "z"}} },
	} {
		c := planned()
		edit(&c)
		if _, err := NewIssuer().Permit(c, approved); !errors.Is(err, ErrMismatch) {
			t.Errorf("%s: %v", name, err)
		}
	}
	c := planned()
	if _, err := NewIssuer().Permit(c, approved); err != nil {
		t.Errorf("control: the unedited change is refused: %v", err)
	}
}

func TestAChangeWithoutACapturedCallGetsNoPermit(t *testing.T) {
	c := planned()
	c.Call = Call{}
	if _, err := NewIssuer().Permit(c, c.Digest()); !errors.Is(err, ErrMismatch) {
		t.Errorf("got %v", err)
	}
}

func TestErrorsOfUnplannedCallsShowNeitherQueryNorBody(t *testing.T) {
	leak := Call{Method: "DELETE", URL: "https://git.example.org/api/v4/runners?token=planted-1", Body: "planted-2"}
	c := planned()
	p, _ := NewIssuer().Permit(c, c.Digest())
	for _, err := range []error{Admit(context.Background(), leak), Admit(WithPermit(context.Background(), p), leak)} {
		if !strings.Contains(err.Error(), "/api/v4/runners") {
			t.Fatalf("control: the place is not named: %v", err)
		}
		if strings.Contains(err.Error(), "planted") {
			t.Errorf("shown: %v", err)
		}
	}
}

func TestCaptureRecordsTheOneCallAndSendsNothing(t *testing.T) {
	sent := 0
	op := func(calls ...Call) func(context.Context) error {
		return func(ctx context.Context) error {
			var last error
			for _, c := range calls {
				if last = Admit(ctx, c); last == nil {
					sent++
				}
			}
			return last
		}
	}
	got, err := PlanCall(context.Background(), op(reset))
	if err != nil || got != reset {
		t.Errorf("captured %v, %v", got, err)
	}
	for name, calls := range map[string][]Call{"none": nil, "two": {reset, reset}} {
		if _, err := PlanCall(context.Background(), op(calls...)); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if _, err := PlanCall(context.Background(), func(context.Context) error { return errors.New("broken") }); err == nil {
		t.Error("the operation's own error is swallowed")
	}
	if sent != 0 {
		t.Errorf("%d calls were let through while capturing", sent)
	}
}

func TestCapturingWinsOverAPermit(t *testing.T) {
	c := planned()
	p, _ := NewIssuer().Permit(c, c.Digest())
	got, err := PlanCall(WithPermit(context.Background(), p), func(ctx context.Context) error { return Admit(ctx, reset) })
	if err != nil || got != reset || p.Used() {
		t.Errorf("planning under a permit: %v, %v, used %v", got, err, p.Used())
	}
}

func TestThePlansHashForgetsWhenItWasMade(t *testing.T) {
	a := Plan{Verb: "rotate", Changes: []Change{planned()}, Made: time.Unix(1, 0)}
	b := a
	b.Made = time.Unix(2, 0)
	if a.Hash() != b.Hash() {
		t.Error("planning the same again gives another hash")
	}
	b.Option = "all"
	if a.Hash() == b.Hash() {
		t.Error("a different plan has the same hash")
	}
}
