package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"cordon/internal/lab/vault"
)

// TestSecretsStayWhereTheyAre walks every command over a lab full of secrets. Each of
// them is first found where the lab planted it, by the same search that then finds it
// nowhere in what cordon keeps, writes or says.
func TestSecretsStayWhereTheyAre(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	tmp, delivered := filepath.Join(w.dir, "tmp"), filepath.Join(w.dir, "delivered")
	for _, d := range []string{tmp, delivered} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	w.env = []string{"TMPDIR=" + tmp}
	appendTo(t, filepath.Join(w.labDir(), "cordon.yaml"), fmt.Sprintf(`rotate:
  destinations:
    store:
      command: [sh, -c, "cat > %[1]s/token; cat /proc/self/environ > %[1]s/environ; cat /proc/$PPID/cmdline /proc/$$/cmdline > %[1]s/arguments"]
`, delivered))

	if how := w.accepted("glpat-nobodysnobodysnobo"); how != "" {
		t.Fatalf("anything is accepted as %s: that proves nothing", how)
	}
	stands := w.standing(nil)
	said := map[string][]byte{}
	run := func(want int, args ...string) {
		t.Helper()
		s := w.cordon(args...)
		if s.code != want {
			t.Errorf("%v ends with %d, want %d: %s%s", args, s.code, want, tail(s.out), s.err)
		}
		said["stdout of "+strings.Join(args, " ")] = []byte(s.out)
		said["stderr of "+strings.Join(args, " ")] = []byte(s.err)
	}
	run(0, "fleet")
	run(0, "fleet", "--json")
	run(0, "contain", "gitlab-lab/42", "--dry-run")
	run(3, "host", "check", "build-07", "--yes", "--reason", reason)
	run(3, "host", "check", "build-07", "--yes", "--reason", reason, "--json")
	run(0, "host", "check", "build-08", "--yes", "--reason", reason)
	run(0, append(contain("S"), "--option", "rotate=store")...)
	run(0, "case", "list")
	run(0, "case", "show", "S")
	run(0, "case", "show", "S", "--json")
	run(0, "case", "export", "S", "-o", filepath.Join(w.dir, "out.tar"))
	run(4, "bundle", "verify", filepath.Join(w.dir, "out.tar"))
	stands = w.standing(stands)

	kept := tree(t, w.state())
	maps.Copy(kept, tree(t, tmp))
	maps.Copy(kept, tree(t, filepath.Join(w.dir, "home")))
	maps.Copy(kept, said)
	for _, name := range []string{"out.tar", "delivered/environ", "delivered/arguments"} {
		b, err := os.ReadFile(filepath.Join(w.dir, name))
		if err != nil {
			t.Fatal(err)
		}
		kept[name] = b
	}
	if len(kept) < 60 || len(kept["delivered/environ"]) == 0 || len(kept["delivered/arguments"]) == 0 {
		t.Fatalf("only %d files to search: the test looks in the wrong place", len(kept))
	}
	planted := w.planted()
	if len(planted) < 25 {
		t.Fatalf("only %d secrets are planted", len(planted))
	}
	for _, p := range planted {
		if stands[p.Name] == "" {
			t.Errorf("%s (%s) was not found where it stands: the search is blind", p.Name, p.Where)
		}
		forms := encodings(p.Value)
		for _, name := range slices.Sorted(maps.Keys(kept)) {
			if how := find(kept[name], forms); how != "" {
				t.Errorf("%s (%s) is in %s, in %s", p.Name, p.Where, name, how)
			}
		}
	}
}

func (w *world) planted() []vault.Planted {
	w.t.Helper()
	var all []vault.Planted
	b, err := os.ReadFile(w.ready.Planted)
	if err == nil {
		err = json.Unmarshal(b, &all)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	return all
}

// standing looks for every planted secret in the host trees, in the delivery of the new
// token, in GitLab's answers to an administrator, and by trying it as a credential; it
// adds to what was found before. At the first look it waits for the job to run, because
// some are in its environment only.
func (w *world) standing(found map[string]string) map[string]string {
	w.t.Helper()
	first := found == nil
	if first {
		found = map[string]string{}
	}
	act, err := os.ReadFile(filepath.Join(w.labDir(), "act.token"))
	if err != nil {
		w.t.Fatal(err)
	}
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		texts := tree(w.t, filepath.Join(w.labDir(), "hosts"))
		maps.Copy(texts, tree(w.t, filepath.Join(w.dir, "delivered")))
		for _, at := range []string{
			"projects/11/variables", "projects/12/variables", "projects/13/variables", "groups/5/variables", "admin/ci/variables",
		} {
			_, texts[at] = w.ask("GET", at, "PRIVATE-TOKEN", strings.TrimSpace(string(act)), nil)
		}
		missing := 0
		for _, p := range w.planted() {
			if found[p.Name] != "" {
				continue
			}
			forms := encodings(p.Value)
			for name, text := range texts {
				if find(text, forms) != "" {
					found[p.Name] = name
				}
			}
			if found[p.Name] == "" {
				found[p.Name] = w.accepted(p.Value)
			}
			if found[p.Name] == "" {
				missing++
			}
		}
		if missing == 0 || !first {
			break
		}
	}
	return found
}

// accepted says what a value is a credential for, "" if for nothing.
func (w *world) accepted(value string) string {
	if status, _ := w.ask("GET", "user", "PRIVATE-TOKEN", value, nil); status == http.StatusOK || status == http.StatusForbidden {
		return "a person's token"
	}
	if status, _ := w.ask("POST", "runners/verify", "", "", url.Values{"token": {value}}); status == http.StatusOK {
		return "a runner's token"
	}
	status, _ := w.ask("POST", "runners", "", "", url.Values{"token": {value}, "description": {"control"}, "paused": {"true"}})
	if status == http.StatusCreated {
		return "a registration token"
	}
	return ""
}

// ask is one request to the lab's GitLab.
func (w *world) ask(method, path, header, token string, form url.Values) (int, []byte) {
	w.t.Helper()
	req, err := http.NewRequest(method, w.ready.GitLab.URL+"/api/v4/"+path, strings.NewReader(form.Encode()))
	if err != nil {
		w.t.Fatal(err)
	}
	if header != "" {
		req.Header.Set(header, token)
	}
	if form != nil {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		w.t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	return resp.StatusCode, b
}
