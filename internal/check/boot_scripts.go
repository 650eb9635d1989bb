package check

import (
	"path"
	"regexp"
	"strings"

	"cordon/internal/host/snapshot"
)

var cloudRuns = regexp.MustCompile(`(?m)^\s*["']?(bootcmd|runcmd|write_files|scripts-user|scripts_user)["']?\s*:`)

// judgeCloudConfig reports settings of cloud-init with which it runs commands or writes
// files at boot; packages ship none.
func judgeCloudConfig(v *view, p string, f *snapshot.File, why *reasons) {
	if f.Type != "file" || path.Base(p) == "README" {
		return
	}
	content := string(f.Content)
	if content == "" && f.Size > 0 {
		why.add(Medium, "its content could not be read")
	}
	if signs := clear(content); len(signs) > 0 {
		why.add(High, "it %s", strings.Join(signs, ", "))
	}
	if v.packaged != nil && !v.foreign(p) {
		return
	}
	for _, m := range cloudRuns.FindAllStringSubmatch(content, 8) {
		why.add(Medium, "no package brought it, and it has %s", m[1])
	}
}

// judgeRunLevel judges what lies among the links of a run level: they lead to scripts of
// /etc/init.d, which are judged there.
func judgeRunLevel(v *view, p string, f *snapshot.File, why *reasons) {
	base := path.Base(p)
	switch {
	case f.Type != "file" || base == "README" || f.Link != "" && path.Dir(target(p, f)) == "/etc/init.d":
	case f.Link != "":
		why.add(Medium, "it leads to %s and not to a script of /etc/init.d", quote(target(p, f)))
		v.programsOf(string(f.Content), why)
		if signs := suspicious(string(f.Content)); len(signs) > 0 {
			why.add(High, "it %s", strings.Join(signs, ", "))
		}
	case v.foreign(p) || v.packaged == nil:
		why.add(Medium, "it is a file, and only links to scripts of /etc/init.d lie there")
	}
}
