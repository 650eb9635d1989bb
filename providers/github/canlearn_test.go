package github

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"cordon/internal/transport"
	"cordon/providers"
	"cordon/providers/providertest"
)

// permitted is a service that lets a fine-grained token with these permissions in, and says
// in its headers what was needed, as GitHub does. silent leaves the headers out.
func permitted(f *fake, has map[string]string, silent bool, asked *[]string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path := strings.TrimPrefix(r.URL.Path, "/api/v3/")
		*asked = append(*asked, r.Method+" "+path)
		name, level := "", "read"
		switch {
		case strings.HasSuffix(path, "/rulesets/rule-suites"):
			name, level = "administration", "write"
		case strings.HasPrefix(path, "repos/") && strings.HasSuffix(path, "/actions/runners"):
			name = "administration"
		case strings.HasPrefix(path, "orgs/") && strings.HasSuffix(path, "/actions/runners"):
			name = "organization_self_hosted_runners"
		case strings.HasSuffix(path, "/actions/runs"):
			name = "actions"
		}
		if name != "" && !silent {
			w.Header().Set("X-Accepted-GitHub-Permissions", name+"="+level)
		}
		switch {
		case name != "" && (has[name] == "" || has[name] == "read" && level == "write"):
			f.say(w, 403, map[string]string{"message": "Resource not accessible by personal access token"})
		case level == "write":
			f.say(w, 200, []any{})
		default:
			f.ServeHTTP(w, r)
		}
	})
}

func TestWhatReadsTellOfAFineGrainedTokenIsInTheMatrix(t *testing.T) {
	for name, x := range map[string]struct {
		has           map[string]string
		silent        bool
		remove, stop  string // levels of deregister and of cancel in a repository
		missing, lack string
	}{
		"may write":                 {map[string]string{"administration": "write", "actions": "write"}, false, full, unsure, "", ""},
		"reads alone":               {map[string]string{"administration": "read", "actions": "read"}, false, none, unsure, "permission administration: write", ""},
		"no runs":                   {map[string]string{"administration": "write"}, false, full, none, "", "permission actions: write"},
		"nobody says what it needs": {map[string]string{"administration": "read", "actions": "write"}, true, unsure, unsure, "", ""},
	} {
		l := open(t, providertest.Wait)
		var asked []string
		l.wire.Service = permitted(l.fake, x.has, x.silent, &asked)
		got := levels(t, l.Provider, context.Background(), anyRunner(repository, "acme/web"))
		if c := got[providers.Deregister]; c.Level != x.remove || c.Missing != x.missing {
			t.Errorf("%s: remove: %+v", name, c)
		}
		if c := got[providers.Cancel]; c.Level != x.stop || c.Missing != x.lack {
			t.Errorf("%s: cancel: %+v", name, c)
		}
		if c := got[providers.Pause]; x.remove == full && (c.Level != partial || !strings.Contains(c.Why, "no pause")) {
			t.Errorf("%s: pause: %+v", name, c)
		}
		for _, a := range asked {
			if !strings.HasPrefix(a, "GET ") {
				t.Errorf("%s: %s", name, a)
			}
		}
	}
}

// No read of an organization's runners needs the right to change them: that stays unknown.
func TestWhatNoReadTellsStaysUnknown(t *testing.T) {
	l := open(t, providertest.Wait)
	var asked []string
	l.wire.Service = permitted(l.fake, map[string]string{"organization_self_hosted_runners": "read"}, false, &asked)
	if c := levels(t, l.Provider, context.Background(), anyRunner(organization, "acme"))[providers.Deregister]; c.Level != unsure || c.Missing != "" {
		t.Errorf("%+v", c)
	}
	l.wire.Service = permitted(l.fake, map[string]string{}, false, &asked)
	if c := levels(t, l.Provider, context.Background(), anyRunner(organization, "acme"))[providers.Deregister]; c.Level != none || !strings.HasPrefix(c.Missing, "permission organization_self_hosted_runners") {
		t.Errorf("refused: %+v", c)
	}
}

// A 403 for another reason, and a read with several ways in, say nothing of a permission.
func TestOnlyARefusalForAPermissionSaysThatItIsMissing(t *testing.T) {
	refused := []byte(`{"message":"Resource not accessible by integration"}`)
	for name, x := range map[string]struct {
		a    answer
		want string
	}{
		"refused":        {answer{Status: 403, Needs: "actions=read", Body: refused}, lacks},
		"another reason": {answer{Status: 403, Needs: "actions=read", Body: []byte(`{"message":"Must have admin rights"}`)}, ""},
		"single sign-on": {answer{Status: 403, Needs: "actions=read", Body: refused, SSO: true}, ""},
		"hidden":         {answer{Status: 404, Needs: "actions=read", Body: refused}, ""},
		"two are needed": {answer{Status: 403, Needs: "actions=read,contents=read", Body: refused}, ""},
		"two ways in":    {answer{Status: 200, Needs: "actions=write; contents=write"}, ""},
		"answered":       {answer{Status: 200, Needs: "actions=write, contents=read"}, "write"},
		"a classic one":  {answer{Status: 200, Needs: "actions=write", Classic: true}, ""},
		"nonsense":       {answer{Status: 200, Needs: "actions=always"}, ""},
		"no answer":      {answer{Needs: "actions=read"}, ""},
	} {
		l := learned{}
		l.learn(x.a)
		if l["actions"] != x.want {
			t.Errorf("%s: %v", name, l)
		}
	}
	l := learned{}
	l.learn(answer{Status: 200, Needs: "administration=write"})
	l.learn(answer{Status: 200, Needs: "administration=read"})
	if l["administration"] != "write" {
		t.Errorf("a later read makes it less: %v", l)
	}
}

// The credential for acting is asked with itself.
func TestTheTokenForActingIsAskedWithItself(t *testing.T) {
	l := open(t, providertest.Wait, func(o *Options) { o.ActsApart = true })
	var asked []string
	l.wire.Service = permitted(l.fake, map[string]string{"administration": "write", "actions": "write"}, false, &asked)
	if c := levels(t, l.Provider, context.Background(), anyRunner(repository, "acme/web"))[providers.Deregister]; c.Level != unsure || !strings.Contains(c.Why, "another one") {
		t.Errorf("%+v", c)
	}
	for _, a := range asked {
		if strings.Contains(a, "rule-suites") {
			t.Error("what the token for looking may write was asked, and is of no use")
		}
	}
	if c := levels(t, l.Provider, transport.AsActing(context.Background()), anyRunner(repository, "acme/web"))[providers.Deregister]; c.Level != full {
		t.Errorf("asked with it: %+v", c)
	}
}
