package playbooks

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"cordon/internal/yamlfile"
)

func contain(t testing.TB) *Playbook {
	t.Helper()
	p, err := Find("contain")
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestContainCollectsBeforeItDestroys is the order that the whole program is for.
func TestContainCollectsBeforeItDestroys(t *testing.T) {
	p := contain(t)
	var got []string
	for _, s := range p.Steps {
		line := s.ID + ":"
		for _, a := range s.Acts {
			line += " " + strings.Join(strings.Fields(strings.Join([]string{a.Do, a.Verb, a.On, a.Profile, a.Verify, strings.Join(a.Destroys, ",")}, " ")), " ")
			if a.Optional {
				line += " optional"
			}
			line += ";"
		}
		got = append(got, line)
	}
	want := []string{
		"snapshot: gather runner express;",
		"pause: plan pause runner paused;",
		"rotate: plan rotate runner; exposure;",
		"collect: plan collect hosts triage;",
		"deregister: plan cancel runner host/*/snapshot.json; plan stop hosts stopped host/*/snapshot.json optional; plan deregister runner gone host/*/snapshot.json;",
		"confirm: confirm;",
	}
	if !slices.Equal(got, want) {
		t.Errorf("contain is\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if !slices.Contains(p.Steps[4].Needs, "collect") {
		t.Error("deregister does not need collect")
	}
	if !slices.Equal(p.Steps[1].Needs, []string{"snapshot"}) {
		t.Error("a pause waits for the three provider reads and nothing else")
	}
	for _, s := range p.Steps {
		if len(s.Title) > 60 || len(s.Why) < 40 {
			t.Errorf("step %s: the title does not fit a narrow screen, or the why says nothing", s.ID)
		}
	}
}

// The runner stays: what is ended is everything else, and what a person ends elsewhere is
// written down.
func TestCredentialsEndsTheRestAndLeavesTheRunner(t *testing.T) {
	p, err := Find("credentials")
	if err != nil {
		t.Fatal(err)
	}
	count, order := map[string]int{}, ""
	for _, s := range p.Steps {
		order += s.ID + " "
		for _, a := range s.Acts {
			count[a.Do+" "+a.Verb]++
		}
		if len(s.Title) > 60 || len(s.Why) < 40 {
			t.Errorf("step %s: the title does not fit a narrow screen, or the why says nothing", s.ID)
		}
	}
	if order != "snapshot list revoke purge owners confirm " {
		t.Errorf("credentials is %s", order)
	}
	if count["plan revoke"] < 2 || count["plan purge"] != 2 || count["exposure "] != 2 || count["manual "] != 1 || count["confirm "] != 1 {
		t.Errorf("%v", count)
	}
	for _, verb := range []string{"pause", "cancel", "rotate", "stop", "deregister"} {
		if count["plan "+verb] != 0 {
			t.Errorf("it does more than it says: %s", verb)
		}
	}
	if s := p.Steps[2]; !slices.Equal(s.Needs, []string{"snapshot", "list"}) {
		t.Errorf("credentials are ended before they are listed: %v", s.Needs)
	}
}

func TestBuiltInsAreCleanAndKeepTheirBytes(t *testing.T) {
	all, err := BuiltIn()
	if err != nil || len(all) == 0 {
		t.Fatal(len(all), err)
	}
	for _, p := range all {
		if got := Lint(p); len(got) > 0 {
			t.Errorf("%s: %v", p.ID, got)
		}
		sum := sha256.Sum256(p.Source)
		raw, _ := builtIn.ReadFile(p.ID + ".yaml")
		if !p.BuiltIn || !bytes.Equal(raw, p.Source) || p.SHA256 != hex.EncodeToString(sum[:]) {
			t.Errorf("%s: source or digest is not the file's", p.ID)
		}
	}
}

func TestFindNamesWhatThereIs(t *testing.T) {
	_, err := Find("contian")
	if !errors.Is(err, ErrUnknown) || !strings.Contains(err.Error(), "did you mean contain?") {
		t.Errorf("got %v", err)
	}
	if _, err = Find("\x1b[2J"); err == nil || strings.Contains(err.Error(), "\x1b") {
		t.Errorf("got %q", err)
	}
}

func TestParseSaysWhere(t *testing.T) {
	for in, want := range map[string]string{
		"cordon: playbook/1\nid: x\ntitel: y\n":                `p.yaml:3:1: unknown key "titel"; did you mean title?`,
		"cordon: playbook/1\nsteps:\n  - id: a\n    act: []\n": `p.yaml:4:5: unknown key "act"; did you mean acts?`,
		"cordon: playbook/1\nsteps: {id: a}\n":                 `p.yaml:2:`,
		"cordon: playbook/2\nid: x\n":                          `p.yaml:1:1: not a playbook of a version that this build reads; start the file with "cordon: playbook/1"`,
		"id: x\n":                                              `p.yaml: not a playbook`,
		"":                                                     `p.yaml: not a playbook`,
		"cordon: playbook/1\nid: 7\n":                          `p.yaml:2:5: a number where text is expected; put it in quotes`,
		"cordon: playbook/1\nsteps: [{acts: [{optional: yes}]}]\n": `p.yaml:2:28: text where true or false is expected`,
	} {
		_, err := Parse("p.yaml", []byte(in))
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q\ngot  %v\nwant %s", in, err, want)
		}
	}
}

func compiled(t *testing.T) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema()))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("playbook.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("playbook.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func schemaSays(t *testing.T, s *jsonschema.Schema, src []byte) error {
	t.Helper()
	b, err := yaml.YAMLToJSON(src)
	if err != nil {
		t.Fatal(err)
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	return s.Validate(v)
}

func TestSchemaAcceptsTheBuiltInsAndRefusesTheRest(t *testing.T) {
	s := compiled(t)
	src := string(contain(t).Source)
	if err := schemaSays(t, s, []byte(src)); err != nil {
		t.Errorf("contain: %v", err)
	}
	for _, change := range [][2]string{
		{"verb: pause", "verb: halt"},
		{"profile: express", "profile: quick"},
		{"playbook/1", "playbook/9"},
		{"id: snapshot", "id: Snap Shot"},
		{"{do: confirm}", "{do: confirm, verb: stop}"},
		{", on: runner, profile: express", ""},
		{"  - id: rotate", "  - ids: rotate"},
		{"T1078", "T78"},
	} {
		bad := strings.Replace(src, change[0], change[1], 1)
		if bad == src {
			t.Fatalf("%q is not in contain.yaml", change[0])
		}
		if err := schemaSays(t, s, []byte(bad)); err == nil {
			t.Errorf("%q for %q: the schema accepts it", change[1], change[0])
		}
	}
}

// TestSchemaAndLintKnowTheSameWords keeps the two from drifting apart.
func TestSchemaAndLintKnowTheSameWords(t *testing.T) {
	var s struct {
		Defs struct {
			Act struct {
				Properties map[string]struct{ Enum []string }
			}
		} `json:"$defs"`
	}
	if err := json.Unmarshal(Schema(), &s); err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string][]string{"do": kinds, "verb": verbNames(), "profile": profiles, "on": places, "verify": verifies, "ask": asks} {
		if got := s.Defs.Act.Properties[key].Enum; !slices.Equal(got, want) {
			t.Errorf("%s: schema %v, code %v", key, got, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(contain(f).Source)
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := Parse("f", b)
		if err != nil {
			var all yamlfile.Errors
			if !errors.As(err, &all) || strings.ContainsAny(err.Error(), "\x1b\n") {
				t.Fatalf("%q", err)
			}
			return
		}
		for _, l := range Lint(p) {
			if strings.ContainsAny(l.Text, "\x1b\n") {
				t.Fatalf("a raw control character in %q", l.Text)
			}
		}
	})
}
