package check_test

import (
	"slices"
	"strings"
	"testing"

	"cordon/internal/check"
	"cordon/internal/host/snapshot"
	"cordon/internal/untrusted"
)

// dpkgBrought adds the list of what packages brought of the paths in the snapshot.
func dpkgBrought(s *snapshot.Snapshot, paths ...string) {
	s.Facts = append(s.Facts, snapshot.Fact{Section: snapshot.SectionOwned, Name: "dpkg", Text: untrusted.Text(strings.Join(paths, "\n") + "\n")})
}

// at are the findings of one check at one place.
func at(s *snapshot.Snapshot, id, where string) []check.Finding {
	var out []check.Finding
	for _, f := range check.AtLeast(check.Run(s), check.Info) {
		if f.Check == id && string(f.Where) == where {
			out = append(out, f)
		}
	}
	return out
}

// A file that no package brought is nobody's, whatever well-known name it took.
func TestAWellKnownNameExcusesNothingThatNoPackageBrought(t *testing.T) {
	brought := []string{"/etc/cron.d/e2scrub_all", "/etc/cron.daily/apt-compat", "/etc/cron.daily/dpkg", "/etc/cron.daily/logrotate", "/etc/cron.daily/man-db", "/etc/cron.d/php"}
	for _, c := range []struct{ path, text string }{
		{"/etc/cron.d/certbot", "* * * * * root /opt/c/renew\n"},
		{"/etc/cron.daily/sysstat", "#!/bin/sh\n/opt/c/renew\n"},
	} {
		s := cleanHost()
		plantFile(file(cron, c.path, 0o755, 0, c.text))(s)
		if got := at(s, "cron-timers", c.path); len(got) != 0 {
			t.Errorf("%s without a list of packages: %+v", c.path, got)
		}
		dpkgBrought(s, brought...)
		if got := at(s, "cron-timers", c.path); len(got) != 1 || !strings.Contains(string(got[0].Detail), "no package of the distribution ships") {
			t.Errorf("%s: %+v", c.path, got)
		}
		s.Facts = s.Facts[:len(s.Facts)-1]
		dpkgBrought(s, append(brought, c.path)...)
		if got := at(s, "cron-timers", c.path); len(got) != 0 {
			t.Errorf("%s of a package: %+v", c.path, got)
		}
	}
	s := cleanHost()
	dpkgBrought(s, brought...)
	for _, p := range brought[:4] {
		if got := at(s, "cron-timers", p); len(got) != 0 {
			t.Errorf("%s: %+v", p, got)
		}
	}
}

// Half a list of packages makes no strangers.
func TestACutListOfPackagesIsNoList(t *testing.T) {
	s := cleanHost()
	dpkgBrought(s, "/etc/cron.d/other")
	s.Sections = slices.DeleteFunc(s.Sections, func(x snapshot.Section) bool { return x.Name == snapshot.SectionOwned })
	s.Sections = append(s.Sections, snapshot.Section{Name: snapshot.SectionOwned, End: snapshot.EndCut})
	if got := at(s, "cron-timers", "/etc/cron.d/e2scrub_all"); len(got) != 0 {
		t.Errorf("%+v", got)
	}
}

func TestAStartUpFileOfPythonIsPlainByItsCodeNotItsName(t *testing.T) {
	const dir = "/usr/local/lib/python3.12/dist-packages/"
	const nspkg = "import sys, types, os;has_mfs = sys.version_info > (3, 5);p = os.path.join(sys._getframe(1).f_locals['sitedir'], *('google',));importlib = has_mfs and __import__('importlib.util');has_mfs and __import__('importlib.machinery');m = has_mfs and sys.modules.setdefault('google', importlib.util.module_from_spec(importlib.machinery.PathFinder.find_spec('google', [os.path.dirname(p)])));m = m or sys.modules.setdefault('google', types.ModuleType('google'));mp = (m or []) and m.__dict__.setdefault('__path__',[]);(p not in mp) and mp.append(p)\n"
	for _, c := range []struct {
		name, code string
		plain      bool
	}{
		{"googleapis_common_protos-1.2-nspkg.pth", nspkg, true},
		{"distutils-precedence.pth", "import os; var = 'SETUPTOOLS_USE_DISTUTILS'; enabled = os.environ.get(var, 'local') == 'local'; enabled and __import__('_distutils_hack').add_shim(); \n", true},
		{"_virtualenv.pth", "import _virtualenv\n", true},
		{"__editable__.app-1.0.pth", "import __editable___app_1_0_finder; __editable___app_1_0_finder.install()\n", true},
		{"__editable__.app-1.0.pth", "/srv/app/src\n", true},
		{"google-x.pth", "import helper\n", false},
		{"distutils-precedence.pth", "import helper\n", false},
		{"x-nspkg.pth", nspkg + "import helper\n", false},
	} {
		s := cleanHost()
		plantFile(file(snapshot.SectionSystem, dir+c.name, 0o644, 0, c.code))(s)
		if got := at(s, "developer-tools", dir+c.name); (len(got) == 0) != c.plain {
			t.Errorf("%s with %.40q: %+v", c.name, c.code, got)
		}
	}
}
