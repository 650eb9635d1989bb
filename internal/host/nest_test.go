package host

import (
	"strings"
	"testing"

	"cordon/internal/host/snapshot"
)

// Where a pattern stands for directories, a link to a program is no directory that was
// left out: every Debian image has such links among its libraries. A link to a directory,
// and one that cannot be followed to its end, is told.
func TestALinkToNoDirectoryIsNoLoss(t *testing.T) {
	programs := map[string]string{ // by alternatives, relative, through a merged /usr, to nothing, out of the tree
		"cpp": "/etc/alternatives/cpp", "sendmail": "../sbin/exim4", "cc": "/bin/cc", "old": "/usr/bin/removed", "up": "../../../../../../usr/bin/cc",
	}
	places := map[string]string{ // directories, a circle, below what is no place, among the kernel's
		"more": "/opt/more", "turn": "/opt/turn", "round": "/opt/round", "odd": "/usr/bin/cc/x", "work": "/proc/1/cwd",
	}
	for _, c := range []struct {
		links map[string]string
		end   string
	}{{programs, snapshot.EndOK}, {places, snapshot.EndCut}} {
		tr := newTree(t)
		tr.link("usr/bin", "/bin")
		tr.file("/usr/bin/cc", "\x7fELF", 0o755)
		tr.file("/usr/sbin/exim4", "\x7fELF", 0o755)
		tr.link("/usr/bin/cpp", "/etc/alternatives/cpp")
		tr.link("cc", "/usr/bin/cpp")
		tr.dir("/opt/more/security", 0o755)
		tr.link("more", "/opt/turn")
		tr.link("/opt/round", "/opt/round")
		for name, to := range c.links {
			tr.link(to, "/usr/lib/"+name)
		}
		for _, sh := range shells(t) {
			out, _ := tr.run(sh, snapshot.ProfileTriage, nil, nil)
			sec := read(t, out, snapshot.ProfileTriage).Section(snapshot.SectionSystem)
			if sec.End != c.end || c.end == snapshot.EndCut && !strings.HasPrefix(sec.Why, "5 not read whole, first a link leads there, not followed: /usr/lib/") {
				t.Errorf("%s: %s %s", sh.name, sec.End, sec.Why)
			}
		}
	}
}
