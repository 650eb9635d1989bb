package gitlab

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
	"unicode"

	"cordon/internal/redact"
	"cordon/internal/witness"
)

// FuzzAnswers gives any bytes to every decoder: they refuse or give rows that can be
// selected by id and shown; an accepted list is one that was written as a list.
func FuzzAnswers(f *testing.F) {
	fake := newFake(time.Unix(1764500000, 0).UTC(), planted{token: "t", variable: "v", note: "n", reset: "r"})
	for _, v := range []any{
		fake.details(fake.runners[42], true),
		[]any{fake.basic(fake.runners[43])},
		fake.runners[42].managers,
		[]any{fake.jobRow(fake.jobs[499])},
		[]any{map[string]any{"key": "K", "value": "v"}},
		map[string]any{"scopes": []string{"api"}, "active": true},
	} {
		b, err := json.Marshal(v)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	for _, s := range []string{"", "null", "[]", "{}", "[null]", `[{"id":1e3}]`, "<html>", `{"id":4`, `[{"id":1,"runner_type":"project_type"}] x`} {
		f.Add([]byte(s))
	}
	p := &Provider{o: Options{Name: "gl", Marker: redact.NewMarker([]byte("k"))}, clock: nil}
	p.base = mustParse("https://git.example.org/root")
	f.Fuzz(func(t *testing.T, b []byte) {
		a := answer{Request: "GET x", Status: 200, Body: b}
		list, err := rows(a, wireRunner.check)
		if err == nil && !strings.HasPrefix(strings.TrimSpace(string(b)), "[") {
			t.Errorf("not a list: %q", b)
		}
		if one, err := decode[wireRunner](a); err == nil && one.check() == nil {
			list = append(list, one)
		}
		for _, w := range list {
			r := p.runner(w)
			if err == nil && (r.Ref.ID == "" || r.Ref.ID[0] == '-' || r.Ref.ID == "0" || r.Ref.Scope.Level == "") {
				t.Errorf("cannot be selected: %+v", r)
			}
			shown := r.Name.String() + r.Status + r.Owner.String() + r.Web + describe(w)
			if strings.ContainsFunc(shown, unicode.IsControl) {
				t.Errorf("a control character is shown: %q", shown)
			}
			if r.Web != "" && !strings.HasPrefix(r.Web, "https://git.example.org/root/") {
				t.Errorf("a link to elsewhere: %q", r.Web)
			}
			if w.paused() == witness.Unknown && (w.Paused != nil || w.Active != nil) {
				t.Error("a known switch is told as unknown")
			}
		}
		if jobs, err := rows(a, checkJob); err == nil {
			for _, j := range jobs {
				_ = p.job(j)
			}
		}
		_, _ = rows(a, func(wireManager) error { return nil })
		_, _ = rows(a, func(wireVariable) error { return nil })
		_, _ = rows(a, func(wireDeployKey) error { return nil })
		_, _ = decode[wireToken](a)
		_ = problem(answer{Request: "GET x", Status: 403, Body: b})
	})
}
