package redact

import (
	"strings"
	"testing"
)

// What an account may run as root is what a reader of sudoers looks for: the tag before
// it is no name of a password.
func TestTheTagsOfSudoAreNoKeys(t *testing.T) {
	for _, s := range []string{
		"gitlab-runner ALL=(root) NOPASSWD: /usr/bin/vim /var/log/*\n",
		"gitlab-runner ALL=(root) NOPASSWD:/usr/bin/vim\n",
		"gitlab-runner ALL=(ALL:ALL) NOPASSWD : ALL\n",
		"gitlab-runner ALL=(root) NOPASSWD: \\\n\t/usr/bin/vim /var/log/*, \\\n\t/usr/bin/find\n",
		"gitlab-runner ALL=(root) NOPASSWD:SETENV: /opt/deploy\n",
		"gitlab-runner ALL=(root) \\\n  NOPASSWD: /opt/deploy\n",
		"gitlab-runner ALL=(root) NOPASSWD: DEPLOY_CMDS\n",
		"ops ALL=(root) PASSWD: /usr/bin/id, NOPASSWD: /usr/bin/ls\n",
		"ops ALL=(root) PASSWD: ALL\n", "ops ALL=(root) PASSWD:NOEXEC: /usr/bin/less\n", "ops ALL=(root) PASSWD: \\\n  /usr/bin/id\n",
		"Cmnd_Alias PASSWD_CMDS = /usr/bin/passwd ci, /usr/bin/chage\n",
		"Defaults:ops passwd_tries=3, !authenticate, targetpw\nDefaults passwd_timeout = 5\n",
	} {
		if out, n := testMarker.Text(s); n != 0 {
			t.Errorf("%q became %q", s, out)
		}
	}
	v := planted(testRand(), 14)
	for _, s := range []string{
		"PASSWD: " + v + "\n", "PASSWD: /" + v + "\n", "db PASSWD: " + v + "\n", "PASSWD=" + v, "NOPASSWD=" + v, "DB_PASSWD: " + v + "\n",
		"ci ALL=(root) NOPASSWD: /usr/bin/mysql --password=" + v + "\n",
		"ci ALL=(root) NOPASSWD: /usr/bin/env TOKEN=" + v + " /opt/deploy\n",
	} {
		if out, n := testMarker.Text(s); n != 1 || strings.Contains(out, v) {
			t.Errorf("%q became %q", s, out)
		}
	}
}
