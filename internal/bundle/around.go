package bundle

import "strings"

// aroundPart writes what belongs to the list of credentials: the jobs that are odd, what
// came out where they ran, and what the provider and the hosts tell differently.
func (s *story) aroundPart(w writef) {
	x := s.exposed
	if x == nil {
		return
	}
	head := false
	for _, j := range x.Jobs {
		flags := strings.Join(j.Flags, ", ")
		if flags == "" || len(j.Flags) == 1 && strings.HasPrefix(flags, "not looked") {
			continue
		}
		if !head {
			head = true
			w("## Odd jobs")
			w("")
			w("| Began | Job | Project | Actor | What is odd |")
			w("|---|---|---|---|---|")
		}
		w("| %s | %s | %s | %s | %s |", when(j.StartedAt), cell(j.Ref.ID+" "+j.Name), cell(j.Project), cell(j.Actor), cell(flags))
	}
	if head {
		w("")
	}
	if len(x.Outputs) > 0 {
		w("## What came out where its jobs ran")
		w("")
		w("Made or changed in the window. That is no proof that the runner did it.")
		w("")
		w("| Time | Kind | Name | Where | By | Why it is here |")
		w("|---|---|---|---|---|---|")
		for _, o := range x.Outputs {
			w("| %s | %s | %s | %s | %s | %s |", when(o.At), cell(o.Kind), cell(o.Name), cell(o.Where), cell(o.By), cell(o.Why))
		}
		w("")
	}
	if len(x.Differences) > 0 {
		w("## What the provider and the hosts tell differently")
		w("")
		w("| Severity | Host | What | Details |")
		w("|---|---|---|---|")
		for _, d := range x.Differences {
			w("| %s | %s | %s | %s |", cell(d.Severity), cell(d.Host), cell(d.Title), cell(d.Detail))
		}
		w("")
	}
}
