package casefile

import (
	"encoding/json"
	"fmt"
	"time"
)

// Summary is one row of a list of cases.
type Summary struct {
	ID        string    `json:"id"`
	Title     string    `json:"title"`
	Kind      string    `json:"kind"`
	Simulated bool      `json:"simulated,omitempty"`
	Opened    time.Time `json:"opened"`
	Last      time.Time `json:"last"` // time of the last line
	Lines     int       `json:"lines"`
	Head      string    `json:"head"`
	Closed    bool      `json:"closed"`           // a close line, and no intent after it
	Writer    string    `json:"writer"`           // who took it last
	Broken    string    `json:"broken,omitempty"` // why it cannot be read; then only ID is set

	Hold       string     `json:"hold,omitempty"`        // why it is on legal hold
	HandedOver string     `json:"handed_over,omitempty"` // to whom and when; nobody took it back
	Remarks    []string   `json:"remarks,omitempty"`     // what whoever asked for the list wants to be told of it
	Purged     *Tombstone `json:"purged,omitempty"`      // what is left of it; ID, Opened, Lines, Head and Simulated are from there
}

// List reads every case of the store, by id. A case that cannot be read is in the
// list with Broken.
func (s *Store) List() ([]Summary, error) { return s.ListWith(nil) }

// ListWith is List with the remarks that remark makes on each case; nil: none.
func (s *Store) ListWith(remark func(*View) []string) ([]Summary, error) {
	names, err := s.fs.ReadDir(s.dir)
	if err != nil {
		return nil, fmt.Errorf("list cases in %s: %w", s.dir, err)
	}
	var all []Summary
	for _, id := range names {
		if !ValidID(id) {
			continue // a case in the making begins with a dot
		}
		if t, err := s.Tombstone(id); err == nil {
			all = append(all, Summary{
				ID: id, Opened: t.Opened, Last: t.Purged, Lines: t.Lines, Head: t.Head, Simulated: t.Simulated, Closed: true, Purged: &t,
			})
			continue
		}
		v, err := s.Read(id)
		if err != nil {
			all = append(all, Summary{ID: id, Broken: err.Error()})
			continue
		}
		sum := v.summary()
		if remark != nil {
			sum.Remarks = remark(v)
		}
		all = append(all, sum)
	}
	return all, nil
}

func (v *View) summary() Summary {
	first, last := v.Lines[0], v.Lines[len(v.Lines)-1]
	sum := Summary{
		ID: v.ID, Title: v.Opening.Title, Kind: v.Opening.Kind, Simulated: first.Simulated,
		Opened: first.T, Last: last.T, Lines: len(v.Lines), Head: v.Head,
	}
	if l := v.Held(); l != nil {
		sum.Hold = l.Msg
	}
	if h := handedOver(v.Lines); h != nil {
		sum.HandedOver = h.phrase()
	}
	for _, l := range v.Lines {
		switch l.Kind {
		case "take":
			sum.Writer = takenBy(l)
		case "close":
			sum.Closed = true
		case "intent":
			sum.Closed = false
		}
	}
	return sum
}

// takenBy says in one phrase who wrote a take line.
func takenBy(l Line) string {
	var d takeData
	if err := json.Unmarshal(l.Data, &d); err != nil {
		return l.Actor
	}
	return fmt.Sprintf("%s on %s, pid %d, since %s", clean1(l.Actor), clean1(d.Host), d.PID, l.T.Format(time.RFC3339))
}
