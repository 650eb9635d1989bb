package github

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"cordon/internal/witness"
)

// changed asks whether the workflow is new to GitHub, or its file was touched by a commit
// that led to the one that ran.
func (f *flagger) changed(h hit) {
	if hist := f.s.history[h.repo]; hist != nil {
		if first, ok := hist.workflows[h.run.Workflow]; !ok || !first.Before(f.s.since) {
			x := f.ask(fmt.Sprintf("workflow %s %d", h.repo, h.run.Workflow), func() fact { return f.born(h) })
			switch {
			case x.err != nil:
				f.blind(flagNew, f.why(x.err))
			case x.yes:
				f.flag(flagNew, "")
				return
			}
		}
	}
	if !workflowFile.MatchString(h.run.Path) {
		f.blind(flagChanged, "its file is not in the repository")
		return
	}
	x := f.ask("changed "+h.repo+" "+h.run.Path+" "+h.run.SHA, func() fact {
		a, err := f.s.b.get(f.ctx, repoPath(h.repo)+"/commits", url.Values{
			"path": {h.run.Path}, "sha": {h.run.SHA}, "since": {f.s.since.UTC().Format(time.RFC3339)}, "per_page": {"1"},
		})
		if err != nil {
			return fact{err: err}
		}
		l, err := decode[[]wireCommit](a)
		if err != nil || len(l) == 0 {
			return fact{err: err}
		}
		return fact{yes: true, is: shortSHA(l[0].SHA)}
	})
	switch {
	case x.err != nil:
		f.blind(flagChanged, f.why(x.err))
	case x.yes:
		f.flag(flagChanged, x.is)
	}
}

// born asks once for all workflows of a repository.
func (f *flagger) born(h hit) fact {
	all := f.ask("workflows "+h.repo, func() fact {
		err := f.s.b.all(f.ctx, repoPath(h.repo)+"/actions/workflows", nil, 5, func(a answer) (bool, error) {
			l, err := decode[wireWorkflows](a)
			if err == nil && l.Workflows == nil {
				err = malformed(a, "a list of workflows without workflows")
			}
			for _, w := range l.Workflows {
				f.known[fmt.Sprintf("workflow %s %d", h.repo, w.ID)] = fact{yes: !w.CreatedAt.Before(f.s.since)}
			}
			return true, err
		})
		return fact{err: err}
	})
	if all.err != nil {
		return fact{err: all.err}
	}
	if x, ok := f.known[fmt.Sprintf("workflow %s %d", h.repo, h.run.Workflow)]; ok {
		return x
	}
	return fact{err: fmt.Errorf("GitHub does not list the workflow any more")}
}

// file reads the workflow as it was at the commit that ran.
func (f *flagger) file(h hit) {
	path, sha := h.run.Path, h.run.SHA
	if !workflowFile.MatchString(path) || !isSHA(sha) {
		f.blind(flagToken, "its file is not in the repository")
		return
	}
	x := f.ask("file "+h.repo+" "+path+" "+sha, func() fact {
		name := strings.TrimPrefix(path, ".github/workflows/")
		a, err := f.s.b.get(f.ctx, repoPath(h.repo)+"/contents/.github/workflows/"+url.PathEscape(name), url.Values{"ref": {sha}})
		if err != nil {
			return fact{err: err}
		}
		c, err := decode[wireContent](a)
		if err != nil {
			return fact{err: err}
		}
		b, err := c.file()
		if err != nil {
			return fact{err: err}
		}
		w, err := readWorkflow(b)
		return fact{wf: w, err: err}
	})
	if x.err != nil {
		f.blind(flagToken, f.why(x.err))
		return
	}
	token, env, sure := x.wf.grants(h.job.Name)
	if env != "" {
		f.flag(flagDeployment, "environment "+f.s.p.text(env).String())
	}
	switch {
	case token == witness.Yes && sure:
		f.flag(flagToken, "")
	case token == witness.Yes:
		f.flag(flagToken, "some job of its workflow")
	}
}

// deployed asks once for a repository's deployments since the window began.
func (f *flagger) deployed(h hit) {
	if slices.ContainsFunc(f.out, func(s string) bool { return strings.HasPrefix(s, flagDeployment) }) {
		return
	}
	all := f.ask("deployments "+h.repo, func() fact {
		list, err := f.s.p.deployments(f.ctx, f.s.b, h.repo, f.s.since)
		for _, d := range list {
			f.known["deployment "+h.repo+" "+d.SHA] = fact{yes: true, is: d.Environment}
		}
		return fact{err: err}
	})
	x, ok := f.known["deployment "+h.repo+" "+h.run.SHA]
	switch {
	case ok:
		f.flag(flagDeployment, "of its commit to "+f.s.p.text(x.is).String())
	case all.err != nil:
		f.blind(flagDeployment, f.why(all.err))
	}
}
