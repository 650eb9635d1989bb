package bundle

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"
	"unicode/utf8"

	"cordon/internal/casefile"
	"cordon/internal/untrusted"
)

// maxField keeps every field well under the 32766 bytes at which the search index
// behind Timesketch drops a whole event (Timesketch, "import from JSON or CSV").
const maxField = 8 << 10

// event is one line of timeline.jsonl: message, datetime and timestamp_desc are what
// Timesketch asks for, timestamp is in microseconds.
type event struct {
	Message   string `json:"message"`
	Datetime  string `json:"datetime"`
	Timestamp int64  `json:"timestamp"`
	Desc      string `json:"timestamp_desc"`
	DataType  string `json:"data_type"`
	Simulated bool   `json:"simulated,omitempty"`
	Case      string `json:"case"`
	Seq       int    `json:"seq"`
	Kind      string `json:"kind"`
	Step      string `json:"step,omitempty"`
	Actor     string `json:"actor"`
	Target    string `json:"target,omitempty"`
	Request   string `json:"request,omitempty"`
	Status    int    `json:"status,omitempty"`
	OK        bool   `json:"ok"`
}

func timeline(v *casefile.View) ([]byte, error) {
	var out bytes.Buffer
	for _, l := range v.Lines {
		e := event{
			Message: message(l), Datetime: l.T.UTC().Format("2006-01-02T15:04:05.000000+00:00"), Timestamp: l.T.UnixMicro(),
			Desc: "cordon: " + l.Kind, DataType: "cordon:journal:line", Simulated: v.Simulated, Case: v.ID, Seq: l.Seq, Kind: l.Kind,
			Step: short(l.Step), Actor: short(l.Actor), Status: l.Status, OK: l.OK,
		}
		if !l.Target.IsZero() {
			e.Target = short(l.Target.String())
		}
		if l.Req != nil {
			e.Request = short(l.Req.Method + " " + l.Req.Path)
		}
		if err := put(&out, e); err != nil {
			return nil, err
		}
		if l.Kind != "foreign" {
			continue
		}
		for _, x := range foreign(l, e) {
			if err := put(&out, x); err != nil {
				return nil, err
			}
		}
	}
	return out.Bytes(), nil
}

func put(out *bytes.Buffer, e event) error {
	var line bytes.Buffer
	enc := json.NewEncoder(&line)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(e); err != nil {
		return err
	}
	out.Write(untrusted.EscapeJSON(line.Bytes()))
	return nil
}

// foreign gives each entry of an imported log a line of its own, at the time that the log
// says: by that system's clock, not ours.
func foreign(l casefile.Line, of event) []event {
	var d struct {
		Format  string `json:"format"`
		Entries []struct {
			At      time.Time `json:"at"`
			Actor   string    `json:"actor"`
			Action  string    `json:"action"`
			Subject string    `json:"subject"`
			Where   string    `json:"where"`
			From    string    `json:"from"`
			To      string    `json:"to"`
			Status  int       `json:"status"`
		} `json:"entries"`
	}
	if json.Unmarshal(l.Data, &d) != nil {
		return nil // another build's: the line itself is there
	}
	var out []event
	for _, x := range d.Entries {
		e := of
		e.Datetime, e.Timestamp = x.At.UTC().Format("2006-01-02T15:04:05.000000+00:00"), x.At.UnixMicro()
		e.Desc, e.DataType = short("log: "+d.Format), "cordon:foreign:entry"
		e.Actor, e.Target, e.Request, e.Status, e.OK = short(x.Actor), short(x.Where), "", x.Status, true
		var parts []string
		for _, s := range []string{d.Format, x.Action, x.Subject, x.Where, x.Actor, x.From, x.To} {
			if s != "" {
				parts = append(parts, s)
			}
		}
		e.Message = short(strings.Join(parts, " "))
		out = append(out, e)
	}
	return out
}

// message is never empty and says the kind first, as the column of a timeline is narrow.
func message(l casefile.Line) string {
	parts := []string{l.Kind}
	if l.Step != "" {
		parts = append(parts, "["+l.Step+"]")
	}
	if !l.Target.IsZero() {
		parts = append(parts, l.Target.String())
	}
	if name := itemName(l); name != "" {
		parts = append(parts, name)
	}
	if l.Req != nil {
		parts = append(parts, l.Req.Method, l.Req.Path)
	}
	if l.Msg != "" {
		parts = append(parts, l.Msg)
	}
	if len(parts) == 1 && !l.OK {
		parts = append(parts, "not ok")
	}
	return short(strings.Join(parts, " "))
}

// itemName is the name that an evidence or gap line is about.
func itemName(l casefile.Line) string {
	var d struct {
		Name string `json:"name"`
	}
	if l.Kind == "evidence" || l.Kind == "gap" {
		_ = json.Unmarshal(l.Data, &d) // the reader of the case has checked it
	}
	return d.Name
}

// short cuts s to maxField bytes at a character.
func short(s string) string {
	if len(s) <= maxField {
		return s
	}
	n := maxField
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + " [cut]"
}
