package gitlab

import (
	"context"
	"errors"
	"fmt"
	"sort"
	"strconv"
	"strings"
	"time"

	"cordon/internal/evidence"
	"cordon/internal/target"
	"cordon/internal/untrusted"
	"cordon/providers"
)

// Bounds of an exposure list; what lies beyond is a gap.
const (
	maxExposedJobs     = 2000
	maxExposedProjects = 200
)

// Exposure implements providers.Exposer: the runner's own token, the job tokens of
// what ran since, and names of CI variables and deploy keys of every project and group
// whose jobs could run here. Values are dropped while decoding.
func (p *Provider) Exposure(ctx context.Context, t target.Ref, since time.Time) ([]providers.Credential, []evidence.Gap, error) {
	id, err := p.own(t)
	if err != nil {
		return nil, nil, err
	}
	e := &exposure{p: p, ctx: ctx, projects: map[int64]string{}}
	w, _, err := p.details(ctx, id, true)
	if done := finished(ctx, err); done != nil {
		return nil, nil, done
	}
	e.add(providers.Credential{
		Name: fmt.Sprintf("token of runner %d", id), Kind: "runner-token", Where: p.o.Name, Web: p.web(w),
		Why: "it is in the agent's config.toml; whoever has it can pose as this runner and can replace it",
	})
	if err != nil {
		e.miss("projects of the runner", err)
	} else if err := levels(t, w); err != nil {
		return nil, nil, err
	}
	for _, x := range w.Projects {
		e.projects[x.ID] = x.Path
	}
	e.jobs(id, since)
	e.groups(w)
	e.eachProject()
	if w.level() == Instance {
		e.variables("admin/ci/variables", "the whole instance", "every job of the instance gets them", p.page("admin/application_settings/ci_cd"))
	}
	return e.found, e.gaps, ctx.Err()
}

type exposure struct {
	p        *Provider
	ctx      context.Context
	projects map[int64]string
	found    []providers.Credential
	gaps     []evidence.Gap
}

func (e *exposure) add(c providers.Credential) { e.found = append(e.found, c) }

func (e *exposure) miss(name string, err error) {
	e.gaps = append(e.gaps, evidence.Gap{Name: name, Why: err.Error(), At: e.p.clock.Now()})
}

// jobs adds the job tokens, and the projects that a shared runner served.
func (e *exposure) jobs(id int64, since time.Time) {
	list, cut, err := e.p.jobsSince(e.ctx, id, since, maxExposedJobs)
	if err != nil {
		e.miss("jobs since "+since.UTC().Format(time.RFC3339), err)
	} else if why := e.p.unseen(len(list), cut); why != "" {
		e.miss("jobs that this credential cannot see", errors.New(why))
	}
	for _, j := range list {
		if j.Project.ID > 0 {
			e.projects[j.Project.ID] = j.Project.Path
		}
		c := providers.Credential{
			Name: fmt.Sprintf("job token of job %d", j.ID), Kind: "job-token", Where: e.p.text(j.Project.Path).String(),
			Why: "the job ran here; its token is valid until the job ends",
		}
		if over(word(j.Status)) {
			c.Dead, c.DeadSaysBy = j.FinishedAt, "GitLab: the job has ended ("+word(j.Status)+")"
		}
		e.add(c)
	}
}

// groups reads the variables that the jobs inherit: of the runner's own groups, and of
// every group above a project.
func (e *exposure) groups(w wireRunner) {
	paths := map[string]bool{}
	for _, g := range w.Groups {
		if g.path() != "" {
			paths[g.path()] = true
		} else if g.ID > 0 {
			paths[strconv.FormatInt(g.ID, 10)] = true
		}
	}
	for _, path := range e.projects {
		for parent := cutLast(path); parent != ""; parent = cutLast(parent) {
			paths[parent] = true
		}
	}
	for _, path := range sorted(paths) {
		web := e.p.page("groups/" + escapePath(path) + "/-/settings/ci_cd")
		e.variables("groups/"+segment(path)+"/variables", "group "+e.p.text(path).String(), "jobs of every project below inherit them", web)
	}
}

func (e *exposure) eachProject() {
	ids := make([]int64, 0, len(e.projects))
	for id := range e.projects {
		ids = append(ids, id)
	}
	sort.Slice(ids, func(i, j int) bool { return ids[i] < ids[j] })
	for n, id := range ids {
		if n == maxExposedProjects {
			e.miss("more projects", fmt.Errorf("%d projects were not read", len(ids)-n))
			return
		}
		at, where := fmt.Sprintf("projects/%d", id), e.p.text(e.projects[id]).String()
		if where == "" {
			where = "project " + strconv.FormatInt(id, 10)
		}
		web := ""
		if e.projects[id] != "" {
			web = e.p.page(escapePath(e.projects[id]) + "/-/settings/")
		}
		e.variables(at+"/variables", where, "jobs of this project run here", suffix(web, "ci_cd"))
		e.deployKeys(at+"/deploy_keys", where, suffix(web, "repository"))
	}
}

// variables lists names. 404 may mean that a namespace is a person's, which has no
// group variables; that is not told apart from a hidden group, so it stays a gap.
func (e *exposure) variables(path, where, why, web string) {
	err := e.p.pages(e.ctx, path, nil, maxPages, func(a answer) (bool, error) {
		list, err := rows(a, func(wireVariable) error { return nil })
		for _, v := range list {
			c := providers.Credential{Name: e.p.text(v.Key).String(), Kind: "ci-variable", Where: where, Why: why, Web: web, Deploys: deploys(v.Key)}
			if v.Protected {
				c.Why += "; protected: on protected branches and tags alone"
			}
			if v.Environment != "" && v.Environment != "*" {
				c.Why += "; for the environment " + untrusted.Clean(string(e.p.text(v.Environment)), 80)
			}
			e.add(c)
		}
		return true, err
	})
	if err != nil && e.ctx.Err() == nil {
		e.miss("CI variables of "+where, err)
	}
}

func (e *exposure) deployKeys(path, where, web string) {
	err := e.p.pages(e.ctx, path, nil, maxPages, func(a answer) (bool, error) {
		list, err := rows(a, func(wireDeployKey) error { return nil })
		for _, k := range list {
			c := providers.Credential{Name: e.p.text(k.Title).String(), Kind: "deploy-key", Where: where, Web: web, Why: "its private half may be on the runner; it reads this project"}
			if k.CanPush {
				c.Why = "its private half may be on the runner; it can push to this project"
				c.Deploys = true
			}
			e.add(c)
		}
		return true, err
	})
	if err != nil && e.ctx.Err() == nil {
		e.miss("deploy keys of "+where, err)
	}
}

// deploys goes by the names that people give to what publishes, signs or deploys; it
// errs towards yes, because a no ends the question.
func deploys(name string) bool {
	name = strings.ToUpper(name)
	for _, w := range []string{
		"DEPLOY", "PUBLISH", "RELEASE", "SIGN", "GPG", "PGP", "COSIGN", "KUBE", "REGISTRY", "DOCKER", "NPM", "PYPI", "TWINE",
		"MAVEN", "SONATYPE", "NUGET", "CARGO", "AWS_", "AZURE", "ARM_", "GCP", "GOOGLE_", "TERRAFORM", "TF_", "HELM", "ARGO",
		"VAULT", "SSH", "PROD", "ANSIBLE", "FIREBASE", "NETLIFY", "VERCEL", "HEROKU", "FLY_",
	} {
		if strings.Contains(name, w) {
			return true
		}
	}
	return false
}

func cutLast(path string) string {
	i := strings.LastIndexByte(path, '/')
	if i < 0 {
		return ""
	}
	return path[:i]
}

func suffix(s, end string) string {
	if s == "" {
		return ""
	}
	return s + end
}

func sorted(set map[string]bool) []string {
	out := make([]string, 0, len(set))
	for s := range set {
		out = append(out, s)
	}
	sort.Strings(out)
	return out
}
