package app

import (
	"bytes"
	"strconv"
	"strings"
	"testing"

	"cordon/internal/host/snapshot"
)

// Where a host says that it is can be read beside what was found there, and its texts are
// its own: nothing in them reaches a screen as it came.
func TestAHostReportSaysWhereTheHostSaysItIs(t *testing.T) {
	id := snapshot.Ident{Within: "virtual machine (KVM)", Zone: "Asia/\x1b[2JTokyo", Cards: []snapshot.Card{{Name: "eth\u202e0", MAC: "02:fc:00:00:00:01"}}}
	for i := range 8 {
		id.Addresses = append(id.Addresses, "192.0.2."+strconv.Itoa(i))
	}
	var b bytes.Buffer
	Lines{W: &b}.HostReport(HostReport{Host: "b7", Ident: id, Complete: true})
	for _, want := range []string{"addresses 192.0.2.0, ", "192.0.2.5, and 2 more", "02:fc:00:00:00:01", "virtual machine (KVM)", "time zone Asia/"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in %s", want, b.String())
		}
	}
	if strings.ContainsAny(b.String(), "\x1b\u202e") {
		t.Errorf("%q", b.String())
	}
	b.Reset()
	Lines{W: &b}.HostReport(HostReport{Host: "b7", Complete: true})
	if strings.Contains(b.String(), "says of itself") {
		t.Errorf("of a snapshot that does not say it: %s", b.String())
	}
}
