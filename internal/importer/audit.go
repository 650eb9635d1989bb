package importer

import (
	"bytes"
	"encoding/csv"
	"errors"
	"io"
	"strings"
)

// githubAudit reads GitHub's audit log: JSON as the export and the API write it, or the
// CSV of the export (docs.github.com, "Reviewing the audit log for your organization").
// Times are milliseconds since 1970 in @timestamp or created_at.
func githubAudit(l *Log, b []byte) error {
	return l.records(b, func(n int, o object) {
		l.add(Entry{
			Line: n, At: moment(o.first("@timestamp", "created_at", "timestamp")), Actor: o.first("actor", "user"), Action: o.first("action"),
			Subject: o.first("runner_name", "name", "job_name", "environment_name", "key", "team", "user", "data.runner_name"),
			Where:   o.first("repo", "repository", "org", "business"), From: o.first("actor_ip", "ip_address"),
		})
	})
}

// gitlabAudit reads GitLab's audit events: the CSV of the page (docs.gitlab.com, "Audit
// events": ID, Author ID, Author Name, Entity ID, Entity Type, Entity Path, Target ID,
// Target Type, Target Details, Action, IP Address, Created At (UTC)) or the API's JSON.
func gitlabAudit(l *Log, b []byte) error {
	return l.records(b, func(n int, o object) {
		l.add(Entry{
			Line: n, At: moment(o.first("created at (utc)", "created at", "created_at")), Actor: o.first("author name", "details.author_name", "author_name"),
			Action:  o.first("action", "details.custom_message", "details.action", "event_name", "details.event_name"),
			Subject: o.first("target details", "details.target_details", "target_details"),
			Where:   o.first("entity path", "details.entity_path", "entity_path"), From: o.first("ip address", "details.ip_address", "ip_address"),
		})
	})
}

// records reads JSON where it begins like that, and CSV with a header otherwise.
func (l *Log) records(b []byte, f func(n int, o object)) error {
	if t := bytes.TrimSpace(b); bytes.HasPrefix(t, []byte("{")) || bytes.HasPrefix(t, []byte("[")) {
		return l.objects(t, f)
	}
	r := csv.NewReader(bytes.NewReader(b))
	r.FieldsPerRecord = -1
	r.ReuseRecord = true
	var head []string
	for {
		row, err := r.Read()
		line := 0
		var bad *csv.ParseError
		if errors.As(err, &bad) {
			line = bad.StartLine
		} else if len(row) > 0 {
			line, _ = r.FieldPos(0)
		}
		switch {
		case errors.Is(err, io.EOF):
			if head == nil {
				return errors.New("it has no header")
			}
			return nil
		case err != nil && head == nil:
			return errors.New("it is neither JSON nor CSV")
		case err != nil:
			l.skip(line, "it is not a row of CSV")
			if bad == nil {
				return nil
			}
			continue
		case head == nil:
			for _, h := range row {
				head = append(head, strings.ToLower(strings.TrimSpace(h)))
			}
			continue
		}
		o := object{}
		for i, v := range row {
			if i < len(head) {
				o[head[i]] = v[:min(len(v), 4*maxField)]
			}
		}
		f(line, o)
	}
}

// edr reads alerts. Products name their fields differently; the first name that is there
// is taken, and an alert without a time is skipped.
func edr(l *Log, b []byte) error {
	return l.objects(bytes.TrimSpace(b), func(n int, o object) {
		l.add(Entry{
			Line: n,
			At: moment(o.first("timestamp", "@timestamp", "time", "event_time", "eventtime", "detected_at", "created_timestamp", "createddatetime",
				"first_behavior", "created_at", "createdat", "alert.timestamp", "threatinfo.createdat", "lasteventdatetime")),
			Action: o.first("severity", "severity_name", "max_severity_displayname", "alert.severity", "kibana.alert.severity", "level"),
			Subject: o.first("title", "name", "rule.name", "alert.name", "display_name", "description", "message", "behaviors.display_name",
				"threatinfo.threatname", "kibana.alert.rule.name"),
			Actor: o.first("user", "user.name", "username", "user_name", "behaviors.user_name", "evidence.useraccount.accountname"),
			Where: o.first("hostname", "host", "host.name", "host.hostname", "device.hostname", "device.name", "devicename", "agent.name",
				"agentrealtimeinfo.agentcomputername", "computer_name", "evidence.devicednsname"),
			From: o.first("source.ip", "src_ip", "local_ip", "device.local_ip", "host.ip"), To: o.first("destination.ip", "dst_ip", "remote_ip", "destination.domain"),
		})
	})
}
