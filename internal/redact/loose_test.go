package redact

import (
	"strings"
	"testing"
)

func TestASecretBehindALooseWordIsFound(t *testing.T) {
	v := planted(testRand(), 14)
	for _, s := range []string{
		"ExecStart=/usr/bin/foo -p " + v + "\n", "foo\x00-p\x00" + v + "\x00", "alias x=\"mysql -p" + v + "\"", "the password is " + v + " now", "Password was: '" + v + "'",
	} {
		if out, n := testMarker.Text(s); n != 1 || strings.Contains(out, v) {
			t.Errorf("%q became %q", s, out)
		}
	}
	for _, s := range []string{
		"mkdir -p /opt/build2024/x", "ssh -p 2222 host", "docker run -p 8080:80 x", "cp -p linux-x64 y", "the password is required", "passwd: files systemd\n",
		"passwd:\tfiles [NOTFOUND=return] sss\n", "ps -p 12345678", "python -p profile",
	} {
		if out, n := testMarker.Text(s); n != 0 {
			t.Errorf("%q became %q", s, out)
		}
	}
	if out, n := testMarker.Text("passwd: " + v + "\n"); n != 1 {
		t.Errorf("%q", out)
	}
}
