package app

import (
	"context"
	"encoding/json"
	"time"

	"cordon/internal/casefile"
	"cordon/internal/redact"
	"cordon/internal/untrusted"
)

// CaseEvent is one journal line as a log forwarder gets it: who, when, what, how it
// ended, with the line's own hash. The data of the line is left out, and what looks like
// a secret in its text is replaced once more.
type CaseEvent struct {
	Schema    string    `json:"schema"` // cordon.event/1
	Simulated bool      `json:"simulated,omitempty"`
	Case      string    `json:"case"`
	Seq       int       `json:"seq"`
	At        time.Time `json:"at"`
	Hash      string    `json:"hash"` // SHA-256 of the line with its LF: the head as of this line
	Prev      string    `json:"prev"`
	Kind      string    `json:"kind"`
	Step      string    `json:"step,omitempty"`
	OK        bool      `json:"ok"`
	Actor     string    `json:"actor"`
	Key       string    `json:"key,omitempty"`
	Host      string    `json:"host,omitempty"`
	Target    string    `json:"target,omitempty"`
	Method    string    `json:"method,omitempty"`
	Path      string    `json:"path,omitempty"`
	Status    int       `json:"status,omitempty"`
	RequestID string    `json:"request_id,omitempty"`
	Evidence  []string  `json:"evidence,omitempty"` // SHA-256
	Msg       string    `json:"msg,omitempty"`
}

// Events hands every line of a case to emit, and with follow new ones as they come.
func (a *App) Events(ctx context.Context, id string, follow bool, emit func(CaseEvent) error) error {
	m := a.marker.Derive("case:" + id)
	each := func(v *casefile.View, l casefile.Line) error { return emit(event(m, v.Simulated, l)) }
	if follow {
		return a.Follow(ctx, id, each)
	}
	v, err := a.View(id)
	if err != nil {
		return err
	}
	for _, l := range v.Lines {
		if err := each(v, l); err != nil {
			return err
		}
	}
	return nil
}

func event(m redact.Marker, simulated bool, l casefile.Line) CaseEvent {
	text := func(s string) string {
		out, _ := m.Text(s)
		return untrusted.Clean(out, 2000)
	}
	e := CaseEvent{
		Schema: "cordon.event/1", Simulated: simulated, Case: l.Case, Seq: l.Seq, At: l.T, Hash: l.Sum(), Prev: l.Prev,
		Kind: l.Kind, Step: text(l.Step), OK: l.OK, Actor: text(l.Actor), Key: text(l.Key), Host: text(l.Host),
		Status: l.Status, Msg: text(l.Msg),
	}
	if !l.Target.IsZero() {
		e.Target = l.Target.String()
	}
	if l.Req != nil {
		e.Method, e.Path, e.RequestID = text(l.Req.Method), text(l.Req.Path), text(l.Req.RequestID)
	}
	if l.Kind == "evidence" {
		var it struct {
			Digest string `json:"digest"`
		}
		if json.Unmarshal(l.Data, &it) == nil {
			e.Evidence = append(e.Evidence, it.Digest)
		}
	}
	for _, r := range l.Evidence {
		e.Evidence = append(e.Evidence, r.SHA256)
	}
	return e
}
