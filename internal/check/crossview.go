package check

import (
	"fmt"
	"strconv"
	"strings"

	"cordon/internal/host/snapshot"
	"cordon/internal/untrusted"
)

func crossViewCheck() Check {
	return Check{
		ID:     "hidden-processes",
		Title:  "Processes that the list of processes hides",
		Why:    "What hides a process from the list mostly forgets that it answers under its number. Nothing else a host says of its processes is worth much then.",
		Reads:  "/proc by its listing and by number, and the kernel's count of tasks",
		Root:   "processes where /proc is hidden",
		live:   true,
		Needs:  []string{snapshot.SectionProc, snapshot.SectionCross},
		Attack: []string{"T1014", "T1564.001"},
		NIST:   []string{"SI-4", "SI-7"},
		look:   (*view).findHidden,
		unseen: (*view).unprobed,
	}
}

// findHidden reports the numbers under which a process answered that the list of /proc
// does not have (facts/host.md §4.6). The collector asked twice, so that what came or
// went meanwhile is not among them.
func (v *view) findHidden() []Finding {
	said, _ := v.s.Fact("hidden")
	var pids []string
	for _, f := range strings.Fields(said) {
		if _, err := strconv.ParseUint(f, 10, 31); err == nil {
			pids = append(pids, f)
		}
	}
	if len(pids) == 0 {
		return nil
	}
	shown := strings.Join(pids[:min(len(pids), 20)], ", ")
	return []Finding{{
		Severity: High, Title: "a process answers that is not in the list of processes",
		Where: untrusted.Text("processes " + shown), Evidence: []string{"facts:hidden"},
		Detail: text("%d process number(s) answer under /proc and are left out when /proc is listed: %s. A library loaded into every program, a changed shell or a kernel module does that. Take the memory and the disk from outside; do not trust a clean answer of this host.", len(pids), shown),
	}}
}

// unprobed says why not every number that a process can have was asked for: nothing
// where the kernel counts no more tasks than the list shows.
func (v *view) unprobed() string {
	said, ok := v.s.Fact("probed")
	if !ok || said == "tree" || v.s.Section(snapshot.SectionCross).End != snapshot.EndOK {
		return "" // what there is to say of it is in the section
	}
	upTo, err := strconv.Atoi(strings.TrimSpace(said))
	if err != nil {
		return "up to which number processes were asked for is not told"
	}
	said, ok = v.s.Fact("pidmax")
	if !ok { // snapshots of builds that asked up to 65536 and no further
		for pid := range v.procs {
			if pid > upTo {
				return fmt.Sprintf("asked for: 1 to %d; numbers above it are in use and were not", upTo)
			}
		}
		if upTo == 65536 {
			return "asked for: 1 to 65536; a process with a higher number could hide"
		}
		return ""
	}
	most, err := strconv.Atoi(strings.TrimSpace(said))
	if err != nil || upTo >= most {
		return ""
	}
	tasks, _ := v.s.Fact("tasks")
	f := strings.Fields(tasks) // counted, listed, and "moving" where they are of no one moment
	why := "how many tasks the kernel counts is not told"
	if len(f) > 1 {
		counted, err1 := strconv.Atoi(f[0])
		listed, err2 := strconv.Atoi(f[1])
		switch {
		case err1 != nil || err2 != nil:
		case len(f) == 2 && counted > 0 && listed >= counted:
			return "" // there is none that is not in the list
		case len(f) == 2:
			why = fmt.Sprintf("the kernel counts %d tasks and the list shows %d: other containers', or what hides", counted, listed)
		default:
			why = fmt.Sprintf("the kernel counts %d tasks and the list shows %d, while others come and go", counted, listed)
		}
	}
	return fmt.Sprintf("asked for: 1 to %d of 1 to %d, as far as the time reached; %s", upTo, most, why)
}
