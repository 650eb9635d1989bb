package gitlab

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"cordon/internal/evidence"
	"cordon/internal/target"
	"cordon/internal/untrusted"
	"cordon/internal/witness"
	"cordon/providers"
)

// What is kept of answers; every other value is replaced by its fingerprint.
var (
	runnerFields = []string{
		"id", "description", "active", "paused", "is_shared", "runner_type", "name", "online", "status", "created_at",
		"job_execution_status", "tag_list", "run_untagged", "locked", "maximum_timeout", "access_level", "version", "revision",
		"platform", "architecture", "contacted_at", "projects", "groups", "path_with_namespace", "web_url", "username",
	}
	managerFields = []string{
		"id", "system_id", "version", "revision", "platform", "architecture", "created_at", "contacted_at",
		"ip_address", "status", "job_execution_status",
	}
	jobFields = []string{
		"id", "name", "stage", "status", "ref", "tag", "created_at", "started_at", "finished_at", "web_url", "username", "project",
		"path_with_namespace", "runner_manager", "system_id", "ip_address", "sha", "source",
	}
)

// Gather implements providers.System: the three reads before a pause, under
// provider/NAME/. It knows the profile Express alone.
func (p *Provider) Gather(ctx context.Context, t target.Ref, profile string, to evidence.Sink) ([]evidence.Gap, error) {
	id, err := p.own(t)
	if err != nil {
		return nil, err
	}
	if profile != providers.Express {
		return nil, fmt.Errorf("gather %s of %s: %w: GitLab has the profile %s alone", untrusted.Text(profile), t.Short(), providers.ErrNoVerb, providers.Express)
	}
	w, a, derr := p.details(ctx, id, true)
	if derr == nil {
		if err := levels(t, w); err != nil {
			return nil, err
		}
	}
	_, ma, merr := p.managers(ctx, id)
	_, ja, jerr := p.jobsWith(ctx, id, "running")
	var gaps []evidence.Gap
	for _, part := range []struct {
		file   string
		a      answer
		err    error
		fields []string
	}{{"runner.json", a, derr, runnerFields}, {"managers.json", ma, merr, managerFields}, {"jobs.json", ja, jerr, jobFields}} {
		if done := finished(ctx, part.err); done != nil {
			return gaps, done
		}
		name := p.kept(part.file)
		err := part.err
		if err == nil {
			var bad bool
			if bad, err = p.put(ctx, to, name, part.a, part.fields); err != nil && !bad {
				return gaps, fmt.Errorf("keep %s: %w", name, err)
			}
		}
		if err == nil {
			continue
		}
		g := evidence.Gap{Name: name, Why: err.Error(), At: p.clock.Now()}
		gaps = append(gaps, g)
		if err := to.Miss(ctx, g); err != nil {
			return gaps, fmt.Errorf("write down that %s is missing: %w", name, err)
		}
	}
	return gaps, ctx.Err()
}

// kept is an evidence name of this provider.
func (p *Provider) kept(file string) string { return "provider/" + p.o.Name + "/" + file }

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

// seen is what is kept of one answer that an observation rests on; it has a form of
// its own because a 404 has no body worth keeping and is still the evidence.
type seen struct {
	Request   string          `json:"request"`
	Status    int             `json:"status"`
	RequestID string          `json:"request_id,omitempty"`
	Date      time.Time       `json:"date,omitzero"`
	Body      json.RawMessage `json:"body,omitempty"`
}

// keepAnswer keeps a in the sink of ctx, if there is one and a was answered at all,
// and adds its digest to o.
func (p *Provider) keepAnswer(ctx context.Context, o *witness.Observation, what string, a answer, fields []string) error {
	sink := evidence.SinkFrom(ctx)
	if sink == nil || a.Status == 0 {
		return nil
	}
	s := seen{Request: a.Request, Status: a.Status, RequestID: a.RequestID, Date: a.Date}
	clean, n, err := p.o.Marker.JSON(a.Body, fields)
	if err == nil {
		s.Body = clean
	}
	doc, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("keep the answer to %s: %w", a.Request, err)
	}
	it := evidence.Item{
		Name: p.kept(fmt.Sprintf("observed/%s-%s.json", o.Subject.ID, what)), Source: a.Request,
		Media: "application/json", At: o.At, Redacted: n,
	}
	it, err = sink.Put(ctx, it, bytes.NewReader(untrusted.EscapeJSON(doc)))
	if err != nil {
		return errors.Join(fmt.Errorf("keep the answer to %s", a.Request), err)
	}
	o.Evidence = append(o.Evidence, it.Digest)
	return nil
}
