package casefile

import (
	"encoding/json"
	"fmt"
	"time"
)

// handover is the data of a handover line: the case goes on elsewhere.
type handover struct {
	To string `json:"to"`

	at time.Time
	by string
}

func (h handover) phrase() string {
	return fmt.Sprintf("to %s by %s at %s", clean1(h.To), clean1(h.by), h.at.Format(time.RFC3339))
}

// HandOver writes that the case goes on elsewhere. From then on it is taken here only
// with TakeOver. With undo, a handover that did not come about is taken back.
func (c *Case) HandOver(to, why string, undo bool) (Line, error) {
	d, err := json.Marshal(handover{To: to})
	if err != nil {
		return Line{}, fmt.Errorf("case %s: %w: %w", c.id, ErrEvent, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.append(Event{Kind: "handover", OK: !undo, Msg: why, Data: d})
}

// handedOver is the last handover that nobody took back; nil: there is none.
func handedOver(lines []Line) *handover {
	var h *handover
	for _, l := range lines {
		switch l.Kind {
		case "handover":
			h = nil
			if l.OK {
				h = &handover{at: l.T, by: l.Actor}
				_ = json.Unmarshal(l.Data, h) // to nobody in particular
			}
		case "take":
			if t, ok := TakenBy(l); ok && t.Over != "" {
				h = nil
			}
		}
	}
	return h
}
