package casefile

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Hold puts the case on legal hold, or with release takes it off: a case on hold is not
// purged. data is what else there is to say, such as what the provider will delete by
// itself. A reason is needed both ways.
func (c *Case) Hold(release bool, reason string, data json.RawMessage) (Line, error) {
	if reason = strings.TrimSpace(reason); reason == "" {
		return Line{}, fmt.Errorf("case %s: %w: a written reason is needed", c.id, ErrEvent)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.append(Event{Kind: "hold", OK: !release, Msg: reason, Data: data})
}

// Held is the line that put the case on hold; nil: it is not on hold.
func (v *View) Held() *Line {
	for i := len(v.Lines) - 1; i >= 0; i-- {
		if l := v.Lines[i]; l.Kind == "hold" {
			if !l.OK {
				return nil
			}
			return &l
		}
	}
	return nil
}
