package casefile_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"cordon/internal/casefile"
	"cordon/internal/target"
	"cordon/internal/testenv"
)

func TestEachLineNamesTheDigestOfTheOneBefore(t *testing.T) {
	s, _ := diskStore(t)
	c := create(t, s, "INC-1")
	for range 5 {
		note(t, c, "x")
	}
	v := read(t, s, "INC-1")
	prev := strings.Repeat("0", 64)
	for i, raw := range bytes.SplitAfter(v.Raw, []byte("\n"))[:len(v.Lines)] {
		if v.Lines[i].Prev != prev || v.Lines[i].Seq != i+1 {
			t.Fatalf("line %d: seq %d prev %s, want %s", i+1, v.Lines[i].Seq, v.Lines[i].Prev, prev)
		}
		sum := sha256.Sum256(raw) // with the LF
		prev = hex.EncodeToString(sum[:])
	}
	if seq, sum := c.Head(); v.Head != prev || sum != prev || seq != len(v.Lines) {
		t.Fatalf("head %s, case says %d %s, want %s", v.Head, seq, sum, prev)
	}
}

// shellLoop is the loop of the bundle's VERIFY.txt.
const shellLoop = `p=$(printf '%064d' 0); while IFS= read -r l; do case "$l" in *"\"prev\":\"$p\""*);; *) echo BROKEN; break;; esac; p=$(printf '%s\n' "$l"|sha256sum|cut -d' ' -f1); done; echo "$p"`

func TestTheShellVerifiesTheChainToo(t *testing.T) {
	testenv.Need(t, "sha256sum")
	sh := testenv.Need(t, "sh")
	s, _ := diskStore(t)
	c := create(t, s, "INC-1")
	note(t, c, `back\slash "quote" <b>&amp; `+"\x1b]0;title\a \u202e \u009b tab\t lf\n")
	note(t, c, `","prev":"forged`)
	note(t, c, "last")
	v := read(t, s, "INC-1")
	run := func(raw []byte) string {
		cmd := exec.Command(sh, "-c", shellLoop)
		cmd.Stdin = bytes.NewReader(raw)
		out, err := cmd.Output()
		ok(t, err)
		return strings.TrimSpace(string(out))
	}
	if got := run(v.Raw); got != v.Head {
		t.Errorf("shell says %s, head is %s", got, v.Head)
	}
	if got := run(bytes.Replace(v.Raw, []byte("quote"), []byte("quota"), 1)); !strings.Contains(got, "BROKEN") {
		t.Errorf("the shell did not see the edit: %s", got)
	}
}

func TestKeysAreInTheWrittenOrder(t *testing.T) {
	s, _ := diskStore(t)
	c := create(t, s, "INC-1")
	l, err := c.Append(casefile.Event{
		Kind: "intent", Step: "pause", OK: true, Status: 204, Msg: "m", Data: json.RawMessage(`{"b":1,"a":[true,null]}`),
		Target:   target.Ref{System: "gitlab-prod", Kind: target.Runner, ID: "42"},
		Req:      &casefile.Request{Method: "PUT", Path: "/api/v4/runners/42", IdemKey: "k"},
		Evidence: []casefile.Ref{{Path: "steps/before.json", SHA256: strings.Repeat("a", 64)}},
	})
	ok(t, err)
	raw := lastLine(read(t, s, "INC-1"))
	at := -1
	for _, k := range strings.Fields("v seq prev t mono_ms actor key host session case step kind ok target req status evidence msg data") {
		i := strings.Index(raw, `"`+k+`":`)
		if i <= at {
			t.Errorf("key %s is at %d, after %d", k, i, at)
		}
		at = i
	}
	if !strings.HasSuffix(raw, `"data":{"b":1,"a":[true,null]}}`+"\n") {
		t.Errorf("data was changed: %s", raw)
	}
	js, err := json.Marshal(l)
	ok(t, err)
	if string(js)+"\n" != raw {
		t.Errorf("a marshalled line is not the line on disk:\n%s\n%s", js, raw)
	}
	var back casefile.Line
	ok(t, json.Unmarshal(js, &back))
	if back.Sum() != l.Sum() || l.Sum() == "" {
		t.Errorf("read back with sum %s, written with %s", back.Sum(), l.Sum())
	}
}

func lastLine(v *casefile.View) string {
	all := bytes.SplitAfter(v.Raw, []byte("\n"))
	return string(all[len(all)-2])
}

func TestForeignTextCannotReachATerminal(t *testing.T) {
	s, _ := diskStore(t)
	c := create(t, s, "INC-1")
	evil := "\x1b[2J\x00\x7f\u009b31m\u202eabc\u2066\u200b\r\n\t\xff" + "\U000e0041"
	data, err := json.Marshal(map[string]string{evil: evil})
	ok(t, err)
	_, err = c.Append(casefile.Event{Kind: "note", Step: evil, Msg: evil, Data: data})
	ok(t, err)
	ok(t, c.Miss(t.Context(), gap(evil)))
	v := read(t, s, "INC-1")
	for i, r := range string(v.Raw) {
		if r != '\n' && (r < 0x20 || r >= 0x7f && r < 0xa0 || r == 0x202e || r == 0x2066 || r == 0x200b || r > 0xffff) {
			t.Fatalf("raw %U at byte %d: %.80q", r, i, v.Raw[max(i-20, 0):])
		}
	}
	if want := strings.ToValidUTF8(evil, "\ufffd"); v.Lines[2].Msg != want || v.Gaps[0].Why != want {
		t.Errorf("the value changed: %q, want %q", v.Lines[2].Msg, want)
	}
}

func TestWhatCannotBeRecordedIsRefusedAndNothingIsWritten(t *testing.T) {
	s, dir := diskStore(t)
	c := create(t, s, "INC-1")
	before := files(t, filepath.Join(dir, "INC-1"))
	for name, e := range map[string]casefile.Event{
		"fraction":        {Kind: "note", Data: json.RawMessage(`{"a":[1.5]}`)},
		"exponent":        {Kind: "note", Data: json.RawMessage(`1e3`)},
		"not JSON":        {Kind: "note", Data: json.RawMessage(`{"a"`)},
		"two values":      {Kind: "note", Data: json.RawMessage(`1 2`)},
		"no kind":         {},
		"bad kind":        {Kind: "Note\n"},
		"somebody else's": {Kind: "evidence"},
		"fence":           {Kind: "take"},
		"too long":        {Kind: "note", Data: json.RawMessage(`"` + strings.Repeat("a", casefile.MaxLine) + `"`)},
		"half a target":   {Kind: "note", Target: target.Ref{System: "gitlab-prod"}},
	} {
		_, err := c.Append(e)
		if !errors.Is(err, casefile.ErrEvent) {
			t.Errorf("%s: %v", name, err)
		}
		oneLine(t, err)
	}
	same(t, before, files(t, filepath.Join(dir, "INC-1")))
	note(t, c, "and the case goes on")
}

func TestLongMessagesAreCutAndSaySo(t *testing.T) {
	s, _ := diskStore(t)
	c := create(t, s, "INC-1")
	l := note(t, c, strings.Repeat("é", casefile.MaxMsg))
	if len(l.Msg) > casefile.MaxMsg || !strings.HasSuffix(l.Msg, "é [cut]") {
		t.Errorf("%d bytes, ends %q", len(l.Msg), l.Msg[len(l.Msg)-12:])
	}
}

func TestASimulatedCaseSaysSoInItsFirstLineOnly(t *testing.T) {
	s, _ := diskStore(t)
	c, err := s.Create(t.Context(), casefile.Opening{ID: "DEMO", Simulated: true}, alice)
	ok(t, err)
	note(t, c, "x")
	ok(t, c.Close())
	v := read(t, s, "DEMO")
	if !v.Simulated || !v.Opening.Simulated || !bytes.Contains(bytes.SplitN(v.Raw, []byte("\n"), 2)[0], []byte(`"simulated":true`)) {
		t.Errorf("not said: %s", v.Raw)
	}
	if bytes.Count(v.Raw, []byte("simulated")) != 1 {
		t.Errorf("said more than once: %s", v.Raw)
	}
	create(t, s, "REAL")
	if read(t, s, "REAL").Simulated {
		t.Error("a real case says simulated")
	}
}
