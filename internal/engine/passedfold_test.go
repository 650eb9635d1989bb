package engine

import (
	"encoding/json"
	"testing"
	"time"

	"cordon/internal/casefile"
	"cordon/internal/target"
)

func TestOneProcessNeedsBothClocksAndSeveralTheServices(t *testing.T) {
	start := time.Date(2026, 11, 30, 3, 0, 0, 0, time.UTC)
	on := target.Ref{System: "gl", Kind: target.Runner, ID: "1"}
	exchange := func(ms int64, at time.Duration) casefile.Line {
		d, err := json.Marshal(map[string]any{"system": "gl", "date": start.Add(at)})
		if err != nil {
			t.Fatal(err)
		}
		return casefile.Line{MonoMS: ms, Event: casefile.Event{Kind: "exchange", Data: d}}
	}
	minute := time.Minute
	ms := func(d time.Duration) int64 { return d.Milliseconds() }
	for name, c := range map[string]struct {
		lines []casefile.Line
		want  time.Duration
	}{
		"both say an hour":            {[]casefile.Line{exchange(0, 0), exchange(ms(60*minute), 60*minute)}, 60 * minute},
		"the service's clock was set": {[]casefile.Line{exchange(0, 0), exchange(ms(5*minute), 60*minute)}, 5 * minute},
		"the service's clock stands":  {[]casefile.Line{exchange(0, 0), exchange(ms(60*minute), 5*minute)}, 5*minute + dateGrain},
		"nobody counted in between":   {[]casefile.Line{exchange(0, 0), {MonoMS: 7, Event: casefile.Event{Kind: "take"}}, exchange(9, 60*minute)}, 60*minute + dateGrain},
		"the service has no clock":    {[]casefile.Line{{MonoMS: ms(9 * minute), Event: casefile.Event{Kind: "note"}}}, 9 * minute},
		"nor one, and started anew":   {[]casefile.Line{{MonoMS: ms(9 * minute), Event: casefile.Event{Kind: "note"}}, {MonoMS: 5, Event: casefile.Event{Kind: "take"}}, {MonoMS: 5 + ms(minute), Event: casefile.Event{Kind: "note"}}}, 10 * minute},
	} {
		p := passed{spans: map[string]span{}}
		for _, l := range c.lines {
			if err := p.line(l); err != nil {
				t.Fatal(err)
			}
		}
		if got := p.quiet(on, p.ran()); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}
