package snapshot

import (
	"encoding/json"
	"fmt"
	"path"
	"regexp"
	"strings"
	"time"

	"cordon/internal/untrusted"
)

const (
	maxJobs    = 2000
	maxJobText = 300
)

var workerLog = regexp.MustCompile(`^Worker_([0-9]{8}-[0-9]{6})-utc\.log$`)

// diagRoot is the root of the installation whose log this is, "" where it is none.
func diagRoot(name string) string {
	dir, base := path.Split(name)
	if !strings.HasPrefix(name, "/") || path.Base(dir) != "_diag" || base == "" {
		return ""
	}
	return path.Dir(path.Clean(dir))
}

var (
	workerField   = regexp.MustCompile(`^ {2,3}"(jobDisplayName|jobId)": (".*"),?$`)
	workerContext = regexp.MustCompile(`^ {4,5}"([a-z]*)": \{$`)
	workerKey     = regexp.MustCompile(`^ {10,11}"k": "([a-z_]+)",$`)
	workerValue   = regexp.MustCompile(`^ {10,11}"v": (".*"),?$`)
	workerResult  = regexp.MustCompile(`Job result after all job steps finish: ([A-Za-z]{1,30})$`)
	digits        = regexp.MustCompile(`^[0-9]{1,20}$`)
)

// workerJob takes the chosen lines of one Worker log: the message that began the job,
// printed with two spaces a level (actions/runner, Worker.cs; one more where the whole of
// it was moved in), and how it ended. Only the dictionary "github" counts, at its own
// depth: inputs and payloads have keys of the same names, and those are whoever's who
// starts the job.
func (p *parser) workerJob(name string, b []byte) error {
	m := workerLog.FindStringSubmatch(path.Base(name))
	root := diagRoot(name)
	if m == nil || root == "" || p.seen["job "+name] {
		return fmt.Errorf("%w: job %s", ErrForged, untrusted.Clean(name, 60))
	}
	p.seen["job "+name] = true
	j := Job{Root: p.text(root, maxPath), From: p.text(name, maxPath), Source: JobWorkerLog}
	if at, err := time.Parse("20060102-150405", m[1]); err == nil {
		j.Started = sane(at)
	}
	inGitHub, key := false, ""
	for _, line := range strings.Split(string(b), "\n") {
		line = strings.TrimSuffix(line, "\r")
		if at, text, ok := diagEntry(line); ok {
			if r := workerResult.FindStringSubmatch(text); r != nil {
				j.Result, j.Ended = untrusted.Text(r[1]), at
			} else if strings.HasSuffix(text, ": Job completed.") && j.Ended.IsZero() {
				j.Ended = at
			}
			inGitHub, key = false, ""
			continue
		}
		was := key
		key = ""
		switch {
		case workerField.MatchString(line):
			f := workerField.FindStringSubmatch(line)
			if f[1] == "jobId" {
				j.JobID = p.quoted(f[2])
			} else {
				j.Name = p.quoted(f[2])
			}
		case workerContext.MatchString(line):
			inGitHub = workerContext.FindStringSubmatch(line)[1] == "github"
		case inGitHub && workerKey.MatchString(line):
			key = workerKey.FindStringSubmatch(line)[1]
		case was != "" && workerValue.MatchString(line):
			p.contextValue(&j, was, p.quoted(workerValue.FindStringSubmatch(line)[1]))
		}
	}
	p.addJob(j)
	return nil
}

// contextValue keeps one value of the job's context; the first of a name counts.
func (p *parser) contextValue(j *Job, key string, v untrusted.Text) {
	text := map[string]*untrusted.Text{
		"repository": &j.Repository, "workflow": &j.Workflow, "event_name": &j.Event, "actor": &j.Actor, "ref": &j.Ref, "sha": &j.SHA, "job": &j.JobKey,
	}[key]
	number := map[string]*string{"run_id": &j.RunID, "run_attempt": &j.Attempt}[key]
	switch {
	case text != nil && *text == "":
		*text = v
	case number != nil && *number == "" && digits.MatchString(string(v)):
		*number = string(v)
	}
}

// quoted is the value of a JSON string, with secrets out.
func (p *parser) quoted(s string) untrusted.Text {
	var v string
	if json.Unmarshal([]byte(s), &v) != nil {
		return ""
	}
	return p.text(v, maxJobText)
}

func (p *parser) addJob(j Job) {
	if len(p.s.Jobs) >= maxJobs {
		p.broken("more jobs than the cap")
		return
	}
	p.s.Jobs = append(p.s.Jobs, j)
}

// mappingFields are what a PipelineFolder.json says (actions/runner, TrackingConfig.cs).
var mappingFields = []string{"RepositoryName", "repositoryName", "PipelineDirectory", "pipelineDirectory", "WorkspaceDirectory", "workspaceDirectory", "RepositoryPath", "repositoryPath", "LastRunOn", "lastRunOn"}

// mapping takes the record of one repository that ran in the work directory.
func (p *parser) mapping(s string) (string, int, bool) {
	out, n, err := p.x.Marker.JSON([]byte(strings.TrimPrefix(s, "\ufeff")), mappingFields)
	return string(out), n, err == nil
}

// rootOfWork is the root of the runner whose jobs work in dir: _work beside its
// registration, or where that says; "" where none does.
func (p *parser) rootOfWork(dir string) string {
	if root, ok := strings.CutSuffix(dir, "/_work"); ok {
		return root
	}
	for _, f := range p.s.Files {
		root, base := path.Split(string(f.Path))
		var reg struct{ WorkFolder string } // the case of names does not count here
		if base != ".runner" && base != ".agent" || json.Unmarshal([]byte(f.Content), &reg) != nil || reg.WorkFolder == "" {
			continue
		}
		root = path.Clean(root)
		if reg.WorkFolder == dir || !path.IsAbs(reg.WorkFolder) && path.Join(root, reg.WorkFolder) == dir {
			return root
		}
	}
	return ""
}

// mappedJobs makes jobs of the mapping files once their content was read.
func (p *parser) mappedJobs() {
	for _, f := range p.s.Files {
		at := strings.Index(string(f.Path), "/_PipelineMapping/")
		if f.Section != SectionJobs || at < 1 || f.Content == "" {
			continue
		}
		root := p.rootOfWork(string(f.Path[:at]))
		if root == "" {
			continue
		}
		var m struct{ RepositoryName, LastRunOn string } // the case of names does not count here
		if json.Unmarshal([]byte(f.Content), &m) != nil || m.RepositoryName == "" {
			continue
		}
		j := Job{Root: untrusted.Text(root), From: f.Path, Source: JobMapping, Repository: untrusted.Text(cutTo(m.RepositoryName, maxJobText))}
		if t, err := time.Parse("01/02/2006 15:04:05 -07:00", m.LastRunOn); err == nil { // .NET's invariant form
			j.Started = sane(t)
		}
		p.addJob(j)
	}
}

var (
	jobBegins = regexp.MustCompile(`^Terminal: (?:[0-9: -]{19}Z: )?Running job: (.{1,300})$`)
	jobEnds   = regexp.MustCompile(`^Terminal: (?:[0-9: -]{19}Z: )?Job (.{1,300}) completed with result: ([A-Za-z]{1,30})$`)
)

// listenerJobs makes jobs of what listeners wrote, unless a worker's log told of the
// same one: there is more in it.
func (p *parser) listenerJobs() {
	open := map[string]int{}
	for _, l := range p.s.Log {
		root := untrusted.Text(diagRoot(string(l.From)))
		if root == "" {
			continue
		}
		if m := jobBegins.FindStringSubmatch(string(l.Text)); m != nil {
			j := Job{Root: root, From: l.From, Source: JobRunnerLog, Name: untrusted.Text(m[1]), Started: l.At}
			if p.told(j) == nil {
				p.addJob(j)
				open[string(root)] = len(p.s.Jobs) - 1
			}
			continue
		}
		m := jobEnds.FindStringSubmatch(string(l.Text))
		if m == nil {
			continue
		}
		i, ok := open[string(root)]
		delete(open, string(root))
		if !ok || i >= len(p.s.Jobs) || string(p.s.Jobs[i].Name) != m[1] {
			continue
		}
		p.s.Jobs[i].Ended, p.s.Jobs[i].Result = l.At, untrusted.Text(m[2])
	}
}

// told finds the job of a worker's log that began together with j.
func (p *parser) told(j Job) *Job {
	for i := range p.s.Jobs {
		x := &p.s.Jobs[i]
		if d := x.Started.Sub(j.Started); x.Source == JobWorkerLog && x.Root == j.Root && x.Name == j.Name && d > -time.Minute && d < 5*time.Minute {
			return x
		}
	}
	return nil
}
