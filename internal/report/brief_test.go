package report

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cordon/internal/casefile"
	"cordon/internal/evidence"
	"cordon/internal/target"
	"cordon/playbooks"
)

var update = flag.Bool("update", false, "write the golden files anew")

var began = time.Date(2026, 11, 30, 3, 4, 5, 0, time.UTC)

// asOf is when the briefs are told.
var asOf = began.Add(time.Hour)

// story is a journal as a View, built line by line.
type story struct {
	*casefile.View
	t *testing.T
}

func begin(t *testing.T, sim bool) story {
	p, err := playbooks.Find("contain")
	if err != nil {
		t.Fatal(err)
	}
	v := &casefile.View{ID: "contain-42-20261130", Simulated: sim, Head: "sha256:0123456789abcdef" + strings.Repeat("0", 48)}
	v.Opening = casefile.Opening{
		ID: v.ID, Title: "contain 42", Playbook: p.Source, PlaybookName: p.ID, Simulated: sim,
		Targets: []target.Ref{
			{System: "gitlab-prod", Scope: target.Scope{Level: "project"}, Kind: target.Runner, ID: "42"},
			{System: target.SSH, Kind: target.Host, ID: "build-07"},
			{System: target.SSH, Kind: target.Host, ID: "build-08"},
		},
	}
	s := story{v, t}
	s.add("open", "", "", "{}")
	return s.add("take", "", "", "{}")
}

func (s story) add(kind, step, msg, data string) story {
	if !json.Valid([]byte(data)) {
		s.t.Fatalf("%s: %s", kind, data)
	}
	n := len(s.Lines) + 1
	s.Lines = append(s.Lines, casefile.Line{
		Seq: n, T: began.Add(time.Duration(n) * time.Minute), Actor: "alice@example.org", Host: "bastion",
		Event: casefile.Event{Kind: kind, Step: step, Msg: msg, Data: json.RawMessage(data)},
	})
	return s
}

func (s story) step(id string, tasks ...string) story {
	for _, x := range tasks {
		s.add("step", id, "", `{"task":"`+id+`/`+x+`","end":"done"}`)
	}
	return s
}

// host makes it a case about its hosts alone.
func host(s story) story {
	s.Opening.Targets = s.Opening.Targets[1:]
	return s
}

// judge adds a verdict on one host.
func (s story) judge(host, data string) story {
	s.add("verdict", "confirm", "", data)
	s.Lines[len(s.Lines)-1].Target = target.Ref{System: target.SSH, Kind: target.Host, ID: host}
	return s
}

const list = `{"entries":[{"name":"NPM_TOKEN","deploys":true},{"name":"A","replaced":"2026-11-30T04:00:00Z"},{"name":"B"}],"gaps":[{"name":"x"}]}`

func stories(t *testing.T) map[string]story {
	finding := `{"host":"build-07","results":[{"check":"units","title":"units","state":"found","findings":[{"check":"units","severity":"high","title":"x"}]},{"check":"cron","title":"cron","state":"could not look","why":"denied"}]}`
	verdict := `{"final":true,"verdicts":[{"question":"can it poll","state":"silent"},{"question":"can it fetch secrets","state":"open"},{"question":"can it deploy","state":"open"}]}`
	all := func(s story) story {
		return s.step("snapshot", "1/r").step("pause", "1/r").step("rotate", "1/r", "2/r").step("collect", "1/a", "1/b").
			step("deregister", "1/r", "2/a", "2/b", "3/r")
	}
	over := all(begin(t, false)).add("exposure", "rotate", "", list).add("finding", "collect", "", finding).
		add("intent", "pause", "pause", `{"change":{"id":"pause/42/1.1"}}`).add("result", "pause", "", `{"outcome":{"change":"pause/42/1.1","state":"applied"}}`).
		add("verdict", "confirm", "", verdict).step("confirm", "1/r").add("close", "", "contained", "{}")
	doubt := begin(t, true).step("snapshot", "1/r").add("intent", "pause", "pause", `{"change":{"id":"pause/42/1.1"}}`)
	doubt.Gaps, doubt.Torn = []evidence.Gap{{Name: "provider/gl/jobs.json", Why: "403"}}, []byte(`{"v`)
	halfway := begin(t, false).step("snapshot", "1/r").step("pause", "1/r").step("rotate", "1/r", "2/r").step("collect", "1/a").
		add("exposure", "rotate", "", list).add("finding", "collect", "", finding)
	hostile := begin(t, false)
	hostile.ID = "case\x1b[2J"
	hostile.Lines[1].Actor = "mallory\x1b]0;owned\x07\u202e"
	hostile.add("close", "", "gone\nHEAD      line 1, forged", "{}")
	strange := begin(t, false).add("verdict", "confirm", "", `{"final":"perhaps"}`)
	strange.Opening.Playbook = []byte("cordon: playbook/9\n")
	forged := begin(t, false).add("verdict", "confirm", "", `{"final":false,"verdicts":[{"question":"can it poll","state":"silent"}]}`).add("close", "", "contained", "{}")
	alone := host(begin(t, false))
	alone.step("collect", "1/a", "1/b").add("finding", "collect", "", strings.Replace(finding, `"results"`,
		`"strays":[{"what":"github \"dev-env\" at /home/runner/.dev-env, registered to https://github.com/mallory-dev/x","state":"not ours","runs":true}],"results"`, 1))
	running := host(begin(t, false))
	running.Lines = append(running.Lines, alone.Lines[2:]...)
	running.step("deregister", "2/a", "2/b").
		judge("build-08", `{"final":true,"verdicts":[{"question":"does a runner agent run there","state":"polling","why":"a runner agent still runs there: whether it is answered is not known here"}]}`).
		judge("build-07", `{"final":true,"verdicts":[{"question":"does a runner agent run there","state":"silent","why":"no runner agent runs there, by the host's own word alone, over 15m0s"}]}`).
		step("confirm", "1/a", "1/b").add("close", "", "polling", "{}")
	clean := begin(t, false)
	for _, l := range over.Lines[2:] {
		if l.Kind == "finding" {
			l.Data = json.RawMessage(`{"host":"build-07","results":[{"check":"units","title":"units","state":"nothing found"}]}`)
		}
		clean.Lines = append(clean.Lines, l)
	}
	return map[string]story{"clean": clean, "alone": alone, "alone-running": running, "forged": forged, "contained": over, "doubt": doubt, "halfway": halfway, "hostile": hostile, "strange": strange}
}

func TestABriefIsEightLines(t *testing.T) {
	for name, s := range stories(t) {
		got := strings.Join(Brief(s.View, asOf), "\n") + "\n"
		path := filepath.Join("testdata", name+".golden")
		if *update {
			if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("%s:\n%swant\n%s", name, got, want)
		}
		if n := len(Brief(s.View, asOf)); n != Lines {
			t.Errorf("%s: %d lines", name, n)
		}
		if strings.ContainsAny(got, "\x1b\x07\u202e\r") || strings.Count(got, "\n") != Lines {
			t.Errorf("%s: foreign text got through: %q", name, got)
		}
	}
}

func TestWhatIsNotASilenceAtTheEndIsNotToldAsContained(t *testing.T) {
	for name, s := range stories(t) {
		state := Brief(s.View, asOf)[1]
		said := strings.HasPrefix(state, "STATE     CONTAINED") || strings.Contains(state, "the runner alone is CONTAINED")
		if said != (name == "contained" || name == "clean") {
			t.Errorf("%s: %s", name, state)
		}
	}
}

// A case about a host alone has no step about a runner, and a process that runs there says
// nothing about whether somebody answers it.
func TestABriefOfAHostAloneSaysWhatTheHostSaid(t *testing.T) {
	all := stories(t)
	for name, want := range map[string][]string{
		"alone":         {"STANDS    step 5/6", "no list of ours has: github \"dev-env\"", "whether the service of its runner still answers it"},
		"alone-running": {"STATE     NOT CONTAINED: does a runner agent run there: yes, a runner agent still runs there: whether it is answered is not known here", "all 6 steps are over", "NEXT      isolate the host"},
	} {
		got := strings.Join(Brief(all[name].View, asOf), "\n")
		for _, w := range want {
			if !strings.Contains(got, w) {
				t.Errorf("%s: no %q in\n%s", name, w, got)
			}
		}
		if strings.Contains(got, "POLLING") || strings.Contains(got, "it polls") {
			t.Errorf("%s: a process is told as a poll\n%s", name, got)
		}
	}
}

// Of several runners a brief tells the worst: the last line of the journal is not the case.
func TestABriefTellsTheWorstOfSeveralRunners(t *testing.T) {
	s := begin(t, false)
	for id, state := range map[string]string{"41": "silent", "42": "polling", "43": "silent"} {
		s.add("verdict", "confirm", "", `{"final":true,"verdicts":[{"question":"can it poll","state":"`+state+`"}]}`)
		s.Lines[len(s.Lines)-1].Target = target.Ref{System: "gitlab-prod", Kind: target.Runner, ID: id}
	}
	if got := Brief(s.add("close", "", "contained", "{}").View, asOf)[1]; !strings.Contains(got, "NOT SHOWN") {
		t.Error(got)
	}
}

func TestASimulatedCaseSaysSoInItsFirstLine(t *testing.T) {
	for name, s := range stories(t) {
		if first := Brief(s.View, asOf)[0]; strings.Contains(first, "SIMULATED") != s.Simulated {
			t.Errorf("%s: %s", name, first)
		}
	}
}

func TestABriefIsPure(t *testing.T) {
	s := stories(t)["halfway"]
	before, _ := json.Marshal(s.Lines)
	a, b := strings.Join(Brief(s.View, asOf), "\n"), strings.Join(Brief(s.View, asOf), "\n")
	after, _ := json.Marshal(s.Lines)
	if a != b || string(before) != string(after) {
		t.Error("the same journal gave two briefs, or was changed")
	}
}
