package yamlfile

import (
	"errors"
	"strings"
	"testing"
)

type garden struct {
	Name  string          `yaml:"name"`
	Beds  map[string]bed  `yaml:"beds"`
	Tools []string        `yaml:"tools"`
	Wet   bool            `yaml:"wet"`
	Rows  int             `yaml:"rows"`
	Extra *bed            `yaml:"extra"`
	Not   map[string]bool `yaml:"-"`
}

type bed struct {
	Soil  string `yaml:"soil"`
	Depth int    `yaml:"depth"`
}

func TestAPersonHearsWhatIsWrongAndWhere(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"typo", "name: x\ntols: [a]\n", `f.yaml:2:1: unknown key "tols"; did you mean tools?`},
		{"typo, nested", "beds:\n  a: {soil: x, dept: 2}\n", `f.yaml:2:16: unknown key "dept"; did you mean depth?`},
		{"hyphen and case", "Name: x\n", `f.yaml:1:1: unknown key "Name"; did you mean name?`},
		{"far from all", "colour: red\n", `f.yaml:1:1: unknown key "colour"; known here: name, beds, tools, wet, rows, extra`},
		{"text for list", "tools: rake\n", `f.yaml:1:8: text where a list is expected; write [a, b] or one "- " line for each`},
		{"list for text", "name: [x]\n", `f.yaml:1:7: a list where text is expected`},
		{"number for text", "name: 0123\n", `f.yaml:1:7: a number where text is expected; put it in quotes`},
		{"text for mapping", "beds: x\n", `f.yaml:1:7: text where "key: value" lines are expected`},
		{"text for boolean", "wet: yes\n", `f.yaml:1:6: text where true or false is expected; write true or false`},
		{"text for number", "rows: many\n", `f.yaml:1:7: text where a whole number is expected`},
		{"no value", "name:\n", `f.yaml:1:7: no value; give it one or remove the line`},
		{"twice", "name: a\nname: b\n", `f.yaml:2:1: not YAML: mapping key "name" already defined at [1:1]`},
		{"anchor", "name: &n x\n", `f.yaml:1:7: anchors, aliases and tags are not used here; write the value out`},
		{"tag", "name: !!binary aGk=\n", `f.yaml:1:7: anchors, aliases and tags are not used here; write the value out`},
		{"merge", "<<: {name: x}\n", `f.yaml:1:1: a key that is not plain text; put it in quotes`},
		{"second document", "name: a\n---\nname: b\n", `f.yaml:3:5: a second document; keep one document a file and remove the line ---`},
		{"list at the top", "- a\n", `f.yaml:1:1: a list where "key: value" lines are expected`},
		{"several", "nam: a\ntols: []\n", `f.yaml:1:1: unknown key "nam"; did you mean name? (and 1 more)`},
		{"not closed", "name: \"x\n", `f.yaml:1:7: not YAML: could not find end character of double-quoted text`},
	} {
		t.Run(c.name, func(t *testing.T) {
			var g garden
			_, err := Decode("f.yaml", []byte(c.in), &g)
			if err == nil {
				t.Fatalf("accepted: %+v", g)
			}
			line, _, _ := strings.Cut(err.Error(), "\n")
			if !strings.HasPrefix(line, c.want) {
				t.Errorf("got  %s\nwant %s", err, c.want)
			}
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("more than one line: %q", err)
			}
		})
	}
}

func TestWhatIsRightIsRead(t *testing.T) {
	var g garden
	d, err := Decode("f.yaml", []byte("name: |\n  two\n  lines\nbeds:\n  north: {soil: clay, depth: 30}\n  south:\ntools: [rake, \"12\"]\nwet: true\nrows: 3\nextra: {soil: s}\n"), &g)
	if err != nil {
		t.Fatal(err)
	}
	if g.Name != "two\nlines\n" || g.Beds["north"].Depth != 30 || len(g.Beds) != 2 || g.Tools[1] != "12" || !g.Wet || g.Rows != 3 || g.Extra.Soil != "s" {
		t.Errorf("read wrongly: %+v", g)
	}
	for _, p := range []struct {
		path string
		line int
		col  int
	}{{"beds north soil", 5, 11}, {"tools 1", 7, 15}, {"beds south soil", 6, 3}, {"nowhere", 0, 0}} {
		if l, c := d.Pos(strings.Fields(p.path)...); l != p.line || c != p.col {
			t.Errorf("Pos(%s) = %d:%d, want %d:%d", p.path, l, c, p.line, p.col)
		}
	}
	for _, empty := range []string{"", "\n", "# only a comment\n", "---\n", "~\n"} {
		if _, err := Decode("f", []byte(empty), &g); err != nil {
			t.Errorf("empty document %q: %v", empty, err)
		}
	}
}

func TestNoValueIsEverPartOfAMessage(t *testing.T) {
	tok := "gl" + "pat-" + strings.Repeat("Zq9", 7)
	for _, in := range []string{
		"beds: " + tok, "wet: " + tok, "rows: " + tok, "tools: " + tok, "beds: {" + tok + "}", "extra: {" + tok + ": 1}",
		"name: [" + tok + "]", "rows: [" + tok, tok, tok + ": 1", "- " + tok, "name: \"" + tok, "name: *" + tok, "name: !!" + tok + " x", "name: a: " + tok,
		"rows: 99999999999999999999999\nname: " + tok, "name: x\n\t" + tok, "? [" + tok + "]\n: x", "name: '" + tok + "\nwet: true", "%" + tok,
	} {
		_, err := Decode("f.yaml", []byte(in), &garden{})
		if err == nil {
			continue // a token as a bed's name is a name
		}
		var all Errors
		if !errors.As(err, &all) {
			t.Fatalf("%q: not Errors: %T", in, err)
		}
		for _, e := range all {
			if strings.Contains(strings.ToLower(e.Error()), strings.ToLower(tok[6:])) {
				t.Errorf("the value is in the message: %s", e)
			}
		}
	}
}

func TestHostileDocumentsAreRefusedBeforeTheyCost(t *testing.T) {
	for _, in := range []string{
		strings.Repeat("[", 60000), strings.Repeat("{a: ", 20000), strings.Repeat("- ", 60000),
		strings.Repeat("? ", 60000), strings.Repeat("a", MaxBytes+1),
	} {
		_, err := Decode("f", []byte(in), &garden{})
		if err == nil || !strings.Contains(err.Error(), "nested too deeply") && !strings.Contains(err.Error(), "larger than") {
			t.Errorf("%.10q reached the parser: %v", in, err)
		}
	}
}

func TestNearest(t *testing.T) {
	known := []string{"url", "ca_file", "type", "env", "scopes"}
	for in, want := range map[string]string{
		"ulr": "url", "urls": "url", "cafile": "ca_file", "ca-file": "ca_file", "tpye": "type", "scope": "scopes", "env": "env", "x": "", "": "", "zzzz": "",
	} {
		if got := Nearest(in, known); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", in, got, want)
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, s := range []string{"name: x\n", "beds: {a: {soil: b}}", "- - -", "? a\n: b", "a: &b *b", "%YAML 1.2\n---\n", "name: |2-\n   x", "\"\\x00\": 1", "a: !!set {}"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var g garden
		_, err := Decode("f", b, &g)
		var all Errors
		if err != nil && (!errors.As(err, &all) || len(all) == 0) {
			t.Fatalf("an error without a place: %v", err)
		}
	})
}
