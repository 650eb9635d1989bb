package check

import (
	"maps"
	"net/netip"
	"path"
	"slices"
	"strings"

	"cordon/internal/host/snapshot"
	"cordon/internal/untrusted"
)

// view is a snapshot with the indexes that checks ask of it again and again.
type view struct {
	s     *snapshot.Snapshot
	files map[string]*snapshot.File
	procs map[int]*snapshot.Process
	users []user
	// agents are the runner processes themselves: pid to kind.
	agents map[int]string
	// runners are the accounts that jobs run under, root left out.
	runners map[string]user
	meant   map[string]string // words of sudo's rules that mean an account of jobs by its group

	paths    []string                  // keys of files, sorted
	led      map[string]*snapshot.File // links whose target was read, as what they lead to
	roots    map[string]bool           // what agents run from, and where a .runner lies
	working  map[int]bool              // below an agent
	above    map[int]bool              // a parent of an agent: its service script, say
	sessions map[int]bool              // a login of a person, or below one
	found    []Installation
	named    map[string]string // configurations that units and agents name: path to kind

	allow    []netip.Prefix  // where jobs may talk to; nil: nobody said
	starters []string        // names of units that start runners; nil: not yet asked
	packaged map[string]bool // paths that a package brought; nil: this system keeps no list we can read
}

func viewOf(s *snapshot.Snapshot) *view {
	v := &view{
		s:     s,
		files: map[string]*snapshot.File{},
		procs: map[int]*snapshot.Process{},
	}
	for i := range s.Files {
		f := &s.Files[i]
		p := path.Clean(string(f.Path))
		if was := v.files[p]; was == nil || was.Content == "" {
			v.files[p] = f
		}
	}
	for i := range s.Processes {
		v.procs[s.Processes[i].PID] = &s.Processes[i]
	}
	v.users = parsePasswd(v.content("/etc/passwd"))
	v.agents = agentsOf(s)
	v.paths = slices.Sorted(maps.Keys(v.files))
	v.led = v.leads()
	v.runners = v.runnerUsers()
	v.meant = v.jobGroups()
	v.roots = v.runnerRoots()
	v.working = v.below(v.isAgent)
	v.sessions = v.below(v.login)
	v.above = map[int]bool{}
	for pid := range v.agents {
		for up := v.procs[v.procs[pid].PPID]; up != nil && !v.above[up.PID]; up = v.procs[up.PPID] {
			v.above[up.PID] = true
		}
	}
	v.named = v.namedConfigs()
	v.found = v.installations()
	v.packaged = packaged(s)
	return v
}

// content is the text of a file, or of what a link there leads to, with secrets replaced;
// "" where it was not read.
func (v *view) content(p string) string {
	if f := v.files[p]; f != nil {
		return string(v.follow(p, f).Content)
	}
	return ""
}

// each yields the files once a path, in the order of their paths.
func (v *view) each(yield func(p string, f *snapshot.File)) {
	for _, p := range v.paths {
		yield(p, v.files[p])
	}
}

// below returns the processes with one above them that satisfies is, in time that a
// forged table (a chain of ten thousand, a circle) cannot stretch.
func (v *view) below(is func(*snapshot.Process) bool) map[int]bool {
	known := map[int]bool{}
	for start := range v.procs {
		var trail []int
		answer, seen := false, map[int]bool{}
		for pid := start; ; {
			if a, ok := known[pid]; ok {
				answer = a
				break
			}
			if seen[pid] {
				break
			}
			seen[pid] = true
			trail = append(trail, pid)
			up := v.procs[v.procs[pid].PPID]
			if up == nil || up.PID == pid {
				break
			}
			if is(up) {
				answer = true
				break
			}
			pid = up.PID
		}
		for _, pid := range trail {
			known[pid] = answer
		}
	}
	return known
}

func (v *view) isAgent(p *snapshot.Process) bool { return v.agents[p.PID] != "" }

// underAgent reports whether p is a runner agent or runs below one: it does a job.
func (v *view) underAgent(p *snapshot.Process) bool {
	return v.isAgent(p) || v.working[p.PID]
}

// exeOf is the path of the executable without the kernel's mark, and whether it is gone.
func exeOf(p *snapshot.Process) (exe string, deleted bool) {
	return strings.CutSuffix(string(p.Exe), " (deleted)")
}

func argsOf(p *snapshot.Process) []string {
	out := make([]string, len(p.Args))
	for i, a := range p.Args {
		out[i] = string(a)
	}
	return out
}

// evidenceFile points at a file of the snapshot, evidenceProc at a process.
func evidenceFile(f *snapshot.File) []string {
	e := "files:" + untrusted.Clean(string(f.Path), 300)
	if f.Print != "" {
		e += "#" + untrusted.Clean(f.Print, 80)
	}
	return []string{e}
}
