package bundle

import (
	"encoding/hex"
	"fmt"
	"regexp"
	"strings"
	"time"
)

// SeenHead is the beginning of a head that somebody outside saw, in a brief, a channel
// or a notification, and the latest time at which that was.
type SeenHead struct {
	Prefix string // 12 to 64 hex digits, lower case
	At     time.Time
}

// minPrefix is how many digits a prefix needs: 48 bits, so that nobody makes another
// line with the same ones.
const minPrefix = 12

var seenForm = regexp.MustCompile(`^[0-9a-f]{12,64}$`)

// times are the forms of TIME in ParseSeen with how far each reaches: whoever writes
// down minutes saw it somewhere in that minute.
var times = []struct {
	layout string
	reach  time.Duration
}{
	{time.RFC3339Nano, time.Second - time.Nanosecond},
	{"2006-01-02T15:04Z07:00", time.Minute - time.Nanosecond},
	{"2006-01-02 15:04:05Z07:00", time.Second - time.Nanosecond},
	{"2006-01-02 15:04Z07:00", time.Minute - time.Nanosecond},
}

// ParseSeen reads PREFIX@TIME. The error is one line with a hint.
func ParseSeen(s string) (SeenHead, error) {
	prefix, when, ok := strings.Cut(s, "@")
	prefix = strings.ToLower(strings.TrimRight(prefix, "…."))
	if !ok || !seenForm.MatchString(prefix) {
		return SeenHead{}, fmt.Errorf("head %q: write PREFIX@TIME with %d to 64 hex digits of the head, as it was pasted", clip(s), minPrefix)
	}
	for _, f := range times {
		t, err := time.Parse(f.layout, when)
		if err != nil {
			continue
		}
		if strings.Contains(when, ".") {
			return SeenHead{prefix, t.UTC()}, nil
		}
		return SeenHead{prefix, t.Add(f.reach).UTC()}, nil
	}
	return SeenHead{}, fmt.Errorf("head %q: the time is written as 2026-11-30T12:05:00Z or 2026-11-30T12:05Z, with its zone", clip(s))
}

func clip(s string) string { return s[:min(len(s), 100)] }

// seenRow looks for every head that was seen.
func (in *intake) seenRow(r *rows, o VerifyOptions) {
	j := in.journal
	if len(o.Seen) == 0 {
		r.skip(RowSeen, "no head that left the case before was given: whoever wrote the record could have written it anew (--head PREFIX@TIME)")
		return
	}
	if j.broken != "" {
		r.skip(RowSeen, "the journal is broken")
		return
	}
	var good []string
	for _, h := range o.Seen {
		seq, bad := j.find(h)
		if bad != "" {
			r.add(RowSeen, bad, "")
			return
		}
		good = append(good, fmt.Sprintf("%s is line %d", h.Prefix, seq))
	}
	r.add(RowSeen, "", strings.Join(good, ", "))
}

// find returns the line whose head begins so, or what is wrong.
func (j *journal) find(h SeenHead) (seq int, bad string) {
	if !seenForm.MatchString(h.Prefix) {
		return 0, fmt.Sprintf("%q is not the beginning of a head", clip(h.Prefix))
	}
	for i, sum := range j.sums {
		if !strings.HasPrefix(hex.EncodeToString(sum[:]), h.Prefix) {
			continue
		}
		if seq != 0 {
			return 0, fmt.Sprintf("the heads of lines %d and %d both begin with %s: give more digits", seq, i+1, h.Prefix)
		}
		seq = i + 1
	}
	switch {
	case seq == 0:
		return 0, fmt.Sprintf("no line of this journal has the head %s that was seen at %s: the record was written anew after that", h.Prefix, h.At.Format(time.RFC3339))
	case j.times[seq-1] > h.At.UnixMilli():
		return 0, fmt.Sprintf("line %d has the head %s and says it was written at %s, after it was seen (%s): a clock is wrong, or a time", seq, h.Prefix, time.UnixMilli(j.times[seq-1]).UTC().Format(time.RFC3339), h.At.Format(time.RFC3339))
	}
	return seq, ""
}
