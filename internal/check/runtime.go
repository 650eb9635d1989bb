package check

import (
	"path"
	"regexp"
	"strconv"
	"strings"

	"cordon/internal/host/snapshot"
)

func runtimeCheck() Check {
	return Check{
		ID:     "processes",
		Title:  "Programs that run outside every job",
		Why:    "A shell, an installer, an archiver or a compiler that belongs to no job, no service and no person is somebody at work.",
		Reads:  "the process table: programs by class, their parents and control groups",
		Root:   "programs of other users where /proc is hidden",
		live:   true,
		Needs:  []string{snapshot.SectionProc, snapshot.SectionDetail, snapshot.SectionKeys},
		Attack: []string{"T1059", "T1560", "T1105"},
		NIST:   []string{"SI-4", "CM-7"},
		look: func(v *view) []Finding {
			var out []Finding
			ours := v.collector()
			for i := range v.s.Processes {
				if ours[v.s.Processes[i].PID] {
					continue
				}
				if f, ok := v.outside(&v.s.Processes[i]); ok {
					out = append(out, f)
				}
			}
			return out
		},
	}
}

// classes are kinds of programs by the names of their executables.
var classes = []struct {
	name   string
	re     *regexp.Regexp
	attack string
}{
	{"a shell", regexp.MustCompile(`^(sh|bash|dash|zsh|ksh|ash|fish|pwsh)$`), "T1059.004"},
	{"an interpreter", regexp.MustCompile(`^(python[0-9.]*|perl[0-9.]*|ruby[0-9.]*|php[0-9.]*|node|nodejs|lua[0-9.]*|deno|bun)$`), "T1059"},
	{"an installer", regexp.MustCompile(`^(apt|apt-get|dpkg|dnf|yum|rpm|apk|pip[0-9.]*|npm|gem|snap|curl|wget)$`), "T1105"},
	{"an archiver", regexp.MustCompile(`^(tar|zip|7z|7za|7zr|rar|gzip|bzip2|xz|zstd|cpio|rclone|rsync)$`), "T1560.001"},
	{"a compiler", regexp.MustCompile(`^(gcc|cc|cc1|cc1plus|g\+\+|clang[0-9.-]*|ld|make|ninja|go|rustc|cargo|insmod|modprobe)$`), "T1027.004"},
}

// webServer is a class by the command line alone.
const webServer = "a web server of an interpreter"

func (v *view) outside(p *snapshot.Process) (Finding, bool) {
	exe, _ := exeOf(p)
	_, jobs := v.runnerUID(p.UID)
	switch {
	case exe == "" || p.PID == 1 || v.underAgent(p) || v.above[p.PID] || v.session(p):
		return Finding{}, false
	case jobs || len(jobVariables(p.Env)) > 0 || oddPlace(exe) != "":
		return Finding{}, false // orphans says it
	}
	class, attack := "", ""
	for _, c := range classes {
		if c.re.MatchString(path.Base(exe)) {
			class, attack = c.name, c.attack
			break
		}
	}
	if class == "" {
		return Finding{}, false
	}
	line := commandLine(p)
	if served.MatchString(line) {
		class, attack = webServer, "T1505.003"
	}
	signs := search(line, true)
	switch {
	case len(signs) > 0:
		return v.outsider(p, High, class, attack, "it "+strings.Join(signs, ", ")), true
	case attack == "T1505.003":
		return v.outsider(p, Medium, class, attack, "it serves files or scripts to whoever asks"), true
	case v.ofService(p):
		return Finding{}, false
	}
	return v.outsider(p, Medium, class, attack, "no runner, no service and no login is above it"), true
}

// served are the two ways to serve a directory from the command line.
var served = regexp.MustCompile(`\bphp[0-9.]*\s+-S\b|\bhttp\.server\b.*--cgi\b|\bCGIHTTPServer\b|\bhttp\.server\b`)

// collector are the processes of the read itself: the shell that says it ran the script,
// and what that had started.
func (v *view) collector() map[int]bool {
	said, _ := v.s.Fact("collector")
	pid, err := strconv.Atoi(said)
	if err != nil || pid <= 1 || v.procs[pid] == nil {
		return nil
	}
	out := v.below(func(p *snapshot.Process) bool { return p.PID == pid })
	out[pid] = true
	return out
}

// reading are the processes of this very look, the collector's and, where cordon runs on
// the machine itself, cordon and what it was started from. Of a login from elsewhere the
// processes above are judged: there the program of an intruder can stand.
func (v *view) reading() map[int]bool {
	out := v.collector()
	if out == nil || v.s.Carried == nil || v.s.Carried.Transport != snapshot.ByLocal {
		return out
	}
	said, _ := v.s.Fact("collector")
	pid, _ := strconv.Atoi(said)
	for up := v.procs[v.procs[pid].PPID]; up != nil && !out[up.PID]; up = v.procs[up.PPID] {
		out[up.PID] = true
	}
	return out
}

func (v *view) outsider(p *snapshot.Process, s Severity, class, attack, why string) Finding {
	return Finding{
		Severity: s, Title: class + " runs outside every job", Attack: []string{attack},
		Where:    text("process %d (%s)", p.PID, quote(string(p.Comm))),
		Detail:   text("%s: %s. Started %s, below process %d, in %s.", quote(commandLine(p)), why, p.Started.Format("2006-01-02 15:04:05"), p.PPID, quote(string(p.Cgroup))),
		Evidence: evidenceProc(p),
	}
}

// ofService reports whether p belongs to a service of the machine or of a container:
// systemd puts both into groups of their own. What reached the init group left them.
func (v *view) ofService(p *snapshot.Process) bool {
	g := string(p.Cgroup)
	inUnit := strings.Contains(g, ".service") && !strings.Contains(g, "ssh") || strings.Contains(g, "docker") || strings.Contains(g, "kubepods") || strings.Contains(g, "libpod")
	for up := v.procs[p.PPID]; up != nil && up.PID > 1; up = v.procs[up.PPID] {
		if exe, _ := exeOf(up); cronPrograms.MatchString(path.Base(exe)) {
			return true // cron-timers judges what cron starts
		}
		if up.PPID == up.PID {
			break
		}
	}
	return inUnit
}

var cronPrograms = regexp.MustCompile(`^(cron|crond|anacron|atd|systemd-udevd)$`)
