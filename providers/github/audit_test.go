package github

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"cordon/internal/witness"
	"cordon/providers"
)

func auditRow(at time.Time, action string, kv ...any) map[string]any {
	m := row(append([]any{"org", "acme"}, kv...)...)
	m["@timestamp"], m["action"], m["_document_id"] = at.UnixMilli(), action, random("doc-")
	return m
}

func TestTheAuditLogSpeaksInItsExactWords(t *testing.T) {
	l, p, since := openPast(t)
	at := since.Add(time.Hour)
	for _, c := range []struct {
		name          string
		row           map[string]any
		came, polling witness.Tri
	}{
		{"registered with its name", auditRow(at, "org.register_self_hosted_runner", "actor", "mallory", "runner_name", "build-07", "runner_id", 99), witness.Yes, ""},
		{"registered to a repository", auditRow(at, "repo.register_self_hosted_runner", "runner_name", "Build-07", "repo", "acme/web"), witness.Yes, ""},
		{"a configuration minted for it", auditRow(at, "repo.configure_self_hosted_jit_runner", "runner_name", "build-07"), witness.Yes, ""},
		{"registered with another name", auditRow(at, "org.register_self_hosted_runner", "runner_name", "pool-9"), "", ""},
		{"registered before", auditRow(since.Add(-time.Hour), "org.register_self_hosted_runner", "runner_name", "build-07"), "", ""},
		{"it came online", auditRow(at, "org.self_hosted_runner_online", "runner_name", "build-07", "runner_id", 23), "", witness.Yes},
		{"another one of its name came online", auditRow(at, "org.self_hosted_runner_online", "runner_name", "build-07", "runner_id", "24"), "", ""},
		{"a repository's runner with its number came online", auditRow(at, "repo.self_hosted_runner_online", "runner_name", "laptop", "runner_id", 23, "repo", "acme/web"), "", ""},
		{"one with its number and its name, elsewhere", auditRow(at, "repo.self_hosted_runner_online", "runner_name", "build-07", "runner_id", 23, "repo", "acme/web"), "", ""},
		{"another organization's", auditRow(at, "org.self_hosted_runner_online", "runner_name", "build-07", "runner_id", 23, "org", "other"), "", ""},
		{"a group changed", auditRow(at, "org.runner_group_visiblity_updated", "runner_group_name", "release"), "", ""},
	} {
		p.change(func(p *past) { p.audit = []map[string]any{c.row, auditRow(at, "team.add_member", "user", "x")} })
		trail, err := l.Audit(context.Background(), build07, providers.Traits{Names: []string{"build-07"}}, since)
		if err != nil || len(trail.Seen) != 1 {
			t.Fatalf("%s: %+v %v", c.name, trail, err)
		}
		o := trail.Seen[0]
		if o.Source != witness.ProviderAudit || o.CouldNot != "" || o.Returned != c.came || o.Polling != c.polling || o.Says == "" {
			t.Errorf("%s: %+v", c.name, o)
		}
		for _, e := range trail.Entries {
			if e.Action == "team.add_member" || e.At.IsZero() || !slices.Contains([]string{"acme", "acme/web", "other"}, e.Where) {
				t.Errorf("%s: %+v", c.name, e)
			}
		}
		if in := c.name != "registered before"; (len(trail.Entries) == 1) != in {
			t.Errorf("%s: %+v", c.name, trail.Entries)
		}
	}
}

func TestAnAuditLogThatIsNotThereIsNotAQuietOne(t *testing.T) {
	for _, status := range []int{404, 403} {
		l, p, since := openPast(t)
		p.change(func(p *past) { p.deny["orgs/acme/audit-log"] = status })
		trail, err := l.Audit(context.Background(), build07, providers.Traits{Names: []string{"build-07"}}, since)
		if err != nil || len(trail.Seen) != 1 || len(trail.Entries) != 0 {
			t.Fatalf("%+v %v", trail, err)
		}
		if o := trail.Seen[0]; !strings.Contains(o.CouldNot, "not on this plan or not permitted") || o.Returned != witness.Unknown || strings.Contains(o.CouldNot, l.fake.secrets.note) {
			t.Errorf("%d: %+v", status, o)
		}
	}
}

func TestTheAuditLogIsReadByItsCursorToItsEnd(t *testing.T) {
	l, p, since := openPast(t)
	p.change(func(p *past) {
		p.pages = 10
		for i := range 45 {
			p.audit = append(p.audit, auditRow(since.Add(time.Duration(i+1)*time.Second), "org.self_hosted_runner_online", "runner_name", "pool-1", "runner_id", 5))
		}
	})
	trail, err := l.Audit(context.Background(), build07, providers.Traits{Names: []string{"build-07"}}, since)
	if err != nil || len(trail.Entries) != 45 || trail.Seen[0].Except != "" || p.count("org.self_hosted_runner_online") != 5 {
		t.Errorf("%d entries in %d requests, %+v, %v", len(trail.Entries), p.count("audit-log"), trail.Seen, err)
	}
	trail, err = l.Audit(providers.WithCalls(context.Background(), 6), build07, providers.Traits{Names: []string{"build-07"}}, since)
	if err != nil || len(trail.Entries) != 20 || !strings.Contains(trail.Seen[0].Says, "there is more than was read") || !strings.Contains(trail.Seen[0].Except, "not read to its end") {
		t.Errorf("bounded: %d entries, %+v, %v", len(trail.Entries), trail.Seen, err)
	}
	if q := p.asked[0]; !strings.Contains(q, "phrase=action%3Aorg.register_self_hosted_runner+created%3A%3E%3D") || !strings.Contains(q, "include=web") {
		t.Errorf("%s", q)
	}
}

// In a busy organization thousands of other entries are newer: they neither hide a
// registration nor use up the requests that it takes to find it.
func TestABusyAuditLogDoesNotHideARegistration(t *testing.T) {
	l, p, since := openPast(t)
	p.change(func(p *past) {
		p.pages = 100
		for i := range 8000 {
			at, action := since.Add(2*time.Hour+time.Duration(8000-i)*time.Second), "git.clone"
			if i%2 == 0 {
				action = "repo.update_actions_secret"
			}
			p.audit = append(p.audit, auditRow(at, action, "repo", "acme/web"))
		}
		p.audit = append(p.audit, auditRow(since.Add(time.Hour), "repo.register_self_hosted_runner", "runner_name", "build-07", "repo", "acme/web", "actor", "mallory"))
	})
	traits := providers.Traits{Names: []string{"build-07"}}
	trail, err := l.Audit(t.Context(), build07, traits, since)
	if err != nil || trail.Seen[0].Returned != witness.Yes || trail.Seen[0].Place != "organization acme" || p.count("audit-log") > auditCalls {
		t.Errorf("%+v in %d requests, %v", trail.Seen, p.count("audit-log"), err)
	}
	before := p.count("audit-log")
	trail, err = l.Audit(providers.WithLook(t.Context(), providers.LookBetween), build07, traits, since)
	if n := p.count("audit-log") - before; err != nil || trail.Seen[0].Returned != witness.Yes || n > 6 {
		t.Errorf("between: %+v in %d requests, %v", trail.Seen, n, err)
	}
}

func TestTimesOfTheAuditLogAreMillisecondsOrNothing(t *testing.T) {
	for ms, ok := range map[int64]bool{1764500000000: true, 1764500000: false, 0: false, -1: false, 1 << 62: false} {
		if got := (wireAudit{Timestamp: ms}).at(); got.IsZero() == ok {
			t.Errorf("%d: %v", ms, got)
		}
	}
	if _, err := decode[[]wireAudit](answer{Status: 200, Body: []byte(`null`)}); !errors.Is(err, providers.ErrMalformed) {
		t.Error(err)
	}
}

// A repository has no log; its organization's names it.
func TestARepositorysRunnerThatCameOnlineIsInTheLogOfItsOrganization(t *testing.T) {
	l, p, since := openPast(t)
	for repo, want := range map[string]witness.Tri{"acme/web": witness.Yes, "acme/tools": ""} {
		p.change(func(p *past) {
			p.audit = []map[string]any{auditRow(since.Add(time.Hour), "repo.self_hosted_runner_online", "runner_name", "web-1", "runner_id", 7, "repo", repo)}
		})
		trail, err := l.Audit(context.Background(), runner(7, repository, "acme/web"), providers.Traits{}, since)
		if err != nil || len(trail.Seen) != 1 || trail.Seen[0].Polling != want {
			t.Errorf("%s: %+v, %v", repo, trail.Seen, err)
		}
	}
}
