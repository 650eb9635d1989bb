package app

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// hub is a GitHub that knows one organization, and one App.
type hub struct {
	*httptest.Server
	mu     sync.Mutex
	calls  []string
	bodies []string // of minted tokens
	scopes string   // X-OAuth-Scopes; empty: no such header
	token  string   // minted, the last
}

func serveHub(t *testing.T) *hub {
	h := &hub{}
	h.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.mu.Lock()
		defer h.mu.Unlock()
		body, _ := io.ReadAll(r.Body)
		h.calls = append(h.calls, r.Method+" "+strings.TrimPrefix(r.URL.Path, "/api/v3/"))
		w.Header().Set("Content-Type", "application/json")
		if h.scopes != "" {
			w.Header().Set("X-OAuth-Scopes", h.scopes)
		}
		say := func(v any) { _ = json.NewEncoder(w).Encode(v) }
		switch strings.TrimPrefix(r.URL.Path, "/api/v3/") {
		case "user":
			say(map[string]any{"login": "ir-look", "type": "User"})
		case "orgs/acme/actions/runners":
			say(map[string]any{"total_count": 1, "runners": []any{map[string]any{"id": 23, "name": "build-07", "os": "Linux", "status": "online", "busy": false, "labels": []any{}}}})
		case "app/installations/77":
			say(map[string]any{"id": 77, "permissions": map[string]string{"organization_self_hosted_runners": "write"}})
		case "app/installations/77/access_tokens":
			h.bodies, h.token = append(h.bodies, strings.TrimSpace(string(body))), "ghs_"+rand.Text()
			level := "write"
			if len(body) > 0 {
				level = "read"
			}
			w.WriteHeader(http.StatusCreated)
			say(map[string]any{"token": h.token, "expires_at": time.Now().Add(time.Hour).UTC(), "permissions": map[string]string{"organization_self_hosted_runners": level}})
		default:
			w.WriteHeader(http.StatusNotFound)
			say(map[string]string{"message": "Not Found"})
		}
	}))
	t.Cleanup(h.Close)
	return h
}

func (h *hub) config(w *world, look, act string) {
	w.write("cordon.yaml", fmt.Sprintf("providers:\n  gh:\n    type: github\n    url: %s\n    scopes: [\"organization:acme\"]\n    look: %s\n    act: %s\n", h.URL, look, act))
}

// cell is one answer of a matrix.
func (d Doctor) cell(system, verb string) DoctorVerb {
	for _, s := range d.Systems {
		for _, row := range s.Scopes {
			for _, v := range row.Verbs {
				if s.System == system && v.Verb == verb {
					return v
				}
			}
		}
	}
	return DoctorVerb{}
}

func TestDoctorSaysWhatEachCredentialCanDo(t *testing.T) {
	w, h := newWorld(t), serveHub(t)
	h.config(w, "{env: CORDON_TEST_TOKEN}", "{env: CORDON_TEST_TOKEN}")
	h.scopes = "repo, read:org"
	a := w.open()
	d, err := a.Doctor(t.Context(), "gh", false)
	if err != nil || d.Exit() != ExitDone || d.cell("gh", "list").Can != "can" || d.cell("gh", "pause").Can != "unknown" || d.cell("gh", "rotate").Can != "by hand" {
		t.Errorf("%+v, %v", d, err)
	}
	if d, err = a.Doctor(t.Context(), "", true); err != nil || d.cell("gh", "pause").Can != "cannot" || d.cell("gh", "pause").Missing != "scope admin:org" || len(d.Systems[0].Who) != 2 {
		t.Errorf("with the one for acting: %+v, %v", d, err)
	}
	var out bytes.Buffer
	Lines{W: &out}.Doctor(d)
	for _, want := range []string{"gh  github  " + h.URL, "look  ir-look, user, classic token, scopes repo read:org", "organization:acme, with the credential for acting", "pause       cannot   missing: scope admin:org; the token does not have it", "audit log   cannot"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, out.String())
		}
	}
	b, _ := json.Marshal(d)
	if !strings.Contains(string(b), `"schema":"cordon.doctor/1"`) || strings.Contains(string(b)+out.String(), os.Getenv("CORDON_TEST_TOKEN")) {
		t.Errorf("%s", b)
	}
	for _, c := range h.calls {
		if !strings.HasPrefix(c, "GET ") {
			t.Errorf("it sent %s", c)
		}
	}
}

func TestDoctorOfAGitLabAndOfNothing(t *testing.T) {
	w := newWorld(t)
	d, err := w.open().Doctor(t.Context(), "", false)
	if err != nil || d.cell("gl", "list").Can != "can" || d.cell("gl", "pause").Can != "unknown" || d.Exit() != ExitDone {
		t.Errorf("%+v, %v", d, err)
	}
	w.change(func() { w.fail["runners"] = 403 })
	if d, err = w.open().Doctor(t.Context(), "gl", false); err != nil || d.cell("gl", "list").Can != "cannot" || d.Exit() != ExitCannotTell {
		t.Errorf("%+v, %v", d, err)
	}
	if _, err := w.open().Doctor(t.Context(), "nobody", false); ExitCode(err) != ExitUsage || !errors.Is(err, ErrUsage) {
		t.Errorf("%v", err)
	}
	if _, err := w.open(readOnly).Doctor(t.Context(), "", true); ExitCode(err) != ExitUsage {
		t.Errorf("%v", err)
	}
}

// TestAnAppLooksWithReadingAloneAndActsOnlyWhereAProcessMayWrite also has the control: the
// same App for acting is given all that its installation has.
func TestAnAppLooksWithReadingAloneAndActsOnlyWhereAProcessMayWrite(t *testing.T) {
	w, h := newWorld(t), serveHub(t)
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	w.write("app.pem", string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})))
	app := fmt.Sprintf("{app: {id: 5, installation: 77, key_file: %s}}", filepath.Join(w.dir, "app.pem"))
	h.config(w, app, app)
	a := w.open(readOnly)
	if len(h.calls) != 0 {
		t.Errorf("opening asks for %v", h.calls)
	}
	d, err := a.Doctor(t.Context(), "gh", false)
	if err != nil || d.Exit() != ExitDone || len(h.bodies) != 1 || h.bodies[0] != `{"permissions":{"organization_self_hosted_runners":"read"}}` {
		t.Errorf("%+v, minted with %q, %v", d, h.bodies, err)
	}
	a = w.open()
	if d, err = a.Doctor(t.Context(), "gh", true); err != nil || len(h.bodies) != 3 || h.bodies[1] != "" && h.bodies[2] != "" {
		t.Errorf("%+v, minted with %q, %v", d, h.bodies, err)
	}
	if c := d.cell("gh", "deregister"); c.Can != "can" {
		t.Errorf("%+v", c)
	}
	list, err := a.ListFleet(t.Context(), FleetOptions{})
	if err != nil || len(h.bodies) != 3 || len(list.Rows) == 0 {
		t.Errorf("the fleet: %+v, %v, minted %d", list, err, len(h.bodies))
	}
}
