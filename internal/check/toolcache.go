package check

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"cordon/internal/host/snapshot"
	"cordon/internal/untrusted"
)

// afterMarker is how much later than its marker a part of a tool may have changed.
const afterMarker = 10 * time.Minute

// toolCache judges what jobs find unpacked and start without a look: a marker
// NAME.complete is written after the last file. Jobs add packages to tools (pip, npm),
// so that of the files only the tool's own programs count; the rest was not listed.
func (v *view) toolCache(dir string) []Finding {
	var out []Finding
	d := v.files[dir]
	if d != nil && d.Type == "dir" && d.Mode&0o002 != 0 && d.Mode&0o1000 == 0 {
		s := Medium
		if dir == "/opt/hostedtoolcache" { // GitHub's own images make it so
			s = Low
		}
		out = append(out, Finding{Severity: s, Title: "anybody can put tools where jobs take them from", Where: untrusted.Text(dir), Detail: text("It has mode %04o.", d.Mode), Evidence: evidenceFile(d)})
	}
	tools, programs := 0, 0
	v.each(func(p string, marker *snapshot.File) {
		tool, ok := strings.CutSuffix(p, ".complete")
		if !ok || !below(p, dir) || tool == dir {
			return
		}
		tools++
		add := func(at string, f *snapshot.File, format string, args ...any) {
			out = append(out, Finding{
				Severity: Medium, Title: "a tool of the cache was changed after it was finished", Attack: []string{"T1195.002", "T1554"}, Where: untrusted.Text(at), Evidence: evidenceFile(f),
				Detail: text(format+" Every job that asks for this tool runs what is there.", args...),
			})
		}
		if t := v.files[tool]; t != nil && t.Type == "dir" && t.Ctime.Sub(marker.Ctime) > afterMarker {
			add(tool, marker, "Its marker is from %s and the directory changed at %s.", marker.Ctime.Format(time.DateTime), t.Ctime.Format(time.DateTime))
		}
		middle := v.unpackedAt(tool)
		v.under(tool, func(at string, f *snapshot.File) {
			if f.Type != "file" || f.Mode&0o111 == 0 {
				return
			}
			programs++
			switch {
			case f.Ctime.Sub(marker.Ctime) > afterMarker:
				add(at, f, "The tool's marker is from %s and this program changed at %s%s.", marker.Ctime.Format(time.DateTime), f.Ctime.Format(time.DateTime), setBack(f))
			case !middle.IsZero() && f.Ctime.Sub(middle) > lateness: // its marker was written anew
				add(at, f, "What was unpacked with it is from %s and this program changed at %s; the marker is no older.", middle.Format(time.DateTime), f.Ctime.Format(time.DateTime))
			}
		})
	})
	if tools > 0 && d != nil {
		how := fmt.Sprintf("%d program(s) of %d tool(s) that bear the names of tools were", programs, tools)
		if programs == 0 {
			how = fmt.Sprintf("Of %d tool(s) only the directories were", tools)
		}
		out = append(out, Finding{
			Severity: Info, Title: "how far the tools in the cache were looked at", Where: untrusted.Text(dir), Evidence: evidenceFile(d),
			Detail: text("%s held against the time of their markers. Their libraries and packages, which jobs add to, were not: compare those with another host's, or empty the cache.", how),
		})
	}
	return out
}

// unpackedAt is when most of what was told of a tool changed; zero where too little was.
func (v *view) unpackedAt(tool string) time.Time {
	var times []time.Time
	v.under(tool, func(_ string, f *snapshot.File) {
		if f.Type == "file" && !f.Ctime.IsZero() {
			times = append(times, f.Ctime)
		}
	})
	if len(times) < 3 {
		return time.Time{}
	}
	slices.SortFunc(times, time.Time.Compare)
	return times[(len(times)-1)/2]
}

// under yields the files below dir.
func (v *view) under(dir string, yield func(p string, f *snapshot.File)) {
	dir = path.Clean(dir) + "/"
	i, _ := slices.BinarySearch(v.paths, dir)
	for ; i < len(v.paths) && strings.HasPrefix(v.paths[i], dir); i++ {
		yield(v.paths[i], v.files[v.paths[i]])
	}
}
