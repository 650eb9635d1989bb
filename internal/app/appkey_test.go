package app

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cordon/internal/config"
)

// A key file of a GitHub App that cannot be used is found when the configuration is opened:
// in one line, as a mistake of the configuration, before anybody is asked.
func TestAnAppsKeyThatCannotBeUsedIsFoundAtTheStart(t *testing.T) {
	w, h := newWorld(t), serveHub(t)
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	good := string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(rsaKey)}))
	file := filepath.Join(w.dir, "app.pem")
	app := fmt.Sprintf("{app: {id: 5, installation: 77, key_file: %s}}", file)
	env := "{env: CORDON_TEST_TOKEN}"
	read := func(o *Options) { o.ReadOnly = true }
	offline := func(o *Options) { o.Offline = true }
	for name, x := range map[string]struct {
		key       string // "": no file
		mode      os.FileMode
		look, act string
		edit      func(*Options)
		want      string // "": it opens
	}{
		"a good one":                    {good, 0o600, app, app, func(*Options) {}, ""},
		"missing":                       {"", 0, app, env, func(*Options) {}, "no such file"},
		"missing for acting":            {"", 0, env, app, func(*Options) {}, "no such file"},
		"readable by others":            {good, 0o644, app, env, func(*Options) {}, "chmod 0600"},
		"no key":                        {"ghp_" + rand.Text(), 0o600, app, env, func(*Options) {}, "no private key in PEM form"},
		"cut off":                       {good[:200], 0o600, app, env, func(*Options) {}, "not an RSA key in PEM form"},
		"for acting, and nobody acts":   {"", 0, env, app, read, ""},
		"missing, and nobody is asked":  {"", 0, app, app, offline, ""},
		"for looking, and nothing else": {"", 0, app, env, read, "no such file"},
	} {
		_ = os.Remove(file)
		if x.key != "" {
			if err := os.WriteFile(file, []byte(x.key), x.mode); err != nil {
				t.Fatal(err)
			}
		}
		h.config(w, x.look, x.act)
		o := Options{Config: filepath.Join(w.dir, "cordon.yaml"), State: filepath.Join(w.dir, "state"), Version: "test"}
		x.edit(&o)
		a, err := Open(t.Context(), o)
		if err == nil {
			a.Close()
		}
		switch {
		case x.want == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case x.want == "":
		case err == nil:
			t.Errorf("%s: it opens", name)
		case !errors.Is(err, config.ErrToken) || ExitCode(err) != ExitUsage || !strings.Contains(err.Error(), x.want) || !strings.Contains(err.Error(), file) ||
			strings.Contains(err.Error(), "\n") || x.key != "" && strings.Contains(err.Error(), x.key[:20]):
			t.Errorf("%s: exit %d: %v", name, ExitCode(err), err)
		}
	}
	if len(h.calls) != 0 {
		t.Errorf("somebody was asked: %v", h.calls)
	}
}
