package app

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"cordon/internal/casefile"
	"cordon/internal/evidence"
	"cordon/internal/host/snapshot"
	"cordon/internal/secret"
	"cordon/internal/target"
	"cordon/internal/untrusted"
)

func TestEachThingThatAnAlertNamesLeadsToItsRunner(t *testing.T) {
	w := newWorld(t)
	a := w.open()
	if _, err := a.ListFleet(t.Context(), FleetOptions{Managers: true}); err != nil {
		t.Fatal(err)
	}
	for what, want := range map[string]struct{ kind, known string }{
		"gl/42":                          {AskedRunner, "as asked"},
		"gl/runner/42":                   {AskedRunner, "as asked"},
		"gl/project/runner/42":           {AskedRunner, "as asked"},
		"build-07":                       {AskedHost, "by address, last known"},
		"ssh/host/build-07":              {AskedHost, "by address, last known"},
		"BUILD-07.example.org":           {AskedName, "by name only, provider now"},
		"build-07 shell":                 {AskedName, "by name only, provider now"},
		"127.0.0.77":                     {AskedAddress, "by address, last known"},
		"127.0.0.77:22":                  {AskedAddress, "by address, last known"},
		"URL/acme/web/-/jobs/500":        {AskedURL, "provider now"},
		"URL/admin/runners/42":           {AskedURL, "from the address"},
		"URL/acme/web/-/runners/42/edit": {AskedURL, "from the address"},
	} {
		c := w.triage(a, strings.Replace(what, "URL", w.srv.URL, 1))
		one := c.Only()
		if one == nil || one.Ref.ID != "42" || c.Kind != want.kind {
			t.Errorf("%s (%s): %+v", what, c.Kind, c.Runners)
			continue
		}
		if !strings.HasPrefix(one.Found[0].Known, want.known) {
			t.Errorf("%s is known %q, want %q", what, one.Found[0].Known, want.known)
		}
		for _, id := range []string{"identity", "whose", "machines", "running", "reach"} {
			if f := fact(t, c, id); f.Text == "" || f.Known != "provider now" {
				t.Errorf("%s, %s: %+v", what, id, f)
			}
		}
		if c.Next[0].Command != "cordon contain gl/runner/42" {
			t.Errorf("%s: next %+v", what, c.Next)
		}
	}
}

func TestTheCardSaysWhatAPauseStopsAndWhoNotices(t *testing.T) {
	w := newWorld(t)
	a := w.open()
	c := w.triage(a, "build-07")
	for id, want := range map[string]string{
		"pause": "its one machine; the 1 jobs that run go on", "notice": "a pause: no", "running": "1 jobs", "reach": "1 projects",
		"hosts": "the address of build-07", "whose": "acme/web",
	} {
		if f := fact(t, c, id); !strings.Contains(f.Text, want) {
			t.Errorf("%s: %q, want %q in it", id, f.Text, want)
		}
	}
	if items := fact(t, c, "pause").Items; len(items) != 1 || !strings.Contains(items[0], "1 other runners were online") {
		t.Errorf("capacity %q", items)
	}
	if f := fact(t, c, "ran"); f.Known != "not asked" || f.Text != "" {
		t.Errorf("what ran is %+v before it was asked", f)
	}
	w.sent()
	if err := a.Ran(t.Context(), &c, time.Time{}); err != nil {
		t.Fatal(err)
	}
	if f := fact(t, c, "ran"); !strings.HasPrefix(f.Text, "2 jobs since") || len(w.sent()) != 1 {
		t.Errorf("what ran in the window: %+v", f)
	}
	last := c.Next[len(c.Next)-1]
	if last.Command != "cordon host check build-07" || !strings.Contains(last.Notice, "visible") {
		t.Errorf("a login is not told as seen: %+v", last)
	}
}

func TestATokenAsAnArgumentIsRefusedAndNotRepeated(t *testing.T) {
	w := newWorld(t)
	a := w.open()
	for _, tok := range []string{
		"glrt-t3_" + rand.Text(), "glrt-" + rand.Text(), "glpat-" + rand.Text(), "GR1348941" + rand.Text(), "ghp_" + rand.Text(),
		"xY7pQ2mK9vB4nR8tW1zA", "https://x:" + rand.Text() + "@gitlab.example.org/a/b",
	} {
		_, err := a.Triage(t.Context(), tok)
		if !errors.Is(err, ErrTokenArgument) || ExitCode(err) != ExitUsage {
			t.Errorf("%.6s…: %v", tok, err)
		} else if strings.Contains(err.Error(), tok) || !strings.Contains(err.Error(), "triage -") {
			t.Errorf("the refusal repeats the token or gives no hint: %v", err)
		}
	}
	if n := w.sent(); len(n) != 0 {
		t.Errorf("asked %q with a token as its subject", n)
	}
	for _, name := range []string{"build-runner-07-frankfurt-a", "runner.prod.eu-west-1.example.org", "spot-fleet-a-b-c-d-e-f-g-h", "BUILD-SERVER-NUMBER-SEVEN"} {
		if a.tokenLike(name) {
			t.Errorf("the name %s is taken for a token", name)
		}
	}
}

// keep puts a snapshot of a host into a case of its own, redacted as the host reader does.
func (w *world) keep(a *App, id, host, token string, url string) {
	w.t.Helper()
	m := a.marker.Derive("case:" + id)
	config, n := m.Text(fmt.Sprintf("[[runners]]\n  name = \"x\"\n  url = %q\n  id = 42\n  token = %q\n  executor = \"shell\"\n", url, token))
	if n == 0 {
		w.t.Fatal("the planted token was not redacted")
	}
	s := &snapshot.Snapshot{
		Schema: snapshot.Schema, Host: host, Profile: "triage", Taken: a.clock.Now().Add(-48 * time.Hour), Complete: true,
		Sections: []snapshot.Section{{Name: snapshot.SectionRunners, End: snapshot.EndOK}},
		Files:    []snapshot.File{{Path: "/etc/gitlab-runner/config.toml", Section: snapshot.SectionRunners, Type: "file", Content: untrusted.Text(config)}},
	}
	var b bytes.Buffer
	if err := s.Encode(&b); err != nil {
		w.t.Fatal(err)
	}
	store, err := a.cases()
	if err != nil {
		w.t.Fatal(err)
	}
	c, err := store.Create(w.t.Context(), casefile.Opening{
		ID: id, Title: "check", Kind: "check", Targets: []target.Ref{{System: target.SSH, Kind: target.Host, ID: host}},
	}, casefile.Actor{Name: "test"})
	if err != nil {
		w.t.Fatal(err)
	}
	if _, err := c.Put(w.t.Context(), evidence.Item{Name: "host/" + host + "/snapshot.json", Source: "test", At: s.Taken}, &b); err != nil {
		w.t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		w.t.Fatal(err)
	}
}

func TestATokenIsMatchedHereAndSentNowhere(t *testing.T) {
	w := newWorld(t)
	a := w.open()
	token, other := "glrt-t3_"+rand.Text(), "glrt-t3_"+rand.Text()
	w.keep(a, "check-1", "build-07", token, w.srv.URL)
	w.keep(a, "check-2", "build-08", other, "https://gitlab.elsewhere.invalid")
	c, err := a.TriageToken(t.Context(), secret.New(token))
	if err != nil {
		t.Fatal(err)
	}
	one := c.Only()
	if one == nil || one.Ref.ID != "42" || one.Found[0].Known != "last check of build-07 2d ago" || !strings.Contains(one.Found[0].Text, "fingerprint") {
		t.Fatalf("%+v", c)
	}
	// The same bytes in another case have another fingerprint, and are found there too.
	c2, err := a.TriageToken(t.Context(), secret.New(other+"\n"))
	if err != nil || len(c2.Runners) != 0 || len(c2.Hosts) != 1 || c2.Hosts[0].Name != "build-08" || c2.Exit() != ExitCannotTell {
		t.Errorf("a token of a service that is not configured: %+v, %v", c2, err)
	}
	out, _ := json.Marshal([]Card{c, c2})
	var lines strings.Builder
	Lines{W: &lines}.Card(c)
	kept, _ := os.ReadFile(a.inventoryPath())
	w.change(func() {
		for _, v := range []string{token, other} {
			if strings.Contains(w.bodies.String(), v) {
				t.Error("the token was sent to the provider")
			}
			if strings.Contains(string(out)+lines.String()+string(kept), v) {
				t.Error("the token is in what triage shows or keeps")
			}
		}
	})
}

func TestATokenThatIsKnownNowhereIsSaidToBeSo(t *testing.T) {
	w := newWorld(t)
	a := w.open()
	w.keep(a, "check-1", "build-07", "glrt-t3_"+rand.Text(), w.srv.URL)
	c, err := a.TriageToken(t.Context(), secret.New("glrt-t2_"+rand.Text()))
	if err != nil || len(c.Runners)+len(c.Hosts) != 0 || c.Exit() != ExitCannotTell {
		t.Fatalf("%+v, %v", c, err)
	}
	said := strings.Join(append(c.Unknown, c.Notes...), "\n") + c.Next[0].Command
	for _, want := range []string{"snapshots of 1 hosts", "does not mean", "a runner token of a group", "admin/token", "read -rs"} {
		if !strings.Contains(said, want) {
			t.Errorf("nothing says %q:\n%s", want, said)
		}
	}
	if n := w.sent(); len(n) != 0 {
		t.Errorf("asked %q", n)
	}
	if _, err := a.TriageToken(t.Context(), secret.New(" \n")); !errors.Is(err, ErrUsage) {
		t.Errorf("no token: %v", err)
	}
}

func TestAProviderThatDoesNotAnswerLeavesWhatWasKnownLabelled(t *testing.T) {
	w := newWorld(t)
	a := w.open()
	w.triage(a, "build-07")
	w.srv.Close()
	c := w.triage(a, "build-07")
	if c.Exit() != ExitCannotTell {
		t.Errorf("exit %d", c.Exit())
	}
	for id, want := range map[string]string{"identity": "last known ", "machines": "last known ", "whose": "last known ", "running": couldNot} {
		if f := fact(t, c, id); !strings.HasPrefix(f.Known, want) || f.Known == "provider now" {
			t.Errorf("%s is known %q, and the provider is gone", id, f.Known)
		}
	}
	if f := fact(t, c, "running"); f.Text != "" {
		t.Errorf("what runs is told as %q", f.Text)
	}
	if said := strings.Join(c.Unknown, "\n"); !strings.Contains(said, "could not be read") || !strings.Contains(said, "not listed") {
		t.Errorf("nothing says what failed: %s", said)
	}
	// Another process knows it too, from the file.
	c = w.triage(w.open(), "gl/42")
	if f := fact(t, c, "whose"); f.Text == "" || !strings.HasPrefix(f.Known, "last known ") {
		t.Errorf("after a restart: %+v", f)
	}
}

func TestARunnerThatNobodyKnowsAndThatCannotBeReadHasNoFacts(t *testing.T) {
	w := newWorld(t)
	c := w.triage(w.open(), "gl/4711")
	if f := fact(t, c, "identity"); f.Known != couldNot || f.Text != "" {
		t.Errorf("%+v", f)
	}
	if c.Exit() != ExitCannotTell || !strings.Contains(strings.Join(c.Unknown, " "), "not found") {
		t.Errorf("exit %d, %q", c.Exit(), c.Unknown)
	}
}

func TestWhatIsNoRunnerIsNotAskedForAsOne(t *testing.T) {
	w := newWorld(t)
	a := w.open()
	for what, want := range map[string]error{"": ErrUsage, "  ": ErrUsage, "other/runner/42": ErrNoRunner, "ssh/host/nowhere": ErrNoRunner} {
		if _, err := a.Triage(t.Context(), what); !errors.Is(err, want) || ExitCode(err) != ExitUsage {
			t.Errorf("%q: %v", what, err)
		}
	}
	if n := w.sent(); len(n) != 0 {
		t.Errorf("asked %q", n)
	}
	for _, what := range []string{"nope", "10.0.0.1", "https://elsewhere.invalid/acme/web/-/jobs/1", "build"} {
		c := w.triage(a, what)
		if len(c.Runners) != 0 || c.Exit() != ExitCannotTell || len(c.Unknown) == 0 {
			t.Errorf("%s: %+v", what, c)
		}
	}
}

func TestAnAddressDoesNotAskEveryRunnerUnasked(t *testing.T) {
	w := newWorld(t)
	c := w.triage(w.open(), "127.0.0.78")
	if n := w.sent(); len(n) != 1 {
		t.Errorf("asked %q, want the list alone", n)
	}
	if said := strings.Join(c.Unknown, " "); len(c.Runners) != 0 || !strings.Contains(said, "addresses of 2 runners are not known") || !strings.Contains(said, "--managers") {
		t.Errorf("%+v", c)
	}
}

func TestWithoutAProviderTriageSaysHowToGetOne(t *testing.T) {
	w := newWorld(t)
	w.write("cordon.yaml", "providers: {}\n")
	a := w.open()
	if _, err := a.Triage(t.Context(), "build-07"); !errors.Is(err, ErrUsage) || !strings.Contains(err.Error(), "GITLAB_TOKEN") {
		t.Errorf("%v", err)
	}
	token := "glrt-t3_" + rand.Text()
	w.keep(a, "check-1", "build-07", token, w.srv.URL)
	c, err := a.TriageToken(t.Context(), secret.New(token))
	if err != nil || len(c.Hosts) != 1 || c.Exit() != ExitCannotTell {
		t.Errorf("what is kept here answers without a provider: %+v, %v", c, err)
	}
}

func TestTriageNeedsNoConfigurationWhereATokenIsInTheEnvironment(t *testing.T) {
	w := newWorld(t)
	for _, name := range []string{"CI_SERVER_URL", "GLAB_CONFIG_DIR"} {
		t.Setenv(name, "")
	}
	t.Setenv("GITLAB_TOKEN", "glpat-"+rand.Text())
	t.Setenv("GITLAB_HOST", w.srv.URL)
	t.Setenv("GLAB_CONFIG_DIR", w.dir)
	a := w.open(func(o *Options) { o.Config = "" })
	if len(a.fleet.providers) != 1 {
		t.Skip("this machine has a configuration of its own")
	}
	w.runners = w.runners[:1]
	w.change(func() { w.fail["runners/all"] = 403 })
	c := w.triage(a, "127.0.0.1/runner/42")
	if f := fact(t, c, "identity"); f.Known != "provider now" || f.Text == "" {
		t.Errorf("%+v", c)
	}
}

func TestForeignTextCannotActOnATerminal(t *testing.T) {
	w := newWorld(t)
	w.runners[0]["description"] = "build-07 \x1b[2J\x1b]0;owned\x07\u202eevil"
	w.jobs[0]["name"] = "x\x1b[31m\nnext  rm -rf /"
	c := w.triage(w.open(), "build-07")
	var out strings.Builder
	Lines{W: &out}.Card(c)
	if strings.ContainsAny(out.String(), "\x1b\x07\u202e") || strings.Contains(out.String(), "\nnext  rm") {
		t.Errorf("%q", out.String())
	}
	if !strings.Contains(out.String(), `\x1b[2J`) {
		t.Error("the name is not shown at all")
	}
}

func TestWhatANameAloneSaysIsDoubted(t *testing.T) {
	w := newWorld(t)
	a := w.open()
	if c := w.triage(a, "build-07"); !strings.Contains(strings.Join(c.Unknown, " "), "only a name leads to gl/runner/42") || c.Exit() != ExitCannotTell {
		t.Errorf("%q", c.Unknown)
	}
	// From now on an address leads to it too.
	if c := w.triage(a, "build-07"); len(c.Unknown) != 0 || c.Exit() != ExitDone {
		t.Errorf("%q", c.Unknown)
	}
}

func TestWhatNoProviderListsOnTheHostIsSaid(t *testing.T) {
	w := newWorld(t)
	a := w.open()
	w.keep(a, "check-1", "build-07", "glrt-t3_"+rand.Text(), "https://gitlab.elsewhere.invalid")
	c := w.triage(a, "build-07")
	if said := strings.Join(c.Unknown, " "); !strings.Contains(said, "no listed runner claims") || !strings.Contains(said, "gitlab.elsewhere.invalid") {
		t.Errorf("%q", c.Unknown)
	}
	if len(c.Hosts) != 1 || c.Hosts[0].Answers[0].Known != "last check of build-07 2d ago" {
		t.Errorf("%+v", c.Hosts)
	}
}

func TestACancelledTriageIsAnError(t *testing.T) {
	w := newWorld(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if c, err := w.open().Triage(ctx, "build-07"); !errors.Is(err, context.Canceled) {
		t.Errorf("%+v, %v", c, err)
	}
}
