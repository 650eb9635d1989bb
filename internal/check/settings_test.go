package check_test

import (
	"testing"

	"cordon/internal/host/snapshot"
)

// A file of settings holds a credential where one stands in it, not by its name; one
// whose content is not here may hold one.
func TestSettingsWithoutALoginAreNoCredential(t *testing.T) {
	for _, c := range []struct {
		path, text string
		secret     bool
	}{
		{"/etc/pip.conf", "[global]\ncert = /etc/ssl/certs/ca.pem\n", false},
		{"/etc/pip.conf", "[global]\nindex-url = https://ci:[redacted hmac:0011223344556677 len:20]@pypi.example.org/simple\n", true},
		{"/etc/pip.conf", "", true},
		{"/home/ir/.npmrc", "fund=false\n", false},
		{"/home/ir/.npmrc", "//registry.npmjs.org/:_authToken=[redacted hmac:0011223344556677 len:40]\n", true},
		{"/home/ir/.docker/config.json", "{\"detachKeys\":\"ctrl-q\"}\n", false},
		{"/home/ir/.docker/config.json", "{\"auths\":{\"r.example.org\":{\"auth\":\"x\"}}}\n", true},
	} {
		s := cleanHost()
		f := file(snapshot.SectionHomes, c.path, 0o644, 0, c.text)
		f.Size = 40
		plantFile(f)(s)
		if got := at(s, "secrets-on-disk", c.path); (len(got) == 1) != c.secret {
			t.Errorf("%s with %q: %+v", c.path, c.text, got)
		}
	}
	cut := file(snapshot.SectionHomes, "/etc/pip.conf", 0o644, 0, "[global]\n")
	cut.Truncated = true
	s := cleanHost()
	plantFile(cut)(s)
	if len(at(s, "secrets-on-disk", "/etc/pip.conf")) != 1 {
		t.Error("the rest of a cut file is taken for harmless")
	}
}
