package check

import (
	"path"
	"slices"
	"strings"

	"cordon/internal/host/snapshot"
)

func programsCheck() Check {
	return Check{
		ID:     "system-programs",
		Title:  "Programs that were replaced",
		Why:    "Where ls or sshd is somebody's wrapper, every look at this host is what he wants you to see.",
		Reads:  "the first bytes of some thirty well-known programs, and copies beside them; a look from outside (a disk image) proves it",
		Needs:  []string{snapshot.SectionSystem, snapshot.SectionOwned},
		Attack: []string{"T1554", "T1036.005"},
		NIST:   []string{"SI-7"},
		look:   func(v *view) []Finding { return v.judged(programPlaces) },
	}
}

var programPlaces = []place{
	{inDir("/usr/bin", "/usr/sbin", "/bin", "/sbin"), nil, "a well-known program is not what it was", judgeProgram},
}

func judgeProgram(v *view, p string, f *snapshot.File, why *reasons) {
	if f.Section != snapshot.SectionSystem || f.Type != "file" {
		return
	}
	base := path.Base(p)
	for _, end := range []string{".original", ".orig", ".real", ".bak"} {
		name, ok := strings.CutSuffix(p, end)
		if !ok {
			continue
		}
		switch there := v.files[name]; {
		case v.packaged != nil && !v.foreign(p):
		case there != nil && there.Content != "":
			why.add(High, "a copy of the real program, beside a script that took its place")
		default:
			why.add(Medium, "a copy that is left where a program was replaced")
		}
		return
	}
	if f.Content == "" { // a program; the collector reads what is none
		return
	}
	why.add(High, "%s is a script: %s", quote(base), quote(string(f.Content)))
	if slices.Contains([]string{"egrep", "fgrep"}, base) {
		*why = reasons{}
	}
}
