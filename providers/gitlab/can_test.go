package gitlab

import (
	"context"
	"strings"
	"testing"

	"cordon/internal/target"
	"cordon/internal/transport"
	"cordon/providers"
	"cordon/providers/providertest"
)

func TestCanAnswersWithoutARunnerToo(t *testing.T) {
	l := open(t, providertest.Wait, func(o *Options) { o.ActsApart = true })
	ask := func(ctx context.Context) map[string]providers.Capability {
		list, err := l.Can(ctx, target.Ref{System: "gl", Kind: target.Runner})
		if err != nil {
			t.Fatal(err)
		}
		out := map[string]providers.Capability{}
		for _, c := range list {
			out[c.Verb] = c
		}
		return out
	}
	if c := ask(context.Background()); c["list"].Level != full || c[providers.Pause].Level != full || len(c) != 6 {
		t.Errorf("%+v", c)
	}
	l.fake.change(func(f *fake) { f.scopes = []string{"read_api"}; f.deny["groups/"] = 403 })
	if c := ask(context.Background()); c["list"].Level != none || !strings.Contains(c["list"].Why, "group:acme") || c[providers.Pause].Level != unsure {
		t.Errorf("%+v", c)
	}
	if c := ask(transport.AsActing(context.Background())); c[providers.Pause].Level != none || c[providers.Pause].Missing == "" {
		t.Errorf("with the credential for acting: %+v", c)
	}
}
