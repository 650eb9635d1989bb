package engine

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"cordon/internal/testenv"
)

// mutant is one rule taken out of the source: the model has to notice. The source is
// replaced only for the compiler (go test -overlay), so that no switch for it is in the
// program.
type mutant struct {
	name, file string
	from, to   string
	caught     string // what the model says, as an expression
}

var mutants = []mutant{
	{
		"no sync before effect", "apply.go",
		"	err := r.append(casefile.Event{\n		Kind: \"intent\",",
		"	err := r.later(casefile.Event{\n		Kind: \"intent\",",
		"NO SYNCED INTENT",
	},
	{
		"repeat on unknown", "apply.go",
		"		out, err := r.effect(ctx, of[k], ch, c.Digest[k])\n",
		"		out, err := r.effect(ctx, of[k], ch, c.Digest[k])\n		if err == nil && out.State == change.Unknown {\n			out, err = r.effect(ctx, of[k], ch, c.Digest[k])\n		}\n",
		"EFFECT TWICE|REPEATED",
	},
	{
		"guard off", "apply.go",
		"	for _, g := range r.guards(t, plan) {\n		if g.Class == GuardApproval {",
		"	for _, g := range r.guards(t, plan)[:0] {\n		if g.Class == GuardApproval {",
		"GUARD OFF",
	},
	{
		"undo from the wrong state", "standdown.go",
		"return m.outcome.State == change.Applied && m.change.Undo != nil",
		"return m.outcome.State != change.Refused && m.change.Undo != nil",
		"WRONG STATE",
	},
	{
		"lock ignored", "../casefile/take.go",
		"if err := c.lock.Lock(); err != nil {",
		"if err := c.lock.Lock(); err != nil && !errors.Is(err, ErrLocked) {",
		"LOCK IGNORED",
	},
}

// later is what the first mutant needs: the line is folded and not written.
const later = `
func (r *Run) later(e casefile.Event) error { return r.st.apply(casefile.Line{Event: e}) }
`

// TestTheModelCatchesEachMutant takes the rules out one by one and runs the model with
// the budget of CI.
func TestTheModelCatchesEachMutant(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles the engine five times")
	}
	for _, m := range mutants {
		t.Run(strings.ReplaceAll(m.name, " ", "-"), func(t *testing.T) {
			t.Parallel()
			out, err := m.test(t, "^TestModelOfARun$")
			word := regexp.MustCompile(m.caught)
			if err == nil || !word.MatchString(out) {
				t.Errorf("not caught (%v): the model has to say %q\n%.2000s", err, m.caught, out)
				return
			}
			for line := range strings.Lines(out) {
				if word.MatchString(line) {
					t.Logf("caught: %.160s", strings.TrimSpace(line))
					return
				}
			}
		})
	}
}

// test runs tests of this package with the source of m.
func (m mutant) test(t *testing.T, run string) (string, error) {
	t.Helper()
	tool := testenv.Need(t, "go")
	src, err := filepath.Abs(m.file)
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(src)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(b), m.from); n != 1 {
		t.Fatalf("%s: the line of the rule stands there %d times, not once: the mutant has to follow the source", m.file, n)
	}
	text := strings.Replace(string(b), m.from, m.to, 1)
	if strings.Contains(m.to, "r.later(") {
		text += later
	}
	dir := t.TempDir()
	file := filepath.Join(dir, filepath.Base(m.file))
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {src: file}})
	if err == nil {
		err = os.WriteFile(file, []byte(text), 0o600)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "overlay.json"), overlay, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), tool, "test", "-count=1", "-overlay", filepath.Join(dir, "overlay.json"), "-run", run, ".")
	out, err := cmd.CombinedOutput()
	if strings.Contains(string(out), "build failed") {
		t.Fatalf("the mutant does not compile:\n%s", out)
	}
	return string(out), err
}
