package check

import (
	"path"
	"slices"
	"strings"

	"cordon/internal/host/snapshot"
	"cordon/internal/untrusted"
)

// systemPath are the directories in which only packages and root put programs.
var systemPath = []string{"/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin", "/usr/games", "/usr/local/games", "/snap/bin"}

// pathFindings judges where jobs look for programs before they look in the system's own
// directories (.path of each root), and what lies there under a well-known name.
func (v *view) pathFindings() []Finding {
	var out []Finding
	before := map[string]bool{"/usr/local/bin": true, "/usr/local/sbin": true}
	for _, root := range v.rootList() {
		f := v.files[root+"/.path"]
		if f == nil {
			continue
		}
		f = v.follow(root+"/.path", f)
		dirs := strings.Split(strings.TrimSpace(string(f.Content)), ":")
		asked := slices.ContainsFunc(dirs, func(d string) bool { e := v.files[path.Clean(d)]; return e != nil && e.Section == snapshot.SectionWork })
		for _, dir := range dirs {
			if dir = path.Clean(dir); !path.IsAbs(dir) || slices.Contains(systemPath, dir) || oddPlace(dir) != "" {
				continue // job-hooks says what is odd about a name
			}
			before[dir] = true
			if s, words := v.pathEntry(dir, asked); s != "" {
				out = append(out, Finding{
					Severity: s, Title: "jobs can put programs in front of the system's", Attack: []string{"T1574.007"},
					Where: untrusted.Text(root + "/.path"), Evidence: evidenceFile(f), Detail: text("%s %s.", quote(dir), words),
				})
			}
		}
	}
	v.each(func(p string, f *snapshot.File) {
		if f.Section == snapshot.SectionWork && before[path.Dir(p)] {
			if hit, ok := v.shadow(p, f); ok {
				out = append(out, hit)
			}
		}
	})
	return out
}

// pathEntry judges one directory of a .path; "" where nothing is to be said of it.
func (v *view) pathEntry(dir string, asked bool) (Severity, string) {
	d := v.files[dir]
	if d != nil && d.Type != "dir" {
		return "", ""
	}
	missing, at := d == nil, dir
	for d == nil && at != "/" {
		at = path.Dir(at)
		d = v.files[at]
	}
	if missing && !asked || d == nil || d.Type != "dir" {
		return "", ""
	}
	who, jobs := v.runnerUID(d.UID)
	u, home := v.homeOwner(at)
	if home && v.isRunner(u) {
		who = u.name
	}
	switch {
	case missing && (jobs || d.Mode&0o002 != 0 && d.Mode&0o1000 == 0 || home && v.isRunner(u)):
		return Medium, "is not there, and jobs can make it: it would lie in " + quote(at)
	case missing:
		return Info, "is not there; only root can make it"
	case d.Mode&0o002 != 0:
		return Medium, "can be written to by anybody"
	case jobs || home && v.isRunner(u):
		return Low, "belongs to " + quote(who) + ", the account of the jobs"
	}
	return "", ""
}

// coreNames are programs that nobody but the system brings; of the others the collector
// tells, tools of versions and wrappers are common.
var coreNames = map[string]bool{
	"git": true, "sh": true, "bash": true, "env": true, "ssh": true, "curl": true, "wget": true, "tar": true, "sudo": true,
	"ls": true, "cat": true, "ps": true, "rm": true, "cp": true, "grep": true, "sed": true,
}

var wrappedNames = map[string]bool{"make": true, "docker": true, "node": true, "python3": true}

// shadow judges a program that runs instead of the system's one of the same name.
func (v *view) shadow(p string, f *snapshot.File) (Finding, bool) {
	base := path.Base(p)
	core := coreNames[base]
	if !core && !wrappedNames[base] || v.packaged != nil && !v.foreign(p) {
		return Finding{}, false
	}
	var why reasons
	who, jobs := v.runnerUID(f.UID)
	if u, ok := v.homeOwner(p); ok && v.isRunner(u) {
		who, jobs = u.name, true
	}
	script := f.Type == "file" && f.Content != ""
	switch {
	case f.Type != "file" && f.Type != "link" || f.Type == "file" && f.Mode&0o111 == 0:
		return Finding{}, false
	case f.Type == "link" && systemTarget(target(p, f)):
		return Finding{}, false
	case f.Type == "link" && core:
		why.add(Medium, "a link to %s in place of %s", quote(string(f.Link)), base)
	case script && core:
		why.add(Medium, "a script in place of %s: %s", base, quote(string(f.Content)))
	case script:
		why.add(Low, "a script in place of %s: %s", base, quote(string(f.Content)))
	case core && jobs:
		why.add(Low, "a program called %s", base)
	default:
		why.add(Info, "a program called %s", base)
	}
	if jobs {
		why.add(Low, "it belongs to %s, the account of the jobs", quote(who))
	}
	if signs := suspicious(string(f.Content)); script && len(signs) > 0 {
		why.add(High, "it %s", strings.Join(signs, ", "))
	}
	return Finding{
		Severity: why.worst, Title: "a program is found before the system's own of that name", Attack: []string{"T1574.007"},
		Where: untrusted.Text(p), Evidence: evidenceFile(f), Detail: text("%s.", why.text()),
	}, true
}
