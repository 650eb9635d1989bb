package bundle

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cordon/internal/casefile"
	"cordon/internal/signing"
)

func TestTheSameCaseGivesTheSameBytes(t *testing.T) {
	m := fullCase(t, nil)
	dir := t.TempDir()
	a, err := Export(m.view(t), Options{Path: filepath.Join(dir, "a.tar"), Signer: m.key, Principal: alice})
	if err != nil {
		t.Fatal(err)
	}
	b, err := Export(m.view(t), Options{Path: filepath.Join(dir, "b.tar"), Signer: m.key, Principal: alice})
	if err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(a.Path)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(raw)
	if a.SHA256 != b.SHA256 || a.SHA256 != hex.EncodeToString(sum[:]) || a.Bytes != int64(len(raw)) {
		t.Errorf("%+v\n%+v", a, b)
	}
	if a.Status != Closed || a.Events != len(m.view(t).Lines) || a.Head != m.view(t).Head || a.Key != m.key.Fingerprint() || a.Kind != signing.KindFile {
		t.Errorf("%+v", a)
	}
	m.say(t, "note", `{}`)
	c, err := Export(m.view(t), Options{Path: filepath.Join(dir, "c.tar"), Signer: m.key, Principal: alice})
	if err != nil || c.SHA256 == a.SHA256 || c.Status != Open {
		t.Errorf("another case, the same bundle, or not open again: %+v %v", c, err)
	}
}

func TestTheArchiveIsPlainAndSorted(t *testing.T) {
	for _, simulated := range []bool{false, true} {
		m := fullCase(t, func(o *casefile.Opening) { o.Simulated = simulated })
		last, v := "", m.view(t)
		at := v.Lines[len(v.Lines)-1].T
		if simulated {
			at = start.Truncate(24 * time.Hour) // a lab runs ahead of the machine
		}
		for _, e := range entries(t, m.export(t)) {
			h := e.head
			if h.Name <= last || h.Mode != 0o644 || h.Uid != 0 || h.Gid != 0 || h.Uname+h.Gname != "" || len(h.PAXRecords) > 0 ||
				!h.ModTime.Equal(at.Truncate(time.Second)) {
				t.Errorf("%+v after %s", h, last)
			}
			last = h.Name
		}
	}
}

func TestTheBundleHoldsTheCase(t *testing.T) {
	m := fullCase(t, nil)
	files := unpacked(t, m.export(t))
	v := m.view(t)
	for name, want := range map[string]string{
		journalName: string(v.Raw), playbookName: "name: contain\nsteps: []\n",
		"data/provider/gitlab-prod/runner.json": `{"id":42}`, "data/provider/gitlab-prod/runner-2.json": `{"id":42,"paused":true}`,
		"data/host/build-07/snapshot.json": `{"schema":"cordon.snapshot/1"}`, bagitName: bagit,
	} {
		if files[name] != want {
			t.Errorf("%s: %q, want %q", name, files[name], want)
		}
	}
	if _, extra := files["data/provider/gitlab-prod/runner-3.json"]; extra {
		t.Error("the same name and bytes are one file")
	}
	heads := 0
	for name := range files {
		if strings.HasPrefix(name, headsDir) {
			heads++
		}
	}
	if heads != 2 {
		t.Errorf("%d signed heads", heads)
	}
	for _, want := range []string{"Journal-Head: " + v.Head + "\n", "External-Identifier: INC-2026-0142\n", "Bundle-Status: closed\n", "Cordon-Format: 1\n", "Cordon-Version: 0.0.1\n"} {
		if !strings.Contains(files[infoName], want) {
			t.Errorf("%q not in\n%s", want, files[infoName])
		}
	}
	var c caseDoc
	if err := json.Unmarshal([]byte(files[caseName]), &c); err != nil || c.Case != v.ID || len(c.Evidence) != 4 || c.Evidence[1].File != "data/provider/gitlab-prod/runner-2.json" || len(c.Operators) != 1 {
		t.Errorf("%v %s", err, files[caseName])
	}
	if !strings.Contains(files[gapsName], "not reachable") {
		t.Error(files[gapsName])
	}
	lines := strings.Split(strings.TrimSpace(files[timelineName]), "\n")
	if len(lines) != len(v.Lines) {
		t.Errorf("%d events in the timeline", len(lines))
	}
	for _, l := range lines {
		var e map[string]any
		if err := json.Unmarshal([]byte(l), &e); err != nil || e["message"] == "" || e["timestamp_desc"] == "" || e["timestamp"] == nil {
			t.Errorf("%v: %s", err, l)
		}
		if _, err := time.Parse("2006-01-02T15:04:05.000000-07:00", e["datetime"].(string)); err != nil {
			t.Error(err)
		}
	}
}

func TestSimulatedIsSaidEverywhere(t *testing.T) {
	m := fullCase(t, func(o *casefile.Opening) { o.Simulated = true })
	sim := unpacked(t, m.export(t))
	real := unpacked(t, fullCase(t, nil).export(t))
	for _, name := range []string{infoName, caseName, reportName, verifyName} {
		if !strings.Contains(sim[name], "SIMULATED") {
			t.Errorf("%s does not say so", name)
		}
		if strings.Contains(real[name], "SIMULATED") {
			t.Errorf("%s of a real case says so", name)
		}
	}
}

func TestNamesThatCannotLieBesideEachOtherAreMoved(t *testing.T) {
	m := newCase(t, nil)
	for _, n := range []string{"report.md", "case.json", "heads/0001.sig", "heads", "a", "a/b", "A", "x/y", "x/y/z", ".env", ".env", "A/b"} {
		m.keep(t, n, "body of "+n+time.Now().String())
	}
	seen := map[string]bool{}
	b := m.export(t)
	for name := range unpacked(t, b) {
		if seen[strings.ToLower(name)] {
			t.Errorf("%s is there twice but for case", name)
		}
		seen[strings.ToLower(name)] = true
	}
	for _, want := range []string{"data/report-2.md", "data/case-2.json", "data/heads-2/0001.sig", "data/a", "data/a-2/b", "data/a-2", "data/x/y", "data/x-2/y/z", "data/.env-2"} {
		if want != "data/a-2" && !seen[want] {
			t.Errorf("no %s in %v", want, seen)
		}
	}
	if _, err := Verify(bytes.NewReader(b), VerifyOptions{Allowed: m.allowed(t)}); err != nil {
		t.Error(err)
	}
}

func TestManyItemsOfOneNameCostNoMoreThanOthers(t *testing.T) {
	items := make([]placedInput, 0, 50000)
	for i := range cap(items) {
		items = append(items, placedInput{"x", i})
	}
	last := place(asItems(items))[len(items)-1].File
	if last != "data/x-50000" {
		t.Error(last)
	}
}

func TestALostBlobMakesThePartialBundleSaySo(t *testing.T) {
	for name, spoil := range map[string]func(string) error{
		"gone":    os.Remove,
		"changed": func(p string) error { return os.WriteFile(p, []byte("something else"), 0o600) },
	} {
		m := fullCase(t, nil)
		if err := spoil(blobFile(t, m, `{"schema":"cordon.snapshot/1"}`)); err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		r, err := Export(m.view(t), Options{Out: &b, Signer: m.key, Principal: alice})
		if err != nil || r.Status != Partial || len(r.Lost) != 1 || r.Lost[0].Name != "host/build-07/snapshot.json" {
			t.Fatalf("%s: %+v %v", name, r, err)
		}
		files := unpacked(t, b.Bytes())
		if !strings.Contains(files[gapsName], "host/build-07/snapshot.json") || !strings.Contains(files[reportName], "no longer whole") {
			t.Errorf("%s: not told", name)
		}
		rep, err := Verify(&b, VerifyOptions{Allowed: m.allowed(t)})
		if err != nil || rep.Status != Partial || !strings.Contains(row(rep, RowEvidence).Why, "1 items were lost") {
			t.Errorf("%s: %v %+v", name, err, row(rep, RowEvidence))
		}
		if row(rep, RowEvidence).Word() != "PARTIAL" || len(rep.Lost) != 1 || rep.Lost[0] != r.Lost[0] {
			t.Errorf("%s: %+v %+v", name, row(rep, RowEvidence), rep.Lost)
		}
		want := map[string]error{"gone": ErrLost, "changed": ErrIntegrity}[name]
		if err := Whole(rep.Lost); !errors.Is(err, want) || !strings.Contains(err.Error(), "host/build-07/snapshot.json is "+name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestExportRefusesWhatItCannotStandFor(t *testing.T) {
	m := fullCase(t, nil)
	v := m.view(t)
	dir := t.TempDir()
	there := filepath.Join(dir, "there.tar")
	if err := os.WriteFile(there, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		o    Options
		want error
	}{
		"no key":      {Options{Out: &bytes.Buffer{}, Principal: alice}, ErrUnsigned},
		"no place":    {Options{Signer: m.key, Principal: alice}, ErrSpeaks},
		"two places":  {Options{Signer: m.key, Principal: alice, Path: "x", Out: &bytes.Buffer{}}, ErrSpeaks},
		"no name":     {Options{Signer: m.key, Out: &bytes.Buffer{}}, ErrSpeaks},
		"shell name":  {Options{Signer: m.key, Out: &bytes.Buffer{}, Principal: "a;rm"}, ErrSpeaks},
		"odd status":  {Options{Signer: m.key, Out: &bytes.Buffer{}, Principal: alice, Status: "done"}, ErrSpeaks},
		"file exists": {Options{Signer: m.key, Path: there, Principal: alice}, ErrExists},
		"agent gone":  {Options{Signer: goneSigner{m.key}, Path: filepath.Join(dir, "n.tar"), Principal: alice}, signing.ErrAgentGone},
	} {
		if _, err := Export(v, c.o); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if left, _ := os.ReadDir(dir); len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
	if b, _ := os.ReadFile(there); string(b) != "x" {
		t.Error("the file was overwritten")
	}
}

func TestAFullDiskLeavesNoHalfBundle(t *testing.T) {
	dir := t.TempDir()
	boom := errors.New("no space left on device")
	err := toFile(filepath.Join(dir, "x.tar"), func(w io.Writer) error {
		_, _ = w.Write([]byte("half"))
		return boom
	})
	if left, _ := os.ReadDir(dir); !errors.Is(err, boom) || len(left) != 0 {
		t.Errorf("%v, left behind: %v", err, left)
	}
}

type goneSigner struct{ signing.Signer }

func (goneSigner) Sign(string, []byte) ([]byte, error) { return nil, signing.ErrAgentGone }
