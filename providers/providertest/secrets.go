package providertest

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"cordon/internal/evidence"
	"cordon/internal/transport"
)

// forms are the ways in which a value could be shown by mistake.
func forms(v string) []string {
	quoted, _ := json.Marshal(v)
	return []string{
		v, strings.Trim(string(quoted), `"`), url.QueryEscape(v), url.PathEscape(v),
		base64.StdEncoding.EncodeToString([]byte(v)), base64.RawURLEncoding.EncodeToString([]byte(v)), hex.EncodeToString([]byte(v)),
	}
}

// Find returns which of the planted values text shows, in any form.
func Find(text string, planted []string) []string {
	var out []string
	for _, v := range planted {
		for _, f := range forms(v) {
			if strings.Contains(text, f) {
				out = append(out, v)
				break
			}
		}
	}
	return out
}

// secrets asks and changes everything, with the planted values in every answer, and
// then searches whatever came out: values, errors, records, evidence.
func secrets(t *testing.T, h Harness) {
	_, _, all := h.New(t, Wait)
	onWire := map[int]bool{} // the control: the same search finds each one there
	for _, verb := range append([]string{""}, all.Verbs...) {
		t.Run("after "+verb, func(t *testing.T) {
			p, a, f := h.New(t, Wait)
			to := &Sink{}
			var out []any
			ctx := evidence.WithSink(context.Background(), to)
			record := func(x transport.Exchange) { out = append(out, x) }
			ctx = transport.WithRecorder(ctx, record)
			out = append(out, readEverything(ctx, p, f, to)...)
			if verb != "" {
				c := chosen(t, p, f, verb)
				o, err := a.Apply(transport.WithRecorder(permit(t, c), record), c)
				out = append(out, c, o, err)
			}
			out = append(out, readEverything(ctx, p, f, to)...)
			f.Wire.Hostile(&Answer{Status: 403, Media: "application/json", Body: string(f.Denied)}, Everything)
			out = append(out, readEverything(ctx, p, f, to)...)
			f.Wire.Hostile(nil, nil)

			for i := range f.Secrets {
				if len(Find(f.Wire.Answered(), f.Secrets[i:i+1])) == 1 {
					onWire[i] = true
				}
			}
			for _, v := range out {
				if shown := Find(dump(v), f.Secrets); len(shown) != 0 {
					t.Errorf("%d planted values are shown by %T", len(shown), v)
				}
			}
			if len(to.Files) == 0 {
				t.Fatal("control: nothing was kept")
			}
			for name, file := range to.Files {
				if len(Find(file, f.Secrets)) != 0 {
					t.Errorf("%s holds a planted value", name)
				}
			}
			for _, it := range to.Items {
				if len(Find(fmt.Sprintf("%+v", it), f.Secrets)) != 0 {
					t.Errorf("the entry of %s holds a planted value", it.Name)
				}
			}
		})
	}
	if len(all.Secrets) == 0 || len(onWire) != len(all.Secrets) {
		t.Errorf("control: %d of %d planted values were found on the wire", len(onWire), len(all.Secrets))
	}
}

func dump(v any) string {
	b, _ := json.Marshal(v)
	s := fmt.Sprintf("%+v %#v ", v, v) + string(b)
	if e, ok := v.(error); ok && e != nil {
		s += e.Error()
	}
	return s
}
