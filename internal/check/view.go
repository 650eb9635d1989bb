package check

import (
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
	v.runners = v.runnerUsers()
	return v
}

// content is the text of a file with secrets replaced; "" where it was not read.
func (v *view) content(p string) string {
	if f := v.files[p]; f != nil {
		return string(f.Content)
	}
	return ""
}

// each yields the files once a path, in the order of their paths.
func (v *view) each(yield func(p string, f *snapshot.File)) {
	paths := make([]string, 0, len(v.files))
	for p := range v.files {
		paths = append(paths, p)
	}
	slices.Sort(paths)
	for _, p := range paths {
		yield(p, v.files[p])
	}
}

// ancestor reports whether a process above p satisfies is, p itself not counted.
func (v *view) ancestor(p *snapshot.Process, is func(*snapshot.Process) bool) bool {
	seen := map[int]bool{p.PID: true} // a forged table may hold a circle
	for up := v.procs[p.PPID]; up != nil && !seen[up.PID]; up = v.procs[up.PPID] {
		if is(up) {
			return true
		}
		seen[up.PID] = true
	}
	return false
}

func (v *view) isAgent(p *snapshot.Process) bool { return v.agents[p.PID] != "" }

// underAgent reports whether p is a runner agent or runs below one: it does a job.
func (v *view) underAgent(p *snapshot.Process) bool {
	return v.isAgent(p) || v.ancestor(p, v.isAgent)
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
