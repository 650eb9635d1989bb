package app

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"cordon/internal/check"
)

// A host with a hit may hide more: it is counted as found, and among those that could not
// be looked at everywhere; what no check looks at is told once, whatever was found.
func TestAHostWithAHitThatWasNotWhollySeenIsSaidSo(t *testing.T) {
	hit, blind := []check.Match{{Kind: "path", Indicator: "/x", How: check.IsThere, Where: "/x"}}, []string{"homes denied"}
	at := time.Unix(1796000000, 0)
	r := SweepReport{List: SweptList{Names: 1}, Places: []SweptPlace{
		{Host: "b1", Taken: at, Swept: check.Swept{Matches: hit, CouldNot: blind}},
		{Host: "b2", Taken: at, Swept: check.Swept{Matches: hit}},
		{Host: "b3", Taken: at, Swept: check.Swept{CouldNot: blind}},
		{Host: "b4", Taken: at},
		{Host: "b2", Taken: at.Add(-time.Hour), Swept: check.Swept{CouldNot: blind}}, // the newest look decides
	}}
	r.sort()
	if !slices.Equal(r.Found, []string{"b1", "b2"}) || !slices.Equal(r.Partly, []string{"b1"}) || !slices.Equal(r.CouldNot, []string{"b3"}) || !slices.Equal(r.Nothing, []string{"b4"}) {
		t.Errorf("%+v", r)
	}
	var out bytes.Buffer
	Lines{W: &out}.Sweep(r)
	for _, want := range []string{"found on 2: b1, b2\n  of those could not look everywhere on 1, more may be there: b1\n", "names count only whole"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, out.String())
		}
	}
	out.Reset()
	Lines{W: &out}.HostsReport(HostsReport{Hosts: []HostReport{{Host: "b1", Complete: true}, {Host: "b2", Complete: true}}})
	if strings.Count(out.String(), "not looked at: ") != 1 {
		t.Errorf("%s", out.String())
	}
	out.Reset()
	Lines{W: &out}.HostReport(HostReport{Host: "b1", Complete: true})
	if !strings.Contains(out.String(), "\nnot looked at: the bytes of programs") {
		t.Errorf("%s", out.String())
	}
}
