package check

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"cordon/internal/host/snapshot"
	"cordon/internal/untrusted"
)

// maxHops bounds a chain of links; the kernel follows forty.
const maxHops = 8

// target is where a link leads, by its text alone: links among the directories on the way
// are not known, but for those of a merged /usr and of /var/run.
func target(p string, f *snapshot.File) string {
	to := string(f.Link)
	if !path.IsAbs(to) {
		to = path.Join(path.Dir(p), to)
	}
	to = path.Clean(to)
	if rest, ok := strings.CutPrefix(to, "/var/run/"); ok {
		to = "/run/" + rest
	}
	return to
}

// end follows a link through the snapshot: the last path, and what is there, nil where
// that was not seen.
func (v *view) end(p string, f *snapshot.File) (to string, at *snapshot.File) {
	for range maxHops {
		to = target(p, f)
		at = v.files[to]
		for _, other := range []string{usr(to), strings.TrimPrefix(to, "/usr")} { // two names for one file
			if at == nil && v.files[other] != nil {
				at = v.files[other]
			}
		}
		if at == nil || at.Type != "link" {
			return to, at
		}
		p, f = to, at
	}
	return to, nil
}

// wasRead reports whether all that matters of a file is in the snapshot.
func wasRead(f *snapshot.File) bool {
	return f != nil && f.Type == "file" && (f.Content != "" || f.Size == 0 && !f.Described)
}

// maxLeads is how many links to one file are judged as that file; of more a host could
// make a day's work out of a megabyte.
const maxLeads = 32

// leads are the links whose target was read, each as that file at the link's own path.
func (v *view) leads() map[string]*snapshot.File {
	out, n := map[string]*snapshot.File{}, map[*snapshot.File]int{}
	v.each(func(p string, f *snapshot.File) {
		if f.Type != "link" || p == "/etc/passwd" {
			return
		}
		_, at := v.end(p, f)
		if !wasRead(at) {
			return
		}
		if n[at]++; n[at] <= maxLeads {
			c := *at
			c.Path, c.Section, c.Link = f.Path, f.Section, f.Link
			out[p] = &c
		}
	})
	return out
}

// follow is what counts at p: a link whose target was read is judged as that file, as if
// it lay at p. Of any other link the link itself is returned; linked judges it.
func (v *view) follow(p string, f *snapshot.File) *snapshot.File {
	if at := v.led[p]; at != nil && f.Type == "link" {
		return at
	}
	return f
}

// followed is each for judges of contents: see follow.
func (v *view) followed(yield func(p string, f *snapshot.File)) {
	v.each(func(p string, f *snapshot.File) { yield(p, v.follow(p, f)) })
}

// systemTarget reports whether only packages and root put files where to is. /usr/local
// is where everybody puts his own.
func systemTarget(to string) bool {
	return !below(to, "/usr/local") && slices.ContainsFunc([]string{"/usr", "/lib", "/lib64", "/bin", "/sbin", "/etc"}, func(d string) bool { return below(to, d) })
}

// linked judges a link in a place whose files are judged, where what it leads to was not
// read; "" where it is honest. open: nobody knows what starts there, so that the check
// did not look whole.
func (v *view) linked(p string, f *snapshot.File) (s Severity, words string, open bool) {
	to, _ := v.end(p, f)
	root, brought := f.UID == 0, v.packaged != nil && !v.foreign(p)
	u, home := v.homeOwner(p)
	words = "it leads to " + quote(to) + ", which was not read"
	switch {
	case p == "/etc/passwd": // no system has a link there, and without it no home is known
		return High, words + ": who has an account here is not known", true
	case to == "/dev/null", v.led[p] != nil: // an empty file, and what is judged as if it lay here
		return "", "", false
	case root && systemTarget(to) && (brought || v.packaged != nil && !v.foreign(to)):
		return "", "", false // a package brought the link, or what it leads to
	case root && isUnitPath(to) && path.Ext(to) == path.Ext(p) && inUnitDir(p):
		// systemctl enable, and alias names: every unit that starts a program is read and judged
		// where it lies; mounts and targets start none.
		return "", "", false
	case root && systemTarget(to) && v.packaged == nil:
		return Info, words + "; packages make such links, and this system keeps no list of them that cordon reads", false
	case root && systemTarget(to):
		// Made by an administrator or by a package's own script (landscape's message of the day);
		// what only root may write is no hole in the look.
		return Low, words + "; no package lists the link", false
	case home && below(to, u.home) && !u.system() && !v.isRunner(u):
		return Low, words + "; it stays in the home of " + quote(u.name), true
	case oddPlace(to) != "":
		return High, words + ": it " + oddPlace(to), true
	case home && v.isRunner(u) && (u.system() || slices.Contains(runnerNames, u.name)):
		return High, words + "; " + quote(u.name) + " is the account of the jobs and needs none", true
	case home && u.system() && path.Base(path.Dir(p)) == ".ssh":
		return High, words + "; " + quote(u.name) + " is for a service, not for people", true
	case brought:
		return Medium, words + "; a package brought a file of this name, and none leads there", true
	}
	return Medium, words, true
}

// inUnitDir reports whether p lies in or below a directory from which systemd takes the
// machine's units.
func inUnitDir(p string) bool {
	return slices.ContainsFunc(machineUnitDirs, func(d string) bool { return below(p, d) })
}

// isUnitPath reports whether p is a unit right in such a directory, where all are read.
func isUnitPath(p string) bool { return slices.Contains(machineUnitDirs, path.Dir(p)) }

var machineUnitDirs = slices.Concat(vendorUnitDirs, adminUnitDirs, []string{
	"/run/systemd/system", "/run/systemd/transient", "/run/systemd/generator", "/run/systemd/generator.early", "/run/systemd/generator.late",
})

// maxNamed is how many links the reason of a partial look names.
const maxNamed = 3

// withLinks makes a check tell the links in its places that lead to what was not read, as
// findings and, where nobody knows what starts there, as a look that was not whole.
func withLinks(c Check) Check {
	places := linkPlaces[c.ID]
	if places == nil {
		return c
	}
	look, unseen := c.look, c.unseen
	links := func(v *view, yield func(p string, f *snapshot.File, s Severity, words string, open bool)) {
		v.each(func(p string, f *snapshot.File) {
			if f.Type != "link" || !places(v, p) {
				return
			}
			if s, words, open := v.linked(p, f); s != "" {
				yield(p, f, s, words, open)
			}
		})
	}
	c.look = func(v *view) []Finding {
		out := look(v)
		said := map[string]Severity{}
		for _, f := range out {
			if !said[string(f.Where)].AtLeast(f.Severity) {
				said[string(f.Where)] = f.Severity
			}
		}
		links(v, func(p string, f *snapshot.File, s Severity, words string, _ bool) {
			if said[p].AtLeast(s) {
				return
			}
			out = append(out, Finding{
				Severity: s, Title: "a link stands in place of a file", Where: untrusted.Text(p), Evidence: evidenceFile(f),
				Detail: text("Links are not followed to read: %s.", words),
			})
		})
		return out
	}
	c.unseen = func(v *view) string {
		why, names := "", []string(nil)
		if unseen != nil {
			why = unseen(v)
		}
		links(v, func(p string, f *snapshot.File, _ Severity, _ string, open bool) {
			if open {
				names = append(names, p+" -> "+string(f.Link))
			}
		})
		return both(why, notRead("links", names))
	}
	return c
}

// notRead says that what has the names was not read; "" where there is none.
func notRead(what string, names []string) string {
	if len(names) == 0 {
		return ""
	}
	var shown []string
	for _, n := range names[:min(len(names), maxNamed)] {
		shown = append(shown, untrusted.Clean(n, 240))
	}
	line := fmt.Sprintf("%s, not followed: %s", what, strings.Join(shown, ", "))
	if n := len(names) - maxNamed; n > 0 {
		line += fmt.Sprintf(", and %d more", n)
	}
	return line
}

// both joins two reasons, of which each may be empty.
func both(a, b string) string {
	if a != "" && b != "" {
		return a + "; " + b
	}
	return a + b
}
