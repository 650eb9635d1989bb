package config

import (
	"strings"
	"testing"
	"time"
)

const actions = `operator:
  isolate-edr:
    title: Isolate the machine in the EDR
    verb: isolate
    on: hosts
    do: [bin/edr, isolate, "--host={host}", "{case}"]
    verify: [edr, isolated, "{host}"]
    undo: [/opt/edr/bin/edr, release, "{host}"]
    timeout: 2m
    env: [EDR_TOKEN]
    tips_off: the machine loses its network
    destroys: [host/*/network.json]
`

func TestAnActionIsReadWhole(t *testing.T) {
	c, err := Parse("/etc/cordon/c.yaml", []byte(actions))
	if err != nil {
		t.Fatal(err)
	}
	a := c.Operator["isolate-edr"]
	if a.Do[0] != "/etc/cordon/bin/edr" || a.Verify[0] != "edr" || a.Undo[0] != "/opt/edr/bin/edr" || a.Timeout != 2*time.Minute || a.Verb != "isolate" {
		t.Errorf("got %+v", a)
	}
	if c, err = Parse("c.yaml", []byte("operator: {x: {title: x, on: runner, do: [true-ish]}}\n")); err != nil || c.Operator["x"].Timeout != 30*time.Second || c.Operator["x"].Verb != "do" {
		t.Errorf("got %+v, %v", c, err)
	}
}

func TestAnActionThatCannotBeMeantIsRefused(t *testing.T) {
	for _, c := range []struct{ old, new, want string }{
		{"title: Isolate the machine in the EDR", `title: ""`, "no title of one line"},
		{"verb: isolate", "verb: collect", "a verb that providers or hosts have"},
		{"verb: isolate", "verb: IS", "not a verb"},
		{"on: hosts", "on: host", "not said what it is on"},
		{"on: hosts", "on: runner", "{host} where no host is meant"},
		{"do: [bin/edr", `do: [""`, "no command to run"},
		{"verify: [edr", `verify: [""`, "no program"},
		{"do: [bin/edr", `do: ["{host}"`, "a program that is put in from outside"},
		{`"{case}"]`, `"{hosts}"]`, "not a placeholder"},
		{"timeout: 2m", "timeout: 2h", "not a time limit"},
		{"timeout: 2m", "timeout: 0s", "not a time limit"},
		{"env: [EDR_TOKEN]", "env: [EDR_TOKEN=geheim]", "not the name of a variable"},
		{"destroys: [host/*/network.json]", `destroys: ["a b"]`, "not the name of evidence"},
		{"undo:", "undoo:", "unknown key"},
		{"  isolate-edr:", `  "isolate edr":`, "not a usable name"},
		{"do: [bin/edr, isolate, \"--host={host}\", \"{case}\"]", "do: bin/edr isolate", "text where a list is expected"},
	} {
		bad := strings.Replace(actions, c.old, c.new, 1)
		if bad == actions {
			t.Fatalf("%q is not there", c.old)
		}
		_, err := Parse("c.yaml", []byte(bad))
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "geheim") {
			t.Errorf("%s: got %v, want %s", c.new, err, c.want)
		}
	}
}
