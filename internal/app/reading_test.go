package app

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"cordon/internal/host"
)

// A read says that it began; a slow one says where it is, and not at every section.
func TestOnlyASlowReadTellsHowFarItIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		told := Lines{W: &out, Simulated: true}.Reading()
		at := func(name, section string, n int) {
			told(host.Reading{Host: name, Section: section, N: n, Of: 21, Bytes: 3 << 20, Most: 32 << 20})
		}
		for i, s := range []string{"ident", "proc", "net"} {
			at("quick", s, i+1)
		}
		at("slow", "ident", 1)
		time.Sleep(slowRead)
		at("slow", "privileged", 17)
		at("slow", "homes", 18)
		at("quick again", "ident", 1)
		const began = ": it answers, and is being read\n"
		want := "SIMULATED  quick" + began + "SIMULATED  slow" + began + "SIMULATED  slow: being read: section 17 of 21, privileged, 3072 KiB\n" + "SIMULATED  quick again" + began
		if got := out.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	})
}
