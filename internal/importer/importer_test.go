package importer

import (
	"errors"
	"strings"
	"testing"
	"time"
	"unicode"
)

const (
	githubJSON = `[{"@timestamp":1796040000123,"action":"org.register_self_hosted_runner","actor":"mallory","actor_ip":"203.0.113.9","org":"acme","runner_name":"build-07"},
{"created_at":1796040060000,"action":"repo.remove_self_hosted_runner","actor":"alice","repo":"acme/web"},{"action":"no.time"},7]`
	githubLines = `{"@timestamp":1796040000123,"action":"org.register_self_hosted_runner","actor":"mallory"}
{"@timestamp":1796040060000,"action":"repo.destroy","actor":"alice"}
not json`
	githubCSV = "action,actor,user,actor_ip,org,repo,created_at\norg.register_self_hosted_runner,mallory,,203.0.113.9,acme,,1796040000123\nx,\"broken\n"
	gitlabCSV = "ID,Author ID,Author Name,Entity ID,Entity Type,Entity Path,Target ID,Target Type,Target Details,Action,IP Address,Created At (UTC)\n" +
		"1,9,\"Mallory \x1b[31m\",7,Project,acme/web,42,Ci::Runner,build-07,Registered project runner,203.0.113.9,2026-11-30 12:00:00 UTC\n2,9,x,7,Project,acme/web,1,y,z,w,1.2.3.4,yesterday\n"
	gitlabJSON = `[{"id":1,"author_id":9,"entity_id":7,"entity_type":"Project","details":{"custom_message":"Registered runner","author_name":"Mallory","target_details":"42","ip_address":"203.0.113.9","entity_path":"acme/web"},"created_at":"2026-11-30T12:00:00.000Z"}]`
	edrJSON    = `{"meta":{"n":1},"resources":[{"created_timestamp":"2026-11-30T12:00:00Z","device":{"hostname":"build-07","local_ip":"192.0.2.7"},"max_severity_displayname":"High","behaviors":[{"display_name":"Miner","user_name":"gitlab-runner"}]}]}`
	proxyLines = `1796040000.123     87 192.0.2.7 TCP_TUNNEL/200 5120 CONNECT gitlab.example.org:443 - HIER_DIRECT/198.51.100.4 -
192.0.2.7 - - [30/Nov/2026:12:00:05 +0000] "POST http://u:secret@gitlab.example.org/api/v4/jobs/request?token=glrt-secret HTTP/1.1" 403 12 "-" "gitlab-runner 18.6.0"
2026-11-30T12:00:10Z fw1 action=allow src=192.0.2.7 dst=198.51.100.4 dport=443 proto=tcp
date=2026-11-30 time=12:00:15 srcip=192.0.2.8 dstip=198.51.100.5 action="deny all"
something else entirely
`
)

func TestEachFormatGivesItsEntriesAndCountsWhatItDoesNotUnderstand(t *testing.T) {
	for _, c := range []struct {
		name, format, in string
		entries, skipped int
		first            Entry
	}{
		{"github json", GitHubAudit, githubJSON, 2, 2, Entry{Actor: "mallory", Action: "org.register_self_hosted_runner", Subject: "build-07", Where: "acme", From: "203.0.113.9", Line: 1}},
		{"github lines", GitHubAudit, githubLines, 2, 1, Entry{Actor: "mallory", Action: "org.register_self_hosted_runner", Line: 1}},
		{"github csv", GitHubAudit, githubCSV, 1, 1, Entry{Actor: "mallory", Action: "org.register_self_hosted_runner", Where: "acme", From: "203.0.113.9", Line: 2}},
		{"gitlab csv", GitLabAudit, gitlabCSV, 1, 1, Entry{Actor: `Mallory \x1b[31m`, Action: "Registered project runner", Subject: "build-07", Where: "acme/web", From: "203.0.113.9", Line: 2}},
		{"gitlab json", GitLabAudit, gitlabJSON, 1, 0, Entry{Actor: "Mallory", Action: "Registered runner", Subject: "42", Where: "acme/web", From: "203.0.113.9", Line: 1}},
		{"edr", EDR, edrJSON, 1, 0, Entry{Actor: "gitlab-runner", Action: "High", Subject: "Miner", Where: "build-07", From: "192.0.2.7", Line: 1}},
		{"proxy", Proxy, proxyLines, 4, 1, Entry{Action: "CONNECT", From: "192.0.2.7", To: "gitlab.example.org:443", Status: 200, Line: 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			l, err := Read(c.format, strings.NewReader(c.in))
			if err != nil || len(l.Entries) != c.entries || l.Skipped != c.skipped || len(l.Problems) != c.skipped {
				t.Fatalf("%d entries, %d skipped %q, %v", len(l.Entries), l.Skipped, l.Problems, err)
			}
			got := l.Entries[0]
			if at := got.At.Truncate(time.Second); at.IsZero() || at.Year() != 2026 {
				t.Errorf("at %s", got.At)
			}
			if got.At = (time.Time{}); got != c.first {
				t.Errorf("%+v", got)
			}
		})
	}
}

func TestNoPathAndNoSecretOfAnAddressStays(t *testing.T) {
	l, err := Read(Proxy, strings.NewReader(proxyLines))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range l.Entries {
		if strings.Contains(e.Text(), "secret") || strings.Contains(e.Text(), "/api") {
			t.Errorf("%+v", e)
		}
	}
	if e := l.Entries[2]; e.To != "198.51.100.4:443" || e.Action != "allow" {
		t.Errorf("%+v", e)
	}
	if e := l.Entries[3]; e.Action != "deny all" || !e.At.Equal(time.Date(2026, 11, 30, 12, 0, 15, 0, time.UTC)) {
		t.Errorf("%+v", e)
	}
}

func TestWhatIsNoLogIsRefused(t *testing.T) {
	for format, in := range map[string]string{
		GitHubAudit: "<html>", GitLabAudit: "", EDR: "{", Proxy: "hello\nworld\n", "syslog": "x",
	} {
		_, err := Read(format, strings.NewReader(in))
		if !errors.Is(err, ErrLog) && !errors.Is(err, ErrFormat) || strings.ContainsAny(err.Error(), "\n\x1b") {
			t.Errorf("%s: %v", format, err)
		}
	}
	if _, err := Read(EDR, strings.NewReader(`[{"timestamp":"12:00","title":"x"}]`)); !errors.Is(err, ErrLog) || !strings.Contains(err.Error(), "no time") {
		t.Errorf("an alert without a time: %v", err)
	}
	long := "192.0.2.7 " + strings.Repeat("x", MaxLine) + "\n" + proxyLines
	if l, err := Read(Proxy, strings.NewReader(long)); err != nil || l.Skipped != 2 || !strings.Contains(l.Problems[0], "too long") {
		t.Errorf("%q %v", l.Problems, err)
	}
}

func TestATimeIsReadOnlyWhereItSaysItsZone(t *testing.T) {
	for in, want := range map[string]string{
		"2026-11-30T12:00:00+01:00": "2026-11-30T11:00:00Z", "2026-11-30 12:00:00 UTC": "2026-11-30T12:00:00Z", "1796040000123": "2026-11-30T12:00:00.123Z",
		"1796040000.5": "2026-11-30T12:00:00.5Z", "30/Nov/2026:13:00:00 +0100": "2026-11-30T12:00:00Z",
		"2026-11-30 12:00:00 CEST": "", "yesterday": "", "17960400001": "", "": "",
	} {
		got := ""
		if m := moment(in); !m.IsZero() {
			got = m.UTC().Format(time.RFC3339Nano)
		}
		if got != want {
			t.Errorf("%q: %s, want %s", in, got, want)
		}
	}
}

func FuzzRead(f *testing.F) {
	for i, in := range []string{githubJSON, githubLines, githubCSV, gitlabCSV, gitlabJSON, edrJSON, proxyLines} {
		f.Add(i%4, in)
	}
	f.Fuzz(func(t *testing.T, which int, in string) {
		l, err := Read(Formats()[uint(which)%4], strings.NewReader(in))
		if (err == nil) != (len(l.Entries) > 0) {
			t.Fatalf("%d entries and %v", len(l.Entries), err)
		}
		last := time.Time{}
		for _, e := range l.Entries {
			s := e.Text()
			if e.At.IsZero() || e.At.Before(last) || strings.ContainsFunc(s, unicode.IsControl) || len(s) > 4000 {
				t.Fatalf("%+v", e)
			}
			last = e.At
		}
	})
}
