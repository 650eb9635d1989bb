package github

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"cordon/internal/change"
	"cordon/internal/evidence"
	"cordon/internal/target"
	"cordon/internal/untrusted"
	"cordon/internal/witness"
	"cordon/providers"
)

// What is kept of answers; every other value is replaced by its fingerprint.
var (
	runnerFields = []string{
		"id", "runner_group_id", "name", "os", "status", "busy", "labels", "type", "ephemeral", "version", "total_count",
	}
	groupFields = []string{
		"id", "name", "visibility", "default", "inherited", "allows_public_repositories", "inherited_allows_public_repositories",
		"restricted_to_workflows", "workflow_restrictions_read_only", "selected_workflows", "network_configuration_id", "total_count",
		"full_name", "login", "private", "pushed_at",
	}
	jobFields = []string{
		"repository", "run", "job", "attempt", "name", "status", "event", "actor", "branch", "sha", "path", "started_at", "created_at", "labels", "partial",
	}
)

// Gather implements providers.System: the runner, its group with what that serves, its
// labels and the jobs on it, under provider/NAME/LEVEL.PATH.ID/. Both profiles are these
// reads: they are what an undo and a deregistration rest on.
func (p *Provider) Gather(ctx context.Context, t target.Ref, profile string, to evidence.Sink) ([]evidence.Gap, error) {
	sc, id, err := p.placed(ctx, t)
	if err != nil {
		return nil, err
	}
	if profile != providers.Express && profile != providers.Triage {
		return nil, fmt.Errorf("gather %s of %s: %w: GitHub has the profiles %s and %s", untrusted.Text(profile), t.Short(), providers.ErrNoVerb, providers.Express, providers.Triage)
	}
	g := &gathering{p: p, to: to, ref: p.ref(sc, id)}
	w, a, derr := p.details(ctx, p.act, sc, id)
	if v, gerr := p.bygone(ctx, sc, id, derr); gerr == nil {
		return g.bygone(ctx, v, a)
	}
	g.keep(ctx, "runner.json", a, derr, runnerFields)
	unread := errors.New("not looked for, because the runner could not be read")
	err = unread
	if derr == nil {
		if a, err = p.act.get(ctx, sc.prefix()+"/actions/runners/"+strconv.FormatInt(id, 10)+"/labels", nil); err == nil {
			err = labelled(a)
		}
	}
	g.keep(ctx, "labels.json", a, err, runnerFields)
	if sc.grouped() {
		gr, a, err := group{}, answer{}, unread
		if derr == nil {
			gr, a, err = p.groupOf(ctx, sc, w)
		}
		g.keep(ctx, "group.json", a, err, groupFields)
		if err == nil {
			path, _ := sc.served(gr.ID)
			a, err = p.act.get(ctx, path, pageOf(nil, 1, 100))
			if err == nil {
				_, err = decode[memberPage](a)
			}
			if err == nil && a.Next != 0 {
				g.miss(ctx, "group-access.json", errors.New("only its first 100 are kept"))
			}
		}
		g.keep(ctx, "group-access.json", a, err, groupFields)
	}
	on, err := onNow{}, unread
	if derr == nil {
		on, err = p.onIt(ctx, sc, w, planCalls)
	}
	g.keepJobs(ctx, on, err)
	if g.err != nil {
		return g.gaps, g.err
	}
	return g.gaps, ctx.Err()
}

// gathering keeps answers one by one; err ends it: the sink's, or the caller's.
type gathering struct {
	p    *Provider
	to   evidence.Sink
	ref  target.Ref
	gaps []evidence.Gap
	err  error
}

func (g *gathering) keep(ctx context.Context, file string, a answer, err error, fields []string) {
	if g.err != nil {
		return
	}
	if g.err = finished(ctx, err); g.err != nil {
		return
	}
	if err == nil {
		var bad bool
		if bad, err = g.p.put(ctx, g.to, g.p.keptOf(g.ref, file), a, fields); err != nil && !bad {
			g.err = fmt.Errorf("keep %s: %w", file, err)
			return
		}
	}
	if err != nil {
		g.miss(ctx, file, err)
	}
}

func (g *gathering) miss(ctx context.Context, file string, why error) {
	if g.err != nil {
		return
	}
	gap := evidence.Gap{Name: g.p.keptOf(g.ref, file), Why: why.Error(), At: g.p.clock.Now()}
	g.gaps = append(g.gaps, gap)
	if err := g.to.Miss(ctx, gap); err != nil {
		g.err = fmt.Errorf("write down that %s is missing: %w", file, err)
	}
}

// keptOf is an evidence name of one runner: ids are per scope, so the scope is in it.
func (p *Provider) keptOf(t target.Ref, file string) string {
	at := strings.ReplaceAll(t.Scope.Level+"."+t.Scope.Path, "/", ".")
	return "provider/" + p.o.Name + "/" + at + "." + t.ID + "/" + file
}

// put keeps an answer's body, redacted. bad says that the answer was at fault, not the sink.
func (p *Provider) put(ctx context.Context, to evidence.Sink, name string, a answer, fields []string) (bad bool, err error) {
	clean, n, err := p.o.Marker.JSON(a.Body, fields)
	if err != nil {
		return true, malformed(a, "cannot be redacted, so it is not kept")
	}
	it := evidence.Item{Name: name, Source: a.Request, Media: "application/json", At: a.At, Redacted: n}
	_, err = to.Put(ctx, it, bytes.NewReader(untrusted.EscapeJSON(clean)))
	return false, err
}

// jobsDoc is what is kept of the jobs on a runner, which no one answer lists.
func jobsDoc(on onNow) []byte {
	type row struct {
		Repo    string    `json:"repository"`
		Run     int64     `json:"run"`
		Job     int64     `json:"job"`
		Attempt int       `json:"attempt"`
		Name    string    `json:"name"`
		Status  string    `json:"status"`
		Event   string    `json:"event"`
		Actor   string    `json:"actor"`
		Branch  string    `json:"branch"`
		SHA     string    `json:"sha"`
		Path    string    `json:"path"`
		Created time.Time `json:"created_at,omitzero"`
		Started time.Time `json:"started_at,omitzero"`
		Labels  []string  `json:"labels"`
	}
	doc := struct {
		Jobs    []row  `json:"jobs"`
		Partial string `json:"partial,omitempty"`
	}{[]row{}, on.partial}
	for _, h := range on.jobs {
		doc.Jobs = append(doc.Jobs, row{
			h.repo, h.run.ID, h.job.ID, h.job.Attempt, h.job.Name, h.job.Status, h.run.Event, h.who(), h.run.Branch, h.run.SHA, h.run.Path,
			h.job.CreatedAt, h.job.StartedAt, h.job.Labels,
		})
	}
	return change.Pack(doc)
}

// seen is what is kept of one answer that an observation rests on; it has a form of its
// own because a 404 has no body worth keeping and is still the evidence.
type seen struct {
	Request   string          `json:"request"`
	Status    int             `json:"status,omitempty"`
	RequestID string          `json:"request_id,omitempty"`
	Date      time.Time       `json:"date,omitzero"`
	Body      json.RawMessage `json:"body,omitempty"`
}

// keepAnswer keeps a in the sink of ctx, if there is one and a was answered at all, and
// adds its digest to o.
func (p *Provider) keepAnswer(ctx context.Context, o *witness.Observation, sc scope, id int64, what string, a answer, fields []string) error {
	if evidence.SinkFrom(ctx) == nil || a.Status == 0 {
		return nil
	}
	s := seen{Request: a.Request, Status: a.Status, RequestID: a.RequestID, Date: a.Date}
	clean, n, err := p.o.Marker.JSON(a.Body, fields)
	if err == nil {
		s.Body = clean
	}
	return p.keepSeen(ctx, o, sc, id, what, s, n)
}

func (p *Provider) keepJobs(ctx context.Context, o *witness.Observation, sc scope, id int64, on onNow, err error) error {
	if evidence.SinkFrom(ctx) == nil || err != nil {
		return nil
	}
	clean, n, err := p.o.Marker.JSON(jobsDoc(on), jobFields)
	if err != nil {
		return fmt.Errorf("keep the jobs on %s: %w", o.Subject.Short(), err)
	}
	return p.keepSeen(ctx, o, sc, id, "jobs", seen{Request: "GET runs in progress and their jobs", Body: clean}, n)
}

func (p *Provider) keepSeen(ctx context.Context, o *witness.Observation, sc scope, id int64, what string, s seen, redacted int) error {
	doc, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("keep the answer to %s: %w", s.Request, err)
	}
	it := evidence.Item{
		Name: p.keptOf(p.ref(sc, id), "observed/"+what+".json"), Source: s.Request, Media: "application/json", At: o.At, Redacted: redacted,
	}
	it, err = evidence.SinkFrom(ctx).Put(ctx, it, bytes.NewReader(untrusted.EscapeJSON(doc)))
	if err != nil {
		return errors.Join(fmt.Errorf("keep the answer to %s", s.Request), err)
	}
	o.Evidence = append(o.Evidence, it.Digest)
	return nil
}
