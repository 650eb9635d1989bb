package check

import (
	"path"
	"slices"
	"strings"

	"cordon/internal/host/snapshot"
	"cordon/internal/untrusted"
)

// packaged reads the list of what packages own of the paths in the snapshot. A merged
// /usr has two names for one file: both count.
func packaged(s *snapshot.Snapshot) map[string]bool {
	if s.Section(snapshot.SectionOwned).End == snapshot.EndCut {
		return nil // half a list would make strangers of what packages brought
	}
	var out map[string]bool
	for _, manager := range []string{"dpkg", "apk", "rpm"} { // a machine may have two; one that brought nothing is none
		list, _ := s.Fact(manager)
		for line := range strings.Lines(list) {
			if out == nil {
				out = map[string]bool{}
			}
			out[usr(strings.TrimSpace(line))] = true
		}
	}
	return out
}

// usr is the name below /usr of what a merged /usr also shows in the root.
func usr(p string) string {
	for _, d := range []string{"/bin/", "/sbin/", "/lib/", "/lib64/"} {
		if strings.HasPrefix(p, d) {
			return "/usr" + p
		}
	}
	return p
}

// foreign reports whether it is certain that no package brought p.
func (v *view) foreign(p string) bool { return v.packaged != nil && !v.packaged[usr(p)] }

// placed judges a script that starts by itself at an event: who brought it, what it
// pretends to be, what it does. Honest scripts of packages hold weak signs, so that
// those count only where no package brought the file.
func (v *view) placed(p string, f *snapshot.File, why *reasons) {
	content := string(f.Content)
	switch {
	case v.foreign(p):
		why.add(Medium, "no package brought %s", quote(path.Base(p)))
		if who := impersonates(path.Base(p)); who != "" {
			why.add(High, "its name pretends to be part of %s", who)
		}
		if signs := suspicious(content); len(signs) > 0 {
			why.add(High, "it %s", strings.Join(signs, ", "))
		}
	default:
		if signs := clear(content); len(signs) > 0 {
			why.add(High, "it %s", strings.Join(signs, ", "))
		}
	}
}

// clear lists the strong signs in what is no comment; files of /tmp are left out: half
// of all init scripts clean them up.
func clear(content string) []string {
	var code strings.Builder
	for line := range strings.Lines(content) {
		if !strings.HasPrefix(strings.TrimSpace(line), "#") {
			code.WriteString(line)
		}
	}
	return slices.DeleteFunc(search(code.String(), true), func(s string) bool { return s == tempSign || s == hiddenSign })
}

// place sends the files of one directory to their judge.
type place struct {
	match  func(p string) bool
	attack []string
	title  string
	judge  func(v *view, p string, f *snapshot.File, why *reasons)
}

// inDir matches the files of directories, given as patterns of path.Match.
func inDir(patterns ...string) func(string) bool {
	return func(p string) bool {
		dir := path.Dir(p)
		return slices.ContainsFunc(patterns, func(pat string) bool {
			ok, err := path.Match(pat, dir)
			return ok && err == nil
		})
	}
}

// judged runs the files of the snapshot through the places; the first that matches counts.
// Links whose target was read are judged as files; of others withLinks tells.
func (v *view) judged(places []place) []Finding {
	var out []Finding
	v.followed(func(p string, f *snapshot.File) {
		for _, pl := range places {
			if !pl.match(p) {
				continue
			}
			var why reasons
			pl.judge(v, p, f, &why)
			if why.worst != "" {
				out = append(out, Finding{
					Severity: why.worst, Title: pl.title, Attack: pl.attack, Where: untrusted.Text(p),
					Detail: text("%s.", why.text()), Evidence: evidenceFile(f),
				})
			}
			return
		}
	})
	return out
}

// script judges files; what is beside them in such directories is left out.
func script(v *view, p string, f *snapshot.File, why *reasons) {
	if f.Type == "file" && path.Base(p) != ".placeholder" && path.Base(p) != "README" {
		v.placed(p, f, why)
	}
}
