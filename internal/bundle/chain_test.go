package bundle

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"cordon/internal/casefile"
)

func chainOf(raw []byte) *journal {
	j := &journal{}
	for len(raw) > 0 { // in pieces, as an archive comes
		n := min(len(raw), 100)
		_, _ = j.Write(raw[:n])
		raw = raw[n:]
	}
	j.finish()
	return j
}

// The vectors of the case format: what its reader calls broken or newer is broken
// here, and a torn tail too, because a bundle holds whole lines only.
func TestTheChainIsReadAsTheCaseFormatSays(t *testing.T) {
	dir := filepath.Join("..", "casefile", "testdata")
	words, err := os.ReadFile(filepath.Join(dir, "words.txt"))
	if err != nil {
		t.Fatal(err)
	}
	whole := regexp.MustCompile(`^(\d+) lines, 0 torn bytes, head ([0-9a-f]{64})$`)
	good := 0
	for _, l := range strings.Split(strings.TrimSpace(string(words)), "\n") {
		name, says, _ := strings.Cut(l, "\t")
		raw, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		j := chainOf(raw)
		if name == "wrong-case.jsonl" { // whole in itself; the bundle's other files say which case it is
			continue
		}
		if m := whole.FindStringSubmatch(says); m != nil {
			good++
			if j.broken != "" || fmt.Sprint(j.lines) != m[1] || j.head != m[2] {
				t.Errorf("%s: %q, %d lines, head %s; want %s", name, j.broken, j.lines, j.head, says)
			}
		} else if j.broken == "" {
			t.Errorf("%s is accepted; want: %s", name, says)
		}
	}
	if good == 0 {
		t.Error("no whole vector: nothing was compared")
	}
}

// Lines that follow each other by their digests and are wrong all the same.
func TestAChainThatHoldsCanStillBeBroken(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join("..", "casefile", "testdata", "whole.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(strings.TrimSuffix(string(raw), "\n"), "\n")
	for why, change := range map[string]func(l []string){
		"says it is 9":        func(l []string) { l[2] = strings.Replace(l[2], `"seq":3`, `"seq":9`, 1) },
		"belongs to the case": func(l []string) { l[2] = strings.Replace(l[2], `"case":"`, `"case":"X`, 1) },
		"is of the kind open": func(l []string) { l[2] = regexp.MustCompile(`"kind":"[a-z]+"`).ReplaceAllString(l[2], `"kind":"open"`) },
		"is of the kind note": func(l []string) { l[0] = strings.Replace(l[0], `"kind":"open"`, `"kind":"note"`, 1) },
		"only the first may": func(l []string) {
			l[2] = regexp.MustCompile(`("case":"[^"]+",)`).ReplaceAllString(l[2], `$1"simulated":true,`)
		},
		"longer than": func(l []string) { l[2] = strings.Repeat("x", casefile.MaxLine+1) + "\n" },
		"its data cannot be": func(l []string) {
			l[2] = regexp.MustCompile(`"kind":"[a-z]+"(.*)"data":.*\}`).ReplaceAllString(l[2], `"kind":"head"$1"data":7}`)
		},
		"cannot be read":       func(l []string) { l[2] = "{\n" },
		"does not name the li": func(l []string) { l[2], l[3] = l[3], l[2] },
	} {
		list := append([]string{}, lines...)
		change(list)
		if j := chainOf([]byte(strings.Join(list, "") + "\n")); !strings.Contains(j.broken, why) {
			t.Errorf("%q: %q", why, j.broken)
		}
	}
	if j := chainOf([]byte(strings.Join(lines, "") + "\n")); j.broken != "" {
		t.Errorf("unchanged: %s", j.broken)
	}
	if j := chainOf(nil); j.broken == "" {
		t.Error("an empty journal is whole")
	}
}
