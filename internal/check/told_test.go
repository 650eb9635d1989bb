package check_test

import (
	"path"
	"slices"
	"strings"
	"testing"

	"cordon/internal/check"
	"cordon/internal/host/snapshot"
)

// "Not there" may be said only of a place that the collector lists: of any other path a
// sweep cannot tell.
func TestSweepOfAPathThatIsNeverReadIsNotNothing(t *testing.T) {
	for want, told := range map[string]bool{
		"/etc/cron.d/x": true, "/etc/cron.d/x-*": true, "/home/*/.bashrc": true, "/home/ir/.bashrc": true, "/root/.ssh/rc": true,
		"/etc/systemd/system/x.service": true, "/etc/crontab": true,
		"/var/tmp/x.so": false, "/opt/x": false, "/home/*/.dev-env": false, "/etc/cron.d/.x": false, "/etc/profile.d/*": false,
		"/etc/systemd/system/x.sh": false, "/etc/cron.d/x/y": false, "/srv/x": false,
	} {
		got := check.Sweep(indicators(t, "paths: [\""+want+"\"]\n"), whole())
		if (len(got.CouldNot) == 0) != told {
			t.Errorf("%s: could not look %q", want, got.CouldNot)
		}
	}
	s := whole()
	plantFile(file(cron, "/etc/cron.d/x", 0o644, 0, "#\n"))(s)
	if got := check.Sweep(indicators(t, "paths: [/etc/cron.d/x, /opt/x]\n"), s); len(got.Matches) != 1 || len(got.CouldNot) != 1 || !strings.Contains(got.CouldNot[0], "/opt/x was never looked for here") {
		t.Errorf("%+v", got)
	}
	s = whole()
	end(s, cron, snapshot.EndNotAsked, "")
	if got := check.Sweep(indicators(t, "paths: [/etc/cron.d/x]\n"), s); len(got.CouldNot) != 1 {
		t.Errorf("a section that was not asked for: %q", got.CouldNot)
	}
}

// whole is a clean host of which every section was read.
func whole() *snapshot.Snapshot {
	s := cleanHost()
	for _, name := range snapshot.SectionsOf(snapshot.ProfileTriage) {
		if s.Section(name).End == snapshot.EndNotAsked {
			s.Sections = append(s.Sections, snapshot.Section{Name: name, End: snapshot.EndOK})
		}
	}
	return s
}

// Every place of that list is in what the collector says of a tree that holds it.
func TestPlacesThatASweepTrustsAreRead(t *testing.T) {
	tr := newTree(t)
	var planted []string
	for section, places := range check.Told {
		for _, p := range places {
			p = strings.ReplaceAll(strings.Replace(p, "~/", "/home/ir/", 1), "*", "told-"+section)
			if p != "/etc/passwd" {
				tr.file(p, "#\n", 0o644)
			}
			planted = append(planted, p)
		}
	}
	s := tr.read()
	for _, p := range planted {
		if !slices.ContainsFunc(s.Files, func(f snapshot.File) bool { return path.Clean(string(f.Path)) == p }) {
			t.Errorf("%s is not read", p)
		}
	}
}
