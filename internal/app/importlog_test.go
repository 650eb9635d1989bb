package app

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cordon/internal/casefile"
	"cordon/internal/clock"
	"cordon/internal/config"
	"cordon/internal/importer"
	"cordon/internal/redact"
	"cordon/internal/target"
	"cordon/internal/witness"
)

func TestAProxySpeaksOnlyForTheTimeAndTheAddressesItKnows(t *testing.T) {
	since := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	h := target.Ref{System: target.SSH, Kind: target.Host, ID: "build-07"}
	gl := map[string]bool{"gitlab.example.org": true}
	at := func(d time.Duration, from, to, action string, status int) importer.Entry {
		return importer.Entry{At: since.Add(d), From: from, To: to, Action: action, Status: status}
	}
	other := at(-time.Hour, "192.0.2.9", "gitlab.example.org:443", "CONNECT", 200)
	for name, c := range map[string]struct {
		from []string
		all  []importer.Entry
		want witness.Observation
		says string
	}{
		"answered":         {[]string{"192.0.2.7"}, []importer.Entry{other, at(time.Minute, "192.0.2.7", "gitlab.example.org", "POST", 204)}, witness.Observation{Polling: witness.Yes, LastContact: since.Add(time.Minute)}, "1 calls"},
		"refused":          {[]string{"192.0.2.7"}, []importer.Entry{other, at(time.Minute, "192.0.2.7:5123", "gitlab.example.org", "POST", 403)}, witness.Observation{Rejected: witness.Yes, LastContact: since.Add(time.Minute)}, "1 calls"},
		"through a tunnel": {[]string{"192.0.2.7"}, []importer.Entry{other, at(time.Minute, "192.0.2.7", "gitlab.example.org:443", "CONNECT", 200)}, witness.Observation{LastContact: since.Add(time.Minute)}, "1 calls"},
		"before the watch": {[]string{"192.0.2.7"}, []importer.Entry{at(-time.Hour, "192.0.2.7", "gitlab.example.org", "POST", 204)}, witness.Observation{Polling: witness.No}, "no call"},
		"somewhere else":   {[]string{"192.0.2.7"}, []importer.Entry{other, at(time.Minute, "192.0.2.7", "example.com", "GET", 200)}, witness.Observation{Polling: witness.No}, "no call"},
		"another machine":  {[]string{"192.0.2.7"}, []importer.Entry{other, at(time.Minute, "192.0.2.70", "gitlab.example.org", "POST", 204)}, witness.Observation{Polling: witness.No}, "no call"},
		"begins later":     {[]string{"192.0.2.7"}, []importer.Entry{at(time.Minute, "192.0.2.9", "x", "GET", 200)}, witness.Observation{CouldNot: "the log begins"}, ""},
		"no address":       {nil, []importer.Entry{other}, witness.Observation{CouldNot: "no address"}, ""},
	} {
		o := spoke(h, c.from, gl, since, since.Add(time.Hour), c.all, "sum")
		if o.Polling != c.want.Polling || o.Rejected != c.want.Rejected || !o.LastContact.Equal(c.want.LastContact) ||
			!strings.Contains(o.CouldNot, c.want.CouldNot) || (o.CouldNot == "") != (c.want.CouldNot == "") || !strings.Contains(o.Says, c.says) || o.Source != witness.Egress {
			t.Errorf("%s: %+v", name, o)
		}
	}
}

func TestAnImportedLogIsInTheTimelineWithoutItsSecretsAndSaysWhatItLacks(t *testing.T) {
	dir := t.TempDir() + "/state"
	s, err := casefile.OpenStore(casefile.Opener{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	from := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	c, err := s.Create(t.Context(), casefile.Opening{ID: "INC-1", Window: casefile.Window{From: from}}, casefile.Actor{Name: "alice"})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	secret := "glpat-" + strings.Repeat("aB3dE5", 4)[:20]
	log := filepath.Join(t.TempDir(), "audit.json")
	lines := `{"created_at":"2026-11-20T00:00:00Z","action":"long before"}` + "\nnot json"
	for range 450 {
		lines = `{"created_at":"2026-11-30T12:00:00Z","action":"made ` + secret + `","actor":"mallory"}` + "\n" + lines
	}
	if err := os.WriteFile(log, []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	a := &App{cfg: &config.Config{}, state: dir, marker: redact.NewMarker([]byte("k")), clock: clock.Real{}}
	im, err := a.ImportLog(t.Context(), "INC-1", importer.GitHubAudit, log)
	if err != nil || im.Kept != 450 || im.Outside != 1 || im.Skipped != 1 {
		t.Fatalf("%+v %v", im, err)
	}
	v, err := s.Read("INC-1")
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(v.Raw), secret) {
		t.Error("a secret of the log is in the journal")
	}
	var n, on int
	for _, l := range v.Lines {
		var d foreignData
		if l.Kind == "foreign" {
			if err := json.Unmarshal(l.Data, &d); err != nil || d.SHA256 != im.SHA256 {
				t.Fatal(err)
			}
			n, on = n+len(d.Entries), on+1
		}
	}
	if last := v.Lines[len(v.Lines)-1]; n != 450 || on != 3 || last.Kind != "note" || !strings.Contains(last.Msg, "1 entries are older") || !strings.Contains(last.Msg, "1 entries were not understood") {
		t.Errorf("%d entries on %d lines; %q", n, on, last.Msg)
	}
	if len(v.Items) != 0 {
		t.Error("the file itself was kept")
	}
	for _, bad := range []string{"/dev/zero", t.TempDir(), "/nowhere"} {
		if _, err := a.ImportLog(t.Context(), "INC-1", importer.EDR, bad); ExitCode(err) != ExitUsage {
			t.Errorf("%s: %v", bad, err)
		}
	}
	if _, err := a.ImportLog(t.Context(), "INC-1", "syslog", log); ExitCode(err) != ExitUsage {
		t.Error(err)
	}
}
