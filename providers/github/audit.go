package github

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"cordon/internal/importer"
	"cordon/internal/target"
	"cordon/internal/untrusted"
	"cordon/internal/witness"
	"cordon/providers"
)

// The events that bear on runners, exactly as GitHub spells them: "visiblity" is no mistake
// of ours (docs: audit log events for your organization).
var (
	auditCame = []string{
		"org.register_self_hosted_runner", "repo.register_self_hosted_runner", "enterprise.register_self_hosted_runner",
		"repo.configure_self_hosted_jit_runner", "org.configure_self_hosted_jit_runner",
	}
	auditOnline = []string{"org.self_hosted_runner_online", "repo.self_hosted_runner_online", "enterprise.self_hosted_runner_online"}
	auditOther  = []string{
		"org.remove_self_hosted_runner", "repo.remove_self_hosted_runner", "enterprise.remove_self_hosted_runner",
		"org.self_hosted_runner_offline", "repo.self_hosted_runner_offline", "enterprise.self_hosted_runner_offline",
		"org.self_hosted_runner_updated", "repo.self_hosted_runner_updated",
		"org.runner_group_created", "org.runner_group_removed", "org.runner_group_renamed", "org.runner_group_updated",
		"org.runner_group_runners_added", "org.runner_group_runner_removed", "org.runner_group_runners_updated", "org.runner_group_visiblity_updated",
		"enterprise.runner_group_created", "enterprise.runner_group_removed", "enterprise.runner_group_renamed", "enterprise.runner_group_updated",
		"enterprise.runner_group_runners_added", "enterprise.runner_group_runner_removed", "enterprise.runner_group_runners_updated",
		"enterprise.runner_group_visiblity_updated",
		"org.update_repo_self_hosted_runners_policy", "org.update_actions_settings", "repo.update_actions_settings",
		"repo.create_actions_secret", "repo.update_actions_secret", "repo.remove_actions_secret",
		"repo.create_integration_secret", "repo.update_integration_secret", "repo.remove_integration_secret",
		"org.create_actions_secret", "org.update_actions_secret", "org.remove_actions_secret",
		"personal_access_token.access_revoked",
	}
)

// wireAudit is an entry of the audit log: times are milliseconds since 1970.
type wireAudit struct {
	Timestamp int64  `json:"@timestamp"`
	CreatedAt int64  `json:"created_at"`
	Action    string `json:"action"`
	Actor     string `json:"actor"`
	ActorIP   string `json:"actor_ip"`
	Document  string `json:"_document_id"`
	Org       any    `json:"org"` // a text, or a list of them
	Repo      string `json:"repo"`
	Business  string `json:"business"`
	RunnerID  any    `json:"runner_id"` // a number, or a text
	Runner    string `json:"runner_name"`
	Group     string `json:"runner_group_name"`
	Name      string `json:"name"`
	Key       string `json:"key"` // of a secret
}

func (w wireAudit) at() time.Time {
	ms := w.Timestamp
	if ms == 0 {
		ms = w.CreatedAt
	}
	if ms < 946684800000 || ms > 7258118400000 { // 2000 to 2200
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

// Audit implements providers.Auditor: the audit logs of the organizations and enterprises
// that are configured or that the runner is of. Plans without the log, and credentials
// that may not read it, are an observation with CouldNot: nothing that is said nowhere
// has therefore not happened.
func (p *Provider) Audit(ctx context.Context, t target.Ref, traits providers.Traits, since time.Time) (providers.Trail, error) {
	sc, id, err := p.own(t)
	if err != nil {
		return providers.Trail{}, err
	}
	trail := providers.Trail{Format: importer.GitHubAudit}
	b := p.spend(ctx, auditCalls)
	at := p.auditPlaces(sc)
	for _, place := range at {
		log, err := p.auditOf(ctx, b, place, since)
		if done := finished(ctx, err); done != nil {
			return trail, done
		}
		o := witness.Observation{Subject: t, Source: witness.ProviderAudit, Place: place.String(), At: p.clock.Now()}
		if err != nil {
			o.CouldNot = "the audit log of " + place.String() + ": " + auditBlind(err)
		} else {
			p.auditSays(&o, place, log, sc, id, traits, since)
		}
		trail.Seen = append(trail.Seen, o)
		for i, w := range log.rows {
			trail.Entries = append(trail.Entries, p.auditEntry(i+1, w))
		}
	}
	if len(at) == 0 {
		trail.Seen = append(trail.Seen, witness.Observation{
			Subject: t, Source: witness.ProviderAudit, At: p.clock.Now(),
			CouldNot: "no audit log was asked: GitHub has those of organizations and enterprises, and none is configured",
		})
	}
	slices.SortStableFunc(trail.Entries, func(x, y importer.Entry) int { return x.At.Compare(y.At) })
	return trail, ctx.Err()
}

// auditPlaces are the logs to ask: of every configured organization and enterprise, and of
// the one that the runner is of. Only organizations and enterprises have one.
func (p *Provider) auditPlaces(sc scope) []scope {
	var out []scope
	add := func(s scope) {
		if !slices.Contains(out, s) && len(out) < 20 {
			out = append(out, s)
		}
	}
	for _, s := range append([]scope{sc}, p.scopes...) {
		switch s.level {
		case organization, enterprise:
			add(s)
		case repository:
			owner, _, _ := strings.Cut(s.path, "/")
			add(scope{organization, owner})
		}
	}
	return out
}

// auditBlind says why a log was not read, without a guess at what is in it.
func auditBlind(err error) string {
	switch {
	case errors.Is(err, providers.ErrNotFound), errors.Is(err, providers.ErrForbidden):
		return "not on this plan or not permitted, so what happened there is not known (" + err.Error() + ")"
	}
	return "not read, so what happened there is not known (" + err.Error() + ")"
}

func auditKnown(action string) bool {
	return slices.Contains(auditCame, action) || slices.Contains(auditOnline, action) || slices.Contains(auditOther, action)
}

// auditSays weighs the entries: a registration since the time with a trait of the machine,
// or one that came online, is its return.
func (p *Provider) auditSays(o *witness.Observation, place scope, log *auditReading, sc scope, id int64, traits providers.Traits, since time.Time) {
	came, online := 0, 0
	for _, w := range log.rows {
		is := named(traits, w.Runner) || named(traits, w.Name)
		at := w.at()
		switch {
		case slices.Contains(auditCame, w.Action):
			came++
			if is && o.Returned != witness.Yes {
				o.Returned, o.LastContact, o.Clock = witness.Yes, at, witness.ClockEvent
				o.Says = fmt.Sprintf("the audit log of %s: %s of runner %q by %s at %s", place, w.Action, p.text(w.Runner), p.text(w.Actor), at.Format(time.RFC3339))
			}
		case slices.Contains(auditOnline, w.Action):
			online++
			self := sc != (scope{}) && w.of(place) == sc && w.runnerID() == fmt.Sprint(id)
			if !is && !self {
				continue
			}
			if at.After(o.LastContact) && o.Returned != witness.Yes {
				o.LastContact, o.Clock = at, witness.ClockEvent
				if self {
					o.Polling = witness.Yes
				}
				o.Says = fmt.Sprintf("the audit log of %s: runner %q (%s) came online at %s", place, p.text(w.Runner), untrusted.Clean(w.runnerID(), 20), at.Format(time.RFC3339))
			}
		}
	}
	if o.Says == "" {
		o.Says = fmt.Sprintf("the audit log of %s has no registration of a runner with its name since %s (%d registrations, %d came online; entries may be minutes late)",
			place, since.UTC().Format(time.RFC3339), came, online)
	}
	if log.cut != "" {
		o.Says += "; there is more than was read"
		o.Except = "the audit log of " + place.String() + " was not read to its end: " + log.cut
	}
}

// of is the scope that an entry is about; the zero scope where it does not say. The log of
// an organization has entries of its repositories too, whose runners have numbers of their own.
func (w wireAudit) of(place scope) scope {
	level, _, _ := strings.Cut(w.Action, ".")
	var said any
	switch level {
	case "repo":
		if repo := repoName(w.Repo); repo != "" {
			return scope{repository, repo}
		}
		return scope{}
	case "org":
		level, said = organization, w.Org
	case enterprise:
		said = w.Business
	}
	if name, _ := said.(string); name != "" {
		return scope{level, strings.ToLower(name)}
	}
	if place.level == level {
		return place
	}
	return scope{}
}

func (w wireAudit) runnerID() string {
	switch v := w.RunnerID.(type) {
	case float64:
		return fmt.Sprintf("%.0f", v)
	case string:
		return v
	}
	return ""
}

func (p *Provider) auditEntry(line int, w wireAudit) importer.Entry {
	short := func(s string) string { return untrusted.Clean(string(p.text(s)), 300) }
	where := w.Repo
	for _, s := range []any{w.Org, w.Business} {
		if one, ok := s.(string); ok && where == "" {
			where = one
		}
	}
	subject := w.Runner
	for _, s := range []string{w.Group, w.Key, w.Name} {
		if subject == "" {
			subject = s
		}
	}
	if n := w.runnerID(); n != "" && w.Runner != "" {
		subject += " (runner " + n + ")"
	}
	return importer.Entry{
		At: w.at(), Action: short(w.Action), Actor: short(w.Actor), Subject: short(subject), Where: short(where), From: short(w.ActorIP), Line: line,
	}
}
